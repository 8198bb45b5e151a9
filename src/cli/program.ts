import { Command, CommanderError, Option } from "commander";
import { UsageError } from "../kernel/errors.ts";
import { AGENT_TOOLS, type AgentFlags } from "./agent-settings.ts";
import { withBounds, withReach, withStoreOption, withTalk } from "./command-options.ts";
import { EXIT_CODES, type ExitCode } from "./exit-code.ts";
import type { Host } from "./host.ts";
import { addMemoryCommands } from "./memory-commands.ts";
import { addRecordCommands } from "./record-commands.ts";
import { addRunsCommands } from "./runs-commands.ts";
import type { Flags } from "./settings.ts";

const EPILOGUE = `
Environment:
  OPENAI_API_KEY, TROUPE_API_KEY     the key of the model's provider
  TROUPE_BASE_URL, OPENAI_BASE_URL   an OpenAI-compatible server, such as http://127.0.0.1:11434/v1
  TROUPE_MODEL                       the model, as --model
  TROUPE_STORE, TROUPE_MEMORY        the files that keep runs and memories, as --store
  NO_COLOR, FORCE_COLOR, CI          as everywhere
  Without a key and a base URL the bundled ideas play from a script.

Exit codes:
${EXIT_CODES.map(({ code, meaning }) => `  ${String(code).padEnd(4)} ${meaning}`).join("\n")}
`;

const EXAMPLES = `
Examples:
  $ troupe "Create a 2048 game"
  $ troupe demo todo
  $ troupe run --file idea.md --budget 1.50 --out ./my-project
  $ TROUPE_BASE_URL=http://127.0.0.1:11434/v1 troupe --model qwen3 "A word counter"
  $ troupe resume                   after a kill, a budget or a Ctrl-C: nothing is paid twice`;

/**
 * Runs the command that the words name. What the commands need is loaded when one runs, so that `--help` and `--version` answer at once.
 *
 * @throws UsageError `COMMAND_INVALID` for words that are no command line of this program.
 */
export async function runProgram(host: Host, words: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = programFor(host, words, (ended) => (code = ended));
  try {
    await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    throw new UsageError("COMMAND_INVALID", `${error.message.replace(/^error: |\.$/g, "")}. See: troupe --help`);
  }
}

function programFor(host: Host, words: readonly string[], end: (code: ExitCode) => void): Command {
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
  const run = withIdea(program.command("run", { isDefault: true }))
    .description('let a company work on an idea; `troupe "idea"` is short for it')
    .argument("[idea...]", "what to build, in quotes; - reads it from standard input")
    .action(async (idea: readonly string[], flags: Flags) => {
      const { runCommand } = await import("./commands/run.ts");
      end(await runCommand(host, idea, flags, words[0] === "run"));
    });
  withCompany(program.command("demo"))
    .description("play a bundled idea from its script: no key, no cost")
    .argument("[id]", "2048, life or todo", "2048")
    .addOption(new Option("-y, --yes").hideHelp())
    .action(async (id: string, flags: Flags) => {
      const { demoCommand } = await import("./commands/demo.ts");
      end(await demoCommand(host, id, flags));
    });
  addAgent(program, host, end);
  addRecordCommands(program, host, end);
  addRunsCommands(program, host, end);
  addMemoryCommands(program, host, end);
  addDoctor(program, host, end);
  // The options of `run` are the options of `troupe` itself.
  const help = program.createHelp();
  const isOwn = ({ long }: Option): boolean => long !== "--help";
  program.configureHelp({
    visibleOptions: (command) =>
      command === program ? [...help.visibleOptions(run).filter(isOwn), ...help.visibleOptions(program)] : help.visibleOptions(command),
  });
  return program;
}

function addAgent(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const given = program
    .command("agent")
    .description("let one agent with tools work on a task; it asks before it writes or runs anything")
    .argument("[task...]", "what to do, in quotes; - reads it from standard input")
    .option("-f, --file <file>", "read the task from a file")
    .option("-y, --yes", "do not ask before a paid run")
    .optionsGroup("The agent:")
    .option("--tools <names>", `its tools, with commas between (default ${AGENT_TOOLS.join(",")})`)
    .option("--allow <names>", "the tools among them, and of servers, that run without asking")
    .option("--steps <n>", "most steps (default 30), of each step of a plan with --plan")
    .option("--plan", "make a plan first and let an agent do each of its steps")
    .option("--mcp <config>", 'servers of tools, from a file of the form { "mcpServers": { ... } }')
    .option("-o, --out <dir>", "the folder it works in, . for this one (default a new one, ./workspace/<name>)")
    .option("--no-commit", "leave its changes uncommitted where it works in a git repository")
    .option("--force", "work in ./workspace/<name> although it holds files")
    .option("--seed <seed>", "decides everything that is random")
    .option("--sandbox <mode>", "where commands and code run: auto, bubblewrap or none (default auto)")
    .option("-b, --budget <usd>", "dollars it may spend (default 3, for models whose price is known)")
    .option("--allow-unpriced", "let --budget stand with a model whose price is not known");
  withTalk(withStoreOption(withReach(given))).action(async (task: readonly string[], flags: Flags & AgentFlags) => {
    const { agentCommand } = await import("./commands/agent.ts");
    end(await agentCommand(host, task, flags));
  });
}

function addDoctor(program: Command, host: Host, end: (code: ExitCode) => void): void {
  const command = withStoreOption(withReach(program.commandsGroup("The machine:").command("doctor")));
  withTalk(command.option("--ping", "ask the model for one word, which may cost a fraction of a cent"))
    .description("check what a run needs, and say how to mend what is missing")
    .option("-o, --out <dir>", "the folder a project would go to")
    .action(async (flags: Flags) => {
      const { doctorCommand } = await import("./commands/doctor.ts");
      end(await doctorCommand(host, flags));
    });
}

function withIdea(command: Command): Command {
  const given = command
    .optionsGroup("The idea:")
    .option("-f, --file <file>", "read the idea from a file")
    .option("-y, --yes", "do not ask before a paid run");
  return withCompany(withReach(given).option("--allow-unpriced", "let --budget stand with a model whose price is not known"));
}

/** How the company works. */
function withCompany(command: Command): Command {
  return withTalk(
    withStoreOption(
      withBounds(command, true)
        .option("-o, --out <dir>", "where the project goes (default ./workspace/<name>)")
        .option("--force", "work in a folder that holds files; they stay unless the company writes them anew")
        .option("--seed <seed>", "decides everything that is random")
        .option("--sandbox <mode>", "where the project's tests run: auto, bubblewrap or none (default auto)")
        .option("--no-code-review", "skip the reviews")
        .option("--no-run-tests", "write the tests and do not run them"),
    ),
  );
}
