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
import { defineTool, type Tool, type ToolContext, toolFailure, toolOutput, type ToolResult } from "../../src/agent/index.ts";
import type { RoleContext } from "../../src/index.ts";
import { type Sandbox, type Workspace, type ForkedProject, mergeFork, removeFork } from "../../src/workspace/index.ts";
import { z } from "zod";
import type { WorkOrder, WorkTask } from "./work-order.ts";

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
      return toolOutput(merge.paths.length === 0 ? `${id} has no files that differ.` : `In the project now: ${merge.paths.join(", ")}.`);
    },
  });
}

interface ProjectGateOptions {
  readonly workspace: Workspace;
  readonly sandbox: Sandbox;
  readonly verify?: Verifier | undefined;
  /** Why no page can be opened. Default `missingPageMeans`. */
  readonly missingForPages?: ((sandbox: Sandbox) => string | undefined) | undefined;
}

export interface GateRequest extends Pick<VerifyRequest, "criteria" | "depth">, Partial<Pick<VerifyRequest, "planned" | "stack">> {
  /** Marks of {@link problemsOf} from before the work: they do not count. */
  readonly failedBefore?: readonly string[] | undefined;
}

export function testRequest({ failedBefore }: Pick<WorkOrder, "failedBefore">): GateRequest {
  return { criteria: [], failedBefore, depth: "quick" };
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

  async check(steps: Pick<RoleContext["steps"], "step">, { failedBefore = [], ...request }: GateRequest): Promise<Verification> {
    const spec = { kind: "step", name: "verify project", request, fresh: true };
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

/** Failing tests as `file: name`, faults as `kind in file`, and how many tests are skipped. */
export function problemsOf({ suites, faults }: Pick<Verification, "suites" | "faults">): readonly string[] {
  const tests = suites.flatMap(({ failures }) => failures.map(({ file, name }) => `${file}: ${name}`));
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

export const WorkReportSchema = z.object({
  status: z.enum(["finished", "stuck", "disputed"]),
  criterion: z.string().optional(),
  summary: z.string(),
});

export type WorkReport = z.infer<typeof WorkReportSchema>;

export interface DoneToolOptions {
  readonly gate: ProjectGate;
  readonly judge: (verification: Verification) => string | undefined;
  /** Checks of depth `whole` run where those of depth `quick` are green. Default: the syntax and the tests. */
  readonly asked?: GateRequest | undefined;
}

const CHECK_TIME = 600_000;

const SAME_AGAIN =
  "These are the same failures as the last time, so the last change did not help. Change the strategy: read the criterion and the file again, say what is really wrong, and write that part from scratch.";

/** Runs the checks, and the work ends only when they are green. Two equal failures in a row ask for another strategy. */
export function doneTool({ gate, judge, asked = testRequest({}) }: DoneToolOptions): Tool {
  const last = new WeakMap<object, string>();
  return defineTool({
    name: "done",
    description:
      "Says that your work is done, and has it checked. The work ends when nothing is wrong; else it tells what is. Call it in the same reply as your last change.",
    parameters: z.object({ summary: z.string().describe("what was done, in one or two sentences") }),
    effect: "read",
    fresh: false,
    // After a resume it must know the last failure; its checks are answered from the record.
    again: true,
    parallel: false,
    ends: true,
    timeout: CHECK_TIME,
    maxOutput: 16_000,
    execute: async ({ summary }, ctx) => {
      const found = await checked(gate, ctx, { asked, judge });
      const missing = judge(found);
      const report: WorkReport = { status: "finished", summary: [summary, ...uncheckedIn(found)].join("\n\n") };
      if (missing === undefined) return toolOutput(JSON.stringify(report));
      const session = ctx.session ?? gate;
      const isSame = last.get(session) === missing;
      last.set(session, missing);
      return toolFailure(isSame ? `${missing}\n\n${SAME_AGAIN}` : missing);
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

export function giveUpTool(): Tool {
  return defineTool({
    name: "give_up",
    description: "Ends the work without success. Only when the order cannot be carried out, or contradicts itself.",
    parameters: z.object({ why: z.string() }),
    effect: "read",
    ends: true,
    execute: ({ why }) => toolOutput(JSON.stringify({ status: "stuck", summary: why } satisfies WorkReport)),
  });
}

type NotFor = string | undefined;

export function disputeCheckTool(notFor?: NotFor): Tool {
  return defineTool({
    name: "dispute_check",
    description:
      "Hands the check of a criterion back to the product manager. Only for a check that expects what the user's words do not say, or that no correct product passes. Your files stay, and you go on when there is an answer.",
    parameters: z.object({
      criterion: z.string().describe("its id"),
      why: z.string().describe("what the user's words say, and what the check expects"),
    }),
    effect: "read",
    ends: notFor === undefined,
    execute: ({ criterion, why }) => disputed({ criterion, summary: `${criterion}: ${why}` }, notFor),
  });
}

export function disputeTool(notFor?: NotFor): Tool {
  return defineTool({
    name: "dispute_test",
    description:
      "Hands a test back to QA, who alone may change it. Only for a test that contradicts the user's words or a criterion. Your files stay, and you go on when QA has answered.",
    parameters: z.object({
      file: z.string(),
      test: z.string().describe("title of the test"),
      criterion: z.string().describe("id of the criterion that it contradicts"),
      why: z.string(),
    }),
    effect: "read",
    ends: notFor === undefined,
    execute: ({ file, test, criterion, why }) => disputed({ summary: `${file}, "${test}" contradicts ${criterion}: ${why}` }, notFor),
  });
}

function disputed(what: Omit<WorkReport, "status">, notFor: NotFor): ToolResult {
  return notFor === undefined ? toolOutput(JSON.stringify({ status: "disputed", ...what } satisfies WorkReport)) : toolFailure(notFor);
}

export function redParts(verification: Verification): string | undefined {
  return isRed(verification) ? renderVerification(verification) : undefined;
}
