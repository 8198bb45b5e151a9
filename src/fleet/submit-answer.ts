import { recordedState } from "../runtime/snapshot/snapshot.ts";
import { aText, takes } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { maskSecrets } from "../kernel/mask.ts";
import { EVENT_VERSION } from "../runtime/record/event.ts";
import { aJournal, type Journal, readEvents } from "../runtime/record/journal.ts";
import { answerTo, findQuestion } from "../team/resume.ts";
import { aRunDriver, type RunDriver, type RunJob } from "../team/run-driver.ts";

/** Options of {@link submitAnswer}. */
export interface SubmitAnswerOptions {
  readonly journal: Journal;
  readonly driver: RunDriver;
  /** Strings that are masked in the record. Default: none. */
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

const submitAnswerOptions: Known<SubmitAnswerOptions> = {
  journal: kinds.journal,
  driver: kinds.runDriver,
  secrets: kinds.secrets,
  clock: kinds.clock,
  signal: kinds.signal,
};

/**
 * Answers a question to a person, and gives the run to the workers. Resolves when the answer is recorded and the job is durable. As with
 * `team.submit`, the team is not needed here; `team.answer` continues the run in this process instead.
 *
 * @param questionId the id of the question, or its first letters
 * @param answer a string, or for a question with a form also a JSON value that the form takes
 * @throws UsageError `QUESTION_ANSWER_INVALID`, `OPTION_INVALID`, `OPTION_UNKNOWN`, `ARGUMENT_INVALID`
 * @throws JournalError `RUN_UNKNOWN`, `QUESTION_UNKNOWN`, `QUESTION_ANSWERED`, `QUESTION_EXPIRED`, `QUESTION_GIVEN_UP`; `RUN_OWNED` while the run is
 * under way: answer when it waits; errors of the driver: the answer is recorded then, and `team.submit` with the id continues
 * @throws ControlError when the signal aborts
 */
export async function submitAnswer(runId: string, questionId: string, answer: Json, options: SubmitAnswerOptions): Promise<void> {
  checkGivenOptions("submitAnswer", options, submitAnswerOptions);
  takes("submitAnswer", "runId", runId, aText);
  takes("submitAnswer", "questionId", questionId, aText);
  takes("submitAnswer", "journal", options.journal, aJournal);
  takes("submitAnswer", "driver", options.driver, aRunDriver);
  const { journal, driver } = options;
  const { epoch, former } = await journal.claim(runId);
  let job: RunJob;
  try {
    job = await recordAnswer({ runId, questionId, answer, epoch }, options);
  } finally {
    await journal.release(runId, epoch, { former });
  }
  // A worker could not claim the run before.
  await driver.submit(job);
}

interface Answered {
  readonly runId: string;
  readonly questionId: string;
  readonly answer: Json;
  readonly epoch: number;
}

async function recordAnswer({ runId, questionId, answer, epoch }: Answered, options: SubmitAnswerOptions): Promise<RunJob> {
  const { journal, secrets = [], clock = systemClock, signal = new AbortController().signal } = options;
  const { state } = await recordedState(journal, runId, (from) => readEvents(journal, runId, { from, signal }));
  const question = await findQuestion(journal, state, questionId, signal);
  const now = clock.now();
  const body = answerTo(question, answer, { mask: maskSecrets(secrets), now });
  const { seq } = state;
  const team = await teamOf(journal, runId);
  await journal.append(runId, epoch, seq, [{ v: EVENT_VERSION, runId, seq, time: now, ...body }]);
  return { runId, team, events: seq + 1 };
}

async function teamOf(journal: Journal, runId: string): Promise<string> {
  for await (const event of journal.read(runId, 0)) {
    if (event.type === "run.started") return event.team;
    break;
  }
  throw new JournalError("RUN_NOT_STARTED", `Expected a run that has begun, but ${runId} has no team yet. Submit its idea.`);
}
