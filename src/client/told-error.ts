import {
  ActionError,
  BudgetError,
  ControlError,
  type ErrorRecord,
  JournalError,
  ModelError,
  QueueFullError,
  TroupeError,
  UsageError,
  WorkspaceError,
} from "../kernel/errors.ts";
import { refusalText, type ServerTerms } from "../kernel/server-answer.ts";

const MOST_READ = 4_000;
const TERMS: ServerTerms = { token: "token", address: "url" };

/** Returns the error that a server told, of the class that it has there. */
export function toldError(status: number, text: string, retryAfter?: string): TroupeError {
  const record = recordIn(text);
  if (record === undefined) {
    const told = refusalText({ status, said: text.slice(0, MOST_READ), retryAfter }, TERMS);
    return new TroupeError("SERVER_UNKNOWN", `Expected an answer of a Troupe server, got ${told}`, { data: { status } });
  }
  return errorOf(record);
}

/** Returns the error of a record, of the class that it has there. */
export function errorOf(record: ErrorRecord): TroupeError {
  const { name, code, message, data } = record;
  const detail = data === undefined ? {} : { data };
  switch (name) {
    case "UsageError":
      return new UsageError(code, message, detail);
    case "JournalError":
      return new JournalError(code, message, detail);
    case "ActionError":
      return new ActionError(code, message, detail);
    case "ModelError":
      return new ModelError(code, message, { ...detail, retryable: record.retryable === true });
    case "WorkspaceError":
      return new WorkspaceError(code, message, detail);
    case "ControlError":
    case "AbortedError":
    case "DifferenceError":
    case "WaitingError":
      return new ControlError(code, message, detail);
    case "QueueFullError":
      return new QueueFullError(0, code, message, data);
    case "BudgetError":
      return isBudgetData(data) ? new BudgetError(data) : new TroupeError(code, message, detail);
    default:
      return new TroupeError(code, message, detail);
  }
}

function recordIn(text: string): ErrorRecord | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Partial<ErrorRecord> };
    if (typeof error?.code !== "string" || typeof error.message !== "string") return undefined;
    return { ...error, name: String(error.name), code: error.code, message: error.message };
  } catch {
    return undefined;
  }
}

function isBudgetData(data: unknown): data is { readonly needed: number; readonly left: number; readonly budget: number } {
  const { needed, left, budget } = (data ?? {}) as { readonly [name: string]: unknown };
  return [needed, left, budget].every((amount) => typeof amount === "number");
}
