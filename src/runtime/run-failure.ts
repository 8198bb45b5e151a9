import { ActionError, errorRecord, type ErrorRecord, stepErrorFrom, TroupeError, UsageError } from "../kernel/errors.ts";
import { type Mask, masked } from "../kernel/mask.ts";
import { maskedError } from "./record/rewritten-event.ts";

/** The code of errors from outside this package, in events, dead letters and results. */
const ACTION_FAILED = "ACTION_FAILED";

export interface FailedWork {
  readonly action?: string | undefined;
  /** The last failed step of the activation before the error was thrown. */
  readonly step?: string | undefined;
}

/** A failure that stopped a run, with the activation that caused it, if any. */
export interface RunFailure extends FailedWork {
  readonly error: unknown;
  readonly role?: string;
}

export function failureRecord(error: unknown, mask: Mask): ErrorRecord {
  const record = maskedError(mask, error);
  return TroupeError.isInstance(error) ? record : { ...record, code: ACTION_FAILED };
}

/** Returns a failure as the run's result reports it, without secrets. */
export function failureError(failure: RunFailure, mask: Mask): TroupeError {
  return withoutSecrets(asTroupeError(failure), mask);
}

function asTroupeError({ error, role, action, step }: RunFailure): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const { message } = errorRecord(error);
  const what = action === undefined ? "An action" : `Action ${action}`;
  const after = step === undefined ? "" : `, in which step ${JSON.stringify(step)} had failed,`;
  const who = role === undefined ? "Something" : `${what} of ${role}${after}`;
  const advice = "Repair it and resume the run, or set onFailure.";
  const data = { ...(action === undefined ? {} : { action }), ...(step === undefined ? {} : { step }) };
  return new ActionError(ACTION_FAILED, `${who} failed: ${message}${/[.!?]$/.test(message) ? "" : "."} ${advice}`, {
    cause: error,
    ...(role === undefined ? {} : { data: { role, ...data } }),
  });
}

/** Returns the error itself if it holds no secret; else a masked copy without its cause. */
function withoutSecrets(error: TroupeError, mask: Mask): TroupeError {
  const plain = errorRecord(error);
  const safe = masked(mask, plain);
  return safe === plain && !holdsSecret(error.cause, mask) ? error : errorFrom(safe);
}

/** Limit on the inspected values of a cause. A larger cause is treated as containing a secret. */
const MAX_VALUES = 100_000;

function holdsSecret(cause: unknown, mask: Mask): boolean {
  const found = new Set([cause]);
  try {
    // The walk over a set also visits values that are added during it.
    for (const value of found) {
      if (typeof value === "string" && mask(value) !== value) return true;
      if (found.size > MAX_VALUES) return true;
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
      if (value instanceof Map || value instanceof Set) found.add([...value]);
      for (const key of Reflect.ownKeys(value)) found.add(key).add(Reflect.getOwnPropertyDescriptor(value, key)?.value);
    }
    return false;
  } catch {
    return true;
  }
}

/** Returns the error of a record from another process, or of one without its cause. */
export function errorFrom(record: ErrorRecord): TroupeError {
  const detail = { data: record.data };
  if (record.name === "UsageError") return new UsageError(record.code, record.message, detail);
  return record.name === "ActionError" ? new ActionError(record.code, record.message, detail) : stepErrorFrom(record);
}
