import { ActionError, errorRecord, type ErrorRecord, stepErrorFrom, TroupeError, UsageError } from "../kernel/errors.ts";
import type { Mask } from "../kernel/mask.ts";
import { masked, maskedError } from "./record/masking.ts";

/** The code of a failure that was thrown as no error of this package: the same in the event, the dead letters and the result. */
const ACTION_FAILED = "ACTION_FAILED";

/** Where in an activation it failed. */
export interface FailedPlace {
  /** The action that threw. */
  readonly action?: string | undefined;
  /** The step of the activation that failed last, before what was thrown. */
  readonly step?: string | undefined;
}

/** What broke a run, and whose activation it was, if it was one's. */
export interface RunFailure extends FailedPlace {
  readonly error: unknown;
  readonly role?: string;
}

/** A failed activation's error as its event tells it. */
export function failureRecord(error: unknown, mask: Mask): ErrorRecord {
  const record = maskedError(mask, error);
  return TroupeError.isInstance(error) ? record : { ...record, code: ACTION_FAILED };
}

/** A failure as the run's result tells it, without secrets. */
export function failureError(failure: RunFailure, mask: Mask): TroupeError {
  return withoutSecrets(asTroupeError(failure), mask);
}

function asTroupeError({ error, role, action, step }: RunFailure): TroupeError {
  if (TroupeError.isInstance(error)) return error;
  const { message } = errorRecord(error);
  const what = action === undefined ? "An action" : `Action ${action}`;
  const after = step === undefined ? "" : `, in which step ${JSON.stringify(step)} had failed,`;
  const who = role === undefined ? "Something" : `${what} of ${role}${after}`;
  const advice = "Mend it and resume the run, or say with onFailure what shall happen when an action fails.";
  const data = { ...(action === undefined ? {} : { action }), ...(step === undefined ? {} : { step }) };
  return new ActionError(ACTION_FAILED, `${who} failed: ${message}${/[.!?]$/.test(message) ? "" : "."} ${advice}`, {
    cause: error,
    ...(role === undefined ? {} : { data: { role, ...data } }),
  });
}

/** The same error where nothing in it is secret; else one that says the same without, and without its cause. */
function withoutSecrets(error: TroupeError, mask: Mask): TroupeError {
  const plain = errorRecord(error);
  const safe = masked(mask, plain);
  return safe === plain && !holdsSecret(error.cause, mask) ? error : errorFrom(safe);
}

/** Most values of a cause that are looked at. One that holds more is taken for one that holds a secret. */
const MOST_VALUES = 100_000;

/** Looks at all that a cause holds, and calls nothing of it. */
function holdsSecret(cause: unknown, mask: Mask): boolean {
  const found = new Set([cause]);
  try {
    // The walk over a set also visits what is added on the way.
    for (const value of found) {
      if (typeof value === "string" && mask(value) !== value) return true;
      if (found.size > MOST_VALUES) return true;
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
      if (value instanceof Map || value instanceof Set) found.add([...value]);
      for (const key of Reflect.ownKeys(value)) found.add(key).add(Reflect.getOwnPropertyDescriptor(value, key)?.value);
    }
    return false;
  } catch {
    return true;
  }
}

function errorFrom(record: ErrorRecord): TroupeError {
  const detail = { data: record.data };
  if (record.name === "UsageError") return new UsageError(record.code, record.message, detail);
  return record.name === "ActionError" ? new ActionError(record.code, record.message, detail) : stepErrorFrom(record);
}
