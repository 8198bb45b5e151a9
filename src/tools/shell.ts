import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure, toolOutput } from "../tool/tool-result.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { visible } from "../workspace/path-rules.ts";
import { Turns } from "../workspace/workspace.ts";
import { commandResult, commandTraits, keepChanges, commandToolOptions, type CommandToolOptions } from "./command.ts";
import { type CommandOutcome, type FileChanges, runSandboxed, type SandboxedCommand, type ShellPlace } from "./sandboxed-command.ts";
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
  "The working folder and exported variables last from one command to the next; shell functions, aliases and background processes end with " +
  "their command. Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; .git and node_modules are not. " +
  "Other files, such as those in /tmp, are gone after the command. A new file that begins with #! can be executed; chmod has no lasting effect.";

const parameters = z.object({
  command: z.string().optional().describe("The command, as typed into a shell. May have several lines."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
  restart: z.boolean().default(false).describe("Begin at the project's root with a fresh environment, before the command if there is one."),
});

/**
 * Makes a shell whose working folder and exported variables last for the next command of the same agent. Each command is a process of its
 * own in the sandbox, on a copy of the project: no process stays behind, and a resumed run has the same state.
 */
export function shellTool(options: CommandToolOptions): Tool {
  checkGivenOptions("shellTool", options, commandToolOptions);
  const { workspace, sandbox, refuse } = options;
  const files = new ToolFiles(workspace);
  const sessions = new ToolStates(() => new ShellSession(sandbox, files, refuse));
  return defineTool({
    name: "shell",
    description: DESCRIPTION,
    parameters,
    ...commandTraits(LONGEST_TIMEOUT),
    execute: (args, ctx) => sessions.of(ctx).run(args, ctx),
  });
}

/** One agent's shell. It owns the state; commands run one at a time, in their order. */
class ShellSession {
  readonly #sandbox: Sandbox;
  readonly #files: ToolFiles;
  readonly #refuse: CommandToolOptions["refuse"];
  readonly #turns = new Turns();
  #place = START;

  constructor(sandbox: Sandbox, files: ToolFiles, refuse: CommandToolOptions["refuse"]) {
    this.#sandbox = sandbox;
    this.#files = files;
    this.#refuse = refuse;
  }

  run({ command, timeout, restart }: z.infer<typeof parameters>, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(async () => {
      if (restart) this.#place = START;
      if (command !== undefined) return this.#command(command, timeout, ctx);
      return restart ? toolOutput("The shell stands at the project's root, with a fresh environment.") : toolFailure("Expected a command.");
    });
  }

  async #command(text: string, timeout: number, ctx: ToolContext): Promise<ToolResult> {
    const command: SandboxedCommand = { program: "sh", text, place: this.#place, timeout: timeout * 1000 };
    const ran = await runStep(this.#sandbox, this.#files, command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
    const { report } = ran.recorded;
    const before = this.#place;
    this.#place = report.left ?? before;
    const kept = await keepChanges(this.#files, ctx, ran, this.#refuse);
    const notes = report.isThere ? [] : [`The folder ${visible(before.cwd)} was not there; the command ran in the project's root.`];
    const moved =
      this.#place.cwd === before.cwd
        ? []
        : [`The working folder is now ${this.#place.cwd === "" ? "the project's root" : visible(this.#place.cwd)}.`];
    return commandResult(report, kept, timeout, { notes: [...notes, ...moved], cwd: this.#place.cwd });
  }
}

/** Runs a command as one step: recorded with its outcome, and never repeated. */
export async function runStep(sandbox: Sandbox, files: ToolFiles, command: SandboxedCommand, ctx: ToolContext): Promise<RanCommand> {
  const { program, text, place, timeout } = command;
  const request = { program, text, cwd: place.cwd, env: place.env, timeout };
  let ran: CommandOutcome | undefined;
  const recorded = await ctx.step({ kind: "tool", name: "run in sandbox", request, idempotent: false }, async () => {
    ran = await runSandboxed(sandbox, files.workspace.root, command, ctx.signal);
    return ran;
  });
  return { recorded, changes: changesIn(ran) ?? changesIn(recorded), fromRecord: ran === undefined };
}

function changesIn(outcome: CommandOutcome | undefined): FileChanges | undefined {
  return outcome?.kind === "ran" ? outcome.report.changes : undefined;
}
