import { z } from "zod";
import { takes } from "../kernel/argument.ts";
import { checkGivenOptions } from "../kernel/known-options.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, toolOutput, type ToolResult } from "../tool/tool-result.ts";
import { visible } from "../workspace/path-rules.ts";
import { Turns } from "../workspace/workspace.ts";
import { aMachine, commandResult, type CommandToolOptions, commandToolOptions, commandTraits, keepChanges } from "./command.ts";
import { runCommand, START } from "./sandboxed-command.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 60;
const MAX_TIMEOUT = 600;

const DESCRIPTION =
  "Runs a command with a POSIX sh in the project's folder, inside a sandbox (usually without network), and returns its exit code, stdout and stderr. " +
  "The working folder and exported variables last from one command to the next; shell functions, aliases and background processes end with " +
  "their command. Standard input is empty. Files that a command writes or removes in the project are written or removed there, at most 1 MiB each; " +
  ".git and node_modules are not. Other files, such as those in /tmp, are gone after the command. " +
  "A new file that begins with #! can be executed; chmod has no lasting effect.";

const parameters = z.object({
  command: z.string().optional().describe("The command, as typed into a shell. May have several lines."),
  timeout: z.number().int().min(1).max(MAX_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
  restart: z.boolean().default(false).describe("Begin at the project's root with a fresh environment, before the command if there is one."),
});

/** Makes a shell for an agent's run. Each command works in a copy of the project; its folder and exported variables last. */
export function shellTool(options: CommandToolOptions): Tool {
  checkGivenOptions("shellTool", options, commandToolOptions);
  takes("shellTool", "options", options, aMachine);
  const sessions = new ToolStates(() => new ShellSession(options));
  return defineTool({
    name: "shell",
    description: DESCRIPTION,
    parameters,
    ...commandTraits(MAX_TIMEOUT),
    execute: (args, ctx) => sessions.of(ctx).run(args, ctx),
  });
}

/** One agent's shell. It owns the folder and the environment; commands run one at a time, in their order. */
class ShellSession {
  readonly #options: CommandToolOptions;
  readonly #files: ToolFiles;
  readonly #turns = new Turns();
  #state = START;

  constructor(options: CommandToolOptions) {
    this.#options = options;
    this.#files = new ToolFiles(options.workspace);
  }

  run({ command, timeout, restart }: z.infer<typeof parameters>, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(async () => {
      if (restart) this.#state = START;
      if (command !== undefined) return this.#command(command, timeout, ctx);
      return restart ? toolOutput("The shell is at the project's root, with a fresh environment.") : toolFailure("Expected a command.");
    });
  }

  async #command(text: string, timeout: number, ctx: ToolContext): Promise<ToolResult> {
    const { workspace, sandbox, refuse } = this.#options;
    const before = this.#state;
    const ran = await runCommand(sandbox, workspace.root, { program: "sh", text, state: before, timeout: timeout * 1000 }, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
    const { report } = ran.recorded;
    const { cwd } = (this.#state = report.left ?? before);
    const kept = await keepChanges(this.#files, ctx, ran, refuse);
    const notes = report.isThere ? [] : [`The folder ${visible(before.cwd)} was not there; the command ran in the project's root.`];
    const moved = cwd === before.cwd ? [] : [`The working folder is now ${cwd === "" ? "the project's root" : visible(cwd)}.`];
    return commandResult(report, kept, timeout, { notes: [...notes, ...moved], cwd });
  }
}
