import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { aText, having, object, takes } from "../kernel/argument.ts";
import { TroupeError, WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { ioError } from "../workspace/folders.ts";
import { checkPath, isNormalPath, visible, visibleLines } from "../workspace/path-rules.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { type Criterion, criteriaShape } from "./acceptance.ts";
import { checkCommands } from "./commands.ts";
import { type Job, runJobs } from "./jobs.ts";
import { checkPages } from "./page-check.ts";
import { pageScripts } from "./page-scripts.ts";
import { filesIn, textIn } from "./project-text.ts";
import { checkReadme } from "./readme.ts";
import { spotCheck } from "./spot-check.ts";
import type { StackName } from "./stacks.ts";
import { stackNamed } from "./stacks.ts";
import { runSuites } from "./suites.ts";
import { checkSyntax } from "./syntax.ts";
import { findVacuous } from "./vacuous.ts";
import type { Fault, SuiteReport, Verdict, Verification } from "./verification.ts";

export interface VerifyRequest {
  readonly root: string;
  readonly sandbox: Sandbox;
  readonly criteria: readonly Criterion[];
  readonly stack?: StackName | undefined;
  /** Paths that must be there and not empty. */
  readonly planned?: readonly string[] | undefined;
  /** `quick`: syntax, tests, criteria and plan. `whole`: also loading of modules, the README, whether the tests can fail, and the page. */
  readonly depth: "syntax" | "criteria" | "quick" | "whole";
  /** Milliseconds for the tests of one language. Default 60,000. A criterion by commands has a quarter of it. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly progress?: ((line: string) => void) | undefined;
}

const verifyRequest: Known<VerifyRequest> = {
  root: kinds.text,
  sandbox: kinds.sandbox,
  criteria: criteriaShape,
  stack: kinds.text,
  planned: kinds.texts,
  depth: kinds.oneOf("syntax", "criteria", "quick", "whole"),
  timeout: kinds.milliseconds,
  signal: kinds.signal,
  progress: kinds.function,
};

const REQUIRED = { root: aText, sandbox: having("a sandbox", "run"), criteria: criteriaShape, depth: aText };
/** Milliseconds for the tests of one language, and the share of it for one criterion. */
const VERIFY_TIMEOUT = 60_000;
const CRITERION_SHARE = 0.25;

/**
 * Runs a project in the sandbox and reports what it proves, without a model: plain JSON without times and temporary paths.
 *
 * @throws ControlError when the signal aborts; UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`; WorkspaceError
 */
export async function verifyProject(request: VerifyRequest): Promise<Verification> {
  checkGivenOptions("verifyProject", request, verifyRequest);
  takes("verifyProject", "request", request, object("a request with root, sandbox, criteria and depth", REQUIRED));
  const refusal = await refusalOf(request);
  if (refusal !== undefined) return refused(request, refusal);
  try {
    return await verified(request);
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === "WORKSPACE_LIMIT") return refused(request, error.message);
    throw error;
  }
}

async function verified(request: VerifyRequest): Promise<Verification> {
  const { root, sandbox, criteria, stack, depth, signal, timeout = VERIFY_TIMEOUT, progress: say = () => undefined } = request;
  const project = { root, sandbox, signal };
  const isFull = depth === "quick" || depth === "whole";
  say("checks the syntax");
  const { faults: syntax, notRun } = depth === "criteria" ? { faults: [] } : await checkSyntax({ ...project, pages: pagesOf(request) });
  // Such as a project that is too large for the sandbox.
  if (notRun !== undefined) return refused(request, notRun);
  if (depth === "syntax") return { verdicts: [], suites: [], faults: syntax };
  if (isFull) say("runs the tests");
  const suites = isFull ? await runSuites({ ...project, timeout }) : [];
  say("checks the criteria");
  const { verdicts, faults: onPage } = await checkCriteria(request);
  const tests = isFull ? suiteFaults(suites, stack) : [];
  const plan = isFull ? await missingFiles(request) : [];
  const faults = [...syntax, ...tests, ...plan, ...onPage];
  if (depth !== "whole") return { verdicts, suites, faults };
  say("loads the modules and runs the commands of the README");
  const modules = stack === undefined ? [] : await checkImports(project, stack);
  // A file that cannot be parsed cannot be loaded either.
  const loaded = modules.filter(({ file }) => !syntax.some((fault) => fault.file === file));
  const readme = await checkReadme({ ...project, criteria });
  say("empties a function, and expects that the tests notice");
  const weak = await spotCheck({ ...project, suites, timeout });
  const held = await withoutVacuous({ sandbox, criteria, signal, timeout }, verdicts);
  return { verdicts: held, suites, faults: [...faults, ...loaded, ...readme, ...weak] };
}

async function refusalOf({ root, sandbox, signal }: VerifyRequest): Promise<string | undefined> {
  if (sandbox.kind !== "refused") return undefined;
  const result = await sandbox.run({ root, command: ["node", "--version"], signal });
  return result.kind === "refused" ? `${result.reason}. ${result.hint}`.trim() : undefined;
}

async function refused(request: VerifyRequest, reason: string): Promise<Verification> {
  const { depth, criteria } = request;
  const verdicts = depth === "syntax" ? [] : criteria.map((criterion) => judgedOrNot(criterion, reason));
  const faults = depth === "quick" || depth === "whole" ? await missingFiles(request) : [];
  return { verdicts, suites: [], faults, notChecked: reason };
}

async function checkCriteria(
  request: VerifyRequest,
): Promise<{ readonly verdicts: readonly Verdict[]; readonly faults: readonly Fault[] }> {
  const { root, sandbox, criteria, depth, signal, timeout = VERIFY_TIMEOUT } = request;
  const commands = await checkCommands({ root, sandbox, criteria, timeout: timeout * CRITERION_SHARE, signal });
  const pages = pagesOf(request) ?? [];
  const hasSteps = criteria.some(({ check }) => check.kind === "page");
  const open = pages === "all" ? undefined : await firstThere(root, pages);
  const isOpened = hasSteps || (pages === "all" && depth === "whole");
  const found = isOpened ? await checkPages({ root, sandbox, criteria, open, signal }) : { verdicts: [], faults: [] };
  const left = { command: [...commands], page: [...found.verdicts], judgement: [] };
  const verdicts = criteria.map((criterion) => left[criterion.check.kind].shift() ?? judgedOrNot(criterion, "It was not run."));
  return { verdicts, faults: found.faults };
}

/** The pages that must work when they are opened from the disk: all of a page, else those that criteria open. */
function pagesOf({ stack, criteria }: Pick<VerifyRequest, "stack" | "criteria">): "all" | readonly string[] | undefined {
  if (stack === "page") return "all";
  const steps = criteria.flatMap(({ check }) => (check.kind === "page" ? [check.steps] : []));
  if (steps.length === 0) return stack === undefined ? undefined : [];
  const opened = steps.flatMap((each) =>
    each.flatMap((step) => (step.do === "open" ? [(step.path ?? "").replace(/^\/+|[?#].*$/g, "")] : [])),
  );
  return [...new Set(["index.html", ...opened.map((path) => (/(^|\/)$/.test(path) ? `${path}index.html` : path))])];
}

async function firstThere(root: string, pages: readonly string[]): Promise<string | undefined> {
  for (const page of pages) if (isNormalPath(page) && (await textIn(root, page)) !== undefined) return page;
  return undefined;
}

async function withoutVacuous(
  { sandbox, criteria, signal, timeout }: Pick<VerifyRequest, "sandbox" | "criteria" | "signal"> & { readonly timeout: number },
  verdicts: readonly Verdict[],
): Promise<readonly Verdict[]> {
  const must = criteria.filter(({ priority }, at) => priority === "P0" && verdicts[at]?.outcome === "proven");
  if (must.some(({ check }) => check.kind !== "command")) return verdicts;
  const vacuous = await findVacuous({ sandbox, criteria: must, timeout: timeout * CRITERION_SHARE, signal });
  if (!must.every(({ id }) => vacuous.includes(id))) return verdicts;
  return verdicts.map((verdict) => {
    if (verdict.priority !== "P0" || !vacuous.includes(verdict.id)) return verdict;
    const evidence = `It holds without the project too, so it proves nothing. ${verdict.evidence}`;
    return { ...verdict, outcome: "not checked", by: "nothing", evidence };
  });
}

function judgedOrNot({ id, priority, check }: Criterion, reason: string): Verdict {
  return check.kind === "judgement"
    ? { id, priority, outcome: "judged", by: "judgement", evidence: check.reason }
    : { id, priority, outcome: "not checked", by: "nothing", evidence: reason };
}

const LANGUAGES = new Map([
  ["javascript", "JavaScript"],
  ["python", "Python"],
]);

function suiteFaults(suites: readonly SuiteReport[], stack: StackName | undefined): Fault[] {
  if (suites.length === 0 && stack !== undefined) {
    return [{ kind: "tests", message: `The project has no tests. Write some, such as ${stackNamed(stack).testPath}.` }];
  }
  return suites
    .filter(({ skipped }) => skipped > 0)
    .map(({ language, skipped, total }) => {
      const name = LANGUAGES.get(language) ?? language;
      return {
        kind: "tests",
        message: `${skipped} of ${total} tests in ${name} ${skipped === 1 ? "is" : "are"} skipped or expected to fail.`,
      };
    });
}

const MAX_FAULTS = 50;
const MAY_BE_EMPTY = /(^|\/)(__init__\.py|conftest\.py|py\.typed|\.gitkeep|\.nojekyll)$/;

async function missingFiles({ root, stack, planned = [] }: VerifyRequest): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const path of new Set([...(stack === undefined ? [] : stackNamed(stack).layout), ...planned])) {
    const message = await faultOf(root, path);
    if (message !== undefined && faults.length < MAX_FAULTS) faults.push({ kind: "plan", file: visible(path, 400), message });
  }
  return faults;
}

async function faultOf(root: string, path: string): Promise<string | undefined> {
  try {
    const stats = await ifThere(lstat(join(root, checkPath(path))));
    if (stats === undefined) return "It is planned, and is not there.";
    if (!stats.isFile()) return "It is planned as a file, and is none.";
    return stats.size === 0 && !MAY_BE_EMPTY.test(path) ? "It is planned, and is empty." : undefined;
  } catch (error) {
    if (TroupeError.isInstance(error)) return "Its path is not one of a file inside the project.";
    throw ioError(error, `read ${path}`, path);
  }
}

const MAX_MODULES = 40;
/** Milliseconds for one module. One that does not end, such as a server, is no fault. */
const MODULE_TIMEOUT = 3_000;
const LOADED = 85;
const THREW = 86;

/** Modules of Python that files of the same name would replace, in the checks too. Python runs the first two before every program. */
const OF_PYTHON =
  /^(?:src\/)?(?:sitecustomize|usercustomize|argparse|collections|csv|datetime|decimal|functools|hashlib|io|json|logging|math|os|pathlib|random|re|shutil|string|subprocess|tempfile|typing|unittest)(?:\.py|\/__init__\.py)$/;

const LEFT_OUT =
  /(^|\/)(tests?|__tests__|scripts|bench(marks)?|examples?|fixtures?|\.[^/]*)\/|(^|\/)(__main__|setup|conftest|test_[^/]*|[^/]*_test)\.py$|\.(test|spec|config)\.[cm]?js$/;

async function checkImports(
  { root, sandbox, signal }: Pick<VerifyRequest, "root" | "sandbox" | "signal">,
  stack: StackName,
): Promise<Fault[]> {
  if (stack !== "node" && stack !== "python") return [];
  const files = await filesIn(root, signal);
  const ending = stack === "python" ? /^(?!.*-)[^.]+\.py$/ : /\.[cm]?js$/;
  const replaced = files.filter((file) => OF_PYTHON.test(file));
  if (replaced.length > 0)
    return replaced.map((file) => ({
      kind: "syntax",
      file,
      message: "It has the name of a module of Python, which it replaces. Rename it.",
    }));
  const ofPages = await pageScripts(root, files);
  const modules = files.filter((file) => ending.test(file) && !LEFT_OUT.test(file) && !ofPages.has(file)).slice(0, MAX_MODULES);
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
