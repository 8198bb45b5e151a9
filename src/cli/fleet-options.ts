import { type Command, Option } from "commander";
import { type RunCommand, withTalk } from "./command-options.ts";
import type { Flags } from "./settings.ts";

/** Options of the commands of a fleet as the command line gives them. */
export interface FleetFlags {
  readonly journal?: string;
  readonly schema?: string;
  readonly engine?: string;
  readonly concurrency?: string;
  readonly grace?: string;
  readonly tries?: string;
  readonly onTeamChange?: string;
  readonly health?: string;
  readonly workspaces?: string;
  readonly folder?: string;
  readonly team?: string;
  readonly id?: string;
  readonly follow?: boolean;
  readonly worker?: string;
  readonly answer?: string;
  readonly question?: string;
}

const WORKER_EXAMPLES = `
Examples:
  $ export TROUPE_JOURNAL=postgres://troupe@db.internal/troupe
  $ troupe worker ./teams.js --concurrency 64
  $ troupe submit --team writers "a poem about rain"
  $ troupe ps
  $ troupe logs -f mabc1234

A module of teams exports functions that return a team, and gives it the journal of the worker:
  export const writers = ({ journal }) => new Team({ name: "writers", roles, model, journal });
Each run of a software company has a folder of its own, below --folder:
  export const company = ({ journal, workspaces }) => new Team({ name: "company", model, journal,
    roles: ({ runId }) => softwareCompany({ workspace: fileWorkspace({ root: workspaces.folderOf(runId) }), sandbox }) });

A worker is two processes: one that works, and one that starts it again when it dies. SIGTERM lets it drain: it takes nothing more, waits for
the steps in flight, and gives its runs back. A second signal ends it at once.`;

const JOURNAL =
  "the Postgres database of the fleet, such as postgres://user@host/name (default: TROUPE_JOURNAL, which keeps its password from ps)";
const ENGINE = "what delivers the runs: graphile, a queue in that database, or restate://host:8080 (default: TROUPE_ENGINE, else graphile)";
const WORKSPACES = "the store that moves the folders of runs: file:/shared/dir or s3://bucket/prefix?endpoint=https://host&region=name";
const RUN = "the run, or the beginning of its id";

/** Adds the commands of a fleet. */
export function addFleetCommands(program: Command, run: RunCommand): void {
  program.commandsGroup("A fleet of workers:");
  addWorker(program, run);
  addSubmit(program, run);
  addWatching(program, run);
}

// The file of a command is loaded when it runs, so that `--help` and `--version` answer at once.
const fleetFile = () => import("./commands/fleet.ts");

function addWorker(program: Command, run: RunCommand): void {
  withFleet(program.command("worker"))
    .description("take runs from the engine of the fleet and drive them, until it is asked to drain")
    .argument("<module>", "a JavaScript file whose exports make the teams")
    .option("--concurrency <n>", "runs at the same time (default 64)")
    .option("--grace <time>", "how long steps in flight may take when it drains, such as 90s (default 30s)")
    .option("--tries <n>", "refusals until a run that cannot go on is given up (default 20)")
    .option(
      "--on-team-change <what>",
      "refuse or continue a run of another version of its team (default refuse: another worker may have it)",
    )
    .option("--health <port>", "answer GET /health on this port of 127.0.0.1: 200, or 503 while it drains")
    .option("--workspaces <url>", WORKSPACES)
    .option("--folder <dir>", "the folder on this machine that has the folders of runs (default .troupe/workspaces)")
    .addOption(new Option("--log-level <level>", "debug, info, warn or error (default info)"))
    .addHelpText("after", WORKER_EXAMPLES)
    .action((module: string, flags: Flags) =>
      run(
        flags,
        () => import("./commands/worker.ts"),
        (commands, session) => commands.worker(session, module, flags),
      ),
    );
}

function addSubmit(program: Command, run: RunCommand): void {
  withFleet(program.command("submit"))
    .description("give an idea to the workers, or a run that is known; prints the id of the run")
    .argument("[idea...]", "the idea, in quotes; - reads it from standard input")
    .option("--team <name>", "the team that works on it (default: the team of a run that is known)")
    .option("-f, --file <file>", "read the idea from a file")
    .option("--id <run>", "the id of the run; one that is known goes on, and needs no idea (default: a new one)")
    .option("--answer <text>", "answer a question of the run --id, which goes on; JSON for a form")
    .option("--question <id>", "the beginning of the id of that question; may be left out where only one waits")
    .action((words: readonly string[], flags: Flags) =>
      run(flags, fleetFile, (commands, session) => commands.submit(session, words, flags)),
    );
}

function addWatching(program: Command, run: RunCommand): void {
  withFleet(program.command("ps"))
    .description("list what waits and what is driven, and the workers")
    .option("-n, --limit <n>", "how many runs at most (default 30)")
    .action((flags: Flags) => run(flags, fleetFile, (commands, session) => commands.ps(session, flags)));
  withFleet(program.command("logs"))
    .description("print what happened in a run, one line each")
    .argument("<id>", RUN)
    .option("-f, --follow", "go on until the run is at rest")
    .option("--from <n>", "begin with this event", "0")
    .action((id: string, flags: Flags) => run(flags, fleetFile, (commands, session) => commands.logs(session, id, flags)));
  withFleet(program.command("bring"))
    .description("write the project of a run into a folder here; the run goes on where it is")
    .argument("<id>", RUN)
    .option("-o, --out <dir>", "a folder that is missing or empty (default: the id of the run)")
    .option("--workspaces <url>", WORKSPACES)
    .action((id: string, flags: Flags) =>
      run(
        flags,
        () => import("./commands/bring.ts"),
        (commands, session) => commands.bring(session, id, flags),
      ),
    );
  withFleet(program.command("stop"))
    .description("stop a run in whatever process, or take it from the queue; submit with its id goes on with it")
    .argument("<id>", RUN)
    .option("--grace <time>", "how long to wait for its owner (default 30s)")
    .action((id: string, flags: Flags) => run(flags, fleetFile, (commands, session) => commands.stop(session, id, flags)));
  withFleet(program.command("drain"))
    .description("ask workers to give their runs back and to end, and wait until they have")
    .option("--worker <id>", "only this one, as ps names it (default: all)")
    .option("--grace <time>", "how long to wait for them (default 120s)")
    .action((flags: Flags) => run(flags, fleetFile, (commands, session) => commands.drain(session, flags)));
}

function withFleet(command: Command): Command {
  return withTalk(
    command
      .optionsGroup("The fleet:")
      .option("--journal <url>", JOURNAL)
      .option("--schema <name>", "the schema of its tables (default troupe)")
      .option("--engine <url>", ENGINE)
      .optionsGroup("Options:"),
  );
}
