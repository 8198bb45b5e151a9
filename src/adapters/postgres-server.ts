import { inspect } from "node:util";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { defaultLogger } from "../kernel/default-logger.ts";
import type { Logger } from "../kernel/emit.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Mask, maskSecrets, redactor } from "../kernel/mask.ts";
import { thrownText, valueText } from "../kernel/value-text.ts";

/** Options of everything that is kept in a Postgres database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows, such as `?sslmode=verify-full`. */
  readonly url: string;
  /** The schema of the tables. It is created if needed, and holds nothing else. Default `troupe`. */
  readonly schema?: string;
  /** Milliseconds for which a database that is away is waited for. Default 60,000. */
  readonly patience?: number;
  /** Most milliseconds of one statement, and of making a connection. Default 10,000. */
  readonly timeout?: number;
  /** Most connections of the pool. Default 4. */
  readonly connections?: number;
  /** Told when the database stops or starts to answer. Default: none. */
  readonly logger?: Logger;
  readonly clock?: Clock;
}

/** The names of {@link PostgresOptions}, for functions that take more. */
export const postgresOptions: Known<PostgresOptions> = {
  url: kinds.secret,
  schema: kinds.text,
  patience: kinds.milliseconds,
  timeout: kinds.milliseconds,
  connections: kinds.size,
  logger: kinds.logger,
  clock: kinds.clock,
};

/** Loads the `pg` package. @internal */
export type LoadPostgres = () => Promise<Pick<typeof import("pg"), "Client" | "Pool">>;

/** A Postgres server and how it is used. */
export interface PostgresServer {
  readonly url: string;
  /** Host and database for errors: without user and password. */
  readonly shown: string;
  readonly schema: string;
  readonly patience: number;
  readonly timeout: number;
  readonly connections: number;
  readonly logger: Logger;
  readonly clock: Clock;
  /** @internal */
  readonly load: LoadPostgres;
  /** Masks the password in a text of the server for an error, and bounds it. */
  readonly mask: Mask;
  /** Masks the password in a text of any length. */
  readonly hide: Mask;
}

const SCHEMA = "troupe";
const PATIENCE = 60_000;
const TIMEOUT = 10_000;
const CONNECTIONS = 4;

/** A longer name would not leave room for the rest of a channel's name, which has 63 bytes. */
const SCHEMA_FORM = /^(?!pg_)[a-z_][a-z0-9_]{0,39}$/;

/**
 * Checks the options of something in Postgres.
 *
 * @param what the function that takes the options, as its caller writes it
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `POSTGRES_URL_INVALID`
 */
export function postgresServer(
  what: string,
  options: PostgresOptions,
  known: Known<Record<string, unknown>> = postgresOptions,
): PostgresServer {
  checkGivenOptions(what, options, known);
  const { url, schema = SCHEMA, patience = PATIENCE, timeout = TIMEOUT, connections = CONNECTIONS } = options;
  const { logger = defaultLogger, clock = systemClock } = options;
  const { shown, secrets } = addressOf(url);
  if (typeof schema !== "string" || !SCHEMA_FORM.test(schema) || schema === "information_schema") {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected schema of ${what} to be 1 to 40 small letters, digits and underscores that begin with no digit and not with pg_, got ${valueText(schema)}.`,
    );
  }
  for (const [name, ms] of Object.entries({ patience, timeout })) {
    if (Number.isFinite(ms) && ms > 0) continue;
    throw new UsageError("OPTION_INVALID", `Expected ${name} of ${what} to be a positive number of milliseconds, got ${valueText(ms)}.`);
  }
  if (!Number.isInteger(connections) || connections < 1) {
    throw new UsageError(
      "OPTION_INVALID",
      `Expected connections of ${what} to be a whole number of 1 or more, got ${valueText(connections)}.`,
    );
  }
  const load: LoadPostgres = async () => (await import("pg")).default;
  return { url, shown, schema, patience, timeout, connections, logger, clock, load, mask: redactor(secrets), hide: maskSecrets(secrets) };
}

/** Returns what of an address may be shown, and what may not. @throws UsageError `POSTGRES_URL_INVALID` */
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

/** Returns an error that may be a cause: itself, or its masked text where the password is anywhere in it. */
export function cleanCause({ mask, hide }: PostgresServer, error: unknown): unknown {
  const text = inspect(error, { depth: 6 });
  return hide(text) === text ? error : new Error(mask(thrownText(error)));
}
