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
import { isRecord } from "../kernel/value-kind.ts";

const MAX_READ = 4_000;
const TERMS: ServerTerms = { token: "token", address: "url" };

/** Another try may succeed: the server is busy or closes, or its journal or proxy does not answer. */
export const PASSING_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns a successful answer. @throws the error in it; TroupeError `SERVER_UNKNOWN` for an answer of another content type than the given one */
export async function good(response: Response, type = ""): Promise<Response> {
  if (!response.ok) throw await errorIn(response);
  const got = response.headers.get("content-type") ?? "";
  if (got.startsWith(type)) return response;
  await response.body?.cancel();
  throw unknownAnswer(response.status, `${got === "" ? "no kind" : got} instead of ${type}`);
}

export async function jsonIn<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw unknownAnswer(response.status, text);
  }
}

export async function errorIn(response: Response): Promise<TroupeError> {
  const text = await response.text().catch(() => "");
  const record = recordIn(text);
  return record === undefined ? unknownAnswer(response.status, text, response.headers.get("retry-after") ?? undefined) : errorOf(record);
}

function unknownAnswer(status: number, text: string, retryAfter?: string): TroupeError {
  const got = refusalText({ status, said: text.slice(0, MAX_READ), retryAfter }, TERMS);
  return new TroupeError("SERVER_UNKNOWN", `Expected an answer of a Troupe server, got ${got}`, { data: { status } });
}

export function busy(cause: TroupeError): TroupeError {
  return new TroupeError("SERVER_BUSY", cause.message, { cause });
}

/** True for an error after which another try may succeed: the connection was lost, or something else than a server of runs answered. */
export function isPassing(error: unknown): error is TroupeError {
  if (!TroupeError.isInstance(error)) return false;
  // A proxy that refuses the token does so again.
  if (error.code === "SERVER_UNKNOWN") return !(isRecord(error.data) && [401, 403].includes(error.data["status"] as number));
  return ["SERVER_UNREACHABLE", "SERVER_BUSY", "ABORTED"].includes(error.code);
}

const PLAIN = { UsageError, JournalError, ActionError, WorkspaceError, ControlError } as const;
const CONTROL: readonly string[] = ["AbortedError", "DifferenceError", "WaitingError"];

export function errorOf({ name, code, message, data, retryable }: ErrorRecord): TroupeError {
  const detail = data === undefined ? {} : { data };
  if (name === "ModelError") return new ModelError(code, message, { ...detail, retryable: retryable === true });
  if (name === "QueueFullError") return new QueueFullError(0, code, message, data);
  if (name === "BudgetError" && isBudgetData(data)) return new BudgetError(data);
  const plain = CONTROL.includes(name) ? "ControlError" : name;
  return new (Object.hasOwn(PLAIN, plain) ? PLAIN[plain as keyof typeof PLAIN] : TroupeError)(code, message, detail);
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
  return isRecord(data) && ["needed", "left", "budget"].every((name) => typeof data[name] === "number");
}
