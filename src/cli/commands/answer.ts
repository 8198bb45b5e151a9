import { UsageError } from "../../kernel/errors.ts";
import { pendingQuestions, type PendingQuestion } from "../../runtime/record/questions.ts";
import { findQuestion } from "../../team/going-on.ts";
import type { ExitCode } from "../exit-code.ts";
import { goOn } from "../go-on.ts";
import type { Host } from "../host.ts";
import { type LoadedRun, loadRun } from "../loaded-run.ts";
import { holdRun } from "../pick-run.ts";
import { shown } from "../screen/text.ts";
import { inSession, type Session } from "../session.ts";
import type { Flags } from "../settings.ts";
import { type Store, withRuns } from "../store.ts";
import { readText } from "../text-file.ts";

/** Letters of a question's id that cannot be taken for an answer. */
const ID_LETTERS = /^[0-9a-f]{4,}$/;

/** `troupe answer <run> [question] <text>`: answers what a role asked, and goes on with the run. */
export function answerCommand(host: Host, id: string, words: readonly string[], flags: Flags): Promise<ExitCode> {
  return inSession(host, flags, (session) =>
    withRuns(session, flags, async (store) => {
      const held = await holdRun(store, id);
      try {
        const run = await loadRun(store.journal, held.runId, { signal: session.interruptions.signal });
        return await answered(session, store, run, words, flags);
      } finally {
        await held.release();
      }
    }),
  );
}

async function answered(session: Session, store: Store, run: LoadedRun, words: readonly string[], flags: Flags): Promise<ExitCode> {
  const { question: named, text } = meant(words, pendingQuestions(run.state), run.runId);
  const { id: question } = await findQuestion(store.journal, run.state, named, session.interruptions.signal);
  const answer = await answerText(text, session.host);
  return goOn(session, {
    store,
    run,
    flags,
    begin: (team, o) => {
      // Refused or not, the run's result tells it.
      team.answer(run.runId, question, answer, o).catch(() => {});
      // It is under way now, so this gives the same run, and nobody misses its first events.
      return team.resume(run.runId, o);
    },
  });
}

/**
 * Which question is answered with which text. The question may be left out where only one waits.
 *
 * @throws UsageError `ANSWER_MISSING`, `QUESTION_MISSING`
 */
export function meant(
  words: readonly string[],
  pending: readonly PendingQuestion[],
  runId: string,
): { readonly question: string; readonly text: string } {
  const [first = "", second] = words;
  if (second !== undefined) return { question: first, text: second };
  const named = pending.find(({ id }) => ID_LETTERS.test(first) && id.startsWith(first));
  if (named !== undefined)
    throw new UsageError(
      "ANSWER_MISSING",
      `Expected an answer, got the id of the question alone. Say: troupe answer ${shown(runId, 60)} ${first} "..."`,
    );
  const [only, ...others] = pending;
  if (only !== undefined && others.length === 0) return { question: only.id, text: first };
  if (only === undefined) {
    const advice = `See how it stands: troupe runs show ${shown(runId, 60)}`;
    throw new UsageError("QUESTION_MISSING", `Expected a run with a question that waits, but run ${shown(runId, 60)} has none. ${advice}`);
  }
  const waiting = pending.map(({ id, role, text }) => `${id} (${shown(role, 60)}: ${shown(text, 80)})`).join(", ");
  throw new UsageError(
    "QUESTION_MISSING",
    `Expected the id of a question of run ${shown(runId, 60)} before the answer. Waiting: ${waiting}.`,
  );
}

async function answerText(text: string, host: Host): Promise<string> {
  const answer = text === "-" ? (await readText(host, "-", "the answer")).replace(/\r?\n$/, "") : text;
  if (answer.trim() === "") throw new UsageError("ANSWER_MISSING", "Expected an answer, got an empty text.");
  return answer;
}
