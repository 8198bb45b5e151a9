import { delay, takeDue } from "./delayed.ts";
import { arrivedMessage, countFaults } from "../edges/arrivals.ts";
import { deliver, deliverHeld, deliverPart } from "./delivery.ts";
import type { EdgeFault } from "./edge-fault.ts";
import type { ClockAdvanced, RoundEnded } from "./event.ts";
import { damaged, type DeadLetter, type Pending, roleOf, type RunState } from "./run-state.ts";

/*
 * The delivery of messages in time: at once, at the end of a round, or at a later tick of the run's clock.
 */

/** Delivers a message now, at the end of the round, or at its tick. */
export function send(state: RunState, pending: Pending, isAtBarrier: boolean): void {
  const { sent, order } = pending;
  if (sent.faults !== undefined && sent.dropped !== true) strike(state, pending, sent.faults);
  if (sent.due !== undefined) delay(state, pending, sent.due);
  else if (isAtBarrier) state.pending.push(pending);
  else deliver(state, sent, order);
}

/** Counts faults, and keeps delayed arrivals until their ticks. */
function strike(state: RunState, { sent: { message }, order }: Pending, faults: readonly EdgeFault[]): void {
  state.faults = countFaults(state.faults, faults);
  for (const { to, arrives } of faults) {
    for (const arrival of arrives) {
      if (arrival.due === undefined) continue;
      delay(state, { order, sent: { message: arrivedMessage(message, arrival), to: [to] }, part: true }, arrival.due);
    }
  }
}

/** Applies that a round ended: its messages are delivered, and those that are due. */
export function endRound(state: RunState, event: RoundEnded): void {
  if (event.round !== state.round) throw damaged(`round ${event.round} ended in round ${state.round}`);
  if (state.dead.length > state.deadBefore) orderDead(state);
  const { pending } = state;
  state.pending = [];
  state.acted = 0;
  state.round += 1;
  state.tick = state.round;
  if (state.held.length > 0) deliverHeld(state);
  const due = takeDue(state);
  arrive(state, due.length === 0 ? pending : [...due, ...pending]);
  state.deadBefore = state.dead.length;
}

/** Applies that the clock moved on without an activation. */
export function advanceClock(state: RunState, { tick }: ClockAdvanced): void {
  if (tick < state.tick) throw damaged(`its clock went from ${state.tick} back to ${tick}`);
  state.tick = tick;
  if (state.delivery === "round") state.round = tick;
  arrive(state, [...takeDue(state)]);
  state.deadBefore = state.dead.length;
}

/** Delivers messages that arrive together, in the order in which their senders were hired. */
function arrive(state: RunState, messages: Pending[]): void {
  for (const { order, sent, part } of messages.sort((a, b) => a.order - b.order)) {
    if (part === true) deliverPart(state, sent, order);
    else deliver(state, sent, order);
  }
}

/** Sorts the dead letters of a round in the order of hiring. */
function orderDead(state: RunState): void {
  const came = state.dead.slice(state.deadBefore);
  const ordered = came.toSorted((a, b) => placeOf(state, a) - placeOf(state, b));
  if (ordered.some((letter, place) => letter !== came[place])) state.dead = [...state.dead.slice(0, state.deadBefore), ...ordered];
}

/** The first failing role depends on latency. Letters without a failing role come before. */
function placeOf(state: RunState, { reason }: DeadLetter): number {
  return reason.kind === "failed" ? roleOf(state, reason.role).index : -1;
}
