import { walkFiles } from "../workspace/folders.ts";
import { isHidden, visible, visibleLines } from "../workspace/path-rules.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";
import { type Job, runJobs } from "./jobs.ts";
import type { StackName } from "./stack.ts";
import type { Fault } from "./verification.ts";

/** A project whose modules to load. */
export interface ImportsRequest {
  /** The project's folder. */
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly stack: StackName;
  readonly signal?: AbortSignal | undefined;
}

/** Most modules that are loaded. */
const MOST_MODULES = 40;
/** Milliseconds for one module. One that does not end, such as a server, is no fault. */
const MODULE_TIMEOUT = 3_000;
/** The exit code of a module that threw. */
const THREW = 86;

const LOAD_SCRIPT = `const { pathToFileURL } = require("node:url"), { resolve } = require("node:path");
import(pathToFileURL(resolve(process.argv[1])).href).then(() => process.exit(0), (error) => { console.error(error); process.exit(${THREW}); });`;
const LOAD_PYTHON = `import importlib, sys, traceback
try: importlib.import_module(sys.argv.pop(1))
except Exception:
    traceback.print_exc(limit=-3)
    sys.exit(${THREW})`;

/** Modules that are started by themselves, or by a tool. */
const LEFT_OUT =
  /(^|\/)(tests?|__tests__|scripts|bench(marks)?|examples?|fixtures?|\.[^/]*)\/|(^|\/)(__main__|setup|conftest|test_[^/]*|[^/]*_test)\.py$|\.(test|spec|config)\.[cm]?js$/;

/**
 * Loads the modules of a project in the sandbox, each in a process of its own, and finds those that throw while they are loaded. Modules for
 * pages are not loaded.
 *
 * @throws ControlError when the signal aborts.
 * @throws WorkspaceError when the project cannot be read.
 */
export async function checkImports({ root, sandbox, stack, signal }: ImportsRequest): Promise<Fault[]> {
  if (stack === "page") return [];
  const { files } = await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal });
  const ending = stack === "python" ? /^(?!.*-)[^.]+\.py$/ : /\.[cm]?js$/;
  const modules = files.filter((file) => ending.test(file) && !LEFT_OUT.test(file)).slice(0, MOST_MODULES);
  if (modules.length === 0) return [];
  const jobs = modules.map((file): Job => ({ given: [], steps: [{ run: commandOf(stack, file), exit: "any" }] }));
  const reports = await runJobs({ root, sandbox, jobs, timeout: MODULE_TIMEOUT, signal });
  return modules.flatMap((file, at): Fault[] => {
    const report = reports[at];
    const step = report?.kind === "ran" ? report.steps[0] : undefined;
    if (step?.code !== THREW) return [];
    return [
      { kind: "syntax", file: visible(file, 400), message: `It throws when it is loaded.\n${visibleLines(step.stderr.trim(), 800)}` },
    ];
  });
}

function commandOf(stack: "node" | "python", file: string): [string, ...string[]] {
  if (stack === "node") return ["node", "--input-type=commonjs", "-e", LOAD_SCRIPT, "--", file];
  const path = file
    .replace(/^src\//, "")
    .replace(/\.py$/, "")
    .replace(/\/__init__$/, "");
  return ["python3", "-c", LOAD_PYTHON, path.replaceAll("/", ".")];
}
