import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { GraphileQueue, QueueLook } from "./graphile-queue.ts";
import { PersistentConnection, type Rows } from "./postgres-persistent-connection.ts";

/** The parts of a session. */
export interface SessionParts {
  readonly queue: GraphileQueue;
  /** The id under which the package locks the jobs of this worker. */
  readonly worker: string;
  readonly teams: readonly string[];
  readonly concurrency: number;
  /** True for the row of a job that was delivered to this worker and has not ended. */
  readonly isInHand: (id: string) => boolean;
  /** Called with the number of jobs that can be delivered now. */
  readonly due: (jobs: number) => void;
  /** Called when a run was cancelled. */
  readonly cancelled: (runId: string) => void;
  /** Called for a row of this worker whose job was cancelled, perhaps more than once. */
  readonly cancelledRow: (id: string) => void;
  /** Called when this worker, or all of them, are asked to drain. */
  readonly drain: () => void;
}

/** Milliseconds between two looks at the queue. A worker is taken for dead when two looks in a row find its lock free. */
const LOOK = 1_000;

/** Looks in a row after which a job that is in the queue under this worker, and not in its hands, is free again. */
const LOOKS = 3;

/**
 * The connection by which a worker shows that it lives. It owns the lock of the worker, and what its last looks have found.
 *
 * GraphileSession.S1 (`#look`) a worker is dead when nobody holds its lock in two looks of one connection, which holds its own lock, while the
 * server has run for some seconds. So a restart of the server frees no job of a living worker that connects again in time.
 * GraphileSession.S2 (`PersistentConnection`) until `close` a lost connection is opened again. GraphileSession.S3 (`close`) afterwards the
 * lock is free. GraphileSession.S4 (`#freeUnheard`) a job that was fetched by an answer which was lost is free again within seconds.
 * GraphileSession.S5 (`#prepare`, `#look`) a cancel that this worker did not hear is found by the next connection, or by the next look.
 */
export class GraphileSession {
  readonly #parts: SessionParts;
  readonly #connection: PersistentConnection;
  /** Resolves when the lock is held for the first time. Rejects with an error of the driver. */
  readonly held: Promise<void>;
  /** Workers whose lock was free in the last look. */
  #suspects: readonly string[] = [];
  /** Looks in a row that found a row of this worker that is not in its hands. */
  #unheard: ReadonlyMap<string, number> = new Map();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#connection = new PersistentConnection({
      db: parts.queue.database,
      prepare: (rows) => this.#prepare(rows),
      heard: (_channel, payload) => this.#hear(payload),
      // `#prepare` has asked already for the notifications that were missed.
      renewed: async () => undefined,
      question: { every: LOOK, ask: (rows) => this.#look(rows) },
    });
    this.#connection.keep();
    this.held = this.#connection.opened();
    this.held.catch(() => undefined);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #prepare(rows: Rows): Promise<void> {
    const { queue, worker, cancelledRow } = this.#parts;
    this.#suspects = [];
    await rows("SELECT set_config('application_name', $1, false)", [`troupe ${worker} ${queue.schemaName}`]);
    await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", [worker]);
    await rows(`LISTEN "${queue.channel}"`);
    for (const id of await queue.cancelled(rows, worker)) cancelledRow(id);
  }

  async #look(rows: Rows): Promise<void> {
    const { queue, worker, teams, concurrency, cancelledRow, due } = this.#parts;
    const look = await queue.look(rows, { worker, teams, most: concurrency });
    // A cancel may be heard before the answer that brings its job.
    for (const id of look.cancelled) cancelledRow(id);
    const dead = deadIn(look, this.#suspects);
    this.#suspects = look.suspects;
    if (dead.length > 0) {
      await queue.free(rows, dead);
      queue.database.server.logger.warn("Jobs of workers that are gone are free again.", { workers: dead.length });
    }
    await this.#freeUnheard(rows, look.mine);
    if (look.due > 0) due(look.due);
  }

  async #freeUnheard(rows: Rows, mine: readonly string[]): Promise<void> {
    const { queue, worker, isInHand } = this.#parts;
    this.#unheard = new Map(mine.filter((id) => !isInHand(id)).map((id) => [id, (this.#unheard.get(id) ?? 0) + 1]));
    const lost = [...this.#unheard].flatMap(([id, looks]) => (looks >= LOOKS ? [id] : []));
    if (lost.length > 0) await queue.freeRows(rows, worker, lost);
  }

  #hear(payload: string): void {
    const { worker, cancelled, drain } = this.#parts;
    const told = parsedJson(payload);
    if (!isRecord(told)) return;
    if (typeof told["cancel"] === "string") cancelled(told["cancel"]);
    if (told["drain"] === worker || told["drain"] === true) drain();
  }
}

function deadIn({ isSettled, isHeld, suspects }: QueueLook, before: readonly string[]): readonly string[] {
  return isSettled && isHeld ? suspects.filter((worker) => before.includes(worker)) : [];
}
