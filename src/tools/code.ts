import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure } from "../tool/tool-result.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { Turns } from "../workspace/workspace.ts";
import { commandResult, commandTraits, keepChanges, commandToolOptions, type CommandToolOptions } from "./command.ts";
import { runSandboxed } from "./sandboxed-command.ts";
import { runStep } from "./shell.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 5;
const LONGEST_TIMEOUT = 300;

const parameters = z.object({
  language: z.enum(["javascript", "python"]),
  code: z.string().describe("The whole program. Only what it prints is seen: print what you want to know."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
});

type CodeArguments = z.infer<typeof parameters>;

/** Makes a tool that runs a program in JavaScript or Python: each call is a process of its own in the sandbox, in a copy of the project. */
export function codeTool(options: CommandToolOptions): Tool {
  checkGivenOptions("codeTool", options, commandToolOptions);
  const { workspace, sandbox, refuse } = options;
  const files = new ToolFiles(workspace);
  return defineTool({
    name: "code",
    description:
      "Runs a program in JavaScript (Node.js, `import` and `require` both work) or Python 3 in the project's folder, inside a sandbox (usually without network), " +
      "and tells its exit code, stdout and stderr. Nothing lasts from one call to the next but the files it writes in the project.",
    parameters,
    ...commandTraits(LONGEST_TIMEOUT),
    execute: (args, ctx) => runCode({ sandbox, files, refuse }, args, ctx),
  });
}

async function runCode(
  { sandbox, files, refuse }: { readonly sandbox: Sandbox; readonly files: ToolFiles; readonly refuse: CommandToolOptions["refuse"] },
  { language, code, timeout }: CodeArguments,
  ctx: ToolContext,
): Promise<ToolResult> {
  const program = language === "python" ? "python" : "node";
  const command = { program, text: code, place: { cwd: "", env: {} }, timeout: timeout * 1000 } as const;
  const ran = await runStep((one, signal) => runSandboxed(sandbox, files.workspace.root, one, signal), command, ctx);
  if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
  return commandResult(ran.recorded.report, await keepChanges(files, ctx, ran, refuse), timeout);
}

/** Seconds. */
const CELL_TIMEOUT = 30;

const cellParameters = z.object({
  code: z.string().describe("The cell. What it prints is seen, and the value of its last expression."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(CELL_TIMEOUT).describe("Seconds for this cell and the ones before it."),
  restart: z.boolean().default(false).describe("Forget all cells before this one."),
});

type CellArguments = z.infer<typeof cellParameters>;

const CELLS =
  "Runs a cell of Python 3 in the project's folder, inside a sandbox (usually without network). Names of earlier cells that succeeded are there, as in a " +
  "notebook: they run again before each cell, silently and with the same random numbers, so keep slow work in few cells and results in files. " +
  "Files that a cell writes reach the project, texts and others, such as charts as PNG: at most 1 MiB each.";

/** Makes a tool that runs cells of Python with the names of the cells before: each call runs the earlier cells again. */
export function pythonTool(options: CommandToolOptions): Tool {
  checkGivenOptions("pythonTool", options, commandToolOptions);
  const files = new ToolFiles(options.workspace);
  const notebooks = new ToolStates(() => new Notebook(options, files));
  return defineTool({
    name: "python",
    description: CELLS,
    parameters: cellParameters,
    ...commandTraits(LONGEST_TIMEOUT),
    execute: (args, ctx) => notebooks.of(ctx).run(args, ctx),
  });
}

/**
 * The cells of one agent. It owns the list of those that succeeded.
 *
 * Notebook.N1 (`#run`): a cell that fails leaves no name behind.
 * Notebook.N2 (`run`): cells run one after another, in their order.
 */
class Notebook {
  readonly #options: CommandToolOptions;
  readonly #files: ToolFiles;
  readonly #turns = new Turns();
  #cells: readonly string[] = [];

  constructor(options: CommandToolOptions, files: ToolFiles) {
    this.#options = options;
    this.#files = files;
  }

  run(args: CellArguments, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(() => this.#run(args, ctx));
  }

  async #run({ code, timeout, restart }: CellArguments, ctx: ToolContext): Promise<ToolResult> {
    if (code.trim() === "") return toolFailure("Expected a cell, got nothing but space.");
    const cells = [...(restart ? [] : this.#cells), code];
    const command = { program: "cells", text: JSON.stringify(cells), place: { cwd: "", env: {} }, timeout: timeout * 1_000 } as const;
    const { sandbox, workspace } = this.#options;
    const ran = await runStep((one, signal) => runSandboxed(sandbox, workspace.root, one, signal), command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(`${ran.recorded.reason} With restart: true the earlier cells are forgotten.`);
    const { report } = ran.recorded;
    if (report.code === 0) this.#cells = cells;
    return commandResult(report, await keepChanges(this.#files, ctx, ran, this.#options.refuse), timeout);
  }
}
