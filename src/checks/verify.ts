import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { aText, having, object, takes } from "../kernel/argument.ts";
import { TroupeError, WorkspaceError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { ifThere } from "../kernel/system-error.ts";
import { ioError, walkFiles } from "../workspace/folders.ts";
import { checkPath, isHidden, visible, visibleLines } from "../workspace/path-rules.ts";
import { driverIn } from "../workspace/sandbox-mounts.ts";
import type { Sandbox } from "../workspace/sandbox.ts";
import { LISTED_FILES } from "../workspace/workspace.ts";
import { type Criterion, criteriaShape } from "./acceptance.ts";
import { checkCommands } from "./commands.ts";
import { type Job, runJobs } from "./jobs.ts";
import { checkPages } from "./page-check.ts";
import { checkReadme } from "./readme.ts";
import { spotCheck } from "./spot-check.ts";
import type { StackName } from "./stacks.ts";
import { stackNamed } from "./stacks.ts";
import { runSuites } from "./suites.ts";
import { checkSyntax, type SyntaxReport } from "./syntax.ts";
import { findVacuous } from "./vacuous.ts";
import type { Fault, SuiteReport, Verdict, Verification } from "./verification.ts";

/** A project to verify. */
export interface VerifyRequest {
  /** The project's folder. */
  readonly root: string;
  /** Where all of its code runs. One that refuses proves nothing. */
  readonly sandbox: Sandbox;
  readonly criteria: readonly Criterion[];
  /** The stack of the project. With it, tests and the files that every project of the stack has are expected. */
  readonly stack?: StackName | undefined;
  /** Paths that must be there and not empty. */
  readonly planned?: readonly string[] | undefined;
  /** `quick`: syntax, tests, criteria and plan. `whole`: also loading of modules, the README, whether the tests can fail, and the page. */
  readonly depth: "syntax" | "criteria" | "quick" | "whole";
  /** Results of depth `quick` for the same bytes and an equal request: depth `whole` then runs only what it adds. */
  readonly known?: Verification | undefined;
  /** Milliseconds for the tests of one language. Default 60,000. A criterion by commands has a quarter of it. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears what is done now, as a line for a screen. */
  readonly progress?: ((line: string) => void) | undefined;
}

const verifyRequest: Known<VerifyRequest> = {
  root: kinds.text,
  sandbox: kinds.sandbox,
  criteria: criteriaShape,
  stack: kinds.text,
  planned: kinds.texts,
  depth: kinds.oneOf("syntax", "criteria", "quick", "whole"),
  known: kinds.object,
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
  const say = (line: string): void => request.progress?.(line);
  const { depth, known: before } = request;
  if (depth === "whole" && before !== undefined) return completed(request, before, say);
  const isFull = depth === "quick" || depth === "whole";
  const { faults: syntax, notRun } = depth === "criteria" ? { faults: [] } : await syntaxOf(request, say);
  // Such as a project that is too large for the sandbox.
  if (notRun !== undefined) return refused(request, notRun);
  if (depth === "syntax") return { verdicts: [], suites: [], faults: syntax };
  const suites = isFull ? await suitesOf(request, say) : [];
  const criteria = await checkCriteria(request, say);
  const tests = isFull ? suiteFaults(suites, request.stack) : [];
  const plan = isFull ? await missingFiles(request) : [];
  const more = depth === "whole" ? await wholeFaults(request, suites, say) : [];
  return { verdicts: criteria.verdicts, suites, faults: joined([...syntax, ...tests, ...plan, ...criteria.faults], more) };
}

/** A file that cannot be parsed cannot be loaded either. */
function joined(faults: readonly Fault[], more: readonly Fault[]): Fault[] {
  const unreadable = new Set(faults.flatMap(({ kind, file }) => (kind === "syntax" ? [file] : [])));
  return [...faults, ...more.filter(({ kind, file }) => kind !== "syntax" || !unreadable.has(file))];
}

/** A quick verification with what a whole one adds. */
async function completed(request: VerifyRequest, before: Verification, say: Say): Promise<Verification> {
  const { root, sandbox, criteria, signal } = request;
  const page = request.stack === undefined ? undefined : stackNamed(request.stack).page;
  const isOpened = page === undefined || criteria.some(({ check }) => check.kind === "page");
  const opened = isOpened ? [] : (await checkPages({ root, sandbox, criteria: [], open: page, signal })).faults;
  const verdicts = await withoutVacuous(request, before.verdicts);
  return { ...before, verdicts, faults: joined([...before.faults, ...opened], await wholeFaults(request, before.suites, say)) };
}

type Say = (line: string) => void;

function syntaxOf({ root, sandbox, stack, signal }: VerifyRequest, say: Say): Promise<SyntaxReport> {
  say("checks the syntax");
  return checkSyntax({ root, sandbox, stack, signal });
}

function suitesOf({ root, sandbox, signal, timeout = VERIFY_TIMEOUT }: VerifyRequest, say: Say): Promise<SuiteReport[]> {
  say("runs the tests");
  return runSuites({ root, sandbox, timeout, signal });
}

function missingFiles({ root, stack, planned = [] }: VerifyRequest): Promise<Fault[]> {
  return planFaults(root, [...(stack === undefined ? [] : stackNamed(stack).layout), ...planned]);
}

/** Why nothing can be run; undefined when something can. */
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

/** The verdicts in the order of the criteria, and the errors of the page that was opened for them. */
async function checkCriteria(
  request: VerifyRequest,
  say: Say,
): Promise<{ readonly verdicts: readonly Verdict[]; readonly faults: readonly Fault[] }> {
  const { root, sandbox, criteria, stack, depth, signal, timeout = VERIFY_TIMEOUT } = request;
  say("checks the criteria");
  const commands = await checkCommands({ root, sandbox, criteria, timeout: timeout * CRITERION_SHARE, signal });
  const opens = criteria.some(({ check }) => check.kind === "page");
  const page = stack === undefined ? undefined : stackNamed(stack).page;
  const isOpened = opens || (depth === "whole" && page !== undefined);
  const pages = isOpened ? await checkPages({ root, sandbox, criteria, open: page, signal }) : { verdicts: [], faults: [] };
  const left = { command: [...commands], page: [...pages.verdicts], judgement: [] };
  const verdicts = criteria.map((criterion) => left[criterion.check.kind].shift() ?? judgedOrNot(criterion, "It was not run."));
  return { verdicts: depth === "whole" ? await withoutVacuous(request, verdicts) : verdicts, faults: pages.faults };
}

/** Unproven where every criterion of P0 holds without the project too. One beside others may be a prohibition. */
async function withoutVacuous(
  { sandbox, criteria, signal, timeout = VERIFY_TIMEOUT }: VerifyRequest,
  verdicts: readonly Verdict[],
): Promise<readonly Verdict[]> {
  const must = criteria.filter(({ priority }, at) => priority === "P0" && verdicts[at]?.outcome === "proven");
  if (must.some(({ check }) => check.kind !== "command")) return verdicts;
  const vacuous = new Set(await findVacuous({ sandbox, criteria: must, timeout: timeout * CRITERION_SHARE, signal }));
  if (!must.every(({ id }) => vacuous.has(id))) return verdicts;
  const evidence = (verdict: Verdict): string => `It holds without the project too, so it proves nothing. ${verdict.evidence}`;
  const isVacuous = ({ priority, id }: Verdict): boolean => priority === "P0" && vacuous.has(id);
  return verdicts.map((verdict) =>
    isVacuous(verdict) ? { ...verdict, outcome: "not checked", by: "nothing", evidence: evidence(verdict) } : verdict,
  );
}

function judgedOrNot({ id, priority, check }: Criterion, reason: string): Verdict {
  return check.kind === "judgement"
    ? { id, priority, outcome: "judged", by: "judgement", evidence: check.reason }
    : { id, priority, outcome: "not checked", by: "nothing", evidence: reason };
}

/** The faults of tests that all pass. */
function suiteFaults(suites: readonly SuiteReport[], stack: StackName | undefined): Fault[] {
  if (suites.length === 0 && stack !== undefined) {
    return [{ kind: "tests", message: `The project has no tests. Write some, such as ${stackNamed(stack).testPath}.` }];
  }
  return suites.flatMap(({ language, skipped, total }): Fault[] =>
    skipped === 0
      ? []
      : [
          {
            kind: "tests",
            message: `${skipped} of ${total} tests in ${languageNames[language]} ${skipped === 1 ? "is" : "are"} skipped or expected to fail.`,
          },
        ],
  );
}

const languageNames = { javascript: "JavaScript", python: "Python" };

async function wholeFaults(request: VerifyRequest, suites: readonly SuiteReport[], say: Say): Promise<Fault[]> {
  const project = projectOf(request);
  if (request.stack !== undefined) say("loads the modules");
  const modules = request.stack === undefined ? [] : await checkImports({ ...project, stack: request.stack });
  say("runs the commands of the README");
  const readme = await checkReadme(project);
  say("breaks a function, and expects that the tests notice");
  const weak = await spotCheck({ ...project, suites, timeout: request.timeout ?? VERIFY_TIMEOUT });
  return [...modules, ...readme, ...weak];
}

type ProjectParts = Pick<VerifyRequest, "root" | "sandbox" | "signal">;

function projectOf({ root, sandbox, signal }: VerifyRequest): ProjectParts {
  return { root, sandbox, signal };
}

/** Limit on the faults of one plan. */
const MOST_FAULTS = 50;
/** Files that are empty in good projects. */
const MAY_BE_EMPTY = /(^|\/)(__init__\.py|conftest\.py|py\.typed|\.gitkeep|\.nojekyll)$/;

/** A fault for each planned path that is missing, no file, or empty. */
async function planFaults(root: string, planned: readonly string[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const path of new Set(planned)) {
    const message = await faultOf(root, path);
    if (message !== undefined && faults.length < MOST_FAULTS) faults.push({ kind: "plan", file: visible(path, 400), message });
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

/** Limit on the modules that are loaded. */
const MOST_MODULES = 40;
/** Milliseconds for one module. One that does not end, such as a server, is no fault. */
const MODULE_TIMEOUT = 3_000;
/** The exit codes of the drivers that load modules. */
const LOADED = 85;
const THREW = 86;

/** Modules that are started by themselves, or by a tool. */
const LEFT_OUT =
  /(^|\/)(tests?|__tests__|scripts|bench(marks)?|examples?|fixtures?|\.[^/]*)\/|(^|\/)(__main__|setup|conftest|test_[^/]*|[^/]*_test)\.py$|\.(test|spec|config)\.[cm]?js$/;

/** Finds modules that throw while they are loaded. */
async function checkImports({ root, sandbox, stack, signal }: ProjectParts & { readonly stack: StackName }): Promise<Fault[]> {
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
