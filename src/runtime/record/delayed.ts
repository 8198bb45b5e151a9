import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Sent } from "./event.ts";
import type { Pending, RunState } from "./run-state.ts";

/*
 * The messages that wait for a tick of the run's clock, as a binary heap: `state.delayed[0]` is due first.
 *
 * Delayed.DY1 (`delay`, `takeDue`) messages leave in the order of their ticks, and those of one tick in the order in which they were sent.
 * Delayed.DY2 (`dueOf`) a message that would arrive no later without its delay is not delayed.
 */

/** A message that waits for a tick. */
export interface Delayed extends Pending {
  readonly due: number;
  /** The number of delayed messages before it. */
  readonly nth: number;
}

/**
 * Returns the tick at which a message arrives that a role sends now; undefined where it arrives as if it had no delay.
 *
 * @throws UsageError `DELAY_INVALID`
 */
export function dueOf(state: Pick<RunState, "tick" | "clock">, ticks: unknown, role: string): number | undefined {
  const { tick } = state;
  const due = typeof ticks === "number" ? tick + ticks : Number.NaN;
  if (!(due >= tick && due <= Number.MAX_SAFE_INTEGER)) {
    throw new UsageError(
      "DELAY_INVALID",
      `Expected ${role} to send a message a number of ticks later, 0 or more, got ${valueText(ticks)}. Write after(3, "text").`,
    );
  }
  return due <= nextTick(state) ? undefined : due;
}

/** Returns the tick at which a message without a delay arrives: simulated time stands still meanwhile. */
export function nextTick({ tick, clock }: Pick<RunState, "tick" | "clock">): number {
  return clock === "time" ? tick : tick + 1;
}

/** Keeps a message until its tick. */
export function delay(state: RunState, pending: Pending, due: number): void {
  const one: Delayed = { due, nth: state.delays, ...pending };
  state.delays += 1;
  const heap = state.delayed;
  let place = heap.push(one) - 1;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above] as Delayed;
    if (isBefore(parent, one)) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = one;
}

/** Returns the messages that are due at a tick, without taking them, in no order. */
export function dueAt({ delayed }: RunState, tick: number): readonly Delayed[] {
  return (delayed[0]?.due ?? Infinity) > tick ? none : delayed.filter(({ due }) => due <= tick);
}

/** Takes the messages that are due at the present tick. */
export function takeDue(state: RunState): readonly Delayed[] {
  const { delayed, tick } = state;
  if ((delayed[0]?.due ?? Infinity) > tick) return none;
  const taken: Delayed[] = [];
  for (let first = delayed[0]; first !== undefined && first.due <= tick; first = delayed[0]) {
    taken.push(first);
    removeFirst(delayed);
  }
  return taken;
}

function removeFirst(heap: Delayed[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const left = 2 * place + 1;
    if (left >= heap.length) break;
    const right = heap[left + 1];
    const isRight = right !== undefined && isBefore(right, heap[left] as Delayed);
    const below = isRight ? left + 1 : left;
    const least = heap[below] as Delayed;
    if (isBefore(last, least)) break;
    heap[place] = least;
    place = below;
  }
  heap[place] = last;
}

function isBefore(one: Delayed, other: Delayed): boolean {
  return one.due < other.due || (one.due === other.due && one.nth < other.nth);
}

/** Returns a routed message with the tick at which it arrives. */
export function delayedBy(sent: Sent, due: number | undefined): Sent {
  return due === undefined ? sent : { ...sent, due };
}

const none: readonly Delayed[] = Object.freeze([]);
