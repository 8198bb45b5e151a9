import { JournalError, TroupeError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { systemCode } from "../kernel/system-error.ts";

export type FileFault = "foreign" | "newer" | "full" | "unwritable" | "damaged";

export interface FileKind {
  readonly name: string;
  readonly applicationId: number;
  readonly version: number;
  readonly schema: string;
  error(fault: FileFault, message: string, o: { readonly cause?: unknown; readonly data: Json }): TroupeError;
}

const MACHINE = ["SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_NOLFS", "SQLITE_NOMEM"];

export function isBusy(error: unknown): boolean {
  return isOf(error, "SQLITE_BUSY", "SQLITE_LOCKED");
}

/** True for a file that is no database of this package. The error for another text encoding has no code. */
export function isNoDatabase(error: unknown): boolean {
  return systemCode(error) === "SQLITE_NOTADB" || (error instanceof Error && error.message.includes("same text encoding"));
}

/** Returns the error for a file that could not be opened or used. SQLite's error is its cause; an error of this package stays. */
export function fileError(kind: FileKind, file: string, error: unknown): Error {
  if (TroupeError.isInstance(error)) return error;
  const failed = (fault: FileFault, text: string): TroupeError => kind.error(fault, text, { cause: error, data: { file } });
  if (isOf(error, "SQLITE_FULL"))
    return failed("full", `Expected room on the disk for ${file}, but it is full. Make room, then try again.`);
  if (isBusy(error)) {
    return failed(
      "unwritable",
      `Expected a turn to write ${file}, but another process is writing it all the time, or was stopped while it did. Look at that process, then try again.`,
    );
  }
  if (isOf(error, ...MACHINE) || sqliteCode(error) === undefined) {
    return failed(
      "unwritable",
      `Expected to use ${file}, but the machine refused: ${reason(error)}. See to the file's folder, its permissions, its disk, and how many files the process may open.`,
    );
  }
  return failed("damaged", `Expected a whole ${kind.name}, but ${file} is damaged: ${reason(error)}. ${REPAIR}`);
}

/** Returns the error for a reader of a run that has read its first `intact` events. @param given also that of a file which is damaged as a whole */
export function unreadable(file: string, runId: string, intact: number, given: unknown): Error {
  const isOfTheFile = given instanceof JournalError && given.code === "JOURNAL_DAMAGED" && given.cause !== undefined;
  const error = isOfTheFile ? given.cause : given;
  if (TroupeError.isInstance(error)) return error;
  const isOfTheMachine = isBusy(error) || isOf(error, "SQLITE_FULL", ...MACHINE) || sqliteCode(error) === undefined;
  if (!isOfTheMachine) return damagedRun(file, runId, intact, reason(error), error);
  const why = isBusy(error) ? "another process keeps it for itself" : `the machine refused: ${reason(error)}`;
  return new JournalError(
    "JOURNAL_UNREADABLE",
    `Expected to read run ${runId} in ${file} from event ${intact} on, but ${why}. See to that, then read again.`,
    { cause: error, data: { file, runId, intact } },
  );
}

const REPAIR = "Keep a copy of it and of its -wal, and put back a copy from before.";

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

export function closedError(): JournalError {
  return new JournalError("JOURNAL_CLOSED", "Expected an open journal, but it has been closed. Make another one for the same file.");
}

function isOf(error: unknown, ...codes: readonly string[]): boolean {
  const code = sqliteCode(error);
  return code !== undefined && codes.some((one) => code === one || code.startsWith(`${one}_`));
}

/** The library's error for a file that it could not open has no code. */
function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && code.startsWith("SQLITE_")) return code;
  return error.message.startsWith("ConnectionFailed(") ? "SQLITE_CANTOPEN" : undefined;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
