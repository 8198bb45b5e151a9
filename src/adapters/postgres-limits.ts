import { randomUUID } from "node:crypto";
import { onAbort, throwIfAborted, untilAborted } from "../kernel/abort.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { thrownText } from "../kernel/value-text.ts";
import {
  type CallRate,
  checkLimits,
  type Lease,
  type LimitOptions,
  type LimitRequest,
  type ModelLimits,
  ratesOf,
} from "../model/limits.ts";
import { settledIn } from "./postgres-budget-account.ts";
import { checkSharedName } from "./postgres-budget.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import type { Presence } from "./postgres-persistent-connection.ts";
import { type PostgresOptions, postgresOptions, type PostgresServer, postgresServer } from "./postgres-server.ts";
import { sharedPart, sharedPresence } from "./postgres-shared-tables.ts";

/** Options of {@link postgresLimits}. Give all processes the same limits under one name: each keeps to those that it was given. */
export interface PostgresLimitsOptions extends PostgresOptions, LimitOptions {
  /** Identifies the limits in their schema, for every process: 1 to 200 characters. */
  readonly name: string;
}

/** Limits in a database. */
export interface PostgresLimits extends ModelLimits {
  /** Waits until the database knows which places are free, for `patience` at most, and ends the connections. */
  close(): Promise<void>;
}

const limitsOptions: Known<PostgresLimitsOptions> = {
  ...postgresOptions,
  name: kinds.text,
  concurrency: kinds.size,
  requestsPerSecond: kinds.amount,
  requestsPerMinute: kinds.amount,
  tokensPerMinute: kinds.amount,
};

/**
 * Limits on model calls that processes and machines share, in a Postgres database, over `pg`, which the first call loads. Give them as
 * `limits` to teams, runs and agents.
 *
 * All times are the database's, so the clocks of the machines do not matter. Within a process places are given in the order asked; among
 * processes the first that was refused is next. The place of a killed process is free five to seven seconds after its death.
 *
 * A grant that arrives late is returned and requested again with a larger allowance, or late calls would start together with later ones; so
 * a limit of 10 a second gives about 9.5. While the database is away a call waits, for `patience` at most, and then fails with the ControlError
 * `LIMITS_UNREACHABLE`, which ends the run; it can be resumed.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `LIMIT_INVALID`, `POSTGRES_URL_INVALID`
 * @example
 * import { Team } from "troupe";
 * import { postgresLimits } from "troupe/postgres";
 *
 * const limits = postgresLimits({ url: "postgres://troupe@db.example/troupe", name: "provider", requestsPerSecond: 10, concurrency: 40 });
 * export const team = new Team({ name: "press", limits });
 */
export function postgresLimits(options: PostgresLimitsOptions): PostgresLimits {
  const server = postgresServer("postgresLimits", options, limitsOptions);
  checkSharedName("postgresLimits", options.name);
  checkLimits(options);
  return new DatabaseLimits(server, options.name, options);
}

const LOOK = 1_000;
/** The share of the shortest time of a limit by which a place may be late. It shrinks by `CALMER` with each place that comes in time. */
const LATE = 1 / 20;
const CALMER = 0.95;

interface TakenPlace {
  readonly asked: number;
  readonly slack: number;
}

function isInTime({ asked, slack }: TakenPlace, { clock }: LimitRequest): boolean {
  return clock.now() - asked <= slack;
}

/**
 * See {@link postgresLimits}. It owns the connections, the line of waiting calls in this process, and the places that the database does not know to
 * be free. DatabaseLimits.D1 (`take_limit`) all processes together take no more places than the limits allow: under the lock of one row, by the
 * database's clock. DatabaseLimits.D2 (`#take`, `#begin`) a place counts from the latest time at which its call may begin, and is renewed after that.
 * DatabaseLimits.D3 (`lose_limit_uses`) a process whose lock was free for seconds has no call in flight. DatabaseLimits.D4 (`#leave`) a call that
 * stops waiting takes nothing. DatabaseLimits.D5 (`acquire`) one call at a time asks for a place, in the order asked. DatabaseLimits.D6
 * (`renew_limit`) a call that begins late keeps its place, and waits for time only.
 */
class DatabaseLimits implements PostgresLimits {
  readonly #name: string;
  readonly #atOnce: number | undefined;
  readonly #rates: readonly CallRate[];
  readonly #hasTokens: boolean;
  readonly #db: PostgresDatabase;
  readonly #presence: Presence;
  readonly #freeing = new Set<Promise<void>>();
  #last: Promise<void> = Promise.resolve();
  /** Milliseconds by which a place may be late. */
  #late: number;
  readonly #leastLate: number;
  readonly #wakers = new Set<() => void>();
  #news = 0;

  constructor(server: PostgresServer, name: string, options: LimitOptions) {
    this.#name = name;
    this.#atOnce = options.concurrency;
    this.#rates = ratesOf(options);
    this.#hasTokens = options.tokensPerMinute !== undefined;
    this.#leastLate = Math.min(...this.#rates.map(({ within }) => within)) * LATE;
    this.#late = this.#leastLate;
    this.#db = new PostgresDatabase(sharedPart("LIMITS"), server);
    this.#presence = sharedPresence(this.#db, (named = name) => {
      if (named === name) this.#hear();
    });
  }

  async acquire(request: LimitRequest): Promise<Lease> {
    const { signal } = request;
    throwIfAborted(signal);
    const before = this.#last;
    let leave = (): void => {};
    this.#last = new Promise((resolve) => (leave = resolve));
    try {
      await untilAborted(before, signal);
    } catch (error) {
      void before.then(leave);
      throw error;
    }
    const taking = this.#take(request);
    void taking.then(leave, leave);
    try {
      return await untilAborted(taking, signal);
    } catch (error) {
      taking.then(({ release }) => release(0)).catch(() => undefined);
      throw error;
    }
  }

  async close(): Promise<void> {
    await settledIn(this.#db, this.#freeing);
    await this.#presence.connection.close();
    await this.#db.close();
  }

  async #take(request: LimitRequest): Promise<Lease> {
    const letGo = this.#presence.connection.keep();
    for (;;) {
      const id = randomUUID();
      const place = await this.#placeOf("take", id, request).catch((error: unknown) => {
        // It is unknown whether the place was taken.
        this.#leave(id);
        letGo();
        throw error;
      });
      if (isInTime(place, request)) {
        this.#late = Math.max(this.#leastLate, this.#late * CALMER);
        return this.#lease(id, place, request, letGo);
      }
      this.#leave(id);
      this.#miss(place);
    }
  }

  /** Allows later places more time than one that came too late. */
  #miss({ slack }: TakenPlace): void {
    this.#late = Math.max(this.#late, 2 * slack);
  }

  async #placeOf(what: "take" | "renew", id: string, { tokens, clock, signal }: LimitRequest): Promise<TakenPlace> {
    for (;;) {
      throwIfAborted(signal);
      await this.#presence.connection.opened();
      const [asked, news, slack] = [clock.now(), this.#news, this.#late];
      const wait = await this.#ask(what, id, tokens, slack);
      throwIfAborted(signal);
      if (wait === 0) return { asked, slack };
      if (news === this.#news) await this.#change(clock, Math.min(Math.ceil(wait), LOOK), signal);
    }
  }

  async #ask(what: "take" | "renew", id: string, tokens: number, slack: number): Promise<number> {
    const rates = this.#rates;
    const values = [
      ...[this.#name, id, this.#presence.holder, Math.ceil(tokens), Number.isFinite(slack) ? slack : 0],
      ...(what === "take" ? [this.#atOnce ?? null] : []),
      rates.map(({ within }) => within),
      rates.map(({ requests }) => requests),
      rates.map(({ tokens: most }) => most),
    ];
    const text = `SELECT ${this.#db.schema}.${what}_limit(${values.map((_, n) => `$${n + 1}`).join(", ")}) AS wait`;
    const [row] = await this.#db.rows<{ wait: number }>({ name: `limit ${what}`, text }, values);
    return row?.wait ?? LOOK;
  }

  #change(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        letGo();
        this.#wakers.delete(done);
        resolve();
      };
      const cancel = clock.timer(ms, done);
      const letGo = onAbort(signal, done);
      this.#wakers.add(done);
    });
  }

  #hear(): void {
    this.#news += 1;
    for (const wake of this.#wakers) wake();
  }

  #lease(id: string, place: TakenPlace, request: LimitRequest, letGo: () => void): Lease {
    let isHeld = true;
    return {
      begin: () => untilAborted(this.#begin(id, place, request), request.signal),
      release: (tokens) => {
        if (!isHeld) return;
        isHeld = false;
        letGo();
        if (this.#atOnce === undefined && !(this.#hasTokens && tokens !== undefined)) return;
        this.#free("release_limit($1, $2, $3)", [this.#name, id, tokens === undefined ? null : Math.ceil(tokens)]);
      },
    };
  }

  async #begin(id: string, place: TakenPlace, request: LimitRequest): Promise<void> {
    let last = place;
    while (!isInTime(last, request)) {
      this.#miss(last);
      last = await this.#placeOf("renew", id, request);
    }
  }

  #leave(id: string): void {
    this.#free("leave_limit($1, $2)", [this.#name, id]);
  }

  #free(call: string, values: readonly unknown[]): void {
    const failed = (error: unknown): void =>
      this.#db.server.logger.warn(`Returning a grant of the limits "${this.#name}" failed, and is retried: ${thrownText(error)}`);
    const freed = this.#db.eventually(`SELECT ${this.#db.schema}.${call}`, values, failed).then((isFreed) => {
      this.#freeing.delete(freed);
      if (isFreed) this.#hear();
    });
    this.#freeing.add(freed);
  }
}
