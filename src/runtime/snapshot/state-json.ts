import type { LedgerRecord, Spending } from "../../model/ledger.ts";
import { inOrderOfTicks } from "../record/delayed.ts";
import type { Sent } from "../record/event.ts";
import type { FailedActivation } from "../record/failed-activation.ts";
import type { DeadLetter, RunState } from "../record/run-state.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Tables } from "./tables.ts";

/** A routed message as JSON: the message by its number. */
export type SentJson = Omit<Sent, "message"> & { readonly message: number };

type Entries<K, V> = readonly (readonly [K, V])[];

/** The members of a state that are no plain JSON, in the form in which they are written: messages, roles and definitions by their numbers. */
export interface CodedMembers {
  readonly team: readonly number[];
  readonly ready: readonly number[];
  readonly open: readonly string[];
  readonly deliveries: readonly number[];
  readonly pending: readonly { readonly order: number; readonly sent: SentJson }[];
  readonly delayed: readonly {
    readonly due: number;
    readonly nth: number;
    readonly order: number;
    readonly sent: SentJson;
    readonly part?: true;
  }[];
  readonly held: readonly { readonly message: number; readonly role: number; readonly order: number }[];
  readonly blocked: Entries<number, number>;
  readonly justDropped: readonly { readonly message: number; readonly role: number }[];
  readonly outputs: readonly number[];
  readonly lastSaid: number | undefined;
  readonly dead: readonly { readonly message: number; readonly reason: DeadLetter["reason"] }[];
  readonly ledger: LedgerRecord;
  readonly byRole: Entries<string, Spending>;
  readonly byModel: Entries<string, Spending>;
  readonly suspects: readonly string[];
  readonly allowedTools: readonly string[];
  readonly idea: number | undefined;
  readonly told: readonly SentJson[];
  readonly failures: readonly FailedActivation[];
  readonly actsInTurn: Entries<number, number>;
  readonly unheard: readonly string[];
}

/** The data of a state. Its roles are written apart; its history is made of its deliveries, what is unread of the mailboxes, and whether priorities
 * count of the messages. */
type Member = Exclude<keyof RunState, "roles" | "history" | "keep" | "shard" | "unread" | "isPrioritized">;

/** The data of a state as JSON. A member of `RunState` that it lacks does not compile. */
export type RunJson = { readonly [M in Member]: M extends keyof CodedMembers ? CodedMembers[M] : RunState[M] };

/** Returns the state of a run as JSON, without its roles. */
export function runJson(state: RunState, { messages, definitions }: Tables): RunJson {
  const { runId, hasHistory, seed, scheduler, parameters, delivery, clock, arrival, pastSeeds, stage, lastActed, roundStart, next } = state;
  const { budget, bounds, about, scope, erased, parent, isAfresh, phase, teamChanges, turn, turnStart, busiestInTurn } = state;
  const { acted, round, tick, delays, activations, busiest, delivered, smallestMailbox, dropped, deadBefore } = state;
  const { lost, uncertain, reused, reusedCalls, saved, calls, stalled, takes, outside, done, seq, edges, faults } = state;
  const place = messages.placeOf.bind(messages);
  const sentJson = (sent: Sent): SentJson => ({ ...sent, message: place(sent.message) });
  return {
    ...{ runId, hasHistory, seed, scheduler, parameters, delivery, clock, arrival, pastSeeds, stage, lastActed, roundStart, next },
    ...{ budget, bounds, about, scope, erased, parent, isAfresh, phase, teamChanges, turn, turnStart, busiestInTurn },
    ...{ acted, round, tick, delays, activations, busiest, delivered, smallestMailbox, dropped, deadBefore },
    ...{ lost, uncertain, reused, reusedCalls, saved, calls, stalled, takes, outside, done, seq, edges, faults },
    // Nearly every message was delivered: these come first, so that the numbers are short and in order.
    deliveries: messages.placesOf(state.deliveries),
    team: definitions.placesOf(state.team),
    ready: Array.from(state.ready, indexOf),
    open: [...state.open],
    pending: state.pending.map(({ order, sent }) => ({ order, sent: sentJson(sent) })),
    delayed: inOrderOfTicks(state).map((delayed) => ({ ...delayed, sent: sentJson(delayed.sent) })),
    held: state.held.map(({ message, role, order }) => ({ message: place(message), role: role.index, order })),
    blocked: [...state.blocked],
    justDropped: state.justDropped.map(({ message, role }) => ({ message: place(message), role: role.index })),
    outputs: messages.placesOf(state.outputs),
    lastSaid: state.lastSaid && place(state.lastSaid),
    dead: state.dead.map(({ message, reason }) => ({ message: place(message), reason })),
    ledger: state.ledger.toJSON(),
    byRole: state.byRole.entries(),
    byModel: state.byModel.entries(),
    suspects: [...state.suspects],
    allowedTools: [...state.allowedTools],
    idea: state.idea && place(state.idea),
    told: Array.from(state.told.values(), sentJson),
    failures: [...state.failures.values()],
    actsInTurn: [...state.actsInTurn],
    unheard: [...state.unheard],
  };
}

function indexOf({ index }: RoleState): number {
  return index;
}
