import { type Clock, nextMacrotask } from "../../kernel/clock.ts";
import { JournalError, MovedError } from "../../kernel/errors.ts";
import { deepFreeze } from "../../kernel/json.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { Message } from "../../message/message.ts";
import { apply, applyNext, skipEvent } from "./apply.ts";
import { type ActEnded, type Sent, type Envelope, EVENT_VERSION, type RunEvent, type RunEventBody } from "./event.ts";
import type { Journal } from "./journal.ts";
import { masking, type Rewriting, rewritten } from "./rewritten-event.ts";
import { hasFiles, RunFiles } from "./run-files.ts";
import type { DeadLetter, RunState } from "./run-state.ts";
import type { LastSnapshot, SnapshotWriter } from "../snapshot/snapshot.ts";

export interface OwnedRun {
  readonly journal: Pick<Journal, "append" | "keepSnapshot" | "keepFile" | "file">;
  readonly epoch: number;
}

/** Observes the events of a run. */
export interface Observer {
  /** True if it observes events of a type now. Without a journal, an event without observers is not created. */
  observes(type: RunEvent["type"]): boolean;
  /** Receives every durable event; if the run keeps no history, an `act.ended` comes with the messages that the activation took. */
  observe(event: RunEvent, taken?: readonly Message[]): void;
  /** Receives every message that a full mailbox dropped. */
  dropped(role: string, message: Message): void;
  /** Receives the messages that became dead letters because their recipients were retired. */
  retired(letters: readonly DeadLetter[]): void;
}

export interface RunLogParts {
  readonly state: RunState;
  readonly clock: Clock;
  readonly mask: Mask;
  /** The journal that keeps the events. Without one they change the state and are observed. */
  readonly owned?: OwnedRun | undefined;
  /** Has the files of the run. Default: the journal that keeps the events. */
  readonly filesOf?: Pick<Journal, "file"> | undefined;
  readonly observer?: Observer | undefined;
  /** Keeps snapshots of the state in the journal. */
  readonly snapshots?: SnapshotWriter | undefined;
}

/** Macrotasks that an event waits for others: the release of an answer takes one, the steps that follow from it another. */
const LINGER = 3;

/** The events of a round of step roles. */
const KINDS_OF_ACTS = ["act.ended", "round.ended"] as const;

/**
 * Records the events of a run: numbers them, applies them at once and in order, and writes them later. It owns the events that are not durable
 * yet. Only `apply` writes the state, which belongs to the caller.
 *
 * RunLog.W0 (`record`) no secret is ever recorded.
 * RunLog.W1 (`#write`) the store gets events in their order, so it always holds a prefix.
 * RunLog.W2 (`durable`) resolves when everything recorded before the call is in the store.
 * RunLog.W3 (`#write`) observers get an event only when it is durable.
 * RunLog.W4 (`record`) after a failed append no further event is recorded.
 * RunLog.W5 (`#gather`) an event waits three macrotasks at most, and roles that start their steps in the same turn share one append.
 * RunLog.W6 (`#write`) a newer epoch in the journal interrupts this owner, and is no failure of the run.
 * RunLog.W7 (`#write`) the store has the files of an event before the event, so a recorded message has its files.
 */
export class RunLog {
  readonly state: RunState;
  readonly files: RunFiles;
  readonly #clock: Clock;
  readonly #masking: Rewriting;
  readonly #owned: OwnedRun | undefined;
  readonly #observer: Observer;
  readonly #snapshots: SnapshotWriter | undefined;
  #tail: RunEvent[] = [];
  #isWriting = false;
  /** The store has every event before this one. */
  #durableTo: number;
  #waiting: { readonly to: number; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** Resolves at the end of the turn that recorded the first waiting event. Undefined while all such events are being written. */
  #turnEnds: Promise<void> | undefined;
  #broken: { readonly error: unknown } | undefined;
  #latest: RunEvent | undefined;

  constructor(parts: RunLogParts) {
    this.state = parts.state;
    this.#clock = parts.clock;
    this.#masking = masking(parts.mask);
    this.#owned = parts.owned;
    this.#observer = parts.observer ?? noObserver;
    this.#snapshots = parts.snapshots;
    this.#durableTo = parts.state.seq;
    this.files = new RunFiles(parts.state.runId, parts.owned, parts.filesOf);
  }

  /** Masks and records an event, and returns the recorded form. @throws the error that broke the journal */
  record<B extends RunEventBody>(body: B): B {
    if (this.#broken !== undefined) throw this.#broken.error;
    const { state } = this;
    const clean = rewritten(body, this.#masking);
    if (hasFiles(clean)) this.files.take(clean);
    const isMade = this.#owned !== undefined || this.#observer.observes(body.type);
    const event = isMade ? { ...this.#envelope, ...clean } : undefined;
    const taken = event !== undefined && body.type === "act.ended" ? this.#taken(body) : undefined;
    const buried = state.dead.length;
    applyNext(state, event ?? clean, state.runId);
    const { justDropped } = state;
    if (event !== undefined) this.#send(event, taken);
    for (const { role, message } of justDropped) this.#observer.dropped(role.name, message);
    if (state.dead.length > buried) this.#observer.retired(state.dead.slice(buried));
    return clean;
  }

  /** Records an event that the state already reflects. `make` is called only if events of that type are kept or observed. */
  recordKnown<B extends RunEventBody>(type: B["type"], make: () => B): void {
    if (this.#broken !== undefined) throw this.#broken.error;
    const isMade = this.#owned !== undefined || this.#observer.observes(type);
    const event = isMade ? { ...this.#envelope, ...rewritten(make(), this.#masking) } : undefined;
    skipEvent(this.state);
    if (event !== undefined) this.#send(event);
  }

  masked(sent: Sent): Sent {
    const body = { type: "message" as const, ...sent };
    const { type: _type, ...clean } = rewritten(body, this.#masking);
    return clean;
  }

  /** True if every event is kept or observed. Else the state alone must follow the run. */
  get isKept(): boolean {
    return this.#owned !== undefined || KINDS_OF_ACTS.some((type) => this.#observer.observes(type));
  }

  /** Counts an event that the state reflects already, and nobody keeps. */
  pass(): void {
    if (this.state.justDropped.length > 0) this.state.justDropped = [];
    skipEvent(this.state);
  }

  /** Takes over an event of the store. @param isKnown true if the state already reflects it */
  take(event: RunEvent, isKnown: boolean): void {
    if (isKnown) skipEvent(this.state);
    else apply(this.state, deepFreeze(event));
    this.#durableTo = this.state.seq;
    this.#latest = event;
  }

  get now(): number {
    return this.#clock.now();
  }

  get latest(): RunEvent | undefined {
    return this.#latest;
  }

  /** The last snapshot of the state, if snapshots are kept. */
  get snapshot(): LastSnapshot | undefined {
    return this.#snapshots?.last;
  }

  /** True if all recorded events are durable. */
  get isDurable(): boolean {
    return this.#broken === undefined && (this.#owned === undefined || this.#durableTo >= this.state.seq);
  }

  /** @throws JournalError when the store refused */
  async durable(): Promise<void> {
    const to = this.state.seq;
    if (this.#broken !== undefined) throw this.#broken.error;
    if (this.#owned === undefined || this.#durableTo >= to) return;
    this.#turnEnds ??= nextMacrotask();
    await new Promise<void>((resolve, reject) => void this.#waiting.push({ to, resolve, reject }));
  }

  async rest(): Promise<void> {
    await this.#snapshots?.rest();
  }

  /** The messages that an activation takes, for observers of a run that keeps no history. */
  #taken({ role, take }: ActEnded): readonly Message[] | undefined {
    return this.state.hasHistory ? undefined : this.state.roles.get(role)?.news(take);
  }

  get #envelope(): Envelope {
    const { runId, seq } = this.state;
    return { v: EVENT_VERSION, runId, seq, time: this.now };
  }

  #send(event: RunEvent, taken?: readonly Message[]): void {
    this.#latest = event;
    if (this.#owned === undefined) this.#observer.observe(event, taken);
    else this.#append(this.#owned, event);
  }

  #append(owned: OwnedRun, event: RunEvent): void {
    this.#tail.push(event);
    if (this.#isWriting) return;
    this.#isWriting = true;
    void this.#write(owned);
  }

  async #write(owned: OwnedRun): Promise<void> {
    while (this.#tail.length > 0 && this.#broken === undefined) {
      await this.#gather();
      const batch = this.#tail;
      this.#tail = [];
      try {
        if (batch.some(hasFiles)) await this.files.keep(batch);
        await owned.journal.append(this.state.runId, owned.epoch, batch[0]?.seq ?? 0, batch);
        this.#durableTo += batch.length;
        for (const event of batch) this.#observer.observe(event);
        this.#snapshots?.durable(this.#durableTo, this.#latest);
      } catch (error) {
        this.#broken = { error: isStale(error) ? new MovedError(this.state.runId, { cause: error }) : error };
        this.#snapshots?.stop();
      }
      this.#wake();
    }
    this.#isWriting = false;
  }

  /** Waits until all callers of the same turn have recorded their events, or a few macrotasks without a waiting caller have passed. */
  async #gather(): Promise<void> {
    let turns = 0;
    do {
      await nextMacrotask();
      turns += 1;
    } while (turns < LINGER && this.#turnEnds === undefined);
    await this.#turnEnds;
    this.#turnEnds = undefined;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const waiter of waiting) {
      if (this.#durableTo >= waiter.to) waiter.resolve();
      else if (this.#broken !== undefined) waiter.reject(this.#broken.error);
      else this.#waiting.push(waiter);
    }
  }
}

function isStale(error: unknown): boolean {
  return error instanceof JournalError && error.code === "EPOCH_STALE";
}

const noObserver: Observer = { observes: () => false, observe() {}, dropped() {}, retired() {} };
