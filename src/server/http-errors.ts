import type { Mask } from "../kernel/mask.ts";
import { PASSING_CODES } from "../team/passing-errors.ts";
import { BudgetError, ControlError, errorRecord, JournalError, QueueFullError, TroupeError, UsageError } from "../kernel/errors.ts";

const CODES: Readonly<Record<number, string>> = {
  401: "TOKEN_INVALID",
  402: "BUDGET",
  403: "ORIGIN_REFUSED",
  404: "RUN_UNKNOWN RUN_FORGOTTEN QUESTION_UNKNOWN ROUTE_UNKNOWN ROLE_UNKNOWN PAGE_MISSING FILE_UNKNOWN",
  405: "READ_ONLY",
  409:
    "RUN_FOREIGN RUN_ELSEWHERE RUN_EXISTS RUN_IDEA_DIFFERS RUN_OWNED RUN_UNOWNED RUN_ACTIVE RUN_INACTIVE RUN_NOT_STARTED RUN_FINISHED EPOCH_STALE " +
    "QUESTION_ANSWERED QUESTION_EXPIRED QUESTION_GIVEN_UP MESSAGE_KNOWN USER_DIFFERS FORK_POINT FORK_CHANGE FORK_CUT " +
    "CREW_CHANGED WORKSPACE_CHANGED TEAM_CHANGED EDGES_DIFFER SCHEDULER_UNKNOWN SCHEDULER_DIFFERS DELIVERY_DIFFERS " +
    "ROLE_DUPLICATE ROLE_TAKEN ROLE_NOT_TAKEN ROLES_NONE ROUNDS_REACHED STOP_CONDITION_NEEDED STOP_CONDITION_HOLDS",
  410: "TEXT_ERASED",
  413: "MESSAGE_TOO_LONG BODY_TOO_LONG FILE_TOO_LARGE",
  415: "BODY_TYPE",
  421: "HOST_REFUSED",
  422: "EVENT_NEWER",
  429: "RATE_LIMITED RUNS_TOO_MANY STREAMS_TOO_MANY CONNECTIONS_TOO_MANY BYTES_TOO_MANY MAILBOX_FULL SIGNALS_FULL",
  503: "SERVER_CLOSING JOURNAL_CLOSED JOURNAL_UNREACHABLE JOURNAL_UNWRITABLE",
  504: "TIMEOUT",
  507: "JOURNAL_FULL",
};

export const STATUS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES).flatMap(([status, codes]) => codes.split(" ").map((code) => [code, Number(status)] as const)),
);

function statusOfError(error: unknown): number {
  if (!TroupeError.isInstance(error)) return 500;
  const known = STATUS.get(error.code);
  if (known !== undefined) return known;
  if (error instanceof UsageError) return 400;
  if (error instanceof BudgetError) return 402;
  if (error instanceof QueueFullError) return 429;
  if (error instanceof ControlError) return 503;
  return error instanceof JournalError ? 500 : 422;
}

const AWAY =
  "Expected the journal, the budgets and the limits of the server, but one is away or full. Its log has the reason. Try again later.";
const RETRY_AFTER = "1";

export function isServerFault(status: number, code: string): boolean {
  return status === 500 || (status > 500 && PASSING_CODES.has(code));
}

/** Returns the response to an error. A fault of the server has none of its text, which may name files and hosts or hold private data. */
export function errorResponse(error: unknown, mask: Mask): Response {
  const status = statusOfError(error);
  const { name, code, message, data } = errorRecord(error);
  const shown = isServerFault(status, code)
    ? {
        name: status === 500 ? "TroupeError" : name,
        code: TroupeError.isInstance(error) ? code : "INTERNAL",
        message: status === 500 ? "The server failed. Its log has the reason." : AWAY,
      }
    : { name, code, message: mask(message), ...(data === undefined ? {} : { data }) };
  const headers = new Headers({ "content-type": "application/json; charset=utf-8" });
  if (status === 401) headers.set("www-authenticate", 'Bearer realm="troupe"');
  if (status === 429 || status === 503) headers.set("retry-after", RETRY_AFTER);
  const text = JSON.stringify({ error: shown });
  // A client repeats its own path; all others are the server's, of which the last name is shown.
  return new Response(mask(code === "ROUTE_UNKNOWN" ? text : text.replace(PATH, "…/$1")), { status, headers });
}

/** An absolute path with at least two parts, which is not one of the routes of the server. */
const PATH = /(?:file:\/\/|(?<![\w:/.…-]))\/(?!api\/)(?:[^\s/\\"'`,;:()]+\/)+([^\s/\\"'`,;:()]*)/g;
