import { systemClock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { masked } from "../kernel/mask.ts";
import type { Environment } from "../runtime/environment.ts";
import { unowned } from "../runtime/record/owners.ts";
import type { RecordedQuestion } from "../runtime/record/questions.ts";
import type { TeamParts } from "./drive.ts";
import type { RunChange } from "./publishing.ts";
import { answerTo, findQuestion } from "./resume.ts";
import type { Run } from "./run.ts";
import { answeredUnderWay } from "./runs.ts";

/** The answer ends the asking, and the record shows it as that of the person who is asked. A run at rest takes its answers when it resumes. */
export function answering({ journal, options }: TeamParts, questionId: string, answer: Json): RunChange<void> {
  return {
    async make(environment, { mask, isOver }) {
      const { state, persons, log } = environment;
      const { clock = systemClock } = options;
      const question = await findQuestion(journal, state, questionId, new AbortController().signal);
      const { value = null } = answerTo(question, answer, { mask, now: clock.now() });
      if (isOver()) throw unowned(state.runId);
      if (!persons.answer(question.id, value)) throw answeredUnderWay(state.runId);
      await ended(environment, question);
      await log.durable();
    },
    command: (mask) => ({ do: "answer", question: questionId, answer: masked(mask, answer) }),
    result: () => undefined,
  };
}

/** Gives an answer to a run under way. Returns false if the run has ended, and is at rest. */
export async function isGiven(run: Run, answer: RunChange<void>): Promise<boolean> {
  try {
    await run.change(answer);
    return true;
  } catch (error) {
    if (error instanceof JournalError && error.code === "RUN_UNOWNED") return false;
    throw error;
  }
}

/** Resolves when the answer is recorded. @throws JournalError `RUN_UNOWNED` when the run ends first */
function ended(environment: Environment, { act, key }: RecordedQuestion): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = [
      environment.on("step.ended", (event) => (event.act === act && event.key === key ? left(resolve) : undefined)),
      environment.on("run.ended", () => left(() => reject(unowned(environment.state.runId)))),
    ];
    const left = (settle: () => void): void => {
      for (const stop of leave) stop();
      settle();
    };
  });
}
