import { sleep } from "../kernel/clock.ts";
import { succeeds } from "../kernel/system-error.ts";
import { Watchers } from "../runtime/record/watchers.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { knownRow } from "./postgres-runs.ts";
import type { PostgresSession } from "./postgres-session.ts";
import { runChannel } from "./postgres-tables.ts";

/** Milliseconds between two looks at a watched run, for notifications that were missed. */
const LOOK = 20_000;
/** Seconds for which owners notify the watchers of a run after each look. */
const WATCHED = 60;

interface Watched {
  readonly runId: string;
  watchers: number;
  isGone: boolean;
}

/**
 * The watchers of runs in this process. It owns the list of watched runs.
 *
 * PostgresWatch.V1 (`#look`) a missed notification is made up for within {@link LOOK} milliseconds, and at once after a lost connection.
 * PostgresWatch.V2 (`#look`) owners notify only runs that are watched, because notifications make commits of all processes wait for each other.
 * PostgresWatch.V3 (`heard`) a watcher ends when its run is removed.
 */
export class PostgresWatch {
  readonly #db: PostgresDatabase;
  readonly #session: PostgresSession;
  readonly #watchers = new Watchers();
  readonly #watched = new Map<string, Watched>();

  constructor(db: PostgresDatabase, session: PostgresSession) {
    this.#db = db;
    this.#session = session;
  }

  async *watch(runId: string, signal: AbortSignal): AsyncGenerator<void, void> {
    const { number } = await knownRow(this.#db, runId);
    const channel = runChannel(this.#db.server.schema, number);
    const watched = this.#watched.get(channel) ?? { runId, watchers: 0, isGone: false };
    watched.watchers += 1;
    this.#watched.set(channel, watched);
    const letGo = this.#session.keep();
    const ending = new AbortController();
    let unlisten = (): void => undefined;
    try {
      unlisten = await this.#session.listen(channel);
      await this.#look(number, channel);
      void this.#lookOften(number, channel, ending.signal);
      yield* this.#watchers.watch(runId, signal, () => !watched.isGone);
    } finally {
      ending.abort();
      unlisten();
      letGo();
      watched.watchers -= 1;
      if (watched.watchers === 0) this.#watched.delete(channel);
    }
  }

  heard(channel: string, isGone: boolean): void {
    const watched = this.#watched.get(channel);
    if (watched === undefined) return;
    watched.isGone ||= isGone;
    this.#watchers.grew(watched.runId);
  }

  renewed(): void {
    this.#watchers.allGrew();
  }

  close(): void {
    for (const watched of this.#watched.values()) watched.isGone = true;
    this.#watchers.allGrew();
  }

  async #lookOften(number: number, channel: string, signal: AbortSignal): Promise<void> {
    while (await succeeds(sleep(this.#db.server.clock, LOOK, signal))) await this.#look(number, channel);
  }

  async #look(number: number, channel: string): Promise<void> {
    const text = `UPDATE ${this.#db.schema}.runs SET watched = now() + interval '${WATCHED} seconds' WHERE number = $1 RETURNING number`;
    // The next look finds a database that is away.
    const found = await this.#db.rows(text, [number]).catch(() => undefined);
    this.heard(channel, found?.length === 0);
  }
}
