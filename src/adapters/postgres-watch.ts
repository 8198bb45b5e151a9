import { Watchers } from "../runtime/record/watchers.ts";
import type { PostgresDatabase } from "./postgres-database.ts";
import { knownRow } from "./postgres-runs.ts";

const LOOK = 100;

interface Watched {
  readonly runId: string;
  events: number;
  users: number;
  isGone: boolean;
}

/**
 * The watchers of runs in this process. PostgresWatch.V1 (`#look`) one question for all watched runs, every {@link LOOK} milliseconds, finds what was
 * added, also after the database was away. PostgresWatch.V2 (`#look`) a watcher ends when its run is removed.
 */
export class PostgresWatch {
  readonly #db: PostgresDatabase;
  readonly #watchers = new Watchers();
  readonly #watched = new Map<number, Watched>();
  #isLooking = false;

  constructor(db: PostgresDatabase) {
    this.#db = db;
  }

  async *watch(runId: string, signal: AbortSignal): AsyncGenerator<void, void> {
    const { number, events } = await knownRow(this.#db, runId);
    const run = this.#watched.get(number) ?? { runId, events, users: 0, isGone: false };
    run.users += 1;
    this.#watched.set(number, run);
    void this.#look();
    try {
      yield* this.#watchers.watch(runId, signal, () => !run.isGone);
    } finally {
      run.users -= 1;
      if (run.users === 0) this.#watched.delete(number);
    }
  }

  close(): void {
    for (const number of this.#watched.keys()) this.#note(number, undefined);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#watched.size > 0 && !this.#db.closing.aborted) {
      const numbers = [...this.#watched.keys()];
      const text = `SELECT number, events FROM ${this.#db.schema}.runs WHERE number = ANY ($1::integer[])`;
      const rows = await this.#db.rows<{ number: number; events: number }>(text, [numbers]).catch(() => undefined);
      const found = new Map(rows?.map(({ number, events }) => [number, events]));
      if (rows !== undefined) for (const number of numbers) this.#note(number, found.get(number));
      await this.#db.pause(LOOK);
    }
    this.#isLooking = false;
  }

  #note(number: number, events: number | undefined): void {
    const run = this.#watched.get(number);
    if (run === undefined || run.events === events) return;
    run.isGone = events === undefined;
    run.events = events ?? run.events;
    this.#watchers.grew(run.runId);
  }
}
