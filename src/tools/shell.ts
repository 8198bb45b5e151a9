import { takes } from "../kernel/argument.ts";
import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolClosing, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure, toolOutput } from "../tool/tool-result.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { visible } from "../workspace/path-rules.ts";
import { Turns } from "../workspace/workspace.ts";
import { aMachine, commandResult, commandTraits, keepChanges, commandToolOptions, type CommandToolOptions } from "./command.ts";
import {
  type CommandOutcome,
  type CommandReport,
  type FileChanges,
  runSandboxed,
  type SandboxedCommand,
  type ShellPlace,
} from "./sandboxed-command.ts";
import { canStay, ShellProcess } from "./shell-process.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

interface RanCommand {
  /** Without secrets, as in the record: results and state are the same live and from there. */
  readonly recorded: CommandOutcome;
  /** The changes, with secrets if the command ran now. */
  readonly changes: FileChanges | undefined;
  readonly fromRecord: boolean;
}

/** Seconds. */
const TIMEOUT = 60;
const LONGEST_TIMEOUT = 600;
const START: ShellPlace = { cwd: "", env: {} };

const DESCRIPTION =
  "Runs a command with a POSIX sh in the project's folder, inside a sandbox (usually without network), and tells its exit code, stdout and stderr. " +
  "Commands run in one shell that stays: the working folder, variables, functions and processes in the background last from one command to the next, " +
  "until the shell ends, which you are told. Standard input is empty. Send a server to the background, its output to a file: `node server.js > log 2>&1 &`. " +
  "Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; .git and node_modules are not. " +
  "A new file that begins with #! can be executed; chmod has no lasting effect.";

const DESCRIPTION_WITHOUT =
  "Runs a command with a POSIX sh in the project's folder, inside a sandbox (usually without network), and tells its exit code, stdout and stderr. " +
  "The working folder and exported variables last from one command to the next; shell functions, aliases and background processes end with " +
  "their command. Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; .git and node_modules are not. " +
  "Other files, such as those in /tmp, are gone after the command. A new file that begins with #! can be executed; chmod has no lasting effect.";

const LOST =
  "The working folder and exported variables are as they were; other variables, functions and processes in the background are gone.";
const ENDED = `The shell has ended; the next command begins a new one. ${LOST}`;
const FIRST = "The shell is new and stands at the project's root.";
const NEW = `The shell is new: the one before has ended. ${LOST}`;

const parameters = z.object({
  command: z.string().optional().describe("The command, as typed into a shell. May have several lines."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
  restart: z.boolean().default(false).describe("Begin at the project's root with a fresh environment, before the command if there is one."),
});

/**
 * Makes a shell that stays for an agent's run, in a copy of the project that is kept equal to it. A resumed run begins a new one, in the
 * same folder with the same exported variables. Where the sandbox has no `start`, each command is a process of its own.
 */
export function shellTool(options: CommandToolOptions): Tool {
  checkGivenOptions("shellTool", options, commandToolOptions);
  takes("shellTool", "options", options, aMachine);
  const { workspace, sandbox, refuse } = options;
  const files = new ToolFiles(workspace);
  const sessions = new ToolStates(() => new ShellSession(sandbox, files, refuse));
  return defineTool({
    name: "shell",
    description: sandbox.start === undefined ? DESCRIPTION_WITHOUT : DESCRIPTION,
    parameters,
    ...commandTraits(LONGEST_TIMEOUT),
    execute: (args, ctx) => sessions.of(ctx).run(args, ctx),
    close: (closing: ToolClosing | undefined) =>
      closing?.session === undefined ? undefined : sessions.of({ session: closing.session }).close(),
  });
}

/**
 * One agent's shell. It owns the state; commands run one at a time, in their order.
 *
 * `ShellSession.S1` only a session that is closed has a process that stays (`#runner`). `ShellSession.S2` a model is told once of each shell that is
 * gone: with the command that ended it, or with the next (`#shellNotes`).
 */
class ShellSession {
  readonly #sandbox: Sandbox;
  readonly #files: ToolFiles;
  readonly #refuse: CommandToolOptions["refuse"];
  readonly #turns = new Turns();
  #place = START;
  #process: ShellProcess | undefined;
  /** What the model knows of the shell: nothing, perhaps because a resumed run has forgotten it; that it ended; or that it is there. */
  #known: "nothing" | "ended" | "there" = "nothing";

  constructor(sandbox: Sandbox, files: ToolFiles, refuse: CommandToolOptions["refuse"]) {
    this.#sandbox = sandbox;
    this.#files = files;
    this.#refuse = refuse;
  }

  run({ command, timeout, restart }: z.infer<typeof parameters>, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(async () => {
      if (restart) await this.#restart();
      if (command !== undefined) return this.#command(command, timeout, ctx);
      return restart ? toolOutput("The shell stands at the project's root, with a fresh environment.") : toolFailure("Expected a command.");
    });
  }

  async close(): Promise<void> {
    await this.#process?.close();
  }

  async #restart(): Promise<void> {
    await this.close();
    this.#place = START;
    this.#known = "ended";
  }

  async #command(text: string, timeout: number, ctx: ToolContext): Promise<ToolResult> {
    const command: SandboxedCommand = { program: "sh", text, place: this.#place, timeout: timeout * 1000 };
    const ran = await runStep(this.#runner(ctx), command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
    const { report } = ran.recorded;
    const before = this.#place;
    this.#place = report.left ?? before;
    const kept = await keepChanges(this.#files, ctx, ran, this.#refuse);
    if (!ran.fromRecord && ran.changes !== undefined) this.#process?.keep(ran.changes, kept);
    const notes = report.isThere ? [] : [`The folder ${visible(before.cwd)} was not there; the command ran in the project's root.`];
    const moved =
      this.#place.cwd === before.cwd
        ? []
        : [`The working folder is now ${this.#place.cwd === "" ? "the project's root" : visible(this.#place.cwd)}.`];
    return commandResult(report, kept, timeout, { notes: [...notes, ...moved, ...this.#shellNotes(report)], cwd: this.#place.cwd });
  }

  #runner({ session }: ToolContext): CommandRunner {
    const { root } = this.#files.workspace;
    const sandbox = this.#sandbox;
    if (!canStay(sandbox) || session === undefined) return (command, signal) => runSandboxed(sandbox, root, command, signal);
    const staying = (this.#process ??= new ShellProcess(sandbox, root));
    return (command, signal) => staying.run(command, signal);
  }

  #shellNotes({ isNew, hasEnded }: CommandReport): string[] {
    if (isNew === undefined) return [];
    const news = isNew ? { nothing: [FIRST], ended: [], there: [NEW] }[this.#known] : [];
    this.#known = hasEnded === true ? "ended" : "there";
    return [...news, ...(hasEnded === true ? [ENDED] : [])];
  }
}

export type CommandRunner = (command: SandboxedCommand, signal: AbortSignal) => Promise<CommandOutcome>;

/** Runs a command as one step: recorded with its outcome, and never repeated. */
export async function runStep(run: CommandRunner, command: SandboxedCommand, ctx: ToolContext): Promise<RanCommand> {
  const { program, text, place, timeout } = command;
  const request = { program, text, cwd: place.cwd, env: place.env, timeout };
  let ran: CommandOutcome | undefined;
  const recorded = await ctx.step({ kind: "tool", name: "run in sandbox", request, idempotent: false }, async () => {
    ran = await run(command, ctx.signal);
    return ran;
  });
  return { recorded, changes: changesIn(ran) ?? changesIn(recorded), fromRecord: ran === undefined };
}

function changesIn(outcome: CommandOutcome | undefined): FileChanges | undefined {
  return outcome?.kind === "ran" ? outcome.report.changes : undefined;
}
