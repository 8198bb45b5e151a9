import type { PostgresDatabase } from "./postgres-database.ts";
import { PersistentConnection, type Rows } from "./postgres-persistent-connection.ts";
import { lockClass, sessionChannel } from "./postgres-tables.ts";

/** The listener of a session. */
export interface SessionListener {
  /** A notification came. */
  heard(channel: string, payload: string): void;
  /** Called after a reconnect: notifications in between were missed. Rejects when the database is away again. */
  renewed(): Promise<void>;
}

/**
 * The one connection on which a journal holds its lock and is notified. It owns the number of the connection, and the channels.
 *
 * PostgresSession.S1 (`#prepare`) the lock of a number is held by one connection, and no number is given twice in 2^31: whoever sees the lock
 * free knows that the connection is gone. PostgresSession.S2 (`PersistentConnection`) while the journal needs it (`keep`), a lost connection
 * is opened again, with another number, and `renewed` is called. PostgresSession.S3 (`listen`) every connection listens on all channels.
 */
export class PostgresSession {
  readonly #db: PostgresDatabase;
  readonly #connection: PersistentConnection;
  readonly #channels = new Map<string, number>();
  #number = 0;

  constructor(db: PostgresDatabase, ears: SessionListener) {
    this.#db = db;
    this.#connection = new PersistentConnection({
      db,
      prepare: (rows) => this.#prepare(rows),
      heard: (channel, payload) => ears.heard(channel, payload),
      renewed: () => ears.renewed(),
    });
  }

  /** The number of the open connection; 0 without one. */
  get number(): number {
    return this.#connection.isOpen ? this.#number : 0;
  }

  /** Opens the connection, unless it is open. @returns its number @throws errors of the journal */
  async opened(): Promise<number> {
    await this.#connection.opened();
    return this.#number;
  }

  /** Listens on a channel, once for all that ask. @returns a function that ends it */
  async listen(channel: string): Promise<() => void> {
    await this.opened();
    const users = this.#channels.get(channel) ?? 0;
    this.#channels.set(channel, users + 1);
    if (users === 0) await this.#connection.tell(`LISTEN "${channel}"`);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#channels.get(channel) ?? 1) - 1;
      if (left > 0) return void this.#channels.set(channel, left);
      this.#channels.delete(channel);
      void this.#connection.tell(`UNLISTEN "${channel}"`);
    };
  }

  /** Keeps the connection open, and the process running, until the returned function is called. */
  keep(): () => void {
    return this.#connection.keep();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #prepare(rows: Rows): Promise<void> {
    const { schema } = this.#db.server;
    const [row] = await rows<{ number: number; is_held: boolean }>(
      `SELECT number, pg_try_advisory_lock(${lockClass(schema)}, number) AS is_held
       FROM (SELECT nextval('${this.#db.schema}.sessions')::integer AS number OFFSET 0) AS next`,
    );
    if (row?.is_held !== true) throw new Error("Connection terminated: the number of a session is in use");
    const channels = [sessionChannel(schema, row.number), ...this.#channels.keys()];
    await rows(channels.map((channel) => `LISTEN "${channel}"`).join("; "));
    this.#number = row.number;
  }
}
