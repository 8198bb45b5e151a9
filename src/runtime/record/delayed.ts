import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { Agenda } from "../../kernel/agenda.ts";
import type { Sent } from "./event.ts";
import type { Pending, RunState } from "./run-state.ts";

/*
 * The messages that wait for a tick of the run's clock, in `state.delayed`.
 *
 * Delayed.DY1 (`delay`, `takeDue`) messages leave in the order of their ticks, and those of one tick in the order in which they were sent.
 * Delayed.DY2 (`dueOf`) a message that would arrive no later without its delay is not delayed.
 */

export interface Delayed extends Pending {
  readonly due: number;
  /** The number of delayed messages before it. */
  readonly nth: number;
}

/**
 * Returns the tick at which a message arrives that a role sends now; undefined if it arrives as if it had no delay.
 *
 * @throws UsageError `DELAY_INVALID`
 */
export function dueOf(state: Pick<RunState, "tick" | "clock">, ticks: unknown, role: string): number | undefined {
  const { tick } = state;
  const due = typeof ticks === "number" ? tick + ticks : Number.NaN;
  if (!(due >= tick && due <= Number.MAX_SAFE_INTEGER)) {
    throw new UsageError(
      "DELAY_INVALID",
      `Expected ${role} to send a message a number of ticks later, 0 or more, got ${valueText(ticks)}. Give a number of ticks, such as 3.`,
    );
  }
  return due <= nextTick(state) ? undefined : due;
}

/** Returns the tick at which a message without a delay arrives. */
export function nextTick({ tick, clock }: Pick<RunState, "tick" | "clock">): number {
  return clock === "time" ? tick : tick + 1;
}

export function delayedOf(waiting: Iterable<Delayed>): Agenda<Delayed> {
  const agenda = new Agenda<Delayed>();
  for (const one of waiting) agenda.add(one, one.due);
  return agenda;
}

export function inOrderOfTicks({ delayed }: Pick<RunState, "delayed">): Delayed[] {
  return delayed.inOrder();
}

export function delay(state: RunState, pending: Pending, due: number): void {
  const one: Delayed = { due, nth: state.delays, ...pending };
  state.delayed.add(one, due);
  state.delays += 1;
  state.shard?.delayed?.(one);
}

export function dueAt(state: RunState, tick: number): readonly Delayed[] {
  return (state.delayed.first ?? Infinity) <= tick ? inOrderOfTicks(state).filter(({ due }) => due <= tick) : none;
}

export function takeDue(state: RunState): readonly Delayed[] {
  const taken: Delayed[] = [];
  while ((state.delayed.first ?? Infinity) <= state.tick) for (const one of state.delayed.takeFirst()) taken.push(one);
  return taken;
}

export function delayedBy(sent: Sent, due: number | undefined): Sent {
  return due === undefined ? sent : { ...sent, due };
}

const none: readonly Delayed[] = Object.freeze([]);
