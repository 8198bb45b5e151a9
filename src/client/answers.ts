import { TroupeError } from "../kernel/errors.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { toldError } from "./told-error.ts";

/** Statuses after which another try may succeed: a busy or closing server, or one whose journal or proxy does not answer. */
export const PASSING_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Returns a good answer. @throws the error that the server told; TroupeError `SERVER_UNKNOWN` for an answer of another kind than the one that is asked for */
export async function good(response: Response, kind = ""): Promise<Response> {
  if (!response.ok) throw await told(response);
  const got = response.headers.get("content-type") ?? "";
  if (got.startsWith(kind)) return response;
  await response.body?.cancel();
  throw toldError(response.status, `${got === "" ? "no kind" : got} instead of ${kind}`);
}

/** The error that a refusal tells. */
export async function told(response: Response): Promise<TroupeError> {
  return toldError(response.status, await response.text().catch(() => ""), response.headers.get("retry-after") ?? undefined);
}

/** The JSON of an answer. @throws TroupeError `SERVER_UNKNOWN` */
export async function jsonIn<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch {
    throw toldError(response.status, text);
  }
}

/** Wraps the error of an answer after which another try may succeed. */
export function busy(cause: TroupeError): TroupeError {
  return new TroupeError("SERVER_BUSY", cause.message, { cause });
}

/** Answers of a proxy about the token: another try would get the same. */
const DENIED: ReadonlySet<unknown> = new Set([401, 403]);

/** True for an error after which another try may succeed: the connection was lost, or something else than a server of runs answered. */
export function isPassing(error: unknown): error is TroupeError {
  if (!TroupeError.isInstance(error)) return false;
  if (error.code === "SERVER_UNKNOWN") return !(isRecord(error.data) && DENIED.has(error.data["status"]));
  return ["SERVER_UNREACHABLE", "SERVER_BUSY", "ABORTED"].includes(error.code);
}
