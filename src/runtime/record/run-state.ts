import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { Memory } from "../../memory/memory.ts";
import { MAILBOX_LIMIT } from "../../message/mailbox.ts";
import type { Message } from "../../message/message.ts";
import { Ledger, SpendingTable } from "../../model/ledger.ts";
import { type Held, measureMailbox } from "./mailbox.ts";
import { ReadyRoles } from "./ready-roles.ts";
import type { ForkPoint, HiredRole, RecordedBounds, RunStatus, Sent, StepStarted } from "./event.ts";
import { type HiredAs, RoleState } from "./role-state.ts";

/*
 * The state of a run: what folding its events gives. It owns what its roles hold, what waits to be delivered, spend and where every
 * activation stands. It owns no definitions: those are the team's. `apply` is its only writer, live too. Only `hearing` is
 * written by who finds the hearers, and says nothing of the run.
 *
 * S1 `ready` holds exactly the roles with mail. S2 a role has at most one open activation. S3 pending mail is in `pending`, delivered
 * mail in exactly one mailbox per recipient. S4 `ledger`, `byRole` and `byModel` are sums of the step events, nothing else. S5 `history`, `outputs` and `dead` only grow:
 * dead letters that come into another order make another list. So how long they were tells what they held.
 */

/** Where a run stands. */
export type RunPhase =
  | { readonly phase: "running" }
  | { readonly phase: "ended"; readonly status: RunStatus; readonly error?: ErrorRecord };

/** A recorded step of an activation that has not ended. */
export interface StepRecord {
  readonly started: StepStarted;
  /** Whether its last try has not ended: its hold is open. */
  readonly inFlight: boolean;
  /** Micro-dollars of the tries that have ended. */
  readonly paid: number;
  readonly outcome: StepOutcome | undefined;
}

/** A step's answer, as it is released. */
export interface StepOutcome {
  readonly ok: boolean;
  readonly value: Json;
  readonly error: ErrorRecord | undefined;
  readonly at: number;
}

/** An activation that has begun and not ended. */
export interface OpenActivation {
  readonly act: string;
  readonly attempt: number;
  readonly take: number;
  readonly at: number;
  readonly steps: Map<string, StepRecord>;
  /** How often the process died while it was under way, since anything in the run moved. */
  crashes: number;
  /** The same since it got an answer itself. */
  deaths: number;
  /** Whether it has begun since the run last went on. */
  isUnderWay: boolean;
}

/** A message that reached nobody, or whose role failed on it. */
export interface DeadLetter {
  readonly message: Message;
  readonly reason:
    | { readonly kind: "no such address"; readonly address: string }
    | { readonly kind: "failed"; readonly role: string; readonly error: ErrorRecord };
}

/** Where senders outside stand in the order of hiring: behind everybody. */
export const OUTSIDE: number = Number.MAX_SAFE_INTEGER;

/** Said, and waiting for the end of the round. */
export class Pending {
  /** Place of the sender in the order of hiring, or {@link OUTSIDE}. */
  readonly order: number;
  readonly sent: Sent;

  constructor(order: number, sent: Sent) {
    this.order = order;
    this.sent = sent;
  }
}

/** Roles that hear a message. */
export interface Many<R> {
  readonly members: readonly R[];
  /** Other messages will have the same list. */
  readonly isShared: boolean;
}

const noBounds: RecordedBounds = Object.freeze({});

/**
 * The whole state of a run. A class: what the engine compiled for an object that is written out is thrown away with the second one.
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
  budget: number | undefined;
  /** What else bounds it. */
  bounds: RecordedBounds = noBounds;
  /** What its starter keeps with the run. */
  about: Json = null;
  parent: ForkPoint | undefined;
  /** Whether its parent answers no step behind the past they share. */
  isAfresh: boolean = false;
  phase: RunPhase = { phase: "running" };
  /** With whom it began, or was forced to go on: `roles` has everyone there ever was. */
  team: readonly HiredRole[] = [];
  readonly roles: Map<string, RoleState> = new Map();
  /** Who the many are that hear a message, by the list of their names in its event: so that nobody looks them up one by one. */
  readonly audiences: WeakMap<readonly string[], Many<RoleState>> = new WeakMap();
  /** Roles with mail; who came first stands first, and who has acted stands behind those who wait. */
  readonly ready: ReadyRoles = new ReadyRoles();
  /** Who was found last to hear a message alone, for its delivery in the same way. */
  hearing: RoleState | undefined;
  /** Whether a role has ended an activation in the present round. */
  hasActed: boolean = false;
  readonly open: Set<string> = new Set();
  round: number = 0;
  /** Most activations that one role has ended. */
  busiest: number = 0;
  /** Everything that was delivered, in order. */
  readonly history: Memory = new Memory();
  /** Whether the history is kept. */
  readonly hasHistory: boolean;
  pending: Pending[] = [];
  /** How many messages were delivered, to however many. */
  told: number = 0;
  /** The smallest bound of a mailbox. */
  leastMailbox: number = MAILBOX_LIMIT;
  /** What waits with its senders for room in full mailboxes, in the order in which it came. */
  held: Held[] = [];
  /** How many of them each sender has, by its place in the order of hiring. */
  readonly blocked: Map<number, number> = new Map();
  /** Messages that left full mailboxes unread. */
  dropped: number = 0;
  /** Told of each of them while the run lives; it is nothing of the run. */
  dropping: ((role: RoleState, message: Message) => void) | undefined;
  readonly outputs: Message[] = [];
  /** What a role said last, of what was delivered. */
  lastSaid: Message | undefined;
  dead: DeadLetter[] = [];
  /** How many there were when the last round ended: what came since is put in order at the end of this one. */
  deadBefore: number = 0;
  ledger: Ledger = new Ledger();
  /** The same sums by role and by model. What others spent inside a step is no model's. */
  readonly byRole: SpendingTable = new SpendingTable();
  readonly byModel: SpendingTable = new SpendingTable();
  /** Holds settled at a resume: nobody knows whether those calls were paid. */
  uncertain: number = 0;
  /** Answers taken from the run it was forked from, besides the past they share. */
  reused: number = 0;
  /** Those of them that models had given. */
  reusedCalls: number = 0;
  /** Micro-dollars that those and the shared past had cost there, with the tries that came to nothing. */
  saved: number = 0;
  /** Answers of models that were called in this run. */
  calls: number = 0;
  /** Times the process died since something last moved. */
  stalled: number = 0;
  /** Roles with an open activation during which it died. */
  readonly suspects: Set<string> = new Set();
  /** Messages published from outside. */
  outside: number = 0;
  /**
   * Whether one of them has an id as what roles say has, or a record has one that its role would not give: then an id of theirs may be known
   * already, and never before.
   */
  hasChosenIds: boolean = false;
  /** Sequence number of the next event. */
  seq: number = 0;

  /**
   * A run before its first event.
   *
   * @param hasHistory false where nothing that was said shall be kept
   */
  constructor(runId: string, hasHistory: boolean = true) {
    this.runId = runId;
    this.hasHistory = hasHistory;
  }
}

/** So many who hear a message are looked up by name as fast as by their list. */
export const FEW_HEARERS = 16;

/** Adds a role with nothing in its mailbox. */
export function addRoleState(state: RunState, name: string, hired: HiredAs): RoleState {
  const role = new RoleState(name, state.roles.size, hired);
  state.roles.set(name, role);
  measureMailbox(state, hired);
  return role;
}

/** Something moved: whatever the process died of before was not in the way of everything. */
export function progress(state: RunState): void {
  state.stalled = 0;
  if (state.suspects.size === 0) return;
  for (const name of state.suspects) {
    const open = state.roles.get(name)?.open;
    if (open !== undefined) open.crashes = 0;
  }
  state.suspects.clear();
}

/** Whether somebody should look who is at work when the process dies: it has died before, and what it died of has not been passed yet. */
export function isSuspicious(state: RunState): boolean {
  return state.stalled > 0 || state.suspects.size > 0;
}

/** Whether the process died so often that its activations must run one by one, for the one at fault to be known. */
export function isGrave(state: RunState): boolean {
  return state.stalled > 1 || [...state.suspects].some((name) => (state.roles.get(name)?.open?.crashes ?? 0) > 1);
}
