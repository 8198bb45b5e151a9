import {
  type Criterion,
  findVacuous,
  installPackages,
  missingPageMeans,
  renderVerification,
  stackOf,
  type Verification,
  VerificationCache,
  type Verifier,
} from "../../src/checks/index.ts";
import type { InstallReport } from "../../src/checks/install.ts";
import { type SuiteReport, isRed, type Fault } from "../../src/checks/verification.ts";
import type { VerifyRequest } from "../../src/checks/verify.ts";
import { defineTool, type Tool, type ToolContext, toolFailure, toolOutput } from "../../src/agent/index.ts";
import type { RoleContext } from "../../src/index.ts";
import { type Sandbox, type Workspace, type ForkedProject, mergeFork, removeFork } from "../../src/workspace/index.ts";
import { z } from "zod";
import { asSpeech } from "../prompt.ts";
import type { WorkOrder, WorkTask } from "./work-order.ts";
import type { WorkReport } from "./work-report.ts";

interface TakeWorkOptions {
  readonly project: () => ForkedProject;
  readonly tasks: readonly WorkTask[];
  readonly name: string;
}

/** Brings the unfinished work on a task into the project, for the engineer who ends it there. */
export function takeWorkTool({ project, tasks, name }: TakeWorkOptions): Tool {
  return defineTool({
    name: "take_work",
    description:
      "Brings the files of a task that was not merged into the project, as its engineer left them. Read them before you change them. Only where ending that work is less than writing it anew.",
    parameters: z.object({ task: z.string().describe("its id") }),
    effect: "write",
    idempotent: true,
    parallel: false,
    execute: async ({ task: id }, ctx) => {
      const task = tasks.find((one) => one.id === id);
      if (task?.keptIn === undefined) return toolFailure(`Nobody has worked on ${id}.`);
      const request = { message: `Take up the unfinished work on ${id}`, author: name, date: ctx.clock.now(), paths: task.owns };
      const merge = await mergeFork(ctx, project(), task.keptIn, request);
      if (merge.kind === "conflict") return toolFailure(`The project has changed since in ${merge.paths.join(", ")}. Write ${id} anew.`);
      await removeFork(ctx, project(), task.keptIn);
      const text = merge.paths.length === 0 ? `${id} has no files that differ.` : `In the project now: ${merge.paths.join(", ")}.`;
      return toolOutput(text, { data: { taken: id } });
    },
  });
}

interface ProjectGateOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly verify?: Verifier | undefined;
  /** Says why no page can be opened. Default `missingPageMeans`. */
  readonly missingForPages?: ((sandbox: Sandbox) => string | undefined) | undefined;
}

export interface GateRequest extends Pick<VerifyRequest, "criteria" | "depth">, Partial<Pick<VerifyRequest, "planned" | "stack">> {
  /** Marks of {@link problemsOf} from before the work: they do not count. */
  readonly failedBefore?: readonly string[] | undefined;
  /** The id of the task whose tests they are; undefined: the whole project is checked. */
  readonly task?: string | undefined;
}

export function testRequest({ failedBefore }: Pick<WorkOrder, "failedBefore">, task?: string): GateRequest {
  return { criteria: [], failedBefore, depth: "quick", task };
}

/** Runs the project's checks as recorded steps. What was green for the same bytes and the same request is not run twice. */
export class ProjectGate {
  readonly workspace: Workspace;
  readonly #sandbox: Sandbox;
  readonly #cache: VerificationCache;
  readonly #missingForPages: (sandbox: Sandbox) => string | undefined;

  constructor(options: ProjectGateOptions, cache: VerificationCache = new VerificationCache(options.sandbox, options.verify)) {
    this.workspace = options.workspace;
    this.#sandbox = options.sandbox;
    this.#cache = cache;
    this.#missingForPages = options.missingForPages ?? missingPageMeans;
  }

  at(workspace: Workspace): ProjectGate {
    return new ProjectGate({ workspace, sandbox: this.#sandbox, missingForPages: this.#missingForPages }, this.#cache);
  }

  async check(steps: Pick<RoleContext["steps"], "step">, { failedBefore = [], task, ...request }: GateRequest): Promise<Verification> {
    const spec = { kind: "step", name: "verify project", request, shown: task === undefined ? undefined : { task }, fresh: true };
    const isGreen = (found: Verification): boolean => !isRed(withoutOldFaults(found, failedBefore));
    const { root } = this.workspace;
    const found = await steps.step(spec, ({ signal }) => this.#cache.verify({ ...request, root, signal }, isGreen));
    return withoutOldFaults(found, failedBefore);
  }

  /** The ids of criteria that hold without the project: they would prove nothing. @throws ControlError, WorkspaceError */
  vacuous(steps: Pick<RoleContext["steps"], "step">, criteria: readonly Criterion[]): Promise<string[]> {
    const spec = { kind: "step", name: "try checks without project", request: { criteria }, fresh: true };
    return steps.step(spec, ({ signal }) => findVacuous({ sandbox: this.#sandbox, criteria, signal }));
  }

  missingForPages(steps: Pick<RoleContext["steps"], "step">): Promise<string | null> {
    const spec = { kind: "step", name: "find a browser", request: {}, fresh: true };
    return steps.step(spec, () => Promise.resolve(this.#missingForPages(this.#sandbox) ?? null));
  }

  install(steps: Pick<RoleContext["steps"], "step">): Promise<InstallReport> {
    const { workspace } = this;
    return steps.step({ kind: "step", name: "install packages", request: {}, fresh: true }, async ({ signal }) => {
      const stack = stackOf(await workspace.list()) ?? "node";
      return installPackages({ root: workspace.root, sandbox: this.#sandbox, stack, signal });
    });
  }
}

export function installTool(gate: ProjectGate): Tool {
  return defineTool({
    name: "install_packages",
    description: "Installs the packages that package.json or requirements.txt names. The only step with a network.",
    parameters: z.object({}),
    effect: "write",
    idempotent: true,
    parallel: false,
    timeout: CHECK_TIME,
    execute: async (_args, ctx) => {
      const report = await gate.install(ctx);
      if (report.kind === "installed") return toolOutput(`Installed into ${report.folder}.`);
      return report.kind === "nothing" ? toolOutput("There is nothing to install.") : toolFailure(report.reason);
    },
  });
}

/** As `file: title`. */
export function failingTests({ suites }: Pick<Verification, "suites">): readonly string[] {
  return suites.flatMap(({ failures }) => failures.map(({ file, name }) => `${file}: ${name}`));
}

/** Failing tests as `file: name`, faults as `kind in file`, and how many tests are skipped. */
export function problemsOf({ suites, faults }: Pick<Verification, "suites" | "faults">): readonly string[] {
  const tests = failingTests({ suites });
  const skipped = suites.filter((suite) => suite.skipped > 0).map(skippedMark);
  return [...new Set([...tests, ...faults.map(faultMark), ...skipped])];
}

function skippedMark({ skipped, language }: Pick<SuiteReport, "skipped" | "language">): string {
  return `${skipped} skipped in ${language}`;
}

function skipsMore({ language, skipped }: SuiteReport, old: readonly string[]): boolean {
  const before = old.findLast((mark) => /^\d+ /.test(mark) && mark === skippedMark({ skipped: Number.parseInt(mark), language }));
  return skipped > (before === undefined ? 0 : Number.parseInt(before));
}

function faultMark({ kind, file = "the project" }: Fault): string {
  return `${kind} in ${file}`;
}

/** Without the failures from before the work. */
export function withoutOldFaults(found: Verification, old: readonly string[]): Verification {
  if (old.length === 0) return found;
  const isNew = (fault: Fault): boolean =>
    !old.includes(faultMark(fault)) || (fault.kind === "tests" && found.suites.some((suite) => skipsMore(suite, old)));
  const faults = found.faults.filter(isNew);
  return { ...found, faults, suites: found.suites.map((suite) => withoutOld(suite, old)) };
}

function withoutOld(suite: SuiteReport, old: readonly string[]): SuiteReport {
  const failures = suite.failures.filter(({ file, name }) => !old.includes(`${file}: ${name}`));
  const known = suite.failures.length - failures.length;
  if (suite.kind !== "failed" || known === 0) return suite;
  const failed = suite.failed - known;
  const reason = `${known} failed before the work began, and still fail`;
  return failed > 0 ? { ...suite, failures, failed, reason } : { ...suite, kind: "passed", failures, failed, reason };
}

export interface DoneToolOptions {
  readonly gate: ProjectGate;
  readonly judge: (verification: Verification) => string | undefined;
  /** Checks of depth `whole` run where those of depth `quick` are green. Default: the syntax and the tests. */
  readonly asked?: GateRequest | undefined;
}

const CHECK_TIME = 600_000;

/** Runs the checks, and the work ends only when they are green. */
export function doneTool({ gate, judge, asked = testRequest({}) }: DoneToolOptions): Tool {
  return defineTool({
    name: "done",
    description:
      "Says that your work is done, and has it checked. The work ends when nothing is wrong; else it tells what is. Call it in the same reply as your last change.",
    parameters: z.object({
      summary: z.string().default("").describe(asSpeech("what you did and why, what you doubt. The first sentence names the change")),
    }),
    effect: "read",
    fresh: false,
    parallel: false,
    ends: true,
    timeout: CHECK_TIME,
    maxOutput: 16_000,
    execute: async ({ summary }, ctx) => {
      const found = await checked(gate, ctx, { asked, judge });
      const missing = judge(found);
      const report: WorkReport = { status: "finished", summary: [summary, ...uncheckedIn(found)].join("\n\n") };
      const data = { red: [...failingTests(found)] };
      return missing === undefined ? toolOutput(JSON.stringify(report), { data }) : toolFailure(missing, { data });
    },
  });
}

async function checked(
  gate: ProjectGate,
  ctx: ToolContext,
  { asked, judge }: Pick<DoneToolOptions, "judge"> & { readonly asked: GateRequest },
): Promise<Verification> {
  if (asked.depth !== "whole") return gate.check(ctx, asked);
  const quick = await gate.check(ctx, { ...asked, depth: "quick" });
  return quick.notChecked !== undefined || judge(quick) !== undefined ? quick : gate.check(ctx, asked);
}

function uncheckedIn({ verdicts, notChecked }: Verification): readonly string[] {
  if (notChecked !== undefined) return [`Nothing could be checked here: ${notChecked}`];
  const open = verdicts.filter(({ outcome }) => outcome === "not checked");
  const reasons = [...new Set(open.map(({ evidence }) => evidence))];
  return open.length === 0 ? [] : [`Not checked here: ${open.map(({ id }) => id).join(", ")}. ${reasons.join("; ")}`];
}

export function redParts(verification: Verification): string | undefined {
  return isRed(verification) ? renderVerification(verification) : undefined;
}
