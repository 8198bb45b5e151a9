import { type Clock, nextMacrotask } from "../../kernel/clock.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { Message } from "../../message/message.ts";
import { applyEnd, applyNext, passBy } from "./apply.ts";
import { type Envelope, EVENT_VERSION, type RunEvent, type RunEventBody } from "./event.ts";
import type { Journal } from "./journal.ts";
import { maskedBody, maskedEnd } from "./masking.ts";
import type { RoleState } from "./role-state.ts";
import type { RunState } from "./run-state.ts";
import { memoryIn, namedEnd, type ToldEnd } from "./told-end.ts";

/** A journal, and the right to write one run into it. */
export interface OwnedRun {
  readonly journal: Journal;
  readonly epoch: number;
}

/** Who looks at what happens in a run. */
export interface Observer {
  /** Whether it would look at such an event now. Without a journal, one that it would not look at is not made. */
  hears(type: RunEvent["type"]): boolean;
  /** Told of every event once it is durable; of an end, where the run keeps no history, with the messages it took. */
  observe(event: RunEvent, taken?: readonly Message[]): void;
}

/** What a log is made of. */
export interface RunLogParts {
  readonly state: RunState;
  readonly clock: Clock;
  readonly mask: Mask;
  /** Where events are kept. Without it they change the state, are observed, and are gone. */
  readonly owned?: OwnedRun | undefined;
  readonly observer?: Observer | undefined;
}

/** Macrotasks that an event stays in memory for others to come along. An answer takes one to be handed out, what follows from it another. */
const LINGER = 3;

/**
 * The pen of a run. It gives events their sequence number and time, applies them at once and in order, and writes them behind.
 * It owns the tail that is not durable yet; the state is owned by whoever made it, and written by `apply` alone.
 *
 * W0 no secret is ever recorded. W1 the store gets events in their order, so it always holds a prefix. W2 `durable()` resolves when everything recorded before
 * the call is in the store. W3 observers see an event only when it is durable. W4 after a failed append nothing is recorded any more.
 * W5 what is recorded together is written together: an event that nobody waits for stays in the tail for three macrotasks at most, and what
 * somebody waits for is written when everybody of the same turn has come, so that roles which start their steps together cost one append.
 * The tail is bounded by what roles record in those macrotasks and while one append is in flight.
 */
export class RunLog {
  readonly state: RunState;
  readonly #clock: Clock;
  readonly #mask: Mask;
  readonly #owned: OwnedRun | undefined;
  readonly #observer: Observer;
  #tail: RunEvent[] = [];
  #isWriting = false;
  /** The store has every event before this one. */
  #durableTo: number;
  #waiting: { readonly to: number; readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];
  /** Of the turn in which the first of them came, unless all that they wait for is being written. */
  #turnEnds: Promise<void> | undefined;
  #broken: { readonly error: unknown } | undefined;
  #latest: RunEvent | undefined;

  constructor(parts: RunLogParts) {
    this.state = parts.state;
    this.#clock = parts.clock;
    this.#mask = parts.mask;
    this.#owned = parts.owned;
    this.#observer = parts.observer ?? nobody;
    this.#durableTo = parts.state.seq;
  }

  /**
   * Records what happened, without secrets, and gives back what was recorded.
   *
   * @param isAnew of a message, that its id is known to be nobody's yet
   * @throws whatever broke the journal before
   */
  record<B extends RunEventBody>(body: B, isAnew: boolean = false): B {
    if (this.#broken !== undefined) throw this.#broken.error;
    const clean = maskedBody(this.#mask, body);
    const isMade = this.#owned !== undefined || this.#observer.hears(body.type);
    const event = isMade ? { ...this.#envelope, ...clean } : undefined;
    applyNext(this.state, event ?? clean, this.state.runId, isAnew);
    if (event !== undefined) this.#send(event);
    return clean;
  }

  /**
   * Records what the state holds already, because its maker wrote it there.
   *
   * @param make called only where somebody looks at an event of that type
   */
  note<B extends RunEventBody>(type: B["type"], make: () => B): void {
    if (this.#broken !== undefined) throw this.#broken.error;
    const isMade = this.#owned !== undefined || this.#observer.hears(type);
    const event = isMade ? { ...this.#envelope, ...maskedBody(this.#mask, make()) } : undefined;
    passBy(this.state);
    if (event !== undefined) this.#send(event);
  }

  /**
   * Records that a turn took effect.
   *
   * @param role in the activation that has ended, or about to begin it if it took no step
   */
  recordEnd(role: RoleState, end: ToldEnd): ToldEnd {
    if (this.#broken !== undefined) throw this.#broken.error;
    const clean = maskedEnd(this.#mask, end);
    const isMade = this.#owned !== undefined || this.#observer.hears("act.ended");
    const event = isMade ? endInEnvelope(this.state, this.#clock.now(), clean) : undefined;
    const taken = isMade && !this.state.hasHistory ? role.news(end.take) : undefined;
    applyEnd(this.state, role, clean);
    if (event !== undefined) this.#send(event, taken);
    return clean;
  }

  /** The last event that was made. */
  get latest(): RunEvent | undefined {
    return this.#latest;
  }

  /** Whether nothing is recorded that {@link durable} would wait for. */
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

  get #envelope(): Envelope {
    const { runId, seq } = this.state;
    return { v: EVENT_VERSION, runId, seq, time: this.#clock.now() };
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
        await owned.journal.append(this.state.runId, owned.epoch, batch[0]?.seq ?? 0, batch);
        this.#durableTo += batch.length;
        for (const event of batch) this.#observer.observe(event);
      } catch (error) {
        this.#broken = { error };
      }
      this.#wake();
    }
    this.#isWriting = false;
  }

  /** Until those who come in the same turn as somebody who waits have come, or nobody did for a while. */
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

const nobody: Observer = { hears: () => false, observe() {} };

/** Every hop comes by here, and a plain end of an activation is all that most of them record: it is written out, because a spread costs more. */
function endInEnvelope({ runId, seq }: RunState, time: number, end: ToldEnd): RunEvent {
  const v = EVENT_VERSION;
  if (end.at === undefined || !isPlain(end)) return { v, runId, seq, time, ...namedEnd(end) };
  const { type, role, round, take, at, said, working, state } = end;
  const { act } = end.by;
  const memory = memoryIn(end);
  if (state !== undefined) return { v, runId, seq, time, type, act, role, round, take, at, said, memory, working, state };
  return { v, runId, seq, time, type, act, role, round, take, at, said, memory, working };
}

/** Whether an activation took no step and changed nothing but memories and state. */
function isPlain({ asked, unrepeated, plan, joins, summary }: ToldEnd): boolean {
  return (asked ?? unrepeated ?? plan ?? joins ?? summary) === undefined;
}
