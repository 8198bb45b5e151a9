import { JournalError } from "../kernel/errors.ts";
import type { RunResumed, StepEnded } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";
import { asks, pendingQuestions, type RecordedQuestion } from "../runtime/record/questions.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { stepsInFlight } from "../runtime/record/apply-steps.ts";
import { heard } from "./heard.ts";

/**
 * Refuses a run that has nothing to go on with.
 *
 * @throws JournalError `RUN_NOT_STARTED` when nobody has told it its idea; `FORK_CUT` when it is a fork whose past was not copied to its end
 */
export function assertBegun(state: RunState, hasIdea: boolean): void {
  if (state.parent !== undefined && state.seq <= state.parent.at + 1) {
    throw new JournalError(
      "FORK_CUT",
      `Expected a fork with the whole past it shares, but ${state.runId} was stopped while that was copied. Remove it and fork again.`,
    );
  }
  if (state.outside > 0 || hasIdea) return;
  throw new JournalError(
    "RUN_NOT_STARTED",
    `Expected a run that has its idea, but ${state.runId} ended before it was told. Start it: run(idea, { id }).`,
  );
}

/** Calls that were in flight when the process died: nobody knows whether they were paid. */
export function uncertainSteps(state: RunState): RunResumed["uncertain"] {
  return stepsInFlight(state)
    .filter(({ record: { started } }) => started.kind !== "human" && started.reused === undefined)
    .map(({ record: { started } }) => ({ act: started.act, key: started.key, hold: started.hold }));
}

/**
 * The pending question of an id, or of its first letters.
 *
 * @throws JournalError `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`; ControlError when the signal aborts
 */
export async function findQuestion(journal: Journal, state: RunState, id: string, signal: AbortSignal): Promise<RecordedQuestion> {
  const pending = pendingQuestions(state);
  const meant = pending.filter((question) => id !== "" && question.id.startsWith(id));
  const [question] = meant;
  if (question !== undefined && meant.length === 1) return question;
  if (await wasAsked(journal, state.runId, id, signal)) {
    throw new JournalError("QUESTION_ANSWERED", `Expected a question that waits, but ${id} of run ${state.runId} has been answered.`);
  }
  const known = pending.length === 0 ? "none waits" : pending.map((one) => `${one.id} (${one.role})`).join(", ");
  throw new JournalError("QUESTION_UNKNOWN", `Expected a question of run ${state.runId} that waits, got ${id}. Waiting: ${known}.`);
}

/** The answer to a question as the record has it. */
export function answerTo({ act, key, try: nth }: RecordedQuestion, text: string, at: number): StepEnded {
  return { type: "step.ended", act, key, try: nth, ok: true, value: text, cost: 0, basis: "none", at };
}

async function wasAsked(journal: Journal, runId: string, id: string, signal: AbortSignal): Promise<boolean> {
  for await (const event of heard(journal, runId, { from: 0, signal })) if (asks(event, id)) return true;
  return false;
}
