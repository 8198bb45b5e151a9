import { walkFiles } from "../workspace/folders.ts";
import { isHidden, visible, visibleLines } from "../workspace/path-rules.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";
import { type Job, runJobs } from "./jobs.ts";
import type { StackName } from "./stacks.ts";
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
/** The exit codes of the drivers that load modules. */
const LOADED = 85;
const THREW = 86;

/** Modules that are started by themselves, or by a tool. */
const LEFT_OUT =
  /(^|\/)(tests?|__tests__|scripts|bench(marks)?|examples?|fixtures?|\.[^/]*)\/|(^|\/)(__main__|setup|conftest|test_[^/]*|[^/]*_test)\.py$|\.(test|spec|config)\.[cm]?js$/;

/**
 * * Loads the modules of a project in the sandbox and finds those that throw while they are loaded. Modules for
 * pages are not loaded.
 */
export async function checkImports({ root, sandbox, stack, signal }: ImportsRequest): Promise<Fault[]> {
  if (stack === "page") return [];
  const { files } = await walkFiles(root, { skip: isHidden, limit: LISTED_FILES, signal });
  const ending = stack === "python" ? /^(?!.*-)[^.]+\.py$/ : /\.[cm]?js$/;
  const modules = files.filter((file) => ending.test(file) && !LEFT_OUT.test(file)).slice(0, MOST_MODULES);
  if (modules.length === 0) return [];
  const load = (each: readonly string[]): Job => ({ given: [], steps: [{ run: commandOf(sandbox, stack, each), exit: "any" }] });
  const limits = { root, sandbox, timeout: MODULE_TIMEOUT, signal };
  const [together] = await runJobs({ ...limits, jobs: [load(modules)] });
  // Nearly always: so a project costs one process.
  if (together?.kind === "ran" && together.steps[0]?.code === LOADED) return [];
  const reports = await runJobs({ ...limits, jobs: modules.map((file) => load([file])) });
  return modules.flatMap((file, at): Fault[] => {
    const report = reports[at];
    const step = report?.kind === "ran" ? report.steps[0] : undefined;
    if (step?.code !== THREW) return [];
    return [
      { kind: "syntax", file: visible(file, 400), message: `It throws when it is loaded.\n${visibleLines(step.stderr.trim(), 800)}` },
    ];
  });
}

function commandOf(sandbox: Sandbox, stack: "node" | "python", files: readonly string[]): [string, ...string[]] {
  if (stack === "node") return ["node", driverIn(sandbox, "checks", "load-modules.mjs").path, ...files];
  const names = files.map((file) => file.replace(/^src\/|(\/__init__)?\.py$/g, "").replaceAll("/", "."));
  return ["python3", driverIn(sandbox, "checks", "load_modules.py").path, ...names];
}
