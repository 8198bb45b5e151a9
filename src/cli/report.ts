import type { Message } from "../message/message.ts";
import { formatCost } from "../model/money.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { ProjectPlace } from "../workspace/existing-project.ts";
import type { ProjectChanges } from "../workspace/project-changes.ts";
import { deliveryOf, productName, testsOf } from "./delivery.ts";
import { exitCodeOf, type Interruption } from "./errors.ts";
import { shellWord, shortestPrefix } from "./screen/text.ts";
import type { Worker } from "./settings.ts";
import type { Store } from "./store.ts";

export interface ChangeReport extends ProjectChanges {
  readonly place: ProjectPlace["kind"];
  /** The branch with the commits, and the commit before them; undefined where nothing is committed. */
  readonly branch?: string;
  readonly base?: string;
  /** False for a branch that begins with what the user has not committed. */
  readonly isMergeable?: boolean;
  /** The reason why the work was not done in the user's folder, or not committed. */
  readonly reason?: string;
}

export interface CommitReport {
  readonly id?: string;
  readonly files: number;
  /** The reason why there is none, or the files that are not in it; may be empty. */
  readonly note: string;
}

export interface ReportFacts {
  readonly by: Worker;
  readonly out: string;
  readonly files: readonly string[];
  /** True when replies came from a bundled script: nothing is billed then. */
  readonly isScripted: boolean;
  readonly store: string;
  /** True for a crew whose result is a delivery: without one nothing is done. */
  readonly proves: boolean;
  /** The highest cost of calls that were cut short, in micro-dollars. */
  readonly worstCase: number;
  readonly interruption: Interruption | undefined;
  readonly next: NextSteps;
  readonly change?: ChangeReport | undefined;
  readonly commit?: CommitReport | undefined;
  readonly isSpec?: boolean | undefined;
  /** Causes of the messages that are a crew's result. */
  readonly output?: readonly string[] | undefined;
  readonly describe: (error: unknown) => { readonly code: string; readonly message: string };
}

/** The last line of `--json`, and the base of the summary. Amounts are in micro-dollars. */
export type ResultReport = ReturnType<typeof resultReport>;

export function resultReport(result: RunResult, facts: ReportFacts) {
  const { by, isSpec, commit, change, out, files, worstCase, isScripted, store, next, interruption } = facts;
  const { status, runId, rounds, usage, byRole, byModel, failures, fork } = result;
  const tests = testsOf(result.messages);
  const delivery = deliveryOf(result.messages);
  const name = change === undefined ? productName(result.messages) : undefined;
  const isProven = facts.proves ? delivery?.isDone === true : undefined;
  const cost: { readonly known: number; readonly unpriced: number } = result.cost;
  const error = result.error && facts.describe(result.error);
  const exitCode = exitCodeOf({ status, errorCode: error?.code, tests: tests?.tests, isProven, interruption });
  const { answer, denied } = by === "company" ? {} : answerIn(result, facts.output);
  return {
    type: "result" as const,
    ...{ status, exitCode, runId, rounds, by, isSpec, answer, denied, commit, change, out, name, files, delivery },
    tests: tests ?? null,
    ...{ usage, byRole, byModel, isScripted, failures, store, fork },
    cost: { ...cost, worstCase, uncertain: result.uncertain, text: formatCost(result.cost) },
    deadLetters: result.deadLetters.length,
    goOn: next.goOn ?? (isProven === false && delivery !== undefined ? next.resume : undefined),
    replies: next.replies,
    otherModel: isScripted ? undefined : next.otherModel,
    tell: delivery === undefined || isScripted ? undefined : next.tell,
    questions: result.questions.map((question, nth) => ({ ...question, answer: next.answers[nth] ?? "" })),
    // Programs act on the data of these errors, such as the question a person must answer.
    error: error && {
      ...{ code: error.code, message: error.message },
      ...(["WAITING", "BUDGET"].includes(result.error?.code ?? "") ? { data: result.error?.data } : {}),
    },
  };
}

interface Answer {
  readonly answer?: string;
  readonly denied?: readonly { readonly tool: string; readonly why: string }[];
}

/** The answer of an agent or a crew. @param causes of the messages that are the result; undefined: the last output */
function answerIn({ messages, output }: RunResult, causes: readonly string[] | undefined): Answer {
  const answer = messages.findLast(({ causeBy }) => causes?.includes(causeBy)) ?? output;
  return answer === undefined ? {} : { answer: answer.content, ...deniedIn(answer) };
}

/** The calls that an agent's answer reports as denied. A record may come from elsewhere: data of another shape is ignored. */
function deniedIn({ metadata }: Message): Answer {
  const { denied } = metadata as { readonly denied?: unknown };
  if (!Array.isArray(denied)) return {};
  const known = denied.flatMap((one: unknown) => {
    const { tool, why } = (one ?? {}) as { readonly tool?: unknown; readonly why?: unknown };
    return typeof tool === "string" && typeof why === "string" ? [{ tool, why }] : [];
  });
  return known.length === 0 ? {} : { denied: known };
}

export interface NextSteps {
  /** Continues the run; undefined when it is finished. */
  readonly goOn?: string;
  /** Continues a run that is finished without a product that is done. */
  readonly resume?: string;
  /** Says something to a finished run; undefined while it is not finished. */
  readonly tell?: string;
  /** Shows replies that fit no schema, and tries another model; undefined for other ends. */
  readonly replies?: string;
  readonly otherModel?: string;
  readonly answers: readonly string[];
}

const MIN_LETTERS = 4;

export function nextSteps(
  { status, questions, error }: Pick<RunResult, "status" | "questions" | "error">,
  { short, store, budget, isForced }: { short: string; store: Pick<Store, "option">; budget: number | undefined; isForced: boolean },
): NextSteps {
  const run = `${shellWord(short)}${store.option}`;
  const ids = questions.map(({ id }) => id);
  const answers = questions.map(({ id, wait }) => {
    if (wait === "") return "";
    return wait === undefined
      ? `troupe answer ${run} ${shortestPrefix(id, ids, MIN_LETTERS)} "..."`
      : `troupe signal ${run} ${shellWord(wait)} '...'`;
  });
  if (status === "moved") return { answers };
  if (status === "finished") return { answers, tell: `troupe tell ${run} "..."`, resume: `troupe resume ${run}` };
  const more = status === "budget" && budget !== undefined ? ` --budget ${(2 * budget) / 1_000_000}` : "";
  // A question that was answered with no would be answered so again.
  const again = error?.code === "NOT_APPROVED" ? " --reuse none" : "";
  const goOn = `troupe resume ${run}${more}${again}${isForced ? " --force" : ""}`;
  if (error?.code !== "OUTPUT_INVALID") return { goOn, answers };
  return { goOn, answers, replies: `troupe runs events ${run} --type step.ended --json`, otherModel: `troupe fork ${run} --model <name>` };
}
