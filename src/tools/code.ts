import { z } from "zod";
import { checkGivenOptions } from "../kernel/known-options.ts";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { toolFailure, type ToolResult } from "../tool/tool-result.ts";
import { Turns } from "../workspace/workspace.ts";
import { commandResult, type CommandToolOptions, commandToolOptions, commandTraits, keepChanges } from "./command.ts";
import { runCommand, runSandboxed, START } from "./sandboxed-command.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 5;
const MAX_TIMEOUT = 300;

const parameters = z.object({
  language: z.enum(["javascript", "python"]),
  code: z.string().describe("The whole program. Only what it prints is seen: print what you want to know."),
  timeout: z.number().int().min(1).max(MAX_TIMEOUT).default(TIMEOUT).describe("Seconds after which it is killed with all it started."),
});

/** Makes a tool that runs a program in JavaScript or Python: each call is a process of its own in the sandbox, in a copy of the project. */
export function codeTool(options: CommandToolOptions): Tool {
  checkGivenOptions("codeTool", options, commandToolOptions);
  const { workspace, sandbox, refuse } = options;
  const files = new ToolFiles(workspace);
  return defineTool({
    name: "code",
    description:
      "Runs a program in JavaScript (Node.js, `import` and `require` both work) or Python 3 in the project's folder, inside a sandbox (usually without network), " +
      "and returns its exit code, stdout and stderr. Nothing lasts from one call to the next but the files it writes in the project.",
    parameters,
    ...commandTraits(MAX_TIMEOUT),
    execute: async ({ language, code, timeout }, ctx) => {
      const program = language === "python" ? "python" : "node";
      const command = { program, text: code, state: START, timeout: timeout * 1000 } as const;
      const ran = await runCommand((one, signal) => runSandboxed(sandbox, workspace.root, one, signal), command, ctx);
      if (ran.recorded.kind === "not run") return toolFailure(ran.recorded.reason);
      return commandResult(ran.recorded.report, await keepChanges(files, ctx, ran, refuse), timeout);
    },
  });
}

/** Seconds. */
const CELL_TIMEOUT = 30;

const cellParameters = z.object({
  code: z.string().describe("The cell. What it prints is seen, and the value of its last expression."),
  timeout: z.number().int().min(1).max(MAX_TIMEOUT).default(CELL_TIMEOUT).describe("Seconds for this cell and the ones before it."),
  restart: z.boolean().default(false).describe("Forget all cells before this one."),
});

const CELLS =
  "Runs a cell of Python 3 in the project's folder, inside a sandbox (usually without network). Names of earlier cells that succeeded are there, as in a " +
  "notebook: they run again before each cell, silently and with the same random numbers, so keep slow work in few cells and results in files. " +
  "Files that a cell writes reach the project, texts and others, such as charts as PNG: at most 1 MiB each.";

/** Makes a tool that runs cells of Python with the names of the cells before: each call runs the earlier cells again. */
export function pythonTool(options: CommandToolOptions): Tool {
  checkGivenOptions("pythonTool", options, commandToolOptions);
  const notebooks = new ToolStates(() => new Notebook(options));
  return defineTool({
    name: "python",
    description: CELLS,
    parameters: cellParameters,
    ...commandTraits(MAX_TIMEOUT),
    execute: (args, ctx) => notebooks.of(ctx).run(args, ctx),
  });
}

/** The cells of one agent. Notebook.N1 (`#run`) a cell that fails leaves no name behind. Notebook.N2 (`run`) cells run in their order. */
class Notebook {
  readonly #options: CommandToolOptions;
  readonly #turns = new Turns();
  #cells: readonly string[] = [];

  constructor(options: CommandToolOptions) {
    this.#options = options;
  }

  run(args: z.infer<typeof cellParameters>, ctx: ToolContext): Promise<ToolResult> {
    return this.#turns.take(() => this.#run(args, ctx));
  }

  async #run({ code, timeout, restart }: z.infer<typeof cellParameters>, ctx: ToolContext): Promise<ToolResult> {
    if (code.trim() === "") return toolFailure("Expected a cell, got nothing but space.");
    const { sandbox, workspace, refuse } = this.#options;
    const cells = [...(restart ? [] : this.#cells), code];
    const command = { program: "cells", text: JSON.stringify(cells), state: START, timeout: timeout * 1_000 } as const;
    const ran = await runCommand((one, signal) => runSandboxed(sandbox, workspace.root, one, signal), command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(`${ran.recorded.reason} With restart: true the earlier cells are forgotten.`);
    const { report } = ran.recorded;
    if (report.code === 0) this.#cells = cells;
    return commandResult(report, await keepChanges(new ToolFiles(workspace), ctx, ran, refuse), timeout);
  }
}
