import type { Client, Notification } from "pg";
import { withTimeout } from "../kernel/abort.ts";
import { succeeds } from "../kernel/system-error.ts";
import { type PostgresDatabase, SEEN_STOPPED } from "./postgres-database.ts";
import { isPassing, postgresClosed, postgresError } from "./postgres-errors.ts";
import { lockClass, sessionChannel } from "./postgres-tables.ts";

/** Milliseconds between two tries to open the connection again. */
const PAUSE = 200;
/** Milliseconds between two questions whether the connection still answers. */
const PING = 10_000;

/** The listener of a session. */
export interface SessionListener {
  /** A notification came. */
  heard(channel: string, payload: string): void;
  /** The connection was lost and another one opened: notifications may have been missed. Rejects when the database is away again. */
  renewed(): Promise<void>;
}

interface OpenSession {
  readonly number: number;
  readonly client: Client;
  /** Runs a statement after those before it: the client takes one at a time. */
  readonly ask: (statement: string) => Promise<void>;
}

/**
 * The one connection on which a journal holds its lock and is notified. It owns the connection, its number, and the channels.
 *
 * PostgresSession.S1 (`#open`) the lock of a number is held by one connection, and no number is given twice in 2^31: whoever sees the lock
 * free knows that the connection is gone. PostgresSession.S2 (`#again`) a lost connection is opened again, with another number, for as long
 * as the journal is open; then `renewed` is called. The connection keeps the process running only while it is
 * needed (`keep`), and is asked every ten seconds then whether it still answers. PostgresSession.S3 (`SEEN_STOPPED`) the server ends the
 * connection of a process that has asked nothing for a minute.
 */
export class PostgresSession {
  readonly #db: PostgresDatabase;
  readonly #ears: SessionListener;
  readonly #channels = new Map<string, number>();
  #opening: Promise<OpenSession> | undefined;
  #now: OpenSession | undefined;
  #wasOpen = false;
  #needs = 0;
  #stopPing: (() => void) | undefined;
  #isClosed = false;

  constructor(db: PostgresDatabase, ears: SessionListener) {
    this.#db = db;
    this.#ears = ears;
  }

  /** The number of the open connection; 0 without one. */
  get number(): number {
    return this.#now?.number ?? 0;
  }

  /** Opens the connection, unless it is open. @returns its number @throws errors of the journal */
  async opened(): Promise<number> {
    const { clock, patience } = this.#db.server;
    const until = clock.now() + patience;
    for (;;) {
      try {
        return (await this.#connected()).number;
      } catch (error) {
        if (this.#isClosed) throw postgresClosed(this.#db.part, this.#db.server);
        if (!isPassing(error) || clock.now() + PAUSE > until) throw postgresError(this.#db.part, this.#db.server, error);
      }
      await this.#db.pause(PAUSE);
    }
  }

  /** Listens on a channel, once for all that ask. @returns a function that ends it */
  async listen(channel: string): Promise<() => void> {
    await this.opened();
    const users = this.#channels.get(channel) ?? 0;
    this.#channels.set(channel, users + 1);
    // A connection that is opened later listens on all channels.
    if (users === 0) await this.#told(`LISTEN "${channel}"`);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#channels.get(channel) ?? 1) - 1;
      if (left > 0) return void this.#channels.set(channel, left);
      this.#channels.delete(channel);
      void this.#told(`UNLISTEN "${channel}"`);
    };
  }

  /** Keeps the process running and the connection proven until the returned function is called. */
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

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopPing?.();
    const open = await this.#opening?.catch(() => undefined);
    if (open === undefined) return;
    const { clock, timeout } = this.#db.server;
    keepRunning(open.client, true);
    // A server that stands still does not end it.
    await succeeds(withTimeout(clock, timeout, "the end of a connection", new AbortController().signal, () => open.client.end()));
    keepRunning(open.client, false);
  }

  #connected(): Promise<OpenSession> {
    if (this.#isClosed) return Promise.reject(postgresClosed(this.#db.part, this.#db.server));
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<OpenSession> {
    const { schema } = this.#db.server;
    const { client, rows } = await this.#db.connection();
    try {
      await rows(SEEN_STOPPED);
      const [row] = await rows<{ number: number; is_held: boolean }>(
        `SELECT number, pg_try_advisory_lock(${lockClass(schema)}, number) AS is_held
         FROM (SELECT nextval('${this.#db.schema}.sessions')::integer AS number OFFSET 0) AS next`,
      );
      if (row?.is_held !== true) throw new Error("Connection terminated: the number of a session is in use");
      const { number } = row;
      client.on("notification", ({ channel, payload = "" }: Notification) => this.#ears.heard(channel, payload));
      const channels = [sessionChannel(schema, number), ...this.#channels.keys()];
      await rows(channels.map((channel) => `LISTEN "${channel}"`).join("; "));
      const open = { number, client, ask: inTurn(client) };
      client.once("end", () => this.#lost(open));
      this.#now = open;
      this.#attend();
      if (this.#wasOpen) await this.#ears.renewed();
      this.#wasOpen = true;
      return open;
    } catch (error) {
      this.#now = undefined;
      client.end().catch(() => undefined);
      throw error;
    }
  }

  #lost(open: OpenSession): void {
    if (this.#now !== open) return;
    this.#now = undefined;
    this.#opening = undefined;
    this.#stopPing?.();
    if (!this.#isClosed && this.#needs > 0) void this.#again();
  }

  async #again(): Promise<void> {
    while (!this.#isClosed && this.#now === undefined) {
      await this.#connected().catch(() => undefined);
      if (this.#now === undefined) await this.#db.pause(PAUSE);
    }
  }

  /** A statement that is lost with the connection is not missed: the next one begins with all channels. */
  async #told(statement: string): Promise<void> {
    await this.#now?.ask(statement).catch(() => undefined);
  }

  #attend(): void {
    this.#stopPing?.();
    this.#stopPing = undefined;
    const open = this.#now;
    if (open === undefined) {
      if (this.#needs > 0 && this.#wasOpen) void this.#again();
      return;
    }
    keepRunning(open.client, this.#needs > 0);
    if (this.#needs === 0) return;
    this.#stopPing = this.#db.server.clock.timer(PING, () => void this.#ping(open));
  }

  async #ping(open: OpenSession): Promise<void> {
    const { client } = open;
    const { clock, timeout } = this.#db.server;
    const cancel = clock.timer(timeout, () => void client.end().catch(() => undefined));
    try {
      await open.ask("SELECT");
    } catch {
      client.end().catch(() => undefined);
    }
    cancel();
    if (this.#now === open) this.#attend();
  }
}

function inTurn(client: Client): (statement: string) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return async (statement) => {
    const mine = last.then(() => client.query(statement));
    last = mine.catch(() => undefined);
    await mine;
  };
}

/** Sets whether a connection keeps the process running. */
function keepRunning(client: Client & { ref?(): void; unref?(): void }, isNeeded: boolean): void {
  if (isNeeded) client.ref?.();
  else client.unref?.();
}
