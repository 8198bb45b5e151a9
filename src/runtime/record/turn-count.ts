import type { Message } from "../../message/message.ts";
import type { RunState } from "./run-state.ts";

/*
 * The count of rounds and time that bounds a run. It begins again with each turn of a conversation, and follows from the events.
 *
 * TurnCount.T1 (`hear`) a message from outside that comes to a run at rest begins a turn: at the first activation after it.
 * TurnCount.T2 (`hear`) a message that comes while the run is under way begins no turn, so messages alone cannot keep a run going for ever.
 * TurnCount.T3 (`rest`) a message that is unread when the run comes to rest begins a turn then.
 * TurnCount.T4 (`beginTurn`) without a message a resume continues the same count.
 */

/** No role has acted since the run came to rest; a turn begins with the next activation; a turn is under way. */
export type TurnPhase = "at rest" | "begins" | "under way";

export interface TurnStart {
  readonly rounds: number;
  readonly tick: number;
  readonly deliveries: number;
}

export function hear(state: RunState, { id }: Message): void {
  if (state.turn === "at rest") state.turn = "begins";
  if (state.hasHistory) state.unheard.add(id);
}

export function rest(state: RunState): void {
  state.turn = state.unheard.size > 0 ? "begins" : "at rest";
}

/** Notes that an activation begins, or ends without a recorded beginning. */
export function beginTurn(state: RunState): void {
  if (state.turn === "begins" && state.activations > 0) {
    const { round, tick, deliveries } = state;
    state.turnStart = { rounds: round, tick, deliveries: deliveries.length };
    state.actsInTurn = new Map();
    state.busiestInTurn = 0;
  }
  state.turn = "under way";
}

/** Notes that an activation which had begun before the run came to rest continues. */
export function work(state: RunState): void {
  if (state.turn === "at rest") state.turn = "under way";
}

export function read({ unheard }: RunState, taken: readonly Message[]): void {
  if (unheard.size > 0) for (const { id } of taken) unheard.delete(id);
}

/** Counts an activation that has ended in a turn after the first. In the first one a role has ended as many as in the run. */
export function countInTurn(state: RunState, index: number): void {
  const acts = (state.actsInTurn.get(index) ?? 0) + 1;
  state.actsInTurn.set(index, acts);
  if (acts > state.busiestInTurn) state.busiestInTurn = acts;
}

const FIRST_TURN: TurnStart = { rounds: 0, tick: 0, deliveries: 0 };

export interface TurnCount {
  /** Rounds; without rounds the most activations of one role. */
  readonly rounds: number;
  readonly tick: number;
  /** The number of messages that were delivered before it. */
  readonly after: number;
}

/** Returns the count that the bounds of a run hold for. */
export function turnCount(state: RunState): TurnCount {
  const { turn, turnStart, activations, round, tick, deliveries, clock } = state;
  if (turn === "begins" && activations > 0) return { rounds: 0, tick: 0, after: deliveries.length };
  const { rounds, tick: since, deliveries: after } = turnStart ?? FIRST_TURN;
  const acts = turnStart === undefined ? state.busiest : state.busiestInTurn;
  return { rounds: clock === "rounds" ? round - rounds : acts, tick: tick - since, after };
}
