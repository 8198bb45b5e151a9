import { JournalError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import { isRecord, isText } from "../../kernel/value-kind.ts";
import { permissionForm } from "../../tool/approval.ts";
import { isQuestionForm, type QuestionForm } from "../../tool/question-form.ts";
import type { RoleState } from "./role-state.ts";
import { playerOf, roleOf, type RunState } from "./run-state.ts";
import type { RunEvent, StepStarted } from "./event.ts";
import { stepId } from "../steps/step-requests.ts";

/** A question to a person that waits for an answer. */
export interface PendingQuestion {
  /** Identifies the question in an answer. */
  readonly id: string;
  readonly role: string;
  readonly text: string;
  /** The tool, if the question is whether the role may use it: yes, no, always or `{ args }` answers it. */
  readonly tool?: string;
  /** The arguments of the tool call. The answer `{ args }` allows the call with other arguments. */
  readonly args?: JsonObject;
  /** The form of the answer; `checkAnswer` checks one. Undefined: any string. */
  readonly form?: QuestionForm;
  /** The suggested answer, which counts when the deadline passes. */
  readonly default?: Json;
  /** Milliseconds since 1970. After it, a resume of the run takes the default; without a default the question stays open. */
  readonly deadline?: number;
  /** The person or the role that the question is for. Undefined: anyone. */
  readonly to?: string;
  /** The name of the signal that ends a wait, which no person answers; empty for a sleep. Undefined: a question to a person. */
  readonly wait?: string;
}

/** A question and the try of its step. */
export interface RecordedQuestion extends PendingQuestion {
  readonly act: string;
  readonly key: string;
  readonly try: number;
}

/** Returns the open questions, in the hire order of the asking roles. */
export function pendingQuestions(state: RunState): readonly RecordedQuestion[] {
  // A question without words cannot be answered.
  if (state.erased) return [];
  const asking = [...state.open].map((name) => roleOf(state, name)).sort((a, b) => a.index - b.index);
  return asking.flatMap((role) => questionsOf(state, role));
}

/** Returns the open questions of a role: those to persons, or those to a person who has given the role back, which its model is to answer. */
export function questionsOf(state: RunState, role: RoleState, areGivenBack: boolean = false): readonly RecordedQuestion[] {
  const isLeft = playerOf(state, role.name) === undefined;
  return [...(role.open?.steps.values() ?? [])]
    .filter(({ started, outcome }) => started.kind === "human" && outcome === undefined && areGivenBack === (isLeft && isToPlayer(started)))
    .map(({ started }) => questionOf(state.runId, started));
}

/** True for a question to the person who has taken the role. The record of an enclosing run does not have the mark. */
export function isToPlayer({ request }: Partial<Pick<StepStarted, "request">>): boolean {
  return isRecord(request) && request["player"] === true;
}

export function plainQuestion({ act: _act, key: _key, try: _try, ...question }: RecordedQuestion): PendingQuestion {
  return question;
}

/** Returns the error for a question that is not open: `QUESTION_ANSWERED`, `QUESTION_GIVEN_UP` or `QUESTION_UNKNOWN`. */
export async function closedQuestion(
  events: AsyncIterable<RunEvent>,
  { runId, id, waiting }: { readonly runId: string; readonly id: string; readonly waiting: readonly PendingQuestion[] },
): Promise<JournalError> {
  const isAmbiguous = id !== "" && waiting.some((question) => question.id.startsWith(id));
  let step: string | undefined;
  let isAnswered = false;
  for await (const event of events) {
    if (!isAmbiguous && asks(event, id)) step = `${event.act} ${event.key}`;
    else if (event.type === "step.ended" && event.ok && step === `${event.act} ${event.key}`) isAnswered = true;
  }
  if (isAnswered)
    return new JournalError(
      "QUESTION_ANSWERED",
      `Expected a question that waits, but ${id} of run ${runId} has been answered. Read its answer in the record.`,
    );
  if (step !== undefined)
    return new JournalError(
      "QUESTION_GIVEN_UP",
      `Expected a question that waits, but ${id} of run ${runId} was given up: its role was retired, or its activation ended without the answer. Answer a question that waits.`,
    );
  const known = waiting.length === 0 ? "none waits" : waiting.map((one) => `${one.id} (${one.role})`).join(", ");
  return new JournalError("QUESTION_UNKNOWN", `Expected a question of run ${runId} that waits, got ${id}. Waiting: ${known}.`);
}

function asks(event: RunEvent, id: string): event is Extract<RunEvent, { readonly type: "step.started" }> {
  return id !== "" && event.type === "step.started" && event.kind === "human" && stepId(event.runId, event.act, event.key).startsWith(id);
}

type StepEvent = Pick<StepStarted, "act" | "key" | "request" | "try" | "deadline">;

export function questionOf(runId: string, step: StepEvent): RecordedQuestion {
  const { act, key, try: nth } = step;
  return { id: stepId(runId, act, key), ...questionIn(step), act, key, try: nth };
}

/** Returns the question of a step without its id, which is a hash that the inspector's page does not compute. */
export function questionIn({ request, deadline }: Pick<StepEvent, "request" | "deadline">): Omit<PendingQuestion, "id"> {
  // An imported record may have any value.
  const { role, question, tool, args, parameters, form: given, order, default: byDefault, to, wait } = isRecord(request) ? request : {};
  const form = isRecord(given) && order !== undefined ? { ...given, order } : given;
  const called = isRecord(args) ? { args: args as JsonObject } : {};
  const schema = isRecord(parameters) ? (parameters as JsonObject) : undefined;
  const permission = isText(tool) ? { tool, ...called, form: permissionForm(tool, schema) } : {};
  return {
    role: isText(role) ? role : "",
    text: isText(question) ? question : "",
    ...permission,
    ...(isQuestionForm(form) ? { form } : {}),
    ...(byDefault === undefined ? {} : { default: byDefault as Json }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(isText(to) ? { to } : {}),
    ...(isText(wait) ? { wait } : {}),
  };
}
