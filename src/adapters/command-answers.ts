import { errorRecord, JournalError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { Owners } from "../runtime/record/owners.ts";

/* Commands for the owners of runs and their answers, as strings in the rows of a database. */

/** Commands of a run that may wait at the same time. */
export const MAX_WAITING = 100;
const MAX_LENGTH = 1_000_000;

/** @throws JournalError `JOURNAL_FULL` */
export function commandText(command: Json): string {
  const text = JSON.stringify(command);
  if (text.length > MAX_LENGTH) throw tooLong("command", text.length);
  return text;
}

/** Gives a command to the owner in this process. Returns the string of its answer, or of its error. */
export async function answerText(owners: Owners, runId: string, command: string): Promise<string> {
  try {
    const answer = JSON.stringify({ value: await owners.ask(runId, JSON.parse(command) as Json) });
    if (answer.length > MAX_LENGTH) throw tooLong("answer", answer.length);
    return answer;
  } catch (error) {
    return JSON.stringify({ error: errorRecord(error) });
  }
}

/** Returns the answer in a string. @throws the error in it */
export function answerIn(text: string): Json {
  const { value = null, error } = JSON.parse(text) as { readonly value?: Json; readonly error?: unknown };
  if (!isRecord(error)) return value;
  const Failure = error["name"] === "UsageError" ? UsageError : JournalError;
  throw new Failure(String(error["code"]), String(error["message"]), error["data"] === undefined ? {} : { data: error["data"] });
}

export function tooManyCommands(runId: string): JournalError {
  const text = `Expected at most ${MAX_WAITING} commands to wait for the owner of run ${runId}, got one more. Send fewer at once.`;
  return new JournalError("JOURNAL_FULL", text, { data: { runId } });
}

function tooLong(what: string, length: number): JournalError {
  return new JournalError("JOURNAL_FULL", `Expected a ${what} of at most ${MAX_LENGTH} characters, got ${length}. Send less.`);
}
