import { StepError, TroupeError } from "../../kernel/errors.ts";
import { thrownText, valueText } from "../../kernel/value-text.ts";
import type { HumanPort, HumanQuestion } from "../../tool/approval.ts";

/**
 * Asks a person and takes nothing but a text for an answer.
 *
 * @throws StepError `ANSWER_INVALID` for an answer that is no text; `HUMAN_FAILED` when asking fails. An error of this package comes as it is.
 */
export async function answerOf(human: HumanPort, question: HumanQuestion, signal: AbortSignal): Promise<string> {
  const answer: unknown = await asked(human, question, signal);
  if (typeof answer === "string") return answer;
  throw new StepError(
    "ANSWER_INVALID",
    `Expected the person asked by ${question.role} to answer with a text, got ${valueText(answer)}. Let the human port return a string.`,
  );
}

async function asked(human: HumanPort, question: HumanQuestion, signal: AbortSignal): Promise<unknown> {
  try {
    return await human(question, { signal });
  } catch (error) {
    if (TroupeError.isInstance(error)) throw error;
    const said = thrownText(error);
    throw new StepError(
      "HUMAN_FAILED",
      `Expected the person asked by ${question.role} to answer, but asking failed: ${said}${/[.!?]$/.test(said) ? "" : "."} Mend the human port and resume the run.`,
      { cause: error },
    );
  }
}
