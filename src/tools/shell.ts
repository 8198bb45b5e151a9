import { z } from "zod";
import { takes } from "../kernel/argument.ts";
import { checkGivenOptions } from "../kernel/known-options.ts";
import { defineTool, type Tool, type ToolClosing, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { visible } from "../workspace/path-rules.ts";
import { Turns } from "../workspace/workspace.ts";
import { aMachine, commandResult, type CommandToolOptions, commandToolOptions, commandTraits, keepChanges } from "./command.ts";
import { type CommandOutcome, type CommandReport, runCommand, runSandboxed, type SandboxedCommand, START } from "./sandboxed-command.ts";
import { canStay, ShellProcess } from "./shell-process.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 60;
const MAX_TIMEOUT = 600;

const ABOUT =
  "Runs a command with a POSIX sh in the project's folder, inside a sandbox (usually without network), and returns its exit code, stdout and stderr. ";

const DESCRIPTION =
  ABOUT +
  "Commands run in one shell that stays: the working folder, variables, functions and processes in the background last from one command to the next, " +
  "until the shell ends, which you are told. Standard input is empty. Send a server to the background, its output to a file: `node server.js > log 2>&1 &`. " +
  "Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; .git and node_modules are not. " +
  "chmod +x lasts where a file begins with #!, and nowhere else.";

const DESCRIPTION_WITHOUT =
  ABOUT +
  "The working folder and exported variables last from one command to the next; shell functions, aliases and background processes end with " +
  "their command. Standard input is empty. Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; " +
  ".git and node_modules are not. Other files, such as those in /tmp, are gone after the command. " +
  "A new file that begins with #! can be executed; chmod has no lasting effect.";

const LOST =
  "The working folder and exported variables are as they were; other variables, functions, processes in the background and files outside the project are gone.";
const ENDED = `The shell has ended; the next command begins a new one. ${LOST}`;
const FIRST = "The shell is new and is at the project's root.";
const NEW = `The shell is new: the one before has ended. ${LOST}`;

const parameters = z.object({
  command: z.string().optional().describe("The command, as typed into a shell. May have several lines."),
  timeout: z.number().int().min(1).max(MAX_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
  restart: z.boolean().default(false).describe("Begin at the project's root with a fresh environment, before the command if there is one."),
});

/**
 * Makes a shell that stays for an agent's run, in a copy of the project that is kept equal to it. A resumed run begins a new one, in the
 * same folder with the same exported variables. Where the sandbox has no `start`, each command is a process of its own.
 */
export function shellTool(options: CommandToolOptions): Tool {
  checkGivenOptions("shellTool", options, commandToolOptions);
  takes("shellTool", "options", options, aMachine);
  const sessions = new ToolStates(() => new ShellSession(options));
  return defineTool({
    name: "shell",
    description: canStay(options.sandbox) ? DESCRIPTION : DESCRIPTION_WITHOUT,
    parameters,
    ...commandTraits(MAX_TIMEOUT),
    execute: (args, ctx) => sessions.of(ctx).run(args, ctx),
    close: ({ session }: ToolClosing) => (session === undefined ? undefined : sessions.of({ session }).close()),
  });
}

/**
 * One agent's shell. It owns the folder, the environment and the process; commands run one at a time, in their order.
 *
 * `ShellSession.S1` only a session that is closed has a process that stays (`#run`). `ShellSession.S2` a model is told once of each shell that has
 * ended: with the command that ended it, or with the next (`#shellNotes`).
 */
class ShellSession {
  readonly #options: CommandToolOptions;
  readonly #files: ToolFiles;
  readonly #turns = new Turns();
  #state = START;
  #process: ShellProcess | undefined;
  /** The note for the model where the next command begins a shell: a resumed run may have forgotten that there was one. */
  #newNote: string | undefined = FIRST;

  constructor(options: CommandToolOptions) {
    this.#options = options;
    this.#files = new ToolFiles(options.workspace);
  }

  run({ command, timeout, restart }: z.infer<typeof parameters>, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(async () => {
      if (restart) {
        await this.close();
        [this.#state, this.#newNote] = [START, undefined];
      }
      if (command !== undefined) return this.#command(command, timeout, ctx);
      return restart ? toolOutput("The shell is at the project's root, with a fresh environment.") : toolFailure("Expected a command.");
    });
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }

  async #command(text: string, timeout: number, ctx: ToolContext): Promise<ToolResult> {
    const before = this.#state;
    const command = { program: "sh", text, state: before, timeout: timeout * 1000 } as const;
    const ran = await runCommand((one, signal) => this.#run(one, signal, ctx.session), command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
    const { report } = ran.recorded;
    const { cwd } = (this.#state = report.left ?? before);
    const kept = await keepChanges(this.#files, ctx, ran, this.#options.refuse);
    const notes = report.isThere ? [] : [`The folder ${visible(before.cwd)} was not there; the command ran in the project's root.`];
    const moved = cwd === before.cwd ? [] : [`The working folder is now ${cwd === "" ? "the project's root" : visible(cwd)}.`];
    return commandResult(report, kept, timeout, { notes: [...notes, ...moved, ...this.#shellNotes(report)], cwd });
  }

  async #run(command: SandboxedCommand, signal: AbortSignal, session: object | undefined): Promise<CommandOutcome> {
    const { sandbox, workspace } = this.#options;
    if (!canStay(sandbox) || session === undefined) return runSandboxed(sandbox, workspace.root, command, signal);
    const files = await this.#process?.changes(signal);
    if (this.#process === undefined || files === undefined) {
      await this.close();
      this.#process = await ShellProcess.begin(sandbox, workspace.root, signal);
    }
    return this.#process.run(command, files, signal);
  }

  #shellNotes({ isNew, hasEnded }: CommandReport): string[] {
    if (isNew === undefined) return [];
    const notes = [...(isNew ? [this.#newNote] : []), ...(hasEnded === true ? [ENDED] : [])];
    this.#newNote = hasEnded === true ? undefined : NEW;
    return notes.filter((note) => note !== undefined);
  }
}
