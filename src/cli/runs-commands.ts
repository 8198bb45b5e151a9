import type { Command } from "commander";
import { withStoreOption, withTalk } from "./command-options.ts";
import type { EventsFlags } from "./commands/runs-events.ts";
import type { FlowFlags } from "./commands/runs-flow.ts";
import type { GcFlags } from "./commands/runs-gc.ts";
import type { ImportFlags } from "./commands/runs-import.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import type { Flags } from "./settings.ts";

const EXAMPLES = `
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

type End = (code: ExitCode) => void;

/** `troupe runs` and what it can be followed by. */
export function addRunsCommands(program: Command, host: Host, end: End): void {
  const runs = program.command("runs").description("list, show, compare, export, import and remove runs").addHelpText("after", EXAMPLES);
  runs.exitOverride().copyInheritedSettings(program);
  addReading(runs, host, end);
  addMoving(runs, host, end);
  addRemoving(runs, host, end);
}

function command(runs: Command, name: string, options?: { readonly isDefault: boolean }): Command {
  return withTalk(withStoreOption(runs.command(name, options)));
}

function addReading(runs: Command, host: Host, end: End): void {
  command(runs, "ls", { isDefault: true })
    .description("list the runs, the newest first")
    .usage("[options]")
    .argument("[words...]")
    .action(async (words: readonly string[], flags: Flags) => {
      const { runsLsCommand } = await import("./commands/runs-ls.ts");
      end(await runsLsCommand(host, words, flags));
    });
  command(runs, "show")
    .description("show a run: its roles, calls and cost, what was said, what waits")
    .argument("<id>")
    .action(async (id: string, flags: Flags) => {
      const { runsShowCommand } = await import("./commands/runs-show.ts");
      end(await runsShowCommand(host, id, flags));
    });
  command(runs, "events")
    .description("print what happened in a run, one line each")
    .argument("<id>")
    .option("--from <n>", "begin with this event", "0")
    .option("--type <type>", "only events of one type, such as message or step.ended")
    .action(async (id: string, flags: EventsFlags) => {
      const { runsEventsCommand } = await import("./commands/runs-events.ts");
      end(await runsEventsCommand(host, id, flags));
    });
  command(runs, "flow")
    .description("draw who spoke to whom in a run")
    .argument("<id>")
    .option("--format <format>", "mermaid, dot or json", "mermaid")
    .action(async (id: string, flags: FlowFlags) => {
      const { runsFlowCommand } = await import("./commands/runs-flow.ts");
      end(await runsFlowCommand(host, id, flags));
    });
  command(runs, "diff")
    .description("tell where two runs first did something different; ends with 1 if they did")
    .argument("<a>")
    .argument("<b>")
    .action(async (a: string, b: string, flags: Flags) => {
      const { runsDiffCommand } = await import("./commands/runs-diff.ts");
      end(await runsDiffCommand(host, a, b, flags));
    });
}

function addMoving(runs: Command, host: Host, end: End): void {
  command(runs, "export")
    .description("write a run as lines of JSON, to a new file or to standard output")
    .argument("<id>")
    .argument("[file]")
    .action(async (id: string, file: string | undefined, flags: Flags) => {
      const { runsExportCommand } = await import("./commands/runs-export.ts");
      end(await runsExportCommand(host, id, file, flags));
    });
  command(runs, "import")
    .description("take in a run that was exported, whole or not at all")
    .argument("<file>", "- reads standard input")
    .option("--as <id>", "the id it gets here (default: the one it had)")
    .action(async (file: string, flags: ImportFlags) => {
      const { runsImportCommand } = await import("./commands/runs-import.ts");
      end(await runsImportCommand(host, file, flags));
    });
}

function addRemoving(runs: Command, host: Host, end: End): void {
  command(runs, "rm")
    .description("forget runs; their projects stay")
    .argument("<ids...>")
    .option("-y, --yes", "do not ask")
    .action(async (ids: readonly string[], flags: Flags) => {
      const { runsRmCommand } = await import("./commands/runs-rm.ts");
      end(await runsRmCommand(host, ids, flags));
    });
  command(runs, "gc")
    .description("forget finished runs that are old, and give their room back to the disk")
    .option("--older-than <time>", "that have not moved for so long: 30d, 12h, 0s (default 30d)")
    .option("-y, --yes", "do not ask")
    .action(async (flags: GcFlags) => {
      const { runsGcCommand } = await import("./commands/runs-gc.ts");
      end(await runsGcCommand(host, flags));
    });
}
