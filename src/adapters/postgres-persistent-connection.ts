import { randomBytes } from "node:crypto";
import type { Client, Notification } from "pg";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { endsWithin, type PostgresDatabase, retried, type Rows, type Statement } from "./postgres-database.ts";
import { isPassing, postgresClosed } from "./postgres-server.ts";

const PING = 10_000;
const FIRST_PAUSE = 50;
const MAX_PAUSE = 500;

/** A proxy that drops data still answers TCP probes, so the server ends an idle connection. A time that the user has set stays. */
const IDLE_LIMIT = `SELECT set_config(name, '60000', false) FROM pg_settings WHERE name = 'idle_session_timeout' AND setting = '0'`;

/** A pooler may keep the connection for another client. */
const RELEASE = "SELECT pg_advisory_unlock_all(), set_config('application_name', '', false)";

export interface PersistentParts {
  readonly db: PostgresDatabase;
  readonly prepare: (rows: Rows) => Promise<void>;
  readonly heard: (payload: string) => void;
  /** Called after a reconnect: notifications in between were missed. When it rejects, the connection is opened once more. */
  readonly renewed: () => Promise<void>;
  /** The statement that keeps a needed connection in use, and its interval in milliseconds. Default: an empty one every ten seconds. */
  readonly question?: { readonly every: number; readonly ask: (rows: Rows) => Promise<void> };
}

interface OpenConnection {
  readonly client: Client;
  readonly rows: Rows;
  reason: unknown;
  askedAt: number;
  isAsking: boolean;
  isProven: boolean;
  cancel: (() => void) | undefined;
}

/**
 * A connection that holds a lock by which others see that this process lives. It owns the connection, the number of its users (`keep`), and the timer
 * of the next question. While it has users it keeps the process running. PersistentConnection.C1 (`#attend`) while it has users, a question is asked
 * every `every` milliseconds, however often users change. PersistentConnection.C2 (`IDLE_LIMIT`) the server ends the connection of a process that was
 * silent for a minute. PersistentConnection.C3 (`#again`) while it has users, a lost connection is opened again until `close`, with pauses that grow
 * until a question is answered. A question without an answer ends the connection (`#ask`); a refused one does not. PersistentConnection.C4
 * (`#report`) each reason of a failure is logged once, with its code and without the password. PersistentConnection.C5 (`opened`) waiting fails when
 * it is closed, after `patience`, and at once for an error that does not pass. PersistentConnection.C6 (`close`) afterwards its locks are free, also
 * behind a pooler.
 */
export class PersistentConnection {
  readonly #parts: PersistentParts;
  #opening: Promise<void> | undefined;
  #now: OpenConnection | undefined;
  #wasOpen = false;
  #users = 0;
  #isReturning = false;
  #failures = 0;
  readonly #reported = new Set<string>();
  #isClosed = false;

  constructor(parts: PersistentParts) {
    this.#parts = parts;
  }

  get isOpen(): boolean {
    return this.#now !== undefined;
  }

  opened(): Promise<void> {
    return retried(this.#parts.db, { isClosed: () => this.#isOver, pause: () => this.#pause }, async () => {
      await this.#connected();
      if (!this.isOpen) throw new Error("Connection terminated");
    });
  }

  keep(): () => void {
    this.#users += 1;
    this.#attend();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      this.#attend();
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#now === undefined) await this.#opening?.catch(() => undefined);
    const open = this.#now;
    if (open === undefined) return;
    this.#now = undefined;
    open.cancel?.();
    const { clock, timeout } = this.#parts.db.server;
    const { client, rows } = open;
    keepRunning(client, true);
    const leave = async (): Promise<void> => {
      await succeeds(rows(RELEASE));
      await client.end();
    };
    if (!(await endsWithin(clock, timeout, leave))) end(client);
    keepRunning(client, false);
  }

  get #isOver(): boolean {
    return this.#isClosed || this.#parts.db.closing.aborted;
  }

  get #pause(): number {
    return Math.min(FIRST_PAUSE * 2 ** Math.max(this.#failures - 1, 0), MAX_PAUSE);
  }

  #connected(): Promise<void> {
    const { db } = this.#parts;
    if (this.#isOver) return Promise.reject(postgresClosed(db.part, db.server));
    if (this.#opening !== undefined) return this.#opening;
    const opening = this.#open();
    this.#opening = opening;
    opening.catch(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    return opening;
  }

  async #open(): Promise<void> {
    const { db, prepare, heard, renewed } = this.#parts;
    let open: OpenConnection | undefined;
    try {
      const { client, rows } = await db.connection();
      const state = { reason: undefined, askedAt: -Infinity, isAsking: false, isProven: false, cancel: undefined };
      const opened: OpenConnection = { client, rows: inTurn(rows), ...state };
      open = opened;
      client.on("notification", ({ payload = "" }: Notification) => heard(payload));
      client.on("error", (error: Error) => (opened.reason = error));
      await opened.rows(IDLE_LIMIT);
      await prepare(opened.rows);
      client.once("end", () => this.#lost(opened, opened.reason ?? new Error("Connection terminated")));
      this.#now = opened;
      this.#attend();
      if (this.#wasOpen && !this.#isClosed) await renewed();
      this.#wasOpen = true;
    } catch (error) {
      this.#failures += 1;
      this.#report(error);
      if (open !== undefined) {
        end(open.client);
        this.#lost(open, error);
      }
      throw error;
    }
  }

  #lost(open: OpenConnection, error: unknown): void {
    if (this.#now !== open) return;
    this.#now = undefined;
    this.#opening = undefined;
    open.cancel?.();
    end(open.client);
    if (!open.isProven) this.#failures += 1;
    if (this.#users === 0) return;
    this.#report(error);
    void this.#again();
  }

  async #again(): Promise<void> {
    if (this.#isReturning) return;
    this.#isReturning = true;
    while (this.#users > 0 && !this.#isOver && this.#now === undefined) {
      if (this.#failures > 0) await this.#parts.db.pause(this.#pause);
      await succeeds(this.#connected());
    }
    this.#isReturning = false;
  }

  /** Sets what follows from the number of users. A waiting timer is not reset: users that come and go would put off the question for ever. */
  #attend(): void {
    const open = this.#now;
    if (open === undefined) {
      if (this.#users > 0 && this.#wasOpen) void this.#again();
      return;
    }
    keepRunning(open.client, this.#users > 0);
    if (this.#users === 0) {
      open.cancel?.();
      open.cancel = undefined;
    } else if (open.cancel === undefined && !open.isAsking) {
      const { clock } = this.#parts.db.server;
      const { every = PING } = this.#parts.question ?? {};
      const wait = Math.min(Math.max(open.askedAt + every - clock.now(), 0), every);
      open.cancel = clock.timer(wait, () => void this.#ask(open));
    }
  }

  async #ask(open: OpenConnection): Promise<void> {
    const { db, question } = this.#parts;
    open.cancel = undefined;
    open.isAsking = true;
    try {
      await (question?.ask(open.rows) ?? open.rows("SELECT"));
      open.isProven = true;
      this.#failures = 0;
      if (this.#reported.size > 0) db.server.logger.info(`The persistent connection ${this.#what} works again.`);
      this.#reported.clear();
    } catch (error) {
      if (isPassing(error)) this.#lost(open, error);
      else this.#report(error);
    }
    open.isAsking = false;
    open.askedAt = db.server.clock.now();
    if (this.#now === open) this.#attend();
  }

  get #what(): string {
    const { part, server } = this.#parts.db;
    return `of the ${part.name} to Postgres at ${server.shown}`;
  }

  #report(error: unknown): void {
    if (this.#isOver) return;
    const { mask, logger } = this.#parts.db.server;
    const reason = mask(thrownText(error));
    if (this.#reported.has(reason)) return;
    this.#reported.add(reason);
    logger.warn(`The persistent connection ${this.#what} failed, and is tried again.`, { code: systemCode(error), reason });
  }
}

function inTurn(rows: Rows): Rows {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends object>(statement: Statement, values?: readonly unknown[]) => {
    const mine = last.then(() => rows<R>(statement, values));
    last = mine.catch(() => undefined);
    return mine;
  };
}

function end(client: Client): void {
  client.end().catch(() => undefined);
}

function keepRunning(client: Client & { ref?(): void; unref?(): void }, isNeeded: boolean): void {
  if (isNeeded) client.ref?.();
  else client.unref?.();
}

/** A connection by which other processes see that this one lives, and the number of its lock, of 63 bits. */
export interface Presence {
  readonly connection: PersistentConnection;
  readonly holder: string;
}

export interface PresenceOptions {
  readonly channel: (holder: string) => string;
  /** Called for each notification, and without one after a reconnect, when some may have been missed. */
  readonly heard: (payload?: string) => void | Promise<void>;
  readonly held?: string;
}

/** Returns a presence. While it has users its lock is held: a number whose lock stays free for seconds belongs to a process that is gone or stopped. */
export function presenceIn(db: PostgresDatabase, { channel, heard, held }: PresenceOptions): Presence {
  const holder = String(randomBytes(8).readBigUInt64BE() >> 1n);
  const prepare = async (rows: Rows): Promise<void> => {
    await rows("SELECT pg_advisory_lock($1)", [holder]);
    if (held !== undefined) await rows(held, [holder]);
    await rows(`LISTEN "${channel(holder)}"`);
  };
  const renewed = async (): Promise<void> => heard();
  return { holder, connection: new PersistentConnection({ db, prepare, heard: (payload) => void heard(payload), renewed }) };
}
