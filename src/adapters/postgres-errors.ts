import { TimeoutError, TroupeError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { cleanCause, type PostgresServer } from "./postgres-server.ts";

/**
 * The fault of a database: it did not answer, it refused a statement, it has no room, its tables are of a newer program or of another one,
 * or the caller has closed what it asks.
 */
export type PostgresFault = "unreachable" | "refused" | "full" | "newer" | "foreign" | "closed";

/** Tables that belong together, with a version of their own, and the class of their errors. */
export interface PostgresPart {
  /** Its name in errors and in the table of versions. Never changed once published. */
  readonly name: string;
  /** Step `n` leads from version `n` to `n + 1`. It gets the quoted name of the schema. Published steps never change. */
  readonly steps: readonly ((schema: string) => string)[];
  /** Returns the error of a fault, with the code of this part. */
  error(fault: PostgresFault, message: string, o: { readonly cause?: unknown; readonly data: Json }): TroupeError;
}

/** Codes of failed system calls after which a later try may succeed. */
const AWAY = new Set(
  "ECONNREFUSED ECONNRESET ECONNABORTED EPIPE ETIMEDOUT EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN ENOTFOUND EAI_AGAIN ENOENT".split(" "),
);
/** The client's own errors for a lost connection have no code. */
const LOST = /^(Connection terminated|Client (has encountered|was closed)|timeout exceeded|Query read timeout)|not queryable/;
/**
 * Codes of the server after which a later try may succeed: connection failures (08), a transaction that another one hindered (40, 55P03),
 * too many connections (53300), cancelled by a limit (57014), stopping or starting (57P01 to 57P05), a server that only reads while another
 * takes its place (25006).
 */
const PASSING = /^(08...|40...|55P03|53300|57014|57P0[1-5]|25006)$/;
const DISK_FULL = "53100";

/** True for an error after which the same work may succeed on a new connection. Whether the statement was done is not known then. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TimeoutError) return true;
  const code = systemCode(error);
  return AWAY.has(code) || PASSING.test(code) || (code === "" && LOST.test(thrownText(error)));
}

/** Advice for codes of the server. */
const ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^28/, "Put the user and the password that it wants into the address."],
  [/^3D000$/, "Create the database first: createdb."],
  [/^42501$/, "Give this user the right to create the schema, or to use its tables."],
];

/** Returns the error for work that a database has not done. An error of this package stays. */
export function postgresError(part: PostgresPart, server: PostgresServer, error: unknown): Error {
  if (TroupeError.isInstance(error) && !(error instanceof TimeoutError)) return error;
  const said = server.mask(thrownText(error));
  const detail = { cause: cleanCause(server, error), data: { database: server.shown } };
  const code = systemCode(error);
  if (code === DISK_FULL) {
    return part.error(
      "full",
      `Expected room in Postgres at ${server.shown} for the ${part.name}, but its disk is full. Make room.`,
      detail,
    );
  }
  if (isPassing(error)) {
    return part.error(
      "unreachable",
      `Expected an answer of Postgres at ${server.shown} within ${server.patience} ms, got none: ${said}. Start it, or look at its address.`,
      detail,
    );
  }
  const advice = ADVICE.find(([form]) => form.test(code))?.[1] ?? "Look at the server and at who else uses these tables.";
  return part.error(
    "refused",
    `Expected Postgres at ${server.shown} to do a statement for the ${part.name}, got an error: ${said}${code === "" ? "" : ` (${code})`}. ${advice}`,
    detail,
  );
}

/** The error of every call after `close`. */
export function postgresClosed(part: PostgresPart, { shown }: PostgresServer): TroupeError {
  const message = `Expected an open ${part.name} in Postgres at ${shown}, but it has been closed. Make another one for the same database.`;
  return part.error("closed", message, { data: { database: shown } });
}

/** The error for a database with tables that this program cannot use. */
export function postgresNewer(part: PostgresPart, { shown, schema }: PostgresServer, version: number): TroupeError {
  return part.error(
    "newer",
    `Expected tables of version ${part.steps.length} at most for the ${part.name} in schema ${schema} of ${shown}, got ${version}. Update this program to use them; nothing was changed.`,
    { data: { database: shown, schema, version } },
  );
}

export function postgresForeign(part: PostgresPart, { shown, schema }: PostgresServer, came: string): TroupeError {
  return part.error(
    "foreign",
    `Expected an empty place for the ${part.name} in schema ${schema} of ${shown}, got ${came}. Choose another; nothing was changed.`,
    { data: { database: shown, schema } },
  );
}

/** The error for a connection that changes between statements. */
export function postgresPooled(part: PostgresPart, { shown }: PostgresServer): TroupeError {
  return part.error(
    "refused",
    `Expected a connection to Postgres at ${shown} that belongs to the ${part.name} alone, got one that a pooler gives to several clients. Set the pooler to its mode session, or use the address of the server.`,
    { data: { database: shown } },
  );
}

/** The error for a `pg` package that cannot be loaded. */
export function postgresMissing(cause: unknown): UsageError {
  return new UsageError(
    "PACKAGE_MISSING",
    'Expected the package "pg" (8.11 or newer) beside this one, got none that can be loaded. Install it: npm install pg.',
    { cause },
  );
}
