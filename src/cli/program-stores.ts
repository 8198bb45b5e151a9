import type { Command } from "commander";
import { withStoreOption, withTalk } from "./command-options.ts";
import type { ExitCode } from "./errors.ts";
import type { Host } from "./host.ts";
import type { Flags } from "./settings.ts";

const RUNS_EXAMPLES = `
Examples:
  $ troupe runs
  $ troupe runs show mabc1234
  $ troupe runs events mabc1234 --type message --from 0 --json
  $ troupe runs flow mabc1234 --format dot | dot -Tsvg > flow.svg
  $ troupe runs export mabc1234 game.ndjson
  $ troupe runs import game.ndjson --as game
  $ troupe runs rm mabc1234 --yes
  $ troupe runs gc --older-than 30d --yes

An id may be abbreviated to a beginning that no other run has.`;

const MEMORY_EXAMPLES = `
Examples:
  $ troupe memory
  $ troupe memory search "how we pay for the servers" --role Ann
  $ troupe memory show Ann
  $ troupe memory show Ann m1f3 --json
  $ troupe memory export Ann ann.json
  $ troupe memory import ann.json --as Bob
  $ troupe memory gc --older-than 90d

An id may be abbreviated to a beginning that no other one has. A program keeps memories here with sqliteStore({ path: ".troupe/memory.db" }).`;

const CONFIRMED = ["-y, --yes", "do not ask"] as const;

/** Receives the exit code of a command. */
export type EndProgram = (code: ExitCode) => void;

/** Makes a command below `runs` or `memory`. */
type Add = (name: string, description: string, options?: { readonly isDefault: boolean }) => Command;

/** Adds `troupe runs` and its commands. */
export function addRunsCommands(program: Command, host: Host, end: EndProgram): void {
  const runs = program.command("runs").description("list, show, compare, export, import and remove runs");
  runs.addHelpText("after", RUNS_EXAMPLES).exitOverride().copyInheritedSettings(program);
  const add: Add = (name, description, options) => withTalk(withStoreOption(runs.command(name, options))).description(description);
  addRunsReading(add, host, end);
  addRunsWriting(add, host, end);
}

/** Adds `troupe memory` and its commands. */
export function addMemoryCommands(program: Command, host: Host, end: EndProgram): void {
  const memory = program.command("memory").description("list, search, show, export, import and clean up long-term memories");
  memory.addHelpText("after", MEMORY_EXAMPLES).exitOverride().copyInheritedSettings(program);
  const add: Add = (name, description, options) => {
    const command = memory.command(name, options).optionsGroup("The memories:");
    const store = command.option("--store <file>", "the file that keeps memories (default .troupe/memory.db)");
    return withTalk(store.optionsGroup("Options:")).description(description);
  };
  addMemoryReading(add, host, end);
  addMemoryWriting(add, host, end);
}

function addRunsReading(add: Add, host: Host, end: EndProgram): void {
  add("ls [words...]", "list the runs, the newest first", { isDefault: true })
    .usage("[options]")
    .action(async (words: readonly string[], flags: Flags) => {
      const { runsLsCommand } = await import("./commands/runs-ls.ts");
      end(await runsLsCommand(host, words, flags));
    });
  add("show <id>", "show a run: its roles, calls and cost, what was said, what waits").action(async (id: string, flags: Flags) => {
    const { runsShowCommand } = await import("./commands/runs-show.ts");
    end(await runsShowCommand(host, id, flags));
  });
  add("events <id>", "print what happened in a run, one line each")
    .option("--from <n>", "begin with this event", "0")
    .option("--type <type>", "only events of one type, such as message or step.ended")
    .action(async (id: string, flags: Flags) => {
      const { runsEventsCommand } = await import("./commands/runs-events.ts");
      end(await runsEventsCommand(host, id, flags));
    });
  add("flow <id>", "draw who spoke to whom in a run")
    .option("--format <format>", "mermaid, dot or json", "mermaid")
    .action(async (id: string, flags: Flags) => {
      const { runsFlowCommand } = await import("./commands/runs-events.ts");
      end(await runsFlowCommand(host, id, flags));
    });
  add("diff <a> <b>", "tell where two runs first did something different; ends with 1 if they did").action(
    async (a: string, b: string, flags: Flags) => {
      const { runsDiffCommand } = await import("./commands/runs-events.ts");
      end(await runsDiffCommand(host, a, b, flags));
    },
  );
}

function addRunsWriting(add: Add, host: Host, end: EndProgram): void {
  add("export <id> [file]", "write a run as lines of JSON, to a new file or to standard output").action(
    async (id: string, file: string | undefined, flags: Flags) => {
      const { runsExportCommand } = await import("./commands/runs-transfer.ts");
      end(await runsExportCommand(host, id, file, flags));
    },
  );
  add("import", "take in a run that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <id>", "the id it gets here (default: the one it had)")
    .action(async (file: string, flags: Flags) => {
      const { runsImportCommand } = await import("./commands/runs-transfer.ts");
      end(await runsImportCommand(host, file, flags));
    });
  add("rm <ids...>", "forget runs; their projects stay")
    .option(...CONFIRMED)
    .action(async (ids: readonly string[], flags: Flags) => {
      const { runsRmCommand } = await import("./commands/runs-removal.ts");
      end(await runsRmCommand(host, ids, flags));
    });
  add("gc", "forget finished runs that are old, and give their room back to the disk")
    .option("--older-than <time>", "that have not moved for so long: 30d, 12h, 0s (default 30d)")
    .option(...CONFIRMED)
    .action(async (flags: Flags) => {
      const { runsGcCommand } = await import("./commands/runs-removal.ts");
      end(await runsGcCommand(host, flags));
    });
}

function addMemoryReading(add: Add, host: Host, end: EndProgram): void {
  add("ls [words...]", "list who remembers how much", { isDefault: true })
    .usage("[options]")
    .action(async (words: readonly string[], flags: Flags) => {
      const { memoryLsCommand } = await import("./commands/memory-ls.ts");
      end(await memoryLsCommand(host, words, flags));
    });
  add("search <words...>", "find what is most like some words; it goes by words, not by meaning, and writes nothing")
    .option("--role <id>", "only what one role remembers")
    .option("-n, --limit <n>", "how many at most (default 10)")
    .action(async (words: readonly string[], flags: Flags) => {
      const { memorySearchCommand } = await import("./commands/memory-search.ts");
      end(await memorySearchCommand(host, words, flags));
    });
  add("show <role> [message]", "show what is in a memory, or one message of it")
    .option("--run <id>", "only what was said in one run")
    .option("--last <n>", "how many of the newest messages are listed (default 20)")
    .action(async (role: string, message: string | undefined, flags: Flags) => {
      const { memoryShowCommand } = await import("./commands/memory-show.ts");
      end(await memoryShowCommand(host, role, message, flags));
    });
}

function addMemoryWriting(add: Add, host: Host, end: EndProgram): void {
  add("export <role> [file]", "write a memory as JSON, to a new file or to standard output").action(
    async (role: string, file: string | undefined, flags: Flags) => {
      const { memoryExportCommand } = await import("./commands/memory-transfer.ts");
      end(await memoryExportCommand(host, role, file, flags));
    },
  );
  add("import", "take in a memory that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <role>", "whose memory it becomes here (default: the one it was)")
    .option(...CONFIRMED)
    .action(async (file: string, flags: Flags) => {
      const { memoryImportCommand } = await import("./commands/memory-transfer.ts");
      end(await memoryImportCommand(host, file, flags));
    });
  add("rebuild <role>", "make the vectors of hashingEmbedder() again, from the messages and without a network")
    .option(...CONFIRMED)
    .action(async (role: string, flags: Flags) => {
      const { memoryRebuildCommand } = await import("./commands/memory-upkeep.ts");
      end(await memoryRebuildCommand(host, role, flags));
    });
  add("gc", "forget what is old, if --older-than says how old, and give the room back to the disk")
    .argument("[role]", "only what one role remembers")
    .option("--older-than <time>", "what was said so long ago: 90d, 12h, 0s")
    .option(...CONFIRMED)
    .action(async (role: string | undefined, flags: Flags) => {
      const { memoryGcCommand } = await import("./commands/memory-upkeep.ts");
      end(await memoryGcCommand(host, role, flags));
    });
}
