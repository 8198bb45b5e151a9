import type { ForkReport, RunResult } from "../runtime/run-result.ts";
import type { Message } from "../message/message.ts";
import { formatCost } from "../model/money.ts";
import type { Spendings, UsageSum } from "../model/ledger.ts";
import type { RunStatus } from "../runtime/record/event.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type { CommitReport } from "./agent-commit.ts";
import { type ExitCode, exitCodeOf, type Interruption } from "./exit-code.ts";
import type { NextSteps } from "./next-steps.ts";

/** What is known of the project's own tests. */
export interface TestsReport {
  readonly tests: "passed" | "failed" | "not run" | "none";
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures?: readonly { readonly name: string }[];
  /** Why they did not run and what to do about it. */
  readonly hint?: string;
}

/** What came of a run: the last line of `--json`, and what the summary is made of. */
export interface ResultReport {
  readonly type: "result";
  readonly status: RunStatus;
  readonly exitCode: ExitCode;
  readonly runId: string;
  readonly rounds: number;
  readonly by: "company" | "agent";
  /** What an agent came to. */
  readonly answer?: string;
  /** Calls of an agent that were not allowed. */
  readonly denied?: readonly { readonly tool: string; readonly why: string }[];
  /** What became of an agent's changes in the repository it worked in. */
  readonly commit?: CommitReport;
  /** Absolute path of the project's folder. */
  readonly out: string;
  /** Paths in the project. */
  readonly files: readonly string[];
  /** Null when the company did not come as far as its tests. */
  readonly tests: TestsReport | null;
  readonly usage: UsageSum;
  /**
   * Micro-dollars, and the same for people. `worstCase` is the part that nobody counted: what calls could have cost that were cut short;
   * `uncertain` is the part of that part which was in flight when a process died.
   */
  readonly cost: {
    readonly known: number;
    readonly unpriced: number;
    readonly worstCase: number;
    readonly uncertain: number;
    readonly text: string;
  };
  /** Usage and cost in micro-dollars by the name of the role, and by the id of the model. */
  readonly byRole: Spendings;
  readonly byModel: Spendings;
  /** Whether replies came from a bundled script: then nothing is billed. */
  readonly isScripted: boolean;
  readonly deadLetters: number;
  /** The file that keeps the run. */
  readonly store: string;
  /** The command that goes on with it; none when it is finished. */
  readonly goOn?: string;
  /** What people were asked and have not answered, each with the command that does. */
  readonly questions: readonly (PendingQuestion & { readonly answer: string })[];
  /** What a fork took from its parent. */
  readonly fork?: ForkReport;
  readonly error?: { readonly code: string; readonly message: string; readonly data?: unknown };
}

/** What a report is made of besides the run's result. */
export interface ReportFacts {
  readonly out: string;
  readonly files: readonly string[];
  readonly isScripted: boolean;
  /** Micro-dollars. */
  readonly worstCase: number;
  readonly interruption: Interruption | undefined;
  readonly store: string;
  readonly next: NextSteps;
  /** Who worked: of one agent the last word is the result. */
  readonly by: ResultReport["by"];
  readonly commit?: CommitReport;
  /** Makes the text of an error safe to show. */
  readonly told: (error: unknown) => { readonly code: string; readonly message: string };
}

/** What came of a run, as plain JSON. */
export function resultReport(result: RunResult, facts: ReportFacts): ResultReport {
  const tests = testsOf(result.messages);
  const error = result.error === undefined ? undefined : facts.told(result.error);
  const exitCode = exitCodeOf({ status: result.status, errorCode: error?.code, tests: tests?.tests, interruption: facts.interruption });
  return {
    type: "result",
    status: result.status,
    exitCode,
    runId: result.runId,
    rounds: result.rounds,
    by: facts.by,
    ...(facts.by === "agent" && result.output !== undefined ? { answer: result.output.content, ...deniedIn(result.output) } : {}),
    ...(facts.commit === undefined ? {} : { commit: facts.commit }),
    out: facts.out,
    files: facts.files,
    tests: tests ?? null,
    usage: result.usage,
    cost: { ...result.cost, worstCase: facts.worstCase, uncertain: result.uncertain, text: formatCost(result.cost) },
    byRole: result.byRole,
    byModel: result.byModel,
    isScripted: facts.isScripted,
    deadLetters: result.deadLetters.length,
    store: facts.store,
    ...(facts.next.goOn === undefined ? {} : { goOn: facts.next.goOn }),
    questions: result.questions.map((question, nth) => ({ ...question, answer: facts.next.answers[nth] ?? "" })),
    ...(result.fork === undefined ? {} : { fork: result.fork }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message, ...dataOf(result.error) } }),
  };
}

/** The calls that an agent's answer says were not allowed. A record may have been made elsewhere: what has another shape is none. */
function deniedIn({ metadata }: Message): Pick<ResultReport, "denied"> {
  const { denied } = metadata as { readonly denied?: unknown };
  if (!Array.isArray(denied)) return {};
  const known = denied.flatMap((one: unknown) => {
    const { tool, why } = (one ?? {}) as { readonly tool?: unknown; readonly why?: unknown };
    return typeof tool === "string" && typeof why === "string" ? [{ tool, why }] : [];
  });
  return known.length === 0 ? {} : { denied: known };
}

/** The newest word on the project's tests, from whoever ran them. */
export function testsOf(messages: readonly Message[]): TestsReport | undefined {
  return messages.findLast((message) => isTestsReport(message.instructContent))?.instructContent as TestsReport | undefined;
}

const VERDICTS: ReadonlySet<unknown> = new Set(["passed", "failed", "not run", "none"]);

function isTestsReport(payload: unknown): payload is TestsReport {
  if (typeof payload !== "object" || payload === null) return false;
  const { tests, total, passed, failed, failures = [] } = payload as { readonly [key: string]: unknown };
  const isNamed = (failure: unknown): boolean => typeof (failure as { readonly name?: unknown } | null)?.name === "string";
  return (
    VERDICTS.has(tests) &&
    [total, passed, failed].every((count) => typeof count === "number") &&
    Array.isArray(failures) &&
    failures.every(isNamed)
  );
}

/** Facts of an error that were made for programs, such as the question a person must answer. */
function dataOf(error: RunResult["error"]): { readonly data?: unknown } {
  return error?.code === "WAITING" || error?.code === "BUDGET" ? { data: error.data } : {};
}
