import type { Message } from "../../message/message.ts";
import type { RunState } from "./run-state.ts";

/*
 * The count of rounds and time that bounds a run. It restarts with each turn of a conversation, and follows from the events.
 *
 * TurnCount.T1 (`hear`) a message from outside to a run at rest begins a turn, at the next activation.
 * TurnCount.T2 (`hear`) a message to a run under way begins no turn, so messages alone cannot keep a run active forever.
 * TurnCount.T3 (`rest`) a message still unread when the run comes to rest begins a turn then.
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

/** Called when an activation begins, or ends without a recorded start. */
export function beginTurn(state: RunState): void {
  if (state.turn === "begins" && state.activations > 0) {
    const { round, tick, deliveries } = state;
    state.turnStart = { rounds: round, tick, deliveries: deliveries.length };
    state.actsInTurn = new Map();
    state.busiestInTurn = 0;
  }
  state.turn = "under way";
}

/** Called when an activation from before the rest of the run continues. */
export function work(state: RunState): void {
  if (state.turn === "at rest") state.turn = "under way";
}

export function read({ unheard }: RunState, taken: readonly Message[]): void {
  if (unheard.size > 0) for (const { id } of taken) unheard.delete(id);
}

/** Counts an ended activation in a turn after the first. In the first turn the count equals that of the run. */
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
  /** Number of messages delivered before it. */
  readonly after: number;
}

export function turnCount(state: RunState): TurnCount {
  const { turn, turnStart, activations, round, tick, deliveries, clock } = state;
  if (turn === "begins" && activations > 0) return { rounds: 0, tick: 0, after: deliveries.length };
  const { rounds, tick: since, deliveries: after } = turnStart ?? FIRST_TURN;
  const acts = turnStart === undefined ? state.busiest : state.busiestInTurn;
  return { rounds: clock === "rounds" ? round - rounds : acts, tick: tick - since, after };
}
