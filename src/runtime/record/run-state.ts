import { type ErrorRecord, JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { Memory } from "../../memory/memory.ts";
import { Agenda } from "../../kernel/agenda.ts";
import type { Scope } from "../../kernel/scope.ts";
import { MAILBOX_LIMIT } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import { Ledger, SpendingTable } from "../../model/ledger.ts";
import { Board } from "../board/board.ts";
import type { ArrivalOrder, ClockKind, Delivery } from "../schedulers/scheduler.ts";
import type { Delayed } from "./delivery.ts";
import type { LostTry } from "./lost-tries.ts";
import type { ForkPoint, HiredRole, RecordedBounds, RunStarted, RunStatus, Sent, RecordedEdge } from "./event.ts";
import { ReadyRoles } from "./ready-roles.ts";
import type { FailedActivations } from "./run-summary.ts";
import { type HiredAs, RoleState, roleNameIn, type OpenActivation } from "./role-state.ts";
import type { TurnPhase, TurnStart } from "./turn-count.ts";

export type RunPhase =
  | { readonly phase: "running" }
  | { readonly phase: "ended"; readonly status: RunStatus; readonly error?: ErrorRecord; readonly stoppedBy?: string };

/** A message without a recipient, one on which its role failed, or one that its role had not read when it was retired or crashed. */
export interface DeadLetter {
  readonly message: Message;
  readonly reason:
    | { readonly kind: "no such address"; readonly address: string }
    | { readonly kind: "failed"; readonly role: string; readonly error: ErrorRecord }
    | { readonly kind: "retired" | "crashed"; readonly role: string };
}

/** Numbers of messages with edge faults, counted for each recipient. A delayed copy counts twice. */
export interface FaultCounts {
  readonly lost: number;
  readonly delayed: number;
  readonly copied: number;
  readonly rewritten: number;
}

export const noFaults: FaultCounts = Object.freeze({ lost: 0, delayed: 0, copied: 0, rewritten: 0 });

/** The index of senders outside: after all roles. */
export const OUTSIDE: number = Number.MAX_SAFE_INTEGER;

/** A message that waits for the end of the round or, for one recipient, for a choice. */
export interface Pending {
  /** Index of the sender in the order of hiring, or {@link OUTSIDE}. */
  readonly order: number;
  readonly sent: Sent;
  /** A delayed arrival of a message that is already in the history. */
  readonly part?: true;
}

const noBounds: RecordedBounds = Object.freeze({});

/**
 * The state of a run: the fold of its events. It owns the states of its roles, the messages that wait for delivery, spending, and the
 * position of every activation. Definitions belong to the team. `apply` is its only writer.
 *
 * RunState.S1 (`ready`) `ready` has exactly the roles with mail and the hired ones that act in each round, in the order in which they became
 * ready; a role that acted and is still ready is last.
 * RunState.S2 (`openActivation`) a role has at most one open activation.
 * RunState.S3 (`deliver`) a message waiting for the end of a round or for a choice is in `pending`, one waiting for a tick is in `delayed`, and a delivered
 * message is in the mailbox of each recipient.
 * RunState.S4 (`endStep`, `settleLost`) `ledger`, `byRole` and `byModel` are sums of the step events; each lost hold of the ledger is one of `lost`.
 * RunState.S5 (`apply`) `history`, `outputs` and `dead` only grow.
 * RunState.S6 (`putIntoMailbox`, `consume`) `unread` is the sum of the messages in all mailboxes.
 *
 * @example
 * import { fold, type RunEvent, type RunState } from "troupe";
 *
 * export function namesOf(events: readonly RunEvent[]): string[] {
 *   const state: RunState = fold(events);
 *   return [...state.roles.keys()];
 * }
 */
export class RunState {
  runId: string;
  seed: string = "";
  scheduler: string = "rounds";
  parameters: Json = null;
  delivery: Delivery = "round";
  clock: ClockKind = "rounds";
  arrival: ArrivalOrder = "hire";
  pastSeeds: NonNullable<RunStarted["pastSeeds"]> = [];
  budget: number | undefined;
  bounds: RecordedBounds = noBounds;
  edges: readonly RecordedEdge[] = [];
  faults: FaultCounts = noFaults;
  about: Json = null;
  scope: Scope | undefined;
  /** True when the words of people in its record were erased, so that it cannot continue. */
  erased: boolean = false;
  parent: ForkPoint | undefined;
  /** True when its parent answers no step after the shared events. */
  isAfresh: boolean = false;
  phase: RunPhase = { phase: "running" };
  /** The present team, as it was recorded. */
  team: readonly HiredRole[] = [];
  /** Number of events that hired, retired or took roles during the run, or gave them back. */
  teamChanges: number = 0;
  /** The team changes by which persons took roles and gave them back, alternating, by the names of the roles. */
  readonly players: Map<string, readonly { readonly at: number; readonly by?: string | undefined }[]> = new Map();
  /** Every role that was ever hired. */
  readonly roles: Map<string, RoleState> = new Map();
  readonly ready: ReadyRoles = new ReadyRoles();
  /** Activations that have ended in the present round. */
  acted: number = 0;
  /** The stages of the present round that have ended. */
  stage: number = 0;
  /** Index of the role that ended an activation last in the present round; -1 at its beginning. */
  lastActed: number = -1;
  /** The numbers of roles, and of those with mail, at the first activation of the present round. Later ones act in the next round. */
  roundStart: { readonly roles: number; readonly ready: number } | undefined;
  /** The name of the role that acts at the present tick, if the scheduler drew both. */
  next: string | undefined;
  /** Names of the roles with an open activation. */
  readonly open: Set<string> = new Set();
  round: number = 0;
  /** Choices of a scheduler that delivers by choice. */
  choices: number = 0;
  /** The tick of the clock that delays count. It may jump ahead. */
  tick: number = 0;
  activations: number = 0;
  /** The largest number of activations that one role has ended. */
  busiest: number = 0;
  turn: TurnPhase = "at rest";
  /** Undefined in the first turn. */
  turnStart: TurnStart | undefined;
  /** The activations that roles have ended in the present turn, by their index, if there are no rounds. Empty in the first turn. */
  actsInTurn: Map<number, number> = new Map();
  busiestInTurn: number = 0;
  /** The ids of unread messages from outside, if a history is kept. */
  readonly unheard: Set<string> = new Set();
  /** Every delivered message, in order of delivery; one that was delivered twice is there twice. */
  readonly deliveries: Message[] = [];
  readonly hasHistory: boolean;
  pending: Pending[] = [];
  /** Messages that wait for a tick. */
  delayed: Agenda<Delayed> = new Agenda();
  /** The number of messages that were ever delayed. */
  delays: number = 0;
  /** Delivered messages, each counted once whatever its number of recipients. */
  delivered: number = 0;
  smallestMailbox: number = MAILBOX_LIMIT;
  /** Messages that wait in mailboxes. */
  unread: number = 0;
  /** True once a message with a priority was sent: it may overtake messages that a role has taken. */
  isPrioritized: boolean = false;
  /** Messages dropped from full mailboxes. */
  dropped: number = 0;
  /** The messages that the last event dropped. */
  justDropped: { readonly message: Message; readonly role: RoleState }[] = [];
  readonly outputs: Message[] = [];
  lastSaid: Message | undefined;
  dead: DeadLetter[] = [];
  readonly failures: FailedActivations = new Map();
  /** The number of dead letters when the last round ended. */
  deadBefore: number = 0;
  ledger: Ledger = new Ledger();
  readonly byRole: SpendingTable = new SpendingTable();
  /** Spending of others inside a step belongs to no model. */
  readonly byModel: SpendingTable = new SpendingTable();
  /** Tries whose end is unknown, and whose holds are not settled yet. */
  lost: readonly LostTry[] = [];
  /** Micro-dollars of all tries whose end is unknown: their holds and, once they are settled, their costs. */
  uncertain: number = 0;
  /** Answers taken from the parent of a fork after the shared events. */
  reused: number = 0;
  /** The reused answers that models gave. */
  reusedCalls: number = 0;
  /** Micro-dollars that the reused answers and the shared events had cost in the parent. */
  saved: number = 0;
  /** Answers of models called in this run. */
  calls: number = 0;
  /** Deaths of the process since the last progress. */
  stalled: number = 0;
  /** Resumes without a recorded end since the last progress, deaths not counted. */
  takes: number = 0;
  /** Roles whose open activation may have killed the process. */
  readonly suspects: Set<string> = new Set();
  /** The signals that no wait has taken, by their names, in the order in which they came. */
  readonly signals: Map<string, readonly Message[]> = new Map();
  /** The shared tasks and notes of its roles. */
  readonly board: Board = new Board();
  /** Names of the tools that a person has allowed for the whole run. */
  readonly allowedTools: Set<string> = new Set();
  outside: number = 0;
  /** The first message from outside. */
  idea: Message | undefined;
  /** The messages from outside by their ids, if a history is kept. */
  readonly fromOutside: Map<string, Sent> = new Map();
  /** The last end without unread mail: its sequence number and the micro-dollars spent before it. */
  done: { readonly seq: number; readonly spent: number } | undefined;
  /** Sequence number of the next event. */
  seq: number = 0;

  #history: Memory | undefined;

  /** @param hasHistory false if delivered messages are not kept */
  constructor(runId: string, hasHistory: boolean = true) {
    this.runId = runId;
    this.hasHistory = hasHistory;
  }

  /** Every delivered message once. Made when it is first read: to index its messages costs a fifth of a turn of a step role. */
  get history(): Memory {
    if (this.#history !== undefined) return this.#history;
    this.#history = new Memory();
    this.#history.addBatch(this.deliveries);
    return this.#history;
  }

  keep(message: Message): void {
    if (!this.hasHistory) return;
    this.deliveries.push(message);
    this.#history?.add(message);
  }
}

export function addRoleState(state: RunState, name: string, hired: HiredAs): RoleState {
  const role = new RoleState(name, state.roles.size, hired);
  state.roles.set(name, role);
  if (role.actsAlways) state.ready.add(role);
  if (hired.mailbox?.limit !== undefined) state.smallestMailbox = Math.min(state.smallestMailbox, hired.mailbox.limit);
  return role;
}

/** Records progress: the activation that killed the process did not block the run. */
export function progress(state: RunState): void {
  state.takes = 0;
  if (state.stalled === 0 && state.suspects.size === 0) return;
  state.stalled = 0;
  for (const name of state.suspects) {
    const open = state.roles.get(name)?.open;
    if (open !== undefined) open.crashes = 0;
  }
  state.suspects.clear();
}

/** True if the process died and the cause may be an activation that has not ended. */
export function isSuspicious(state: RunState): boolean {
  return state.stalled > 0 || state.suspects.size > 0;
}

/** True after repeated deaths of the process: activations then run one by one, to find the faulty one. */
export function isGrave(state: RunState): boolean {
  return state.stalled > 1 || [...state.suspects].some((name) => (state.roles.get(name)?.open?.crashes ?? 0) > 1);
}

/** True for a finished run without mail, also for roles that a later team may hire, and for one that its stop condition finished. */
export function isFinished(state: RunState): boolean {
  const { phase, turn } = state;
  if (phase.phase !== "ended" || phase.status !== "finished") return false;
  return phase.stoppedBy === undefined ? !hasMail(state) : turn !== "begins";
}

/** True if a role may act, or a message waits for a tick, a choice or the end of the round. */
export function hasMail({ ready, delayed, pending }: RunState): boolean {
  return ready.size > 0 || delayed.size > 0 || pending.length > 0;
}

/** Returns the rounds so far. Without rounds the most activations of one role count instead. */
export function roundsOf(state: RunState): number {
  return state.clock === "rounds" ? state.round : state.busiest;
}

/** Returns a function that counts the rounds left of `rounds` from now on. */
export function roundsLeftOf(state: RunState, rounds: number): () => number {
  const last = roundsOf(state) + rounds;
  return () => last - roundsOf(state);
}

export function damaged(what: string, cause?: unknown): JournalError {
  return new JournalError("JOURNAL_DAMAGED", `Expected a consistent record of a run, got one that contradicts itself: ${what}.`, { cause });
}

/** Returns the person who had taken a role after so many team changes; undefined if its own model played it. */
export function playerOf({ players }: RunState, role: string, teamAt: number = Infinity): { readonly by?: string | undefined } | undefined {
  const changes = (players.get(role) ?? []).filter(({ at }) => at <= teamAt);
  return changes.length % 2 === 1 ? changes.at(-1) : undefined;
}

/** @throws JournalError `JOURNAL_DAMAGED` when the run never hired a role of that name. */
export function roleOf(state: RunState, name: string): RoleState {
  const role = state.roles.get(name);
  if (role === undefined) throw damaged(`it names role ${name}, which was never hired`);
  return role;
}

/** @throws JournalError `JOURNAL_DAMAGED` when no activation of that name is open. */
export function openNamed(state: RunState, activation: string): OpenActivation {
  const { open } = roleOf(state, roleNameIn(activation));
  if (open?.act !== activation) throw damaged(`it names activation ${activation}, which is not open`);
  return open;
}
