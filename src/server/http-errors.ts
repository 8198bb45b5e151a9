import type { Mask } from "../kernel/mask.ts";
import { PASSING_CODES } from "../team/passing-errors.ts";
import { BudgetError, ControlError, errorRecord, JournalError, QueueFullError, TroupeError, UsageError } from "../kernel/errors.ts";

/** The statuses of codes that differ from their class. */
export const STATUS: Readonly<Record<string, number>> = {
  TOKEN_INVALID: 401,
  BUDGET: 402,
  HOST_REFUSED: 421,
  ORIGIN_REFUSED: 403,
  RUN_UNKNOWN: 404,
  RUN_FORGOTTEN: 404,
  QUESTION_UNKNOWN: 404,
  ROUTE_UNKNOWN: 404,
  ROLE_UNKNOWN: 404,
  PAGE_MISSING: 404,
  CREW_CHANGED: 409,
  WORKSPACE_CHANGED: 409,
  RUN_FOREIGN: 409,
  RUN_ELSEWHERE: 409,
  READ_ONLY: 405,
  RUN_EXISTS: 409,
  RUN_IDEA_DIFFERS: 409,
  RUN_OWNED: 409,
  RUN_UNOWNED: 409,
  RUN_ACTIVE: 409,
  RUN_INACTIVE: 409,
  RUN_NOT_STARTED: 409,
  QUESTION_ANSWERED: 409,
  QUESTION_EXPIRED: 409,
  QUESTION_GIVEN_UP: 409,
  MESSAGE_KNOWN: 409,
  USER_DIFFERS: 409,
  TEXT_ERASED: 410,
  TEAM_CHANGED: 409,
  EDGES_DIFFER: 409,
  SCHEDULER_UNKNOWN: 409,
  SCHEDULER_DIFFERS: 409,
  DELIVERY_DIFFERS: 409,
  ROLE_DUPLICATE: 409,
  ROLES_NONE: 409,
  ROUNDS_REACHED: 409,
  STOP_CONDITION_NEEDED: 409,
  STOP_CONDITION_HOLDS: 409,
  FORK_POINT: 409,
  FORK_CHANGE: 409,
  FORK_CUT: 409,
  EPOCH_STALE: 409,
  EVENT_NEWER: 422,
  MESSAGE_TOO_LONG: 413,
  BODY_TOO_LONG: 413,
  BODY_TYPE: 415,
  RATE_LIMITED: 429,
  RUNS_TOO_MANY: 429,
  STREAMS_TOO_MANY: 429,
  CONNECTIONS_TOO_MANY: 429,
  BYTES_TOO_MANY: 429,
  REPLAYS_TOO_MANY: 429,
  MAILBOX_FULL: 429,
  SERVER_CLOSING: 503,
  JOURNAL_CLOSED: 503,
  JOURNAL_UNREACHABLE: 503,
  JOURNAL_UNWRITABLE: 503,
  TIMEOUT: 504,
  JOURNAL_FULL: 507,
};

/** Returns the HTTP status of an error. */
function statusOfError(error: unknown): number {
  if (!TroupeError.isInstance(error)) return 500;
  const known = Object.hasOwn(STATUS, error.code) ? STATUS[error.code] : undefined;
  if (known !== undefined) return known;
  if (error instanceof UsageError) return 400;
  if (error instanceof BudgetError) return 402;
  if (error instanceof QueueFullError) return 429;
  if (error instanceof ControlError) return 503;
  return error instanceof JournalError ? 500 : 422;
}

const AWAY =
  "Expected the journal, the budgets and the limits of the server, but one is away or full. Its log has the reason. Try again later.";
/** Seconds after which a client that was refused for too much may try again. */
const RETRY_AFTER = "1";

/** True for a fault of what the server stands on: its log is to have the reason. */
export function isServerFault(status: number, code: string): boolean {
  return status === 500 || (status > 500 && PASSING_CODES.has(code));
}

/** Returns the response to an error. A fault of the server is told without its text, which may name files and hosts or hold private data. */
export function errorResponse(error: unknown, mask: Mask): Response {
  const status = statusOfError(error);
  const { name, code, message, data } = errorRecord(error);
  const told = isServerFault(status, code)
    ? {
        name: status === 500 ? "TroupeError" : name,
        code: TroupeError.isInstance(error) ? code : "INTERNAL",
        message: status === 500 ? "The server failed. Its log has the reason." : AWAY,
      }
    : { name, code, message: mask(message), ...(data === undefined ? {} : { data }) };
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  if (status === 401) headers.set("www-authenticate", 'Bearer realm="troupe"');
  if (status === 429 || status === 503) headers.set("retry-after", RETRY_AFTER);
  const text = JSON.stringify({ error: told });
  // A client repeats its own path; all others are the server's.
  return new Response(mask(code === "ROUTE_UNKNOWN" ? text : withoutPaths(text)), { status, headers });
}

/** An absolute path with at least two parts, which is not one of the routes of the server. */
const PATH = /(?:file:\/\/|(?<![\w:/.…-]))\/(?!api\/)(?:[^\s/\\"'`,;:()]+\/)+([^\s/\\"'`,;:()]*)/g;

/** Leaves of each path of the server's files the last name. */
function withoutPaths(text: string): string {
  return text.replace(PATH, "…/$1");
}
