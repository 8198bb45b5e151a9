import { checkGivenOptions } from "../kernel/known-options.ts";
import { z } from "zod";
import { defineTool, type Tool, type ToolContext } from "../tool/tool.ts";
import { type ToolResult, toolFailure } from "../tool/tool-result.ts";
import { Turns } from "../workspace/workspace.ts";
import { commandResult, commandToolOptions, type CommandToolOptions, commandTraits, keepChanges } from "./command.ts";
import { runStep } from "./shell.ts";
import { ToolFiles, ToolStates } from "./tool-files.ts";

/** Seconds. */
const TIMEOUT = 30;
const LONGEST_TIMEOUT = 300;

const parameters = z.object({
  code: z.string().describe("The cell. What it prints is seen, and the value of its last expression."),
  timeout: z.number().int().min(1).max(LONGEST_TIMEOUT).default(TIMEOUT).describe("Seconds for this cell and the ones before it."),
  restart: z.boolean().default(false).describe("Forget all cells before this one."),
});

type CellArguments = z.infer<typeof parameters>;

const DESCRIPTION =
  "Runs a cell of Python 3 in the project's folder, inside a sandbox (usually without network). Names of earlier cells that succeeded are there, as in a " +
  "notebook: they run again before each cell, silently and with the same random numbers, so keep slow work in few cells and results in files. " +
  "Files that a cell writes reach the project, texts and others, such as charts as PNG: at most 1 MiB each.";

/**
 * Makes a tool that runs cells of Python with the names of the cells before. Each call is a process of its own that runs the earlier cells again:
 * the state needs no file, no package and no process that stays, and a resumed run rebuilds it from its record.
 */
export function pythonTool(options: CommandToolOptions): Tool {
  checkGivenOptions("pythonTool", options, commandToolOptions);
  const files = new ToolFiles(options.workspace);
  const notebooks = new ToolStates(() => new Notebook(options, files));
  return defineTool({
    name: "python",
    description: DESCRIPTION,
    parameters,
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
    const command = { program: "python", text: programOf(cells), place: { cwd: "", env: {} }, timeout: timeout * 1_000 } as const;
    const ran = await runStep(this.#options.sandbox, this.#files, command, ctx);
    if (ran.recorded.kind === "not run") return toolFailure(`${ran.recorded.reason} With restart: true the earlier cells are forgotten.`);
    const { report } = ran.recorded;
    if (report.code === 0) this.#cells = cells;
    return commandResult(report, await keepChanges(this.#files, ctx, ran, this.#options.refuse), timeout);
  }
}

/** A program that runs cells in one namespace, all but the last one silently, and shows the value of the last expression. */
function programOf(cells: readonly string[]): string {
  // A text of JSON within a text of JSON is a text of Python too.
  return `import ast, contextlib, io, json, random, sys, traceback
_cells = json.loads(${JSON.stringify(JSON.stringify(cells))})
_names = {"__name__": "__main__"}
random.seed(0)
def _run(n, show):
    tree = ast.parse(_cells[n], f"<cell {n + 1}>")
    last = tree.body.pop() if show and tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, f"<cell {n + 1}>", "exec"), _names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), f"<cell {n + 1}>", "eval"), _names)
        if value is not None:
            print(repr(value))
try:
    for _n in range(len(_cells) - 1):
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            _run(_n, False)
    _run(len(_cells) - 1, True)
except Exception as _error:
    _trace = _error.__traceback__
    while _trace is not None and not _trace.tb_frame.f_code.co_filename.startswith("<cell"):
        _trace = _trace.tb_next
    sys.stdout.flush()
    traceback.print_exception(type(_error), _error, _trace)
    sys.exit(1)
`;
}
