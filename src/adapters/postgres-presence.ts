import { randomBytes } from "node:crypto";
import type { Client } from "pg";
import { sleep } from "../kernel/clock.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { isPassing, postgresClosed, postgresError } from "./postgres-errors.ts";

/** Milliseconds between two tries to open the connection again. */
const PAUSE = 200;

/** A client whose connection may be left out of what keeps the process running. */
type QuietClient = Client & { ref?(): void; unref?(): void };

/** The parts of a presence. */
export interface PresenceParts {
  readonly db: PostgresDatabase;
  readonly channel: string;
  /** Called for each notification of the channel, and when some may have been missed. */
  readonly heard: (payload: string | undefined) => void;
}

/**
 * The connection by which other processes see that this one lives. It owns the connection, and an advisory lock under a random number.
 *
 * PostgresPresence.R1 (`#open`) the lock is held under one number for as long as the process lives, on whatever connection: a number whose
 * lock stays free for seconds belongs to a process that is gone. PostgresPresence.R2 (`#again`) a lost connection is opened again until
 * `close`, and `heard` is told then. The connection alone keeps no process running.
 */
export class PostgresPresence {
  /** The number of the lock, as text: it has 63 bits. */
  readonly holder: string = String(randomBytes(8).readBigUInt64BE() >> 1n);
  readonly #parts: PresenceParts;
  #opening: Promise<Client> | undefined;
  #isClosed = false;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** Opens the connection, unless it is open. @throws errors of the part */
  async opened(): Promise<void> {
    const { db } = this.#parts;
    const { clock, patience } = db.server;
    const until = clock.now() + patience;
    for (;;) {
      try {
        await this.#connected();
        return;
      } catch (error) {
        if (this.#isClosed) throw postgresClosed(db.part, db.server);
        if (!isPassing(error) || clock.now() + PAUSE > until) throw postgresError(db.part, db.server, error);
      }
      await sleep(clock, PAUSE, db.closing).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client: QuietClient | undefined = await this.#opening?.catch(() => undefined);
    client?.ref?.();
    await client?.end().catch(() => undefined);
  }

  #connected(): Promise<Client> {
    const { db } = this.#parts;
    if (this.#isClosed) return Promise.reject(postgresClosed(db.part, db.server));
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Client> {
    const { db, channel, heard } = this.#parts;
    const { client, rows } = await db.connection();
    try {
      client.on("notification", ({ payload }) => heard(payload));
      await rows("SELECT pg_advisory_lock($1)", [this.holder]);
      await rows(`DELETE FROM ${db.schema}.missing_holders WHERE holder = $1`, [this.holder]);
      await rows(`LISTEN "${channel}"`);
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    client.once("end", () => {
      this.#opening = undefined;
      if (!this.#isClosed) void this.#again();
    });
    const quiet: QuietClient = client;
    quiet.unref?.();
    heard(undefined);
    return client;
  }

  async #again(): Promise<void> {
    const { db } = this.#parts;
    while (!this.#isClosed && this.#opening === undefined) {
      await this.#connected().catch(() => undefined);
      if (this.#opening === undefined) await sleep(db.server.clock, PAUSE, db.closing).catch(() => undefined);
    }
  }
}
