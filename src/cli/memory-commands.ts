import type { Command } from "commander";
import { withTalk } from "./command-options.ts";
import type { MemoryGcFlags } from "./commands/memory-gc.ts";
import type { ImportMemoryFlags } from "./commands/memory-import.ts";
import type { SearchFlags } from "./commands/memory-search.ts";
import type { ShowFlags } from "./commands/memory-show.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import type { Flags } from "./settings.ts";

const EXAMPLES = `
Examples:
  $ troupe memory
  $ troupe memory search "how we pay for the servers" --role Ann
  $ troupe memory show Ann
  $ troupe memory show Ann m1f3 --json
  $ troupe memory export Ann ann.json
  $ troupe memory import ann.json --as Bob
  $ troupe memory gc --older-than 90d

An id may be abbreviated to a beginning that no other one has. A program keeps memories here with sqliteStore({ path: ".troupe/memory.db" }).`;

type End = (code: ExitCode) => void;

/** `troupe memory` and what it can be followed by. */
export function addMemoryCommands(program: Command, host: Host, end: End): void {
  const memory = program
    .command("memory")
    .description("list, search, show, export, import and clean up long-term memories")
    .addHelpText("after", EXAMPLES);
  memory.exitOverride().copyInheritedSettings(program);
  addReading(memory, host, end);
  addMoving(memory, host, end);
  addUpkeep(memory, host, end);
}

function command(memory: Command, name: string, options?: { readonly isDefault: boolean }): Command {
  const named = memory.command(name, options).optionsGroup("The memories:");
  return withTalk(named.option("--store <file>", "the file that keeps memories (default .troupe/memory.db)").optionsGroup("Options:"));
}

function addReading(memory: Command, host: Host, end: End): void {
  command(memory, "ls", { isDefault: true })
    .description("list who remembers how much")
    .usage("[options]")
    .argument("[words...]")
    .action(async (words: readonly string[], flags: Flags) => {
      const { memoryLsCommand } = await import("./commands/memory-ls.ts");
      end(await memoryLsCommand(host, words, flags));
    });
  command(memory, "search")
    .description("find what is most like some words; it goes by words, not by meaning, and writes nothing")
    .argument("<words...>")
    .option("--role <id>", "only what one role remembers")
    .option("-n, --limit <n>", "how many at most (default 10)")
    .action(async (words: readonly string[], flags: SearchFlags) => {
      const { memorySearchCommand } = await import("./commands/memory-search.ts");
      end(await memorySearchCommand(host, words, flags));
    });
  command(memory, "show")
    .description("show what is in a memory, or one message of it")
    .argument("<role>")
    .argument("[message]")
    .option("--run <id>", "only what was said in one run")
    .option("--last <n>", "how many of the newest messages are listed (default 20)")
    .action(async (role: string, message: string | undefined, flags: ShowFlags) => {
      const { memoryShowCommand } = await import("./commands/memory-show.ts");
      end(await memoryShowCommand(host, role, message, flags));
    });
}

function addMoving(memory: Command, host: Host, end: End): void {
  command(memory, "export")
    .description("write a memory as JSON, to a new file or to standard output")
    .argument("<role>")
    .argument("[file]")
    .action(async (role: string, file: string | undefined, flags: Flags) => {
      const { memoryExportCommand } = await import("./commands/memory-export.ts");
      end(await memoryExportCommand(host, role, file, flags));
    });
  command(memory, "import")
    .description("take in a memory that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <role>", "whose memory it becomes here (default: the one it was)")
    .option("-y, --yes", "do not ask")
    .action(async (file: string, flags: ImportMemoryFlags) => {
      const { memoryImportCommand } = await import("./commands/memory-import.ts");
      end(await memoryImportCommand(host, file, flags));
    });
}

function addUpkeep(memory: Command, host: Host, end: End): void {
  command(memory, "rebuild")
    .description("make the vectors of hashingEmbedder() again, from the messages and without a network")
    .argument("<role>")
    .option("-y, --yes", "do not ask")
    .action(async (role: string, flags: Flags) => {
      const { memoryRebuildCommand } = await import("./commands/memory-rebuild.ts");
      end(await memoryRebuildCommand(host, role, flags));
    });
  command(memory, "gc")
    .description("forget what is old, if --older-than says how old, and give the room back to the disk")
    .argument("[role]", "only what one role remembers")
    .option("--older-than <time>", "what was said so long ago: 90d, 12h, 0s")
    .option("-y, --yes", "do not ask")
    .action(async (role: string | undefined, flags: MemoryGcFlags) => {
      const { memoryGcCommand } = await import("./commands/memory-gc.ts");
      end(await memoryGcCommand(host, role, flags));
    });
}
