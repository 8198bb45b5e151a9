import type { Client } from "pg";
import { sleep } from "../kernel/clock.ts";
import { parsedJson } from "../kernel/json.ts";
import { isRecord } from "../kernel/value-kind.ts";
import type { GraphileQueue, QueueLook } from "./graphile-queue.ts";
import { type PostgresConnection, SEEN_STOPPED } from "./postgres-database.ts";

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
  /** Called when this worker, or all of them, are asked to drain. */
  readonly drain: () => void;
  /** Called when a connection is there again after it was lost: what was told meanwhile was not heard. */
  readonly back: () => void;
}

/** Milliseconds between two looks at the queue. A worker is taken for dead when two looks in a row find its lock free. */
const LOOK = 1_000;

/** Looks in a row after which a job that is in the queue under this worker, and not in its hands, is free again. */
const LOOKS = 3;

/** Afterwards the session is no worker's: it has no lock, and no name by which workers are listed. */
const RELEASE = "SELECT pg_advisory_unlock_all(), set_config('application_name', '', false)";

const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 1_000;

/**
 * The connection by which a worker shows that it lives. It owns the connection and its advisory lock.
 *
 * GraphileSession.S1 (`#watch`) a worker is dead when nobody holds its lock in two looks of one session, which holds its own lock, while the
 * server has run for some seconds. So a restart of the server frees no job of a living worker that connects again in time.
 * GraphileSession.S2 (`#keep`) a lost connection is made again until `close`. GraphileSession.S3 (`close`) afterwards the lock is free.
 * GraphileSession.S4 (`#freeUnheard`) a job that was fetched by an answer which was lost is free again within seconds. GraphileSession.S5
 * (`SEEN_STOPPED`) the lock of a worker whose process is stopped for a minute is free.
 */
export class GraphileSession {
  readonly #parts: SessionParts;
  readonly #closing = new AbortController();
  /** Resolves when the lock is held for the first time. */
  readonly held: Promise<void>;
  #isHeld: () => void = () => undefined;
  readonly #kept: Promise<void>;
  /** Looks in a row that found a row of this worker that is not in its hands. */
  #unheard: ReadonlyMap<string, number> = new Map();
  #connected: { readonly client: Client; readonly rows: PostgresConnection["rows"] } | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.held = new Promise((resolve) => (this.#isHeld = resolve));
    this.#kept = this.#keep();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#kept;
  }

  async #keep(): Promise<void> {
    const { queue, back } = this.#parts;
    const { clock, logger } = queue.database.server;
    const { signal } = this.#closing;
    let pause = FIRST_PAUSE;
    for (let isFirst = true; !signal.aborted;) {
      try {
        const rows = await this.#connect();
        if (!isFirst) {
          logger.info("The worker is connected to the queue again.");
          back();
        }
        isFirst = false;
        pause = FIRST_PAUSE;
        this.#isHeld();
        await this.#watch(rows);
      } catch {
        if (!signal.aborted) logger.warn("The worker lost its connection to the queue, and connects again.");
      } finally {
        await this.#leave();
      }
      await sleep(clock, pause, signal).catch(() => undefined);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  }

  async #connect(): Promise<PostgresConnection["rows"]> {
    const { queue, worker } = this.#parts;
    this.#connected = await queue.database.connection();
    const { client, rows } = this.#connected;
    client.on("notification", ({ payload = "" }) => this.#hear(payload));
    await rows(SEEN_STOPPED);
    await rows("SELECT set_config('application_name', $1, false)", [`troupe ${worker} ${queue.schemaName}`]);
    await rows("SELECT pg_advisory_lock(hashtextextended($1, 0))", [worker]);
    await rows(`LISTEN "${queue.channel}"`);
    return rows;
  }

  /** Ends the connection. A pooler frees the lock of an ended connection late, so a worker that stops frees it itself. */
  async #leave(): Promise<void> {
    const connected = this.#connected;
    this.#connected = undefined;
    if (connected === undefined) return;
    if (this.#closing.signal.aborted) await connected.rows(RELEASE).catch(() => undefined);
    await connected.client.end().catch(() => undefined);
  }

  async #watch(rows: PostgresConnection["rows"]): Promise<never> {
    const { queue, worker, teams, concurrency, due } = this.#parts;
    const { clock, logger } = queue.database.server;
    let suspects: readonly string[] = [];
    for (;;) {
      const look = await queue.look(rows, { worker, teams, most: concurrency });
      const dead = deadIn(look, suspects);
      suspects = look.suspects;
      if (dead.length > 0) {
        await queue.free(rows, dead);
        logger.warn("Jobs of workers that are gone are free again.", { workers: dead.length });
      }
      await this.#freeUnheard(rows, look.mine);
      if (look.due > 0) due(look.due);
      await sleep(clock, LOOK, this.#closing.signal);
    }
  }

  async #freeUnheard(rows: PostgresConnection["rows"], mine: readonly string[]): Promise<void> {
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
