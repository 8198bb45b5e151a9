import { UsageError } from "../kernel/errors.ts";
import type { PendingQuestion } from "../runtime/record/questions.ts";
import { shown } from "./screen/text.ts";

/** The form of a question's id, which is not taken for an answer. */
const ID_LETTERS = /^[0-9a-f]{4,}$/;

/**
 * The question that is answered, and the text. The question may be left out where only one waits. @param asks true where a person can be
 * asked for a missing text
 */
export function chosenQuestion(
  words: readonly string[],
  pending: readonly PendingQuestion[],
  runId: string,
  asks = false,
): { readonly question: string; readonly text: string | undefined } {
  const [first, second] = words;
  const isId = first !== undefined && pending.some(({ id }) => ID_LETTERS.test(first) && id.startsWith(first));
  const text = second ?? (isId ? undefined : first);
  const question = isId || second !== undefined ? (first ?? "") : onlyQuestion(pending, runId, "before the answer");
  if (text !== undefined || asks) return { question, text };
  const command = `troupe answer ${shown(runId, 60)}${isId ? ` ${first}` : ""} "..."`;
  throw new UsageError("ANSWER_MISSING", `Expected an answer, got ${isId ? "the id of the question alone" : "none"}. Say: ${command}`);
}

/** The question that waits, where it is the only one. @param where its id goes otherwise */
export function onlyQuestion(pending: readonly PendingQuestion[], runId: string, where: string): string {
  const id = shown(runId, 60);
  const [only, ...others] = pending;
  if (only !== undefined && others.length === 0) return only.id;
  if (only === undefined) {
    const expected = `Expected a run with a question that waits, but run ${id} has none`;
    throw new UsageError("QUESTION_MISSING", `${expected}. See: troupe runs show ${id}`);
  }
  const waiting = pending.map((question) => `${question.id} (${shown(question.role, 60)}: ${shown(question.text, 80)})`).join(", ");
  throw new UsageError("QUESTION_MISSING", `Expected the id of a question of run ${id} ${where}. Waiting: ${waiting}.`);
}
