import { JournalError } from "../../kernel/errors.ts";
import { apply } from "../../runtime/record/apply.ts";
import { EVENT_VERSION, type RunEvent } from "../../runtime/record/event.ts";
import { RunState } from "../../runtime/record/run-state.ts";
import { copyState } from "../../runtime/record/state-form.ts";
import { RunRecord } from "./run-record.ts";

const MAX_COPIES = 64;
const SPACING = 512;

/**
 * The events of a run, and its state after each. It owns them, copies of some states, the tables of {@link RunRecord}, and one past state.
 *
 * RunTimeline.T1 (`apply`) every state is the runtime's own fold of the events up to it.
 * RunTimeline.T2 (`#keep`) there are at most 64 copies, so that memory is bounded and a state is found by folding a small part of the run.
 * RunTimeline.T3 (`add`) an event that the fold refuses is not taken in: what came before stays readable, and `trouble` is the reason.
 */
export class RunTimeline {
  readonly record: RunRecord = new RunRecord();
  readonly #events: RunEvent[] = [];
  #head = new RunState("");
  /** States by the number of events they contain. They are copied and never changed. */
  #copies = new Map<number, RunState>();
  #spacing: number;
  #past: RunState | undefined;
  #trouble: JournalError | undefined;

  /** @param spacing the fewest events between two kept states: 512 are folded in a few milliseconds */
  constructor({ spacing = SPACING }: { readonly spacing?: number } = {}) {
    this.#spacing = spacing;
  }

  /** Adds the next events. Known events are skipped, so that a stream may begin again earlier. Returns the number of new ones. */
  add(events: Iterable<RunEvent>): number {
    const before = this.length;
    for (const event of events) {
      if (this.#trouble !== undefined) break;
      if (event.seq < this.length && event.v <= EVENT_VERSION) continue;
      this.#take(event);
    }
    return this.length - before;
  }

  get length(): number {
    return this.#events.length;
  }

  get trouble(): JournalError | undefined {
    return this.#trouble;
  }

  event(seq: number): RunEvent | undefined {
    return this.#events[seq];
  }

  events(from = 0, until: number = this.length - 1): readonly RunEvent[] {
    return this.#events.slice(Math.max(0, from), until + 1);
  }

  get now(): RunState {
    return this.#head;
  }

  /** The state after an event, valid until the next call of this method. -1 means before the first event, and beyond the last one the last. */
  stateAt(seq: number): RunState {
    const wanted = Math.min(Math.max(Math.floor(seq), -1), this.length - 1) + 1;
    if (wanted === this.#head.seq) return this.#head;
    this.#past = this.#folded(wanted);
    return this.#past;
  }

  #take(event: RunEvent): void {
    const head = this.#head;
    try {
      const settle = this.record.add(event, head);
      apply(head, event);
      settle(head);
    } catch (error) {
      this.#trouble =
        error instanceof JournalError ? error : new JournalError("JOURNAL_DAMAGED", "Expected a run's own record.", { cause: error });
      // The fold may have begun to apply the event.
      this.#past = undefined;
      this.#head = this.#folded(this.length);
      return;
    }
    this.#events.push(event);
    this.#keep(head);
  }

  #folded(count: number): RunState {
    const past = this.#past;
    let index = Math.floor(count / this.#spacing) * this.#spacing;
    let state = past !== undefined && past.seq <= count && past.seq >= index ? past : undefined;
    for (; state === undefined && index > 0; index -= this.#spacing) {
      const copy = this.#copies.get(index);
      if (copy !== undefined) state = copyState(copy);
    }
    state ??= new RunState("");
    while (state.seq < count) {
      apply(state, this.#events[state.seq] as RunEvent);
      this.#keep(state);
    }
    return state;
  }

  #keep(state: RunState): void {
    const { seq } = state;
    if (seq % this.#spacing !== 0 || this.#copies.has(seq)) return;
    this.#copies.set(seq, copyState(state));
    while (this.#copies.size > MAX_COPIES) {
      this.#spacing *= 2;
      for (const at of this.#copies.keys()) if (at % this.#spacing !== 0) this.#copies.delete(at);
    }
  }
}
