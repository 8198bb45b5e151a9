import { UsageError } from "../../kernel/errors.ts";
import { pendingQuestions, type PendingQuestion } from "../../runtime/record/questions.ts";
import { findQuestion } from "../../team/resume.ts";
import type { ExitCode } from "../errors.ts";
import type { Host } from "../host.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { type Store, withRuns } from "../store.ts";
import { holdingRun, type LoadedRun, loadRun } from "../stored-run.ts";
import { readText } from "../text-file.ts";
import { continueRun } from "./resume.ts";

/** The form of a question's id, which is not taken for an answer. */
const ID_LETTERS = /^[0-9a-f]{4,}$/;

/** `troupe answer <run> [question] <text>`: answers a role's question, and continues the run. */
export function answerCommand(host: Host, id: string, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, (store) =>
      holdingRun(store, id, async (runId) => {
        const run = await loadRun(store.journal, runId, { signal: session.interruptions.signal });
        return answered(session, store, run, words, flags);
      }),
    ),
  );
}

async function answered(session: Session, store: Store, run: LoadedRun, words: readonly string[], flags: Flags): Promise<ExitCode> {
  const { question: named, text } = chosenQuestion(words, pendingQuestions(run.state), run.runId);
  const { id: question } = await findQuestion(store.journal, run.state, named, session.interruptions.signal);
  const answer = await answerText(text, session.host);
  return continueRun(session, {
    store,
    run,
    flags,
    begin: (team, o) => {
      // The run's result reports a refusal too.
      team.answer(run.runId, question, answer, o).catch(() => {});
      // The run is in progress now, so this returns the same run before its first events.
      return team.resume(run.runId, o);
    },
  });
}

/**
 * The question that is answered, and the text. The question may be left out where only one waits.
 *
 * @throws UsageError `ANSWER_MISSING`, `QUESTION_MISSING`
 */
export function chosenQuestion(
  words: readonly string[],
  pending: readonly PendingQuestion[],
  runId: string,
): { readonly question: string; readonly text: string } {
  const [first = "", second] = words;
  if (second !== undefined) return { question: first, text: second };
  const id = shown(runId, 60);
  if (pending.some((question) => ID_LETTERS.test(first) && question.id.startsWith(first))) {
    const expected = "Expected an answer, got the id of the question alone";
    throw new UsageError("ANSWER_MISSING", `${expected}. Say: troupe answer ${id} ${first} "..."`);
  }
  const [only, ...others] = pending;
  if (only === undefined) {
    const expected = `Expected a run with a question that waits, but run ${id} has none`;
    throw new UsageError("QUESTION_MISSING", `${expected}. See how it stands: troupe runs show ${id}`);
  }
  if (others.length === 0) return { question: only.id, text: first };
  const waiting = pending.map((question) => `${question.id} (${shown(question.role, 60)}: ${shown(question.text, 80)})`).join(", ");
  throw new UsageError("QUESTION_MISSING", `Expected the id of a question of run ${id} before the answer. Waiting: ${waiting}.`);
}

async function answerText(text: string, host: Host): Promise<string> {
  const answer = text === "-" ? (await readText(host, "-", "the answer")).replace(/\r?\n$/, "") : text;
  if (answer.trim() === "") throw new UsageError("ANSWER_MISSING", "Expected an answer, got an empty text.");
  return answer;
}
