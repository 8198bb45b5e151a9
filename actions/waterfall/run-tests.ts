import { type ActionContext, type Address, type Message, ROUTE_TO_ALL, type InputsOf } from "../../src/index.ts";
import { kinds, type Known } from "../../src/ports.ts";
import { type ProjectTests, runProjectTests, type Sandbox } from "../../src/workspace/index.ts";
import { runSuites } from "../../src/checks/suites.ts";
import type { SuiteReport } from "../../src/checks/verification.ts";
import { z } from "zod";
import { payloadOf, ProjectAction, type ProjectActionOptions } from "../project-action.ts";
import { shortened, inFence, bullets, sections } from "../markdown.ts";
import { TaskPlanSchema, WriteTasks } from "./write-tasks.ts";

/** Guards a {@link TestReport}. */
export const TestReportSchema = z.object({
  /** `not run`: the sandbox refused; `hint` says how to allow it. `none`: there are no tests. */
  tests: z.enum(["passed", "failed", "not run", "none"]),
  /** Rounds of debugging before it. */
  round: z.int().min(0),
  total: z.int().min(0),
  passed: z.int().min(0),
  failed: z.int().min(0),
  failures: z.array(z.object({ name: z.string(), file: z.string().optional(), message: z.string() })),
  output: z.string().optional(),
  hint: z.string().optional(),
});

/** The result of a project's tests. */
export type TestReport = z.infer<typeof TestReportSchema>;

const SHOWN_FAILURES = 20;
const SHOWN_MESSAGE = 1_500;
const SHOWN_OUTPUT = 4_000;

export function renderTestReport(report: TestReport): string {
  const left = report.failures.length - SHOWN_FAILURES;
  const failures = report.failures.slice(0, SHOWN_FAILURES).map(failureText);
  if (left > 0) failures.push(`${left} more failures`);
  return sections("Tests", [
    ["Result", `${resultOf(report)}${report.hint === undefined ? "" : `\n\n${report.hint}`}`],
    ["Failures", bullets(failures)],
    ["Output", report.output === undefined || report.output === "" ? "" : inFence(shortened(report.output, SHOWN_OUTPUT))],
  ]);
}

function resultOf({ tests, total, passed, failed }: TestReport): string {
  switch (tests) {
    case "passed":
      return `All ${passed} tests passed${total > passed ? `, ${total - passed} were skipped` : ""}.`;
    case "failed":
      return `${failed} of ${total} tests failed.`;
    case "not run":
      return "The tests were not run.";
    case "none":
      return "There are no tests.";
  }
}

function failureText({ name, file, message }: TestReport["failures"][number]): string {
  const where = file === undefined || file === name ? "" : ` in ${file}`;
  return `${name}${where}\n${inFence(shortened(message, SHOWN_MESSAGE))}`;
}

/** Guards a {@link DebugReport}. */
export const DebugReportSchema = z.object({
  round: z.int().min(1),
  analysis: z.string(),
  files: z.array(z.string()),
});

/** The diagnosis of failing tests, and the files that were written again. */
export type DebugReport = z.infer<typeof DebugReportSchema>;

export function diagnosisSchema(paths: readonly string[]) {
  return z.object({
    analysis: z.string().describe("why the tests fail, and what must change where"),
    files: z
      .array(z.enum(paths))
      .min(1)
      .transform((files) => [...new Set(files)])
      .describe("the files to write again, as few as possible; tests only if they contradict the requirements"),
  });
}

export function renderDebugReport({ round, analysis, files }: DebugReport): string {
  return sections(`Debugging, round ${round}`, [
    ["Analysis", analysis],
    ["Files written again", bullets(files)],
  ]);
}

export interface RunTestsOptions extends Pick<ProjectActionOptions, "workspace"> {
  readonly sandbox: Sandbox;
  /** Milliseconds for all tests. Default 60,000. */
  readonly timeout?: number;
  /** Rounds in which failing tests go back to be repaired. Default 3. */
  readonly debugRounds?: number;
}

const runTestsOptions: Known<RunTestsOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  timeout: kinds.milliseconds,
  debugRounds: kinds.count,
};

const OUTPUT = 8_000;

type RunTestsNeeds = readonly [typeof WriteTasks];

/**
 * Runs the tests of the plan in a sandbox. While they fail and rounds are left, the report goes to the role that repairs; the last report
 * goes to everyone. The messages count the rounds.
 */
export class RunTests extends ProjectAction<TestReport, RunTestsNeeds> {
  override readonly description: string = "Run the tests.";
  override readonly needs: RunTestsNeeds = [WriteTasks];
  override readonly output: z.ZodType<TestReport> = TestReportSchema;
  readonly #options: RunTestsOptions;

  constructor(options: RunTestsOptions) {
    super(options, runTestsOptions);
    this.#options = options;
  }

  override async run(ctx: ActionContext<InputsOf<RunTestsNeeds>>): Promise<Message<TestReport>> {
    const { taskList, testList } = payloadOf(ctx.inputs[0], TaskPlanSchema);
    const files = await this.files.digests(ctx, ["package.json", ...taskList, ...testList]);
    const { workspace, sandbox, timeout } = this.#options;
    const request = { files, sandbox: sandbox.kind, timeout: timeout ?? null };
    const tests = testList.filter((path) => path in files);
    const went = await ctx.step("run tests", request, async ({ signal }) => {
      const limit = timeout === undefined ? {} : { timeout };
      const all = { root: workspace.root, sandbox, signal, ...limit };
      const scripts = partsKept(await runProjectTests({ ...all, files: tests }));
      const python = tests.some((path) => path.endsWith(".py")) ? await runSuites({ ...all, languages: ["python"] }) : [];
      const worst = (["failed", "not run", "passed", "none"] as const).flatMap((kind) =>
        [scripts, ...python.map(suiteKept)].filter(({ tests: each }) => each === kind),
      );
      return worst[0] ?? scripts;
    });
    return this.conclude(ctx, { ...went, round: roundOf(ctx.news) }, { files: [], summary: "Run the tests" });
  }

  override sendTo(_ctx: ActionContext<InputsOf<RunTestsNeeds>>, report: TestReport | undefined): readonly Address[] {
    const goesBack = report?.tests === "failed" && report.round < (this.#options.debugRounds ?? 3);
    return [goesBack ? "Engineer" : ROUTE_TO_ALL];
  }

  override render(report: TestReport): string {
    return renderTestReport(report);
  }
}

/** The round of debugging that this run follows; 0 for none. */
function roundOf(news: readonly Message[]): number {
  const rounds = news
    .map((message) => DebugReportSchema.safeParse(message.instructContent))
    .map((parsed) => (parsed.success ? parsed.data.round : 0));
  return Math.max(0, ...rounds);
}

function partsKept(went: ProjectTests): Omit<TestReport, "round"> {
  const { tests: total, passed, failed, output } = went;
  const failures = went.failures.map(({ name, file, message }) => ({ name, ...(file === "" ? {} : { file }), message }));
  const counted = { total, passed, failed, failures };
  const printed = output === "" ? {} : { output: shortened(output, OUTPUT) };
  switch (went.kind) {
    case "passed":
    case "none":
      return { tests: went.kind, ...counted };
    case "failed":
      return { tests: "failed", ...counted, ...printed };
    case "timeout":
      return { ...late(went.ms, counted), ...printed };
    case "not run":
      return { tests: "not run", ...counted, hint: `${went.reason}. ${went.hint}` };
  }
}

function suiteKept({ kind, total, passed, failed, failures, reason }: SuiteReport): Omit<TestReport, "round"> {
  const counted = { total, passed, failed, failures: [...failures] };
  return { tests: kind === "timeout" ? "failed" : kind, ...counted, ...(reason === undefined ? {} : { hint: reason }) };
}

/** Tests that did not end count as one more failure. */
function late(ms: number, counted: Omit<TestReport, "round" | "tests">): Omit<TestReport, "round"> {
  const failure = {
    name: "node --test",
    message: `The tests did not end within ${ms} ms. Something runs for ever, or waits for what never comes.`,
  };
  return { tests: "failed", ...counted, total: counted.total + 1, failed: counted.failed + 1, failures: [...counted.failures, failure] };
}
