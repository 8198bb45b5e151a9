import type { Command } from "commander";
import { repeated, type RunCommand, withTalk } from "./command-options.ts";
import type { Flags } from "./settings.ts";

/** Options of `troupe experiment` as the command line gives them. */
export interface ExperimentFlags {
  readonly name?: string;
  readonly workers?: string;
  readonly timeLimit?: string;
  readonly memory?: string;
  readonly again?: boolean;
  readonly anew?: boolean;
  readonly by?: string;
  readonly of?: string;
  readonly csv?: boolean;
  readonly x?: string;
  readonly y?: string;
  readonly series?: string;
  readonly value?: string;
  readonly hold?: boolean;
  readonly kind?: string;
  readonly runs?: string;
  readonly node?: readonly string[];
  readonly cell?: string;
  readonly rep?: string;
}

const EXAMPLES = `
Examples:
  $ troupe experiment run coins.ts --workers 4
  $ troupe experiment table experiments/coins --by n
  $ troupe experiment plot experiments/coins --x n --y gini
  $ troupe experiment verify coins.ts --runs 10
  $ troupe experiment replay coins.ts --cell 3 && troupe inspect --store experiments/coins/records/3-0.db

A module exports what experiment({ ... }) of troupe/research returns. A run that crashes, never ends or eats memory fails alone. After a kill
the same command goes on; it refuses a module that was changed since.`;

const MODULE = "a module that exports an experiment; TypeScript needs Node.js 22.18 or newer, or tsx in NODE_OPTIONS";
const FOLDER = "the folder of the results";
const OUT = ["-o, --out <dir>", "the folder of the results (default ./experiments/<name>)"] as const;
// The file of a command is loaded when it runs, so that `--help` and `--version` answer at once.
const sweepFile = () => import("./commands/experiment.ts");
const resultsFile = () => import("./commands/experiment-results.ts");

/** Adds `troupe experiment`. */
export function addExperimentCommands(program: Command, run: RunCommand): void {
  const experiment = program
    .commandsGroup("Experiments:")
    .command("experiment")
    .description("run experiments of a module, and show what came of them");
  experiment.addHelpText("after", EXAMPLES).exitOverride().copyInheritedSettings(program);
  addSweeps(experiment, run);
  addResults(experiment, run);
}

function addSweeps(experiment: Command, run: RunCommand): void {
  withBounds(experiment.command("run"))
    .description("run an experiment, or go on with it; ends with 1 if a run failed")
    .option("-w, --workers <n>", "processes that run cells (default: one less than there are cores)")
    .option("--again", "runs that failed before run again")
    .option("--anew", "begin in the first folder <dir>-2, <dir>-3 ... that is free, where <dir> has another experiment")
    .action((module: string, flags: Flags) => run(flags, sweepFile, (commands, session) => commands.experimentRun(session, module, flags)));
  withBounds(experiment.command("verify"))
    .description(
      "run an experiment at several concurrencies, in several processes and versions of Node, and compare; ends with 1 at a difference",
    )
    .option("--runs <n>", "the most runs that are repeated, spread over the experiment (default: all)")
    .option("--concurrency <list>", "numbers of concurrent activations (default 1,2,64)")
    .addOption(repeated("--node <file>", "a program of Node to compare with"))
    .action((module: string, flags: Flags) =>
      run(flags, sweepFile, (commands, session) => commands.experimentVerify(session, module, flags)),
    );
  withBounds(experiment.command("replay"))
    .description("run one cell again with its whole record, for troupe inspect and troupe runs show; ends with 1 if its row is another one")
    .requiredOption("--cell <n>", "the cell: the column cell of its rows")
    .option("--rep <n>", "the repetition (default 0)")
    .action((module: string, flags: Flags) =>
      run(flags, sweepFile, (commands, session) => commands.experimentReplay(session, module, flags)),
    );
}

function addResults(experiment: Command, run: RunCommand): void {
  withTalk(experiment.command("status"))
    .description("show how far an experiment is, also while it runs")
    .argument("<dir>", FOLDER)
    .action((dir: string, flags: Flags) => run(flags, resultsFile, (commands, session) => commands.experimentStatus(session, dir, flags)));
  withTalk(experiment.command("table"))
    .description("show the means of each group of runs, and their standard errors")
    .argument("<dir>", FOLDER)
    .option("--by <columns>", "the columns whose values make a group, with commas between (default: all parameters)")
    .option("--of <columns>", "the columns to average, with commas between (default: all measures that are numbers, true or false)")
    .option("--csv", "print the table as CSV")
    .action((dir: string, flags: Flags) => run(flags, resultsFile, (commands, session) => commands.experimentTable(session, dir, flags)));
  withTalk(experiment.command("plot"))
    .description("draw the results as a picture; x may be round, for what was collected")
    .argument("<dir>", FOLDER)
    .option("--kind <kind>", "line, points, bars, histogram or heatmap (default line)")
    .option("--x <column>", "default: the first parameter with several values")
    .option("--y <column>", "default: the first measure that is a number; of a heat map the second parameter with several values")
    .option("--value <column>", "the colour of a heat map (default: the first measure that is a number)")
    .option("--series <column>", "a colour for each of its values")
    .option("--hold", "with --x round: runs that have ended keep their last values, as states do")
    .option("-o, --out <file>", "an .svg or an .html file (default <dir>/plot.svg)")
    .action((dir: string, flags: Flags) => run(flags, resultsFile, (commands, session) => commands.experimentPlot(session, dir, flags)));
}

function withBounds(command: Command): Command {
  return withTalk(
    command
      .argument("<module>", MODULE)
      .option("--name <name>", "the experiment, where the module exports several")
      .option(...OUT)
      .option("--time-limit <time>", "how long one run may take, such as 90s or 10m (default 1h)")
      .option("--memory <mb>", "megabytes that a process may take (default 4096)"),
  );
}
