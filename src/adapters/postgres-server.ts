import { inspect } from "node:util";
import type { Shape } from "../kernel/argument.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { TimeoutError, TroupeError, UsageError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { type Mask, maskSecrets, redactor } from "../kernel/mask.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { optionalPackage } from "./optional-package.ts";

/** Options of everything that is kept in a Postgres database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `?sslmode=verify-full`. */
  readonly url: string;
  /** The schema of the tables. It is created if needed, and holds nothing else. Default `troupe`. */
  readonly schema?: string;
  /** Milliseconds to wait for a database that is away. Default 60,000. */
  readonly patience?: number;
  /** Limit in milliseconds on one statement, and on opening a connection. Default 10,000. */
  readonly timeout?: number;
  /** Limit on the connections of the pool. Default 4. */
  readonly connections?: number;
  /** Receives a message when the database stops or starts to answer. Default: none. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

const duration: Shape = { says: "a positive number of milliseconds", fits: (ms) => Number.isFinite(ms) && (ms as number) > 0 };
const schemaName: Shape = {
  says: "1 to 40 lower-case letters, digits and underscores that do not begin with a digit or pg_",
  // A channel's name has 63 bytes, and begins with the schema.
  fits: (name) => typeof name === "string" && /^(?!pg_|information_schema$)[a-z_][a-z0-9_]{0,39}$/.test(name),
};

export const postgresOptions: Known<PostgresOptions> = {
  url: kinds.secret,
  schema: schemaName,
  patience: duration,
  timeout: duration,
  connections: kinds.size,
  logger: kinds.logger,
  clock: kinds.clock,
};

/** @internal */
export interface PostgresServer extends Required<PostgresOptions> {
  readonly shown: string;
  readonly load: () => Promise<Pick<typeof import("pg"), "Client" | "Pool">>;
  /** Masks the password in a server's text for an error, and bounds it. */
  readonly mask: Mask;
  readonly hide: Mask;
}

/**
 * Checks the options of something in Postgres.
 *
 * @param what the function that takes the options, as its caller writes it
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `POSTGRES_URL_INVALID`
 * @internal
 */
export function postgresServer(
  what: string,
  options: PostgresOptions,
  known: Known<Record<string, unknown>> = postgresOptions,
): PostgresServer {
  checkGivenOptions(what, options, known);
  const { url, schema = "troupe", patience = 60_000, timeout = 10_000, connections = 4 } = options;
  const { logger = defaultLogger, clock = systemClock } = options;
  const { shown, secrets } = addressOf(url);
  const masks = { mask: redactor(secrets), hide: maskSecrets(secrets) };
  return { url, schema, patience, timeout, connections, logger, clock, shown, load: loadPostgres, ...masks };
}

async function loadPostgres(): Promise<Pick<typeof import("pg"), "Client" | "Pool">> {
  return (await optionalPackage("pg", "8", () => import("pg"))).default;
}

function addressOf(url: unknown): { readonly shown: string; readonly secrets: readonly string[] } {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const host = parsed?.host === "" ? parsed.searchParams.get("host") : parsed?.host;
  const password = parsed === undefined ? "" : decoded(parsed.password);
  if (parsed === undefined || !/^postgres(ql)?:$/.test(parsed.protocol) || typeof host !== "string" || password === undefined) {
    throw new UsageError(
      "POSTGRES_URL_INVALID",
      "Expected the address of a Postgres database such as postgres://user:password@127.0.0.1:5432/name, got something else.",
    );
  }
  const secrets = [String(url), parsed.password, password, parsed.searchParams.get("password") ?? ""];
  return { shown: `${host}${parsed.pathname}`, secrets: secrets.filter((secret) => secret !== "") };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The cause of a failure in a database; `newer` and `foreign`: the tables are of another version or program; `closed`: by the caller. */
export type PostgresFault = "unreachable" | "refused" | "full" | "newer" | "foreign" | "closed";

/** Tables that belong together, with a version of their own, and their errors. */
export interface PostgresPart {
  readonly name: string;
  readonly version: number;
  readonly tables: (schema: string) => string;
  readonly error: (fault: PostgresFault, message: string, o: { readonly cause?: unknown; readonly data: Json }) => TroupeError;
}

/** Returns the `error` of a part whose codes have a prefix: `JOURNAL_FULL`. @param refused the ending for `refused` */
export function errorsOf(
  prefix: string,
  Failure: new (...given: ConstructorParameters<typeof TroupeError>) => TroupeError,
  refused = "REFUSED",
): PostgresPart["error"] {
  return (fault, message, o) => new Failure(`${prefix}_${fault === "refused" ? refused : fault.toUpperCase()}`, message, o);
}

const AWAY =
  /^(ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENETDOWN|ENOTFOUND|EAI_AGAIN|ENOENT)$/;
/** The client's own errors for a lost connection have no code. */
const LOST = /^(Connection terminated|Client (has encountered|was closed)|timeout exceeded|Query read timeout)|not queryable/;
/**
 * Codes of the server after which a later try may succeed: connection failures (08), a conflict with another transaction (40, 55P03), too many
 * connections (53300), a timeout (57014), stopping or starting (57P01 to 57P05), a read-only server during a failover (25006).
 */
const PASSING = /^(08...|40...|55P03|53300|57014|57P0[1-5]|25006)$/;
const DISK_FULL = "53100";

/** True for an error after which the same work may succeed on a new connection. It is then unknown whether the statement took effect. */
export function isPassing(error: unknown): boolean {
  if (error instanceof TimeoutError) return true;
  const code = systemCode(error);
  return AWAY.test(code) || PASSING.test(code) || (code === "" && LOST.test(thrownText(error)));
}

const ADVICE: readonly (readonly [code: RegExp, advice: string])[] = [
  [/^28/, "Put the user and the password that it wants into the address."],
  [/^3D000$/, "Create the database first: createdb."],
  [/^42501$/, "Give this user the right to create the schema, or to use its tables."],
  [/^/, "Look at the server and at who else uses these tables."],
];

/** Maps an error of `pg` to one of the part. An error of this package stays. @internal */
export function postgresError(part: PostgresPart, server: PostgresServer, error: unknown): Error {
  if (TroupeError.isInstance(error) && !(error instanceof TimeoutError)) return error;
  const [code, said] = [systemCode(error), server.mask(thrownText(error))];
  const place = `Postgres at ${server.shown}`;
  const [fault, message]: [PostgresFault, string] =
    code === DISK_FULL
      ? ["full", `Expected room in ${place} for the ${part.name}, but its disk is full. Make room.`]
      : isPassing(error)
        ? [
            "unreachable",
            `Expected an answer of ${place} within ${server.patience} ms, got none: ${said}. Start it, or look at its address.`,
          ]
        : [
            "refused",
            `Expected ${place} to do a statement for the ${part.name}, got an error: ${said}${code && ` (${code})`}. ${adviceOn(code)}`,
          ];
  return part.error(fault, message, { cause: cleanCause(server, error), data: { database: server.shown } });
}

function adviceOn(code: string): string {
  return ADVICE.find(([form]) => form.test(code))?.[1] ?? "";
}

/** The error itself, or its masked text where the password is anywhere in it. */
function cleanCause({ mask, hide }: PostgresServer, error: unknown): unknown {
  const text = inspect(error, { depth: 6 });
  return hide(text) === text ? error : new Error(mask(thrownText(error)));
}

/** @internal */
export function postgresClosed(part: PostgresPart, { shown }: PostgresServer): TroupeError {
  const message = `Expected an open ${part.name} in Postgres at ${shown}, but it has been closed. Make another one for the same database.`;
  return part.error("closed", message, { data: { database: shown } });
}
