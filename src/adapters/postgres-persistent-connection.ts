import type { Client, Notification } from "pg";
import { withTimeout } from "../kernel/abort.ts";
import { succeeds, systemCode } from "../kernel/system-error.ts";
import { thrownText } from "../kernel/value-text.ts";
import { type PostgresConnection, type PostgresDatabase, SEEN_STOPPED, type Statement } from "./postgres-database.ts";
import { isPassing, postgresClosed, postgresError } from "./postgres-errors.ts";

/** Runs a statement on a connection. */
export type Rows = PostgresConnection["rows"];

/** Milliseconds between two questions whether a connection still answers. */
const PING = 10_000;
/** Milliseconds until a connection that failed is opened again: doubled each time. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 500;

/** Afterwards the connection has no lock, and no name by which processes are listed. A pooler may keep it for another client. */
const RELEASE = "SELECT pg_advisory_unlock_all(), set_config('application_name', '', false)";

/** The parts of a persistent connection. */
export interface PersistentParts {
  readonly db: PostgresDatabase;
  /** Prepares each connection that is opened: takes its lock, listens on its channels. */
  readonly prepare: (rows: Rows) => Promise<void>;
  /** Called with each notification. */
  readonly heard: (channel: string, payload: string) => void;
  /** Called after a reconnect: notifications in between were missed. When it rejects, the connection is opened once more. */
  readonly renewed: () => Promise<void>;
  /** The statement that keeps a needed connection in use, and the milliseconds between two of them. Default: an empty one every ten seconds. */
  readonly question?: { readonly every: number; readonly ask: (rows: Rows) => Promise<void> };
}

interface OpenConnection {
  readonly client: Client;
  readonly rows: Rows;
  /** The last error that the client told by itself. */
  reason: unknown;
  /** When the last question was over. */
  askedAt: number;
  isAsking: boolean;
  /** True when a question was answered. */
  isProven: boolean;
  /** Cancels the timer of the next question; undefined without one. */
  cancel: (() => void) | undefined;
}

const UNASKED = { reason: undefined, askedAt: -Infinity, isAsking: false, isProven: false, cancel: undefined };

/**
 * A connection that holds a lock by which others see that this process lives. It owns the connection, the number of its users (`keep`), and
 * the timer of the next question. While it has users it keeps the process running.
 *
 * PersistentConnection.C1 (`#attend`) while it has users, a question is asked every `every` milliseconds, however often users come and go.
 * PersistentConnection.C2 (`SEEN_STOPPED`) the server ends the connection of a process that has asked nothing for a minute.
 * PersistentConnection.C3 (`#again`) while it has users, a lost connection is opened again until `close`; the pauses grow until a question is
 * answered. A question without an answer ends the connection (`#ask`); one that the server refuses does not.
 * PersistentConnection.C4 (`#tell`) each reason of a failure is logged once, with its code and without the password.
 * PersistentConnection.C5 (`opened`) who waits for the connection is refused when it is closed, after `patience`, and at once for an error
 * that does not pass. PersistentConnection.C6 (`close`) afterwards its locks are free, also behind a pooler.
 */
export class PersistentConnection {
  readonly #parts: PersistentParts;
  #opening: Promise<void> | undefined;
  #now: OpenConnection | undefined;
  #wasOpen = false;
  #needs = 0;
  #isReturning = false;
  /** Failures since the last answered question, and the reasons that were logged. */
  #failures = 0;
  readonly #told = new Set<string>();
  #isClosed = false;

  constructor(parts: PersistentParts) {
    this.#parts = parts;
  }

  /** True while there is a connection with its lock. */
  get isOpen(): boolean {
    return this.#now !== undefined;
  }

  /** Opens the connection, unless it is open. @throws errors of the part */
  async opened(): Promise<void> {
    const { db } = this.#parts;
    const { clock, patience } = db.server;
    const until = clock.now() + patience;
    for (;;) {
      try {
        await this.#connected();
        // It may have been lost again meanwhile.
        if (this.isOpen) return;
      } catch (error) {
        if (this.#isOver) throw postgresClosed(db.part, db.server);
        if (!isPassing(error) || clock.now() + this.#pause > until) throw postgresError(db.part, db.server, error);
      }
      await db.pause(this.#pause);
    }
  }

  /** Adds a user, until the returned function is called. */
  keep(): () => void {
    this.#needs += 1;
    this.#attend();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#needs -= 1;
      this.#attend();
    };
  }

  /** Runs a statement whose effect `prepare` repeats: it may be lost with the connection. */
  async tell(statement: string): Promise<void> {
    await this.#now?.rows(statement).catch(() => undefined);
  }

  /** Frees the locks, and ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#now === undefined) await this.#opening?.catch(() => undefined);
    const open = this.#now;
    if (open === undefined) return;
    this.#now = undefined;
    open.cancel?.();
    const { clock, timeout } = this.#parts.db.server;
    const { client } = open;
    keepRunning(client, true);
    const leave = async (): Promise<void> => {
      await open.rows(RELEASE).catch(() => undefined);
      await client.end();
    };
    // A server that stands still does not end it.
    if (!(await succeeds(withTimeout(clock, timeout, "the end of a connection", new AbortController().signal, leave)))) end(client);
    keepRunning(client, false);
  }

  get #isOver(): boolean {
    return this.#isClosed || this.#parts.db.closing.aborted;
  }

  get #pause(): number {
    return Math.min(FIRST_PAUSE * 2 ** Math.max(this.#failures - 1, 0), LONGEST_PAUSE);
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
      const opened: OpenConnection = { client, rows: inTurn(rows), ...UNASKED };
      open = opened;
      client.on("notification", ({ channel, payload = "" }: Notification) => heard(channel, payload));
      client.on("error", (error: Error) => (opened.reason = error));
      await opened.rows(SEEN_STOPPED);
      await prepare(opened.rows);
      client.once("end", () => this.#lost(opened, opened.reason ?? new Error("Connection terminated")));
      this.#now = opened;
      this.#attend();
      if (this.#wasOpen && !this.#isClosed) await renewed();
      this.#wasOpen = true;
    } catch (error) {
      this.#failures += 1;
      this.#tell(error);
      if (open !== undefined) end(open.client);
      if (open !== undefined) this.#lost(open, error);
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
    if (this.#needs === 0) return;
    this.#tell(error);
    void this.#again();
  }

  async #again(): Promise<void> {
    if (this.#isReturning) return;
    this.#isReturning = true;
    while (this.#needs > 0 && !this.#isOver && this.#now === undefined) {
      if (this.#failures > 0) await this.#parts.db.pause(this.#pause);
      await succeeds(this.#connected());
    }
    this.#isReturning = false;
  }

  /** Sets what follows from the number of users. A timer that waits is not set anew: users that come and go would put off the question for ever. */
  #attend(): void {
    const open = this.#now;
    if (open === undefined) {
      if (this.#needs > 0 && this.#wasOpen) void this.#again();
      return;
    }
    keepRunning(open.client, this.#needs > 0);
    if (this.#needs === 0) {
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
      await (question === undefined ? open.rows("SELECT") : question.ask(open.rows));
      open.isProven = true;
      this.#answered();
    } catch (error) {
      if (isPassing(error)) this.#lost(open, error);
      else this.#tell(error);
    }
    open.isAsking = false;
    open.askedAt = db.server.clock.now();
    if (this.#now === open) this.#attend();
  }

  #answered(): void {
    const { part, server } = this.#parts.db;
    this.#failures = 0;
    if (this.#told.size === 0) return;
    this.#told.clear();
    server.logger.info(`The persistent connection of the ${part.name} to Postgres at ${server.shown} works again.`);
  }

  #tell(error: unknown): void {
    if (this.#isOver) return;
    const { part, server } = this.#parts.db;
    const reason = server.mask(thrownText(error));
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    server.logger.warn(`The persistent connection of the ${part.name} to Postgres at ${server.shown} failed, and is tried again.`, {
      code: systemCode(error),
      reason,
    });
  }
}

/** Lets statements wait for those before: the client takes one at a time. */
function inTurn(rows: Rows): Rows {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends object>(statement: Statement, values?: readonly unknown[]) => {
    const mine = last.then(() => rows<R>(statement, values));
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Ends a connection that may be broken: nobody waits for it. */
function end(client: Client): void {
  client.end().catch(() => undefined);
}

/** Sets whether a connection keeps the process running. */
function keepRunning(client: Client & { ref?(): void; unref?(): void }, isNeeded: boolean): void {
  if (isNeeded) client.ref?.();
  else client.unref?.();
}
