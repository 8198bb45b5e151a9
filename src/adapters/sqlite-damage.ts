import { type Clock, sleep } from "../kernel/clock.ts";
import { JournalError, TroupeError } from "../kernel/errors.ts";

/*
 * What can be wrong with a file of runs, in the words of this package. A sentence of SQLite is always kept as the cause.
 */

/** Milliseconds between two looks at a file that somebody else is writing. */
const PAUSE = 10;

/** Does `work` as soon as no other process is writing; gives up after `patience` milliseconds. */
export async function patiently<T>(work: () => T, clock: Clock, patience: number): Promise<T> {
  const until = clock.now() + patience;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || clock.now() >= until) throw error;
    }
    await sleep(clock, PAUSE);
  }
}

/** True when another process holds the file right now. */
export function isBusy(error: unknown): boolean {
  return isOf(error, "SQLITE_BUSY", "SQLITE_LOCKED");
}

/** True when the disk, not one run's record, is what failed: then no other append of the same commit would fare better. */
export function isOfTheDisk(error: unknown): boolean {
  return isBusy(error) || isOf(error, "SQLITE_FULL", ...MACHINE);
}

/** True when the file itself is broken: what SQLite calls malformed, or what it cannot make sense of. */
export function isBroken(error: unknown): boolean {
  const inside = error instanceof JournalError && error.code === "JOURNAL_DAMAGED" ? error.cause : error;
  return sqliteCode(inside) !== undefined && !isOfTheDisk(inside);
}

const MACHINE = ["SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOLFS", "SQLITE_NOMEM"];

/** Why something could not be written, or the file not be opened. */
export function unwritable(file: string, error: unknown): Error {
  if (TroupeError.isInstance(error)) return error;
  const cause = { cause: error, data: { file } };
  if (isOf(error, "SQLITE_FULL")) {
    return new JournalError(
      "JOURNAL_FULL",
      `Expected room on the disk for ${file}, but it is full. Make room, then resume the run.`,
      cause,
    );
  }
  if (isBusy(error)) {
    return new JournalError(
      "JOURNAL_UNWRITABLE",
      `Expected a turn to write ${file}, but another process is writing it all the time, or was stopped while it did. Look at that process, then resume the run.`,
      cause,
    );
  }
  if (isOf(error, ...MACHINE) || sqliteCode(error) === undefined) {
    return new JournalError(
      "JOURNAL_UNWRITABLE",
      `Expected to write ${file}, but the machine refused: ${reason(error)}. See to the file's folder, its permissions, its disk, and how many files the process may open.`,
      cause,
    );
  }
  return new JournalError("JOURNAL_DAMAGED", `Expected a whole journal, but ${file} is damaged: ${reason(error)}. ${REPAIR}`, cause);
}

/** Why the record of one run could not be read further. */
export function unreadable(file: string, runId: string, intact: number, error: unknown): Error {
  if (isBroken(error)) return damagedRun(file, runId, intact, reason(error instanceof JournalError ? error.cause : error), error);
  if (error instanceof JournalError && error.code === "JOURNAL_DAMAGED" && error.data === undefined) {
    return damagedRun(file, runId, intact, "what the journal says of it was changed since it was written", error);
  }
  if (TroupeError.isInstance(error)) return error;
  const why = isBusy(error) ? "another process keeps it for itself" : `the machine refused: ${reason(error)}`;
  return new JournalError(
    "JOURNAL_UNREADABLE",
    `Expected to read run ${runId} in ${file} from event ${intact} on, but ${why}. See to that, then read again.`,
    { cause: error, data: { file, runId, intact } },
  );
}

const REPAIR = "Keep a copy of it and of its -wal, and put back a copy from before.";

/** The record of one run is damaged behind its first `intact` events. */
export function damagedRun(file: string, runId: string, intact: number, why: string, cause?: unknown): JournalError {
  const whole =
    intact === 0
      ? "none of its events is sure"
      : intact === 1
        ? "event 0 is intact"
        : `its first ${intact} events, up to ${intact - 1}, are intact`;
  return new JournalError(
    "JOURNAL_DAMAGED",
    `Expected run ${runId} to be whole, but in ${file} ${whole}, and then: ${why}. What is intact can still be read. ${REPAIR}`,
    { cause, data: { file, runId, intact } },
  );
}

function isOf(error: unknown, ...codes: readonly string[]): boolean {
  const code = sqliteCode(error);
  return code !== undefined && codes.some((one) => code === one || code.startsWith(`${one}_`));
}

/** The library gives no code to a file it could not open; its sentence ends with SQLite's number for it. */
function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  return error.message.startsWith("ConnectionFailed(") ? "SQLITE_CANTOPEN" : undefined;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
