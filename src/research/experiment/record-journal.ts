import { CONTINUES } from "../../kernel/run-handle.ts";
import { isCount, isList } from "../../kernel/value-kind.ts";
import { memoryJournal, type RunEvent } from "../../index.ts";
import type { Claim, ClaimOptions, Journal, ReleaseOptions, RunInfo } from "../../ports.ts";

/** No claim has it. */
const NO_EPOCH = 0;
const MAX_RUNS = 1_000_000;

/** Reserves the money of calls before they are made. */
export interface MoneyGate {
  /** The steps that it is asked for: those that are not free, or all. */
  readonly bounds: "paid" | "all";
  /** @throws when the call does not fit the budget of the sweep */
  reserve(amount: number, isUnpriced: boolean): Promise<void>;
  settle(amount: number, cost: number): Promise<void>;
}

/** The present owner of a run: its epoch as it was given out, and the epoch of the journal that keeps the run now. */
interface Owned {
  readonly given: number;
  readonly inner: number;
}

/**
 * The journal of one run of a sweep. It is in memory until the run makes a call that is not free, and then moves into its file with all that it
 * has, before the call is made. It owns the journal that it uses now, and the epochs.
 *
 * RecordJournal.R1 (`append`) the start of a call that is not free is in the file before the call.
 * RecordJournal.R2 (`#inTurn`) nothing is appended while the events move.
 * RecordJournal.R3 (`#pass`) the most that a call may cost is reserved before its start is recorded, and settled when its end is.
 */
export class RecordJournal implements Journal {
  readonly [CONTINUES]: boolean;
  readonly #file: (() => Journal) | undefined;
  readonly #gate: MoneyGate | undefined;
  readonly #holds = new Map<string, number>();
  readonly #owners = new Map<string, Owned>();
  #inner: Journal;
  #isInFile: boolean;
  #given = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param file opens the file; undefined for a run that is not kept @param found the open file of a run that has begun */
  constructor(file: (() => Journal) | undefined, found: Journal | undefined, gate: MoneyGate | undefined) {
    this.#file = file;
    this.#gate = gate;
    this.#inner = found ?? memoryJournal({ limit: MAX_RUNS });
    this.#isInFile = found !== undefined;
    this[CONTINUES] = found !== undefined;
  }

  create(runId: string): Promise<void> {
    return this.#inTurn(() => this.#inner.create(runId));
  }

  claim(runId: string, o?: ClaimOptions): Promise<Claim> {
    return this.#inTurn(async () => {
      const { epoch, former } = await this.#inner.claim(runId, o);
      this.#given += 1;
      this.#owners.set(runId, { given: this.#given, inner: epoch });
      return { epoch: this.#given, former };
    });
  }

  release(runId: string, epoch: number, o?: ReleaseOptions): Promise<void> {
    return this.#inTurn(() => this.#inner.release(runId, this.#epochOf(runId, epoch), o));
  }

  append(runId: string, epoch: number, expectedSeq: number, events: readonly RunEvent[]): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#isInFile && isList(events) && events.some(isPaid)) await this.move();
      if (this.#gate !== undefined) for (const event of events) await this.#pass(this.#gate, event);
      await this.#inner.append(runId, this.#epochOf(runId, epoch), expectedSeq, events);
    });
  }

  read(runId: string, from: number): AsyncIterable<RunEvent> {
    return this.#inner.read(runId, from);
  }

  runs(): Promise<readonly RunInfo[]> {
    return this.#inner.runs();
  }

  remove(runId: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#inner.remove(runId);
      this.#owners.delete(runId);
    });
  }

  /** For a program that closes its journal: the file is closed when the run is over. */
  async close(): Promise<void> {
    await this.#turn;
  }

  /** Moves all events into the file, if there is one. */
  async move(): Promise<void> {
    const file = this.#file?.();
    if (file === undefined || this.#isInFile) return;
    this.#isInFile = true;
    const memory = this.#inner;
    for (const { runId } of await memory.runs()) {
      await file.create(runId);
      const { epoch } = await file.claim(runId);
      const events: RunEvent[] = [];
      for await (const event of memory.read(runId, 0)) events.push(event);
      if (events.length > 0) await file.append(runId, epoch, 0, events);
      const owned = this.#owners.get(runId);
      if (owned !== undefined) this.#owners.set(runId, { ...owned, inner: epoch });
    }
    this.#inner = file;
  }

  /** Closes the file. Resolves when it is whole. */
  async end(): Promise<void> {
    await this.#turn;
    if (this.#isInFile) await this.#inner.close();
  }

  async #pass(gate: MoneyGate, event: RunEvent): Promise<void> {
    if (event.type !== "step.started" && event.type !== "step.ended") return;
    const name = `${event.act} ${event.key} ${event.try}`;
    if (event.type === "step.started") {
      if (gate.bounds === "paid" && !isPaid(event)) return;
      await gate.reserve(event.hold, event.unpriced === true);
      this.#holds.set(name, event.hold);
      return;
    }
    const hold = this.#holds.get(name);
    const settled = [...(event.settles ?? []), ...(hold === undefined ? [] : [{ hold, cost: event.cost }])];
    this.#holds.delete(name);
    for (const one of settled) await gate.settle(one.hold, one.cost ?? 0);
  }

  #epochOf(runId: string, given: number): number {
    const owned = this.#owners.get(runId);
    if (owned?.given === given) return owned.inner;
    return isCount(given) ? NO_EPOCH : given;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }
}

function isPaid(event: RunEvent): boolean {
  return event.type === "step.started" && event.reused === undefined && (event.hold > 0 || event.unpriced === true);
}
