import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../kernel/errors.ts";
import { repeated, type RunCommand, withStoreOption, withTalk } from "./command-options.ts";
import { failed } from "./error-report.ts";
import { EXIT_CODES, type ExitCode } from "./errors.ts";
import { addExperimentCommands } from "./experiment-options.ts";
import { addFleetCommands } from "./fleet-options.ts";
import type { Host } from "./host.ts";
import { addMemoryCommands, addRunsCommands } from "./program-stores.ts";
import { withAgent, withBounds, withCompany, withForked, withMetaGPT, withReach } from "./run-options.ts";
import { withServe } from "./serve-options.ts";
import type { Flags } from "./settings.ts";

const EXAMPLES = `
Examples:
  $ troupe "Create a 2048 game"
  $ troupe demo todo
  $ troupe run --file idea.md --budget 1.50 --out ./my-project
  $ TROUPE_BASE_URL=http://127.0.0.1:11434/v1 troupe --model qwen3 "A word counter"
  $ troupe tell mabc1234 "make the buttons larger"
  $ troupe resume                   after a kill, a budget or a Ctrl-C: nothing is paid twice`;

const EPILOGUE = `
Environment:
  OPENAI_API_KEY, TROUPE_API_KEY     the key of the model's provider
  TROUPE_BASE_URL, OPENAI_BASE_URL   an OpenAI-compatible server, such as http://127.0.0.1:11434/v1
  TROUPE_MODEL                       the model, as --model
  TROUPE_FIRST_BYTE, TROUPE_SILENCE, TROUPE_CALL_LIMIT
                                     time limits of model calls, as --first-byte, --silence, --call-limit
  TROUPE_BUDGET, TROUPE_ROUNDS, TROUPE_SANDBOX
                                     as --budget, --rounds, --sandbox, for new runs
  TROUPE_MODELS, TROUPE_ROLE_MODELS  prices and limits by model, models by role; as JSON
  TROUPE_API_KEY_NAME                the variable that holds the key
  TROUPE_STORE, TROUPE_MEMORY        the files that keep runs and memories, as --store
  NO_COLOR, FORCE_COLOR, CI          as everywhere
  Below them: ~/.config/troupe/config.yaml; troupe.config.yaml of a folder lowers bounds. See: troupe --init-config, troupe doctor
  Without a key and a base URL the bundled ideas play from a script.

Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`).join("\n")}
`;

const FORK_EXAMPLES = `
Examples:
  $ troupe fork mabc1234 --model gpt-5                 all of it once more with another model
  $ troupe fork mabc1234 --edit 1=other-idea.md        the same run with another idea
  $ troupe fork mabc1234 --at 17 --add wish.md         what one would say after event 17
The numbers of events and messages: troupe runs show <id>, troupe runs events <id>`;

const COMPLETION_EXAMPLES = `
Examples:
  $ source <(troupe completion bash)        in ~/.bashrc
  $ source <(troupe completion zsh)         in ~/.zshrc
  $ troupe completion fish | source         in ~/.config/fish/config.fish`;

const RUN = "the run, or the beginning of its id";
const UNPRICED = ["--allow-unpriced", "let --budget stand with a model whose price is not known"] as const;
// The file of a command is loaded when it runs, so that `--help` and `--version` answer at once.
const newRuns = () => import("./commands/run.ts");
const knownRuns = () => import("./commands/resume.ts");
const replays = () => import("./commands/replay.ts");
const forks = () => import("./commands/fork.ts");
const checks = () => import("./commands/doctor.ts");
const crewChecks = () => import("./commands/check.ts");
const programChecks = () => import("./commands/check-determinism.ts");

/** The hidden command that the scripts of shells call. */
const COMPLETE = "__complete";
const CONFIRMED = ["-y, --yes", "do not ask before a paid run"] as const;
const PROJECT = ["-o, --out <dir>", "where the project goes (default ./workspace/<name>)"] as const;
const SEED = ["--seed <seed>", "decides everything that is random"] as const;

/** Runs one command line to its end. Errors are printed. @returns the code to end the process with */
export function main(host: Host, words: readonly string[]): Promise<ExitCode> {
  return runProgram(host, words).catch((error: unknown) => failed(host, words, error));
}

async function runProgram(host: Host, words: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programFor(host, words, async (flags, load, work) => {
    const { inSession } = await import("./session.ts");
    code = await inSession(host, flags, async (session) => work(await load(), session));
  });
  if (words[0] === COMPLETE) {
    const { complete } = await import("./completion.ts");
    await complete(host, program, words.slice(1));
    return code;
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw new UsageError("COMMAND_INVALID", `${error.message.replace(/^error: |\.$/g, "")}. See: troupe --help`);
  }
}

function programFor(host: Host, words: readonly string[], run: RunCommand): Command {
  const program = new Command("troupe");
  const { stdout, stderr } = host;
  program
    .description("A company of AI roles takes one sentence to a tested project on disk.")
    .usage('[options] "idea" | <command>')
    .version(host.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this")
    .helpCommand("help [command]", "print the help of a command")
    .exitOverride()
    .configureOutput({ writeOut: (text) => stdout.write(text), writeErr: (text) => stderr.write(text), outputError: () => {} })
    .addHelpText("after", EXAMPLES)
    .addHelpText("after", EPILOGUE);
  program.commandsGroup("A new run:");
  const company = addRun(program, run, words[0] === "run");
  addDemo(program, run);
  addAgent(program, run);
  addCheck(program, run);
  program.commandsGroup("Runs that were begun:");
  addResume(program, run);
  addAnswer(program, run);
  addTell(program, run);
  addHire(program, run);
  addReplay(program, run);
  addFork(program, run);
  addInspect(program, run);
  addServe(program, run);
  addFleetCommands(program, run);
  addExperimentCommands(program, run);
  addRunsCommands(program, run);
  addMemoryCommands(program, run);
  addDoctor(program, run);
  addCompletion(program, host);
  // The options of `run` are the options of `troupe` itself.
  const help = program.createHelp();
  const isOwn = ({ long }: Option): boolean => long !== "--help";
  program.configureHelp({
    visibleOptions: (command) =>
      command === program ? [...help.visibleOptions(company).filter(isOwn), ...help.visibleOptions(program)] : help.visibleOptions(command),
  });
  return program;
}

function addRun(program: Command, run: RunCommand, isNamed: boolean): Command {
  const command = program
    .command("run", { isDefault: true })
    .optionsGroup("The idea:")
    .option("-f, --file <file>", "read the idea from a file")
    .option(...CONFIRMED);
  return withTalk(withStoreOption(withMetaGPT(withCompany(withReach(command).option(...UNPRICED), true), true)))
    .description('let a company work on an idea; `troupe "idea"` is short for it')
    .argument("[idea...]", "what to build, in quotes; - reads it from standard input")
    .action((idea: readonly string[], flags: Flags) =>
      run(flags, newRuns, (commands, session) => commands.run(session, idea, flags, isNamed)),
    );
}

function addDemo(program: Command, run: RunCommand): void {
  withTalk(withStoreOption(withCompany(program.command("demo"), true)))
    .description("play a bundled idea from its script: no key, no cost")
    .argument("[id]", "shopping (a red check, its repair and a change), or of the waterfall: 2048, life, todo", "shopping")
    .addOption(new Option("-y, --yes").hideHelp())
    .action((id: string, flags: Flags) => run(flags, newRuns, (commands, session) => commands.demo(session, id, flags)));
}

function addAgent(program: Command, run: RunCommand): void {
  const command = program
    .command("agent")
    .description("let one agent with tools work on a task; it asks before it writes or runs anything")
    .argument("[task...]", "what to do, in quotes; - reads it from standard input")
    .option("-f, --file <file>", "read the task from a file")
    .option(...CONFIRMED);
  withAgent(command, true)
    .option("-o, --out <dir>", "the folder it works in, . for this one (default a new one, ./workspace/<name>)")
    .option("--force", "work in ./workspace/<name> although it holds files")
    .option(...SEED)
    .option("--sandbox <mode>", "where commands and code run: auto, bubblewrap or none (default auto)")
    .option("-b, --budget <usd>", "dollars it may spend (default 3, for models whose price is known)")
    .option(...UNPRICED);
  withTalk(withStoreOption(withReach(command))).action((task: readonly string[], flags: Flags) =>
    run(flags, newRuns, (commands, session) => commands.agent(session, task, flags)),
  );
}

function addCheck(program: Command, run: RunCommand): void {
  const command = withBounds(program.command("check"), true);
  withTalk(withReach(command).option(...UNPRICED))
    .description(
      "check a crew before it costs anything: silence, sleepers, circles, models, and the most it can cost; ends with 2 if it has faults",
    )
    .argument("[crew]", "a file such as crew.yaml or crew.mjs (default company.yaml)")
    .option(
      "--determinism",
      "read a program instead, and find what makes its runs differ: Math.random, clocks, timers; ends with 1 if something does",
    )
    .action((file: string | undefined, flags: Flags) =>
      flags.determinism === true
        ? run(flags, programChecks, (commands, session) => commands.checkDeterminism(session, file))
        : run(flags, crewChecks, (commands, session) => commands.check(session, file, flags)),
    );
}

function addResume(program: Command, run: RunCommand): void {
  const resume = (id: string | undefined, flags: Flags): Promise<void> =>
    run(flags, knownRuns, (commands, session) => commands.resume(session, id, flags));
  withContinuation(program.command("resume"))
    .description("go on with a run where it stopped: nothing that was paid for is paid again")
    .argument("[id]", `${RUN} (default: the newest that is not finished)`)
    .action(resume);
  withContinuation(program.command("continue"))
    .description("the same as resume without an id: go on with the newest run here that is not finished")
    .action((flags: Flags) => resume(undefined, flags));
}

function addAnswer(program: Command, run: RunCommand): void {
  withContinuation(program.command("answer"))
    .description("answer what a role asked, and go on with its run")
    .usage('[options] <id> [question] ["text"]')
    .argument("<id>", RUN)
    .argument("[question]", "the beginning of the question's id; may be left out where only one waits")
    .argument("[text]", "the answer, in quotes, or JSON for a form; - reads it from standard input (default: asked for on the terminal)")
    .action((id: string, question: string | undefined, text: string | undefined, flags: Flags) =>
      run(
        flags,
        () => import("./commands/resume.ts"),
        (commands, session) =>
          commands.answerQuestion(
            session,
            id,
            [question, text].filter((word) => word !== undefined),
            flags,
          ),
      ),
    );
}

function addTell(program: Command, run: RunCommand): void {
  const command = program
    .command("tell")
    .optionsGroup("The text:")
    .option("-f, --file <file>", "read the text from a file")
    .option("--to <role>", "the role it is for (default: the roles that watch what a user says)");
  withContinuation(command)
    .description("say something to a run, finished or not, and go on with it")
    .usage('[options] <id> "text"')
    .argument("<id>", RUN)
    .argument("[text...]", "what to say, in quotes; - reads it from standard input")
    .action((id: string, words: readonly string[], flags: Flags) =>
      run(
        flags,
        () => import("./commands/tell.ts"),
        (commands, session) => commands.tell(session, id, words, flags),
      ),
    );
}

function addHire(program: Command, run: RunCommand): void {
  const file = () => import("./commands/hire.ts");
  const forced = ["--force", "although the team is not as the run left it, or the run came from elsewhere"] as const;
  withTalk(withStoreOption(program.command("hire").option(...forced)))
    .description("hire a role of its crew into a run, finished or not; it starts nothing")
    .argument("<id>", RUN)
    .argument("<role>", "a role of the crew, or one that it has in reserve")
    .option("--as <name>", "the name that it has in the run (default: its own)")
    .action((id: string, role: string, flags: Flags) => run(flags, file, (commands, session) => commands.hire(session, id, role, flags)));
  withTalk(withStoreOption(program.command("retire").option(...forced)))
    .description("retire a role of a run; its unread messages are dead letters")
    .argument("<id>", RUN)
    .argument("<name>", "a role of the run")
    .action((id: string, name: string, flags: Flags) => run(flags, file, (commands, session) => commands.retire(session, id, name, flags)));
}

function addReplay(program: Command, run: RunCommand): void {
  withTalk(withStoreOption(program.command("replay")))
    .description("let a run happen again from its record, without a call, and tell the first difference; ends with 1 if there is one")
    .argument("<id>", RUN)
    .action((id: string, flags: Flags) => run(flags, replays, (commands, session) => commands.replay(session, id, flags)));
}

function addFork(program: Command, run: RunCommand): void {
  const command = withForked(withBounds(program.command("fork"), false))
    .option(...PROJECT)
    .option("--sandbox <mode>", "where the project's tests run: auto, bubblewrap or none (default: as before)")
    .option(...CONFIRMED)
    .option("--force", "work in a folder that holds files; fork a run that came from elsewhere")
    .optionsGroup("The fork:")
    .option("--at <seq>", "the last event it shares with the run (default: the last one changed, else all)")
    .addOption(repeated("--edit <seq=file>", "a message says what the file says; as JSON where it carries data"))
    .addOption(repeated("--drop <seq>", "a message is never delivered"))
    .addOption(repeated("--add <file>", "say something more, after the events shared"))
    .option("--seed <seed>", "decides everything that is random after the events shared (default: as before)")
    .option("--reuse <which>", "all: take the run's answers where they fit; none: ask for everything again (default all)");
  withTalk(withStoreOption(withReach(command).option(...UNPRICED)))
    .description("a new run that shares the past of another, in a folder of its own, and pays only for what is different")
    .argument("<id>", RUN)
    .addHelpText("after", FORK_EXAMPLES)
    .action((id: string, flags: Flags) => run(flags, forks, (commands, session) => commands.fork(session, id, flags)));
}

function addInspect(program: Command, run: RunCommand): void {
  withTalk(withStoreOption(program.command("inspect")))
    .description("look at runs in a browser: who said what to whom, why, and what it cost; reads and changes nothing")
    .argument("[id]", `${RUN} (default: the list of all)`)
    .option("--port <port>", "listen on this port of 127.0.0.1 (default: a free one)")
    .action((id: string | undefined, flags: Flags) =>
      run(
        flags,
        () => import("./commands/inspect.ts"),
        (commands, session) => commands.inspect(session, id, flags),
      ),
    );
}

function addServe(program: Command, run: RunCommand): void {
  const command = withServe(withCompany(withReach(program.command("serve")).option(...UNPRICED), true));
  withTalk(withStoreOption(command))
    .description("serve runs over HTTP, with a page: start, watch, answer, steer; ends by Ctrl-C, and its runs go on at the next start")
    .action((flags: Flags) =>
      run(
        flags,
        () => import("./commands/serve.ts"),
        (commands, session) => commands.serve(session, flags),
      ),
    );
}

function addDoctor(program: Command, run: RunCommand): void {
  const command = withStoreOption(withReach(program.commandsGroup("The machine:").command("doctor")));
  withTalk(command.option("--ping", "ask the model for one word, which may cost a fraction of a cent"))
    .description("check what a run needs, and say how to mend what is missing")
    .option("-o, --out <dir>", "the folder a project would go to")
    .action((flags: Flags) => run(flags, checks, (commands, session) => commands.doctor(session, flags)));
}

/** No session, because the start of a shell waits for the script, and a fault of a config file is no reason to give it none. */
function addCompletion(program: Command, { stdout }: Host): void {
  program
    .command("completion")
    .description("print the script that completes this command in a shell")
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText("after", COMPLETION_EXAMPLES)
    .action(async (shell: string) => {
      const [{ SHELLS }, { completionScript }] = [await import("./completion.ts"), await import("./completion-scripts.ts")];
      const { oneOf } = await import("./option-values.ts");
      stdout.write(completionScript(oneOf("<shell>", shell, SHELLS)));
    });
}

function withContinuation(command: Command): Command {
  const given = withCompany(command, false)
    .option("--reuse <which>", "all: what failed gets the answers it had; none: it asks for them again (default all)")
    .addOption(new Option("-y, --yes").hideHelp());
  const agent = withAgent(withMetaGPT(given, false), false);
  return withTalk(withStoreOption(withReach(agent, false).option(...UNPRICED)));
}
