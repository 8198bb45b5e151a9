import type { Message } from "../message/message.ts";
import type { Spendings, UsageSum } from "../model/ledger.ts";
import { formatCost } from "../model/money.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import type { ForkReport, ResultStatus, RunResult } from "../runtime/run-result.ts";
import type { ProjectPlace } from "../workspace/existing-project.ts";
import type { ProjectChanges } from "../workspace/project-changes.ts";
import type { CommitReport } from "./agent-work.ts";
import { deliveryOf, type DeliveryReport } from "./delivery-report.ts";
import { type ExitCode, exitCodeOf, type Interruption } from "./errors.ts";
import { shellWord, shortestPrefix } from "./screen/text.ts";
import type { Worker } from "./settings.ts";
import type { Store } from "./store.ts";

export interface TestsReport {
  readonly tests: "passed" | "failed" | "not run" | "none";
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures?: readonly { readonly name: string }[];
  /** Why they did not run and what to do about it. */
  readonly hint?: string;
}

/** The changes of an existing project, and where they are. */
export interface ChangeReport extends ProjectChanges {
  readonly place: ProjectPlace["kind"];
  /** The branch with the commits; undefined where nothing is committed. */
  readonly branch?: string;
  /** Why the work was not done in the user's folder, or not committed. */
  readonly reason?: string;
}

/** The result of a run: the last line of `--json`, and the base of the summary. */
export interface ResultReport {
  readonly type: "result";
  readonly status: ResultStatus;
  readonly exitCode: ExitCode;
  readonly runId: string;
  readonly rounds: number;
  readonly by: Worker;
  readonly answer?: string;
  /** Calls of an agent that were not allowed. */
  readonly denied?: readonly { readonly tool: string; readonly why: string }[];
  readonly commit?: CommitReport;
  /** Absolute path of the project's folder. */
  readonly out: string;
  /** Paths in the project. */
  readonly files: readonly string[];
  /** The changes of an existing project. */
  readonly change?: ChangeReport;
  /** The verdicts of the company; undefined where it did not come that far, or proves nothing. */
  readonly delivery?: DeliveryReport;
  /** Null when the company did not come as far as its tests. */
  readonly tests: TestsReport | null;
  readonly usage: UsageSum;
  /**
   * Micro-dollars, and the same for people. `worstCase` is the most that calls which were cut short could have cost; `uncertain` is the part of
   * it that was in flight when a process died.
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
  /** True when replies came from a bundled script: nothing is billed then. */
  readonly isScripted: boolean;
  readonly deadLetters: number;
  /** The activations that failed, whether the run went on or not. */
  readonly failures: RunResult["failures"];
  /** The file that keeps the run. */
  readonly store: string;
  /** The command that continues it; none when it is finished. */
  readonly goOn?: string;
  /** Commands that show replies that fit no schema, and that try another model. */
  readonly replies?: string;
  readonly otherModel?: string;
  /** The command that asks a company for a change of what it has delivered. */
  readonly tell?: string;
  /** The unanswered questions, each with the command that answers it. */
  readonly questions: readonly (PendingQuestion & { readonly answer: string })[];
  /** The parts a fork took from its parent. */
  readonly fork?: ForkReport;
  readonly error?: { readonly code: string; readonly message: string; readonly data?: unknown };
}

export interface ReportFacts extends Pick<ResultReport, "out" | "files" | "isScripted" | "store" | "by"> {
  /** True for a crew whose result is a delivery: without one nothing is done. */
  readonly proves: boolean;
  /** Micro-dollars. */
  readonly worstCase: number;
  readonly interruption: Interruption | undefined;
  readonly next: NextSteps;
  readonly change?: ChangeReport;
  readonly commit?: CommitReport;
  /** Causes of the messages that are a crew's result. */
  readonly output?: readonly string[] | undefined;
  /** Makes an error safe to show. */
  readonly describe: (error: unknown) => { readonly code: string; readonly message: string };
}

/** The result of a run as plain JSON. */
export function resultReport(result: RunResult, facts: ReportFacts): ResultReport {
  const { by, commit, change, out, files, worstCase, isScripted, store, next, interruption } = facts;
  const tests = testsOf(result.messages);
  const delivery = deliveryOf(result.messages);
  const isProven = facts.proves ? delivery?.isDone === true : undefined;
  const error = result.error === undefined ? undefined : facts.describe(result.error);
  const exitCode = exitCodeOf({ status: result.status, errorCode: error?.code, tests: tests?.tests, isProven, interruption });
  return {
    type: "result",
    status: result.status,
    exitCode,
    runId: result.runId,
    rounds: result.rounds,
    by,
    ...(by === "company" ? {} : answerIn(result, facts.output)),
    ...(commit === undefined ? {} : { commit }),
    ...(change === undefined ? {} : { change }),
    out,
    files,
    ...(delivery === undefined ? {} : { delivery }),
    tests: tests ?? null,
    usage: result.usage,
    cost: { ...result.cost, worstCase, uncertain: result.uncertain, text: formatCost(result.cost) },
    byRole: result.byRole,
    byModel: result.byModel,
    isScripted,
    deadLetters: result.deadLetters.length,
    failures: result.failures,
    store,
    ...(next.goOn === undefined ? {} : { goOn: next.goOn }),
    ...(next.replies === undefined ? {} : { replies: next.replies }),
    ...(next.otherModel === undefined || isScripted ? {} : { otherModel: next.otherModel }),
    ...(next.tell === undefined || delivery === undefined || isScripted ? {} : { tell: next.tell }),
    questions: result.questions.map((question, nth) => ({ ...question, answer: next.answers[nth] ?? "" })),
    ...(result.fork === undefined ? {} : { fork: result.fork }),
    ...(error === undefined ? {} : { error: { code: error.code, message: error.message, ...dataOf(result.error) } }),
  };
}

/** The answer of an agent or a crew. @param causes of the messages that are the result; undefined: the last output */
function answerIn({ messages, output }: RunResult, causes: readonly string[] | undefined): Pick<ResultReport, "answer" | "denied"> {
  const answer = messages.findLast(({ causeBy }) => causes?.includes(causeBy)) ?? output;
  return answer === undefined ? {} : { answer: answer.content, ...deniedIn(answer) };
}

/** The calls that an agent's answer reports as denied. A record may come from elsewhere: data of another shape is ignored. */
function deniedIn({ metadata }: Message): Pick<ResultReport, "denied"> {
  const { denied } = metadata as { readonly denied?: unknown };
  if (!Array.isArray(denied)) return {};
  const known = denied.flatMap((one: unknown) => {
    const { tool, why } = (one ?? {}) as { readonly tool?: unknown; readonly why?: unknown };
    return typeof tool === "string" && typeof why === "string" ? [{ tool, why }] : [];
  });
  return known.length === 0 ? {} : { denied: known };
}

/** The newest report on the project's tests, from any role that ran them. */
export function testsOf(messages: readonly Message[]): TestsReport | undefined {
  return messages.findLast((message) => isTestsReport(message.instructContent))?.instructContent as TestsReport | undefined;
}

const VERDICTS: ReadonlySet<unknown> = new Set(["passed", "failed", "not run", "none"]);

function isTestsReport(payload: unknown): payload is TestsReport {
  if (typeof payload !== "object" || payload === null) return false;
  const { tests, total, passed, failed, failures = [] } = payload as { readonly [key: string]: unknown };
  const isNamed = (failure: unknown): boolean => typeof (failure as { readonly name?: unknown } | null)?.name === "string";
  const areCounts = [total, passed, failed].every((count) => typeof count === "number");
  return VERDICTS.has(tests) && areCounts && Array.isArray(failures) && failures.every(isNamed);
}

/** The data of errors that programs act on, such as the question a person must answer. */
function dataOf(error: RunResult["error"]): { readonly data?: unknown } {
  return error?.code === "WAITING" || error?.code === "BUDGET" ? { data: error.data } : {};
}

export interface NextSteps {
  /** Continues the run; undefined when it is finished. */
  readonly goOn?: string;
  /** Says something to a finished run; undefined while it is not finished. */
  readonly tell?: string;
  /** Shows replies that fit no schema, and tries another model; undefined for other ends. */
  readonly replies?: string;
  readonly otherModel?: string;
  /** Answer the open questions, in their order. */
  readonly answers: readonly string[];
}

/** Fewest letters of a question's id that are shown. */
const LEAST = 4;

/** The commands that continue a run or answer its questions. */
export function nextSteps(
  { status, questions, error }: Pick<RunResult, "status" | "questions" | "error">,
  { short, store, budget, isForced }: { short: string; store: Pick<Store, "option">; budget: number | undefined; isForced: boolean },
): NextSteps {
  const run = `${shellWord(short)}${store.option}`;
  const ids = questions.map(({ id }) => id);
  const answers = ids.map((id) => `troupe answer ${run} ${shortestPrefix(id, ids, LEAST)} "..."`);
  if (status === "moved") return { answers };
  if (status === "finished") return { answers, tell: `troupe tell ${run} "..."` };
  const more = status === "budget" && budget !== undefined ? ` --budget ${(2 * budget) / 1_000_000}` : "";
  // A question that was answered with no would be answered so again.
  const again = error?.code === "NOT_APPROVED" ? " --reuse none" : "";
  const goOn = `troupe resume ${run}${more}${again}${isForced ? " --force" : ""}`;
  if (error?.code !== "OUTPUT_INVALID") return { goOn, answers };
  return { goOn, answers, replies: `troupe runs events ${run} --type step.ended --json`, otherModel: `troupe fork ${run} --model <name>` };
}
