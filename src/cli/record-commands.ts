import { type Command, Option } from "commander";
import { withBounds, withReach, withStoreOption, withTalk } from "./command-options.ts";
import type { ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import type { ForkFlags } from "./fork-plan.ts";
import type { Flags } from "./settings.ts";

const FORK_EXAMPLES = `
Examples:
  $ troupe fork mabc1234 --model gpt-5                 all of it once more with another model
  $ troupe fork mabc1234 --edit 1=other-idea.md        the same run with another idea
  $ troupe fork mabc1234 --at 17 --add wish.md         what one would say after event 17
The numbers of events and messages: troupe runs show <id>, troupe runs events <id>`;

/** The commands that do something with a run of the record. */
export function addRecordCommands(program: Command, host: Host, end: (code: ExitCode) => void): void {
  program.commandsGroup("Runs that were begun:");
  addResume(program, host, end);
  addAnswer(program, host, end);
  withTalk(withStoreOption(program.command("replay")))
    .description("let a run happen again from its record, without a call, and tell the first difference; ends with 1 if there is one")
    .argument("<id>", "the run, or the beginning of its id")
    .action(async (id: string, flags: Flags) => {
      const { replayCommand } = await import("./commands/replay.ts");
      end(await replayCommand(host, id, flags));
    });
  addFork(program, host, end);
}

function addResume(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const resume = async (id: string | undefined, flags: Flags): Promise<void> => {
    const { resumeCommand } = await import("./commands/resume.ts");
    end(await resumeCommand(host, id, flags));
  };
  withGoingOn(program.command("resume"))
    .description("go on with a run where it stopped: nothing that was paid for is paid again")
    .argument("[id]", "the run, or the beginning of its id (default: the newest that is not finished)")
    .action(resume);
  withGoingOn(program.command("continue"))
    .description("the same as resume without an id: go on with the newest run here that is not finished")
    .action((flags: Flags) => resume(undefined, flags));
}

function addAnswer(program: Command, host: Host, end: (code: ExitCode) => void): void {
  withGoingOn(program.command("answer"))
    .description("answer what a role asked, and go on with its run")
    .usage('[options] <id> [question] "text"')
    .argument("<id>", "the run, or the beginning of its id")
    .argument("<question>", "the beginning of the question's id; may be left out where only one waits")
    .argument("[text]", "the answer, in quotes; - reads it from standard input")
    .action(async (id: string, question: string, text: string | undefined, flags: Flags) => {
      const { answerCommand } = await import("./commands/answer.ts");
      end(await answerCommand(host, id, text === undefined ? [question] : [question, text], flags));
    });
}

function addFork(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const command = withBounds(program.command("fork"), false)
    .option("-o, --out <dir>", "where its project goes (default ./workspace/<name>)")
    .option("--sandbox <mode>", "where the project's tests run: auto, bubblewrap or none (default: as before)")
    .option("-y, --yes", "do not ask before a paid run")
    .option("--force", "work in a folder that holds files; fork a run that came from elsewhere")
    .optionsGroup("The fork:")
    .option("--at <seq>", "the last event it shares with the run (default: the last one changed, else all)")
    .addOption(collected("--edit <seq=file>", "a message says what the file says; as JSON where it carries data"))
    .addOption(collected("--drop <seq>", "a message is never delivered"))
    .addOption(collected("--add <file>", "say something more, after the events shared"))
    .option("--seed <seed>", "decides everything that is random after the events shared (default: as before)")
    .option("--reuse <which>", "all: take the run's answers where they fit; none: ask for everything anew (default all)");
  withTalk(withStoreOption(withReach(command).option("--allow-unpriced", "let --budget stand with a model whose price is not known")))
    .description("a new run that shares the past of another, in a folder of its own, and pays only for what is different")
    .argument("<id>", "the run, or the beginning of its id")
    .addHelpText("after", FORK_EXAMPLES)
    .action(async (id: string, flags: ForkFlags) => {
      const { forkCommand } = await import("./commands/fork.ts");
      end(await forkCommand(host, id, flags));
    });
}

/** An option that may come more than once. */
function collected(flags: string, description: string): Option {
  const collect = (value: string, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value];
  return new Option(flags, `${description}; may come more than once`).argParser<readonly string[] | undefined>(collect);
}

function withGoingOn(command: Command): Command {
  const bounded = withBounds(command, false)
    .option("--force", "go on although files or the team are not as the run left them, or it came from elsewhere")
    .option("--sandbox <mode>", "where the project's tests run: auto, bubblewrap or none (default: as before)")
    .option("--reuse <which>", "all: what failed gets the answers it had; none: it asks for them anew (default all)");
  return withTalk(
    withStoreOption(withReach(bounded, false).option("--allow-unpriced", "let --budget stand with a model whose price is not known")),
  );
}
