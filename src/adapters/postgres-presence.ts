import { randomBytes } from "node:crypto";
import type { PostgresDatabase } from "./postgres-database.ts";
import { PersistentConnection } from "./postgres-persistent-connection.ts";

/** The parts of a presence. */
export interface PresenceParts {
  readonly db: PostgresDatabase;
  readonly channel: string;
  /** Called for each notification of the channel, and without one when some may have been missed. */
  readonly heard: (payload: string | undefined) => void;
}

/**
 * The connection by which other processes see that this one lives. It owns the number of its lock.
 *
 * PostgresPresence.R1 (`PersistentConnection`) while something counts on it (`keep`), the lock is held under one number, on whatever
 * connection: a number whose lock stays free for seconds belongs to a process that is gone, or stopped. PostgresPresence.R2 (`heard`) what
 * was missed while the connection was lost is made up for when it is there again.
 */
export class PostgresPresence {
  /** The number of the lock, as text: it has 63 bits. */
  readonly holder: string = String(randomBytes(8).readBigUInt64BE() >> 1n);
  readonly #connection: PersistentConnection;

  constructor({ db, channel, heard }: PresenceParts) {
    this.#connection = new PersistentConnection({
      db,
      prepare: async (rows) => {
        await rows("SELECT pg_advisory_lock($1)", [this.holder]);
        await rows(`DELETE FROM ${db.schema}.missing_holders WHERE holder = $1`, [this.holder]);
        await rows(`LISTEN "${channel}"`);
      },
      heard: (_channel, payload) => heard(payload),
      renewed: async () => heard(undefined),
    });
  }

  /** Opens the connection, unless it is open. @throws errors of the part */
  opened(): Promise<void> {
    return this.#connection.opened();
  }

  /** Keeps the lock held, and the process running, until the returned function is called. */
  keep(): () => void {
    return this.#connection.keep();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
