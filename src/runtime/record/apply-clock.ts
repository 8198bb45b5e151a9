import { LightStream } from "../../kernel/random.ts";
import { takeDue, deliver, deliverDelayed } from "./delivery.ts";
import type { ClockAdvanced, RoundEnded } from "./event.ts";
import { damaged, type DeadLetter, type Pending, roleOf, type RunState } from "./run-state.ts";

/* The delivery of messages in time: at once, at the end of a round, or at a later tick of the run's clock. */

/** Applies the end of a round or of a stage: delivers its messages and, at the end of a round, the messages that are due. */
export function endRound(state: RunState, { round, stage }: RoundEnded): void {
  if (round !== state.round) throw damaged(`round ${round} ended in round ${state.round}`);
  if (stage !== undefined && stage !== state.stage) throw damaged(`stage ${stage} of round ${round} ended in stage ${state.stage}`);
  const { pending } = state;
  state.pending = [];
  if (stage === undefined) passRound(state);
  else state.stage += 1;
  const due = takeDue(state);
  arrive(state, due.length === 0 ? pending : [...due, ...pending]);
  if (stage === undefined) state.deadBefore = state.dead.length;
}

/** At the first activation of a round with immediate delivery, stores which roles belong to the round. */
export function beginRound(state: RunState): void {
  if (state.roundStart !== undefined || state.clock !== "rounds" || state.delivery !== "turn") return;
  state.roundStart = { roles: state.roles.size, ready: state.ready.size };
}

export function passRound(state: RunState): void {
  if (state.dead.length > state.deadBefore) orderDead(state);
  state.acted = 0;
  state.lastActed = -1;
  state.stage = 0;
  state.roundStart = undefined;
  state.round += 1;
  state.tick = state.round;
}

export function advanceClock(state: RunState, { tick, role }: ClockAdvanced): void {
  if (tick < state.tick) throw damaged(`its clock went from ${state.tick} back to ${tick}`);
  state.tick = tick;
  state.next = role;
  if (state.clock === "rounds") state.round = tick;
  state.roundStart = undefined;
  arrive(state, [...takeDue(state)]);
  state.deadBefore = state.dead.length;
}

function arrive(state: RunState, messages: Pending[]): void {
  // During a round messages come in an order that depends on latency.
  messages.sort((a, b) => a.order - b.order);
  if (state.arrival === "sender") messages.sort((a, b) => inOrder(a.sent.message.sentFrom, b.sent.message.sentFrom));
  for (const { order, sent, part } of state.arrival === "shuffled" ? shuffled(state, messages) : messages) {
    if (part === true) deliverDelayed(state, sent);
    else deliver(state, sent, order);
  }
}

function shuffled(state: RunState, messages: readonly Pending[]): readonly Pending[] {
  const seed = seedNow(state);
  const placed = messages.map((pending) => ({ pending, drawn: new LightStream(seed, pending.sent.message.id, state.tick).next() }));
  return placed.sort((a, b) => a.drawn - b.drawn).map(({ pending }) => pending);
}

/** The past that a fork shares with its parent ran with the parent's seed. */
function seedNow({ seed, seq, pastSeeds }: RunState): string {
  return pastSeeds.find(({ to }) => seq <= to)?.seed ?? seed;
}

function inOrder(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function orderDead(state: RunState): void {
  const came = state.dead.slice(state.deadBefore);
  const ordered = came.toSorted((a, b) => placeOf(state, a) - placeOf(state, b));
  if (ordered.some((letter, index) => letter !== came[index])) state.dead = [...state.dead.slice(0, state.deadBefore), ...ordered];
}

/** Sorts dead letters, because the first failing role depends on latency. Letters without a failing role come first. */
function placeOf(state: RunState, { reason }: DeadLetter): number {
  return reason.kind === "failed" ? roleOf(state, reason.role).index : -1;
}
