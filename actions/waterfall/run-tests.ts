import {
  type ActionContext,
  type Address,
  type InputsOf,
  kinds,
  type Known,
  type Message,
  ROUTE_TO_ALL,
  UsageError,
} from "../../src/index.ts";
import { type ProjectTests, runProjectTests, type Sandbox, type Workspace } from "../../src/workspace/index.ts";
import type { z } from "zod";
import { DebugReportSchema, renderTestReport, type TestReport, TestReportSchema } from "./test-report.ts";
import { payloadOf, ProjectAction, type ProjectActionOptions } from "../project-action.ts";
import { shortened } from "../markdown.ts";
import { TaskPlanSchema } from "./task-plan.ts";
import { WriteTasks } from "./write-tasks.ts";

/** Options of the test run. */
export interface RunTestsOptions extends Pick<ProjectActionOptions, "workspace"> {
  readonly sandbox: Sandbox;
  /** Milliseconds for all tests. Default 60,000. */
  readonly timeout?: number;
  /** Most rounds in which failing tests go back to be repaired. Default 3. */
  readonly debugRounds?: number;
  /** The role that repairs. Default `Engineer`. */
  readonly repairedBy?: Address;
}

const runTestsOptions: Known<RunTestsOptions> = {
  workspace: kinds.workspace,
  sandbox: kinds.sandbox,
  timeout: kinds.milliseconds,
  debugRounds: kinds.count,
  repairedBy: kinds.address,
};

/** Characters kept of what the tests printed. */
const OUTPUT = 8_000;

type RunTestsNeeds = readonly [typeof WriteTasks];

/**
 * Runs the tests of the plan, and no others that lie in the project's folder, in a sandbox. While they fail and rounds are left, the report goes to the one who repairs; the last
 * report goes to everyone. How many rounds there were is told by the messages: by the repair that this run answers.
 */
export class RunTests extends ProjectAction<TestReport, RunTestsNeeds> {
  override readonly description: string = "Run the tests.";
  override readonly needs: RunTestsNeeds = [WriteTasks];
  override readonly output: z.ZodType<TestReport> = TestReportSchema;
  readonly #workspace: Workspace;
  readonly #sandbox: Sandbox;
  readonly #timeout: number | undefined;
  readonly #debugRounds: number;
  readonly #repairedBy: Address;

  /** @throws UsageError `OPTION_INVALID` when `debugRounds` is no whole number of 0 or more. */
  constructor(options: RunTestsOptions) {
    super(options, runTestsOptions);
    const { workspace, sandbox, timeout, debugRounds = 3, repairedBy = "Engineer" } = options;
    this.#workspace = workspace;
    this.#sandbox = sandbox;
    this.#timeout = timeout;
    this.#debugRounds = debugRounds;
    this.#repairedBy = repairedBy;
    if (!Number.isInteger(debugRounds) || debugRounds < 0) {
      throw new UsageError("OPTION_INVALID", `Expected the rounds of debugging to be a whole number of 0 or more, got ${debugRounds}.`);
    }
  }

  override async run(ctx: ActionContext<InputsOf<RunTestsNeeds>>): Promise<Message<TestReport>> {
    const { taskList, testList } = payloadOf(ctx.inputs[0], TaskPlanSchema);
    const files = await this.files.digests(ctx, ["package.json", ...taskList, ...testList]);
    const request = { files, sandbox: this.#sandbox.kind, timeout: this.#timeout ?? null };
    const tests = testList.filter((path) => path in files);
    const went = await ctx.step("run tests", request, async (door) => partsKept(await this.#runTests(tests, door.signal)));
    return this.conclude(ctx, { ...went, round: roundOf(ctx.news) }, { files: [], summary: "Run the tests" });
  }

  override sendTo(_ctx: ActionContext<InputsOf<RunTestsNeeds>>, report: TestReport | undefined): readonly Address[] {
    const goesBack = report?.tests === "failed" && report.round < this.#debugRounds;
    return [goesBack ? this.#repairedBy : ROUTE_TO_ALL];
  }

  override render(report: TestReport): string {
    return renderTestReport(report);
  }

  #runTests(files: readonly string[], signal: AbortSignal): Promise<ProjectTests> {
    const timeout = this.#timeout === undefined ? {} : { timeout: this.#timeout };
    return runProjectTests({ root: this.#workspace.root, files, sandbox: this.#sandbox, signal, ...timeout });
  }
}

/** The round of debugging that this run of the tests follows; 0 when it follows none. */
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

/** Tests that did not end count as one more that failed. */
function late(ms: number, counted: Omit<TestReport, "round" | "tests">): Omit<TestReport, "round"> {
  const failure = {
    name: "node --test",
    message: `The tests did not end within ${ms} ms. Something runs for ever, or waits for what never comes.`,
  };
  return { tests: "failed", ...counted, total: counted.total + 1, failed: counted.failed + 1, failures: [...counted.failures, failure] };
}
