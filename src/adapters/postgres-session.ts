import type { PostgresDatabase, Rows } from "./postgres-database.ts";
import { PersistentConnection } from "./postgres-persistent-connection.ts";
import { lockClass, sessionChannel } from "./postgres-tables.ts";

/**
 * The one connection on which a journal holds its lock and is notified. It owns the number of the connection, and the channels, on which every
 * connection listens. The lock of a number is held by one connection, and no number is given twice in 2^31: a free lock proves that the
 * connection is gone. A lost connection that is needed (`keep`) is opened again, with another number.
 */
export class PostgresSession {
  readonly #db: PostgresDatabase;
  readonly #connection: PersistentConnection;
  readonly #channels = new Map<string, number>();
  #number = 0;

  /** @param renewed called after a reconnect: notifications in between were missed; rejects when the database is away again */
  constructor(db: PostgresDatabase, heard: (channel: string, payload: string) => void, renewed: () => Promise<void>) {
    this.#db = db;
    this.#connection = new PersistentConnection({ db, prepare: (rows) => this.#prepare(rows), heard, renewed });
  }

  get number(): number {
    return this.#connection.isOpen ? this.#number : 0;
  }

  async opened(): Promise<number> {
    await this.#connection.opened();
    return this.#number;
  }

  async listen(channel: string): Promise<() => void> {
    await this.opened();
    const users = this.#channels.get(channel) ?? 0;
    this.#channels.set(channel, users + 1);
    if (users === 0) await this.#connection.send(`LISTEN "${channel}"`);
    return () => {
      const left = (this.#channels.get(channel) ?? 1) - 1;
      if (left > 0) return void this.#channels.set(channel, left);
      this.#channels.delete(channel);
      void this.#connection.send(`UNLISTEN "${channel}"`);
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
