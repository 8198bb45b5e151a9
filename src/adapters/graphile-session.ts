import { AbortedError } from "../kernel/errors.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { GraphileQueue } from "./graphile-queue.ts";
import type { Rows } from "./postgres-database.ts";
import { PersistentConnection } from "./postgres-persistent-connection.ts";

export interface JobInHand {
  readonly signal: AbortSignal;
  end(): void;
}

/**
 * The deliveries of a worker that have not ended. JobsInHand.H1 (`begin`) a row that returns to the worker while its former delivery works is in hand
 * until both have ended. JobsInHand.H2 (`ended`) resolves when no delivery is left.
 */
export class JobsInHand {
  readonly #all = new Set<{
    readonly row: string;
    readonly runId: string;
    readonly abort: AbortController;
    readonly ended: Promise<void>;
  }>();

  begin(row: string, runId: string): JobInHand {
    let resolve = (): void => undefined;
    const ended = new Promise<void>((done) => (resolve = done));
    const one = { row, runId, abort: new AbortController(), ended };
    this.#all.add(one);
    const end = (): void => {
      this.#all.delete(one);
      resolve();
    };
    return { signal: one.abort.signal, end };
  }

  get size(): number {
    return this.#all.size;
  }

  async ended(): Promise<void> {
    while (this.size > 0) await Promise.all([...this.#all].map(({ ended }) => ended));
  }

  has(row: string): boolean {
    return [...this.#all].some((one) => one.row === row);
  }

  cancelRun(runId: string): void {
    for (const one of this.#all) if (one.runId === runId) one.abort.abort(new AbortedError("the job of the run was cancelled"));
  }

  cancelRow(row: string): void {
    for (const one of this.#all) if (one.row === row) this.cancelRun(one.runId);
  }
}

export interface SessionParts {
  readonly queue: GraphileQueue;
  readonly worker: string;
  readonly teams: readonly string[];
  readonly concurrency: number;
  readonly inHand: JobsInHand;
  readonly due: (jobs: number) => void;
  readonly drain: () => void;
}

const LOOK = 1_000;
/** Looks in a row after which a job that is in the queue under this worker, and not in its hands, is free again. */
const LOOKS = 3;

/**
 * The connection by which a worker shows that it lives. It owns the lock of the worker, and the results of its last looks. A worker is dead when its
 * lock is free in two looks of one connection that holds its own lock, while the server has run for some seconds (`#look`): a restart of the server
 * frees no job of a living worker. A job whose answer was lost is free again within seconds (`#freeUnheard`). GraphileSession.S2
 * (`PersistentConnection`) until `close` a lost connection is opened again. GraphileSession.S5 (`#prepare`, `#look`) the next connection, or look,
 * finds a cancel that this worker missed.
 */
export class GraphileSession {
  readonly #parts: SessionParts;
  readonly #connection: PersistentConnection;
  readonly held: Promise<void>;
  #suspects: readonly string[] = [];
  #unheard: ReadonlyMap<string, number> = new Map();

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#connection = new PersistentConnection({
      db: parts.queue.database,
      prepare: (rows) => this.#prepare(rows),
      heard: (payload) => this.#hear(payload),
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
    const { queue, worker, inHand } = this.#parts;
    this.#suspects = [];
    await rows("SELECT set_config('application_name', $1, false)", [`troupe ${worker} ${queue.schemaName}`]);
    await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", [worker]);
    await rows(`LISTEN "${queue.channel}"`);
    for (const id of await queue.cancelled(rows, worker)) inHand.cancelRow(id);
  }

  async #look(rows: Rows): Promise<void> {
    const { queue, worker, teams, concurrency, inHand, due } = this.#parts;
    const look = await queue.look(rows, worker, teams, concurrency);
    // A cancel may be heard before the answer that brings its job.
    for (const id of look.cancelled) inHand.cancelRow(id);
    const dead = look.isSettled && look.isHeld ? look.suspects.filter((one) => this.#suspects.includes(one)) : [];
    this.#suspects = look.suspects;
    if (dead.length > 0) {
      await queue.free(rows, dead);
      queue.database.server.logger.warn("Jobs of workers that are gone are free again.", { workers: dead.length });
    }
    await this.#freeUnheard(rows, look.mine);
    if (look.due > 0) due(look.due);
  }

  async #freeUnheard(rows: Rows, mine: readonly string[]): Promise<void> {
    const { queue, worker, inHand } = this.#parts;
    this.#unheard = new Map(mine.filter((id) => !inHand.has(id)).map((id) => [id, (this.#unheard.get(id) ?? 0) + 1]));
    const lost = [...this.#unheard].flatMap(([id, looks]) => (looks >= LOOKS ? [id] : []));
    if (lost.length > 0) await queue.freeRows(rows, worker, lost);
  }

  #hear(payload: string): void {
    const { worker, inHand, drain } = this.#parts;
    const heard = parsedJson(payload);
    if (!isRecord(heard)) return;
    if (typeof heard["cancel"] === "string") inHand.cancelRun(heard["cancel"]);
    if (heard["drain"] === worker || heard["drain"] === true) drain();
  }
}
