import { iterable, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import { endActivation, failActivation, forgetCarried, openActivation, resumeActivation, takeEffect } from "./activations.ts";
import { damaged, roleOf } from "./damage.ts";
import { deliver } from "./deliver.ts";
import {
  EVENT_VERSION,
  type HiredRole,
  type MessagePublished,
  type RoundEnded,
  type RunEvent,
  type RunEventBody,
  type RunResumed,
  type RunStarted,
} from "./event.ts";
import { deliverHeld, measureMailboxes } from "./mailbox.ts";
import type { RoleState } from "./role-state.ts";
import { addRoleState, type DeadLetter, type OpenActivation, OUTSIDE, Pending, RunState } from "./run-state.ts";
import type { Effect } from "./told-end.ts";
import { endStep, openStep, settleAtHold, stepsInFlight } from "./step-tries.ts";

/**
 * Returns the state that a list of events leads to. The events begin with number 0 and have no gap.
 *
 * @throws JournalError `EVENT_NEWER`, `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each other
 * @example
 * import { fold, type Journal, type RunEvent } from "troupe";
 *
 * export async function messagesOf(journal: Journal, runId: string): Promise<number> {
 *   const events: RunEvent[] = [];
 *   for await (const event of journal.read(runId, 0)) events.push(event);
 *   return fold(events).history.size;
 * }
 */
export function fold(events: Iterable<RunEvent>): RunState {
  takes("fold", "events", events, iterable("events of a run"));
  const state = new RunState("");
  for (const event of events) apply(state, event);
  return state;
}

/** Changes a state by one event. The only writer of a run's state, live and from a journal alike. */
export function apply(state: RunState, event: RunEvent): void {
  if (event.v !== EVENT_VERSION) throw otherVersion(event);
  if (event.seq !== state.seq) {
    throw new JournalError(
      "JOURNAL_GAP",
      `Expected event ${state.seq} of run ${event.runId} next, got ${event.seq}. Events are missing or doubled.`,
    );
  }
  if (state.runId !== "" && event.runId !== state.runId) throw damaged(`run ${state.runId} has an event of run ${event.runId}`);
  applyNext(state, event, event.runId);
}

/**
 * The same for what its own pen says next, which needs no envelope to know its place.
 *
 * @param isAnew of a message, that its id is known to be nobody's yet
 */
export function applyNext(state: RunState, body: RunEventBody, runId: string, isAnew: boolean = false): void {
  try {
    change(state, body, runId, isAnew);
  } catch (error) {
    throw unfit(state, body, error);
  }
  state.seq += 1;
}

/** The same for an event that says what its state holds already. */
export function passBy(state: RunState): void {
  state.seq += 1;
}

/** The same for the end of an activation that is known to be the one that `role` is in, or its next one. */
export function applyEnd(state: RunState, role: RoleState, end: Effect): void {
  try {
    takeEffect(state, role, end, end.remembered);
  } catch (error) {
    throw unfit(state, end, error);
  }
  state.seq += 1;
}

/** Arithmetic and plans refuse in their own words; from a record it is all the same. */
function unfit(state: RunState, { type }: Pick<RunEventBody, "type">, error: unknown): JournalError {
  return error instanceof JournalError ? error : damaged(`event ${state.seq}, ${type}, does not fit`, error);
}

function otherVersion({ v, seq }: { readonly v: unknown; readonly seq: number }): JournalError {
  if (typeof v !== "number" || v < EVENT_VERSION) return damaged(`event ${seq} has version ${String(v)}, which never was`);
  return new JournalError(
    "EVENT_NEWER",
    `Expected events of version ${EVENT_VERSION} or older, got one of version ${v}. Update this program to read the run.`,
    { data: { version: v } },
  );
}

function change(state: RunState, event: RunEventBody, runId: string, isAnew: boolean): void {
  switch (event.type) {
    case "run.started":
      return start(state, event, runId);
    case "message":
      return publish(state, event, isAnew);
    case "act.started":
      return openActivation(state, event);
    case "act.resumed":
      return resumeActivation(state, event);
    case "step.started":
      return openStep(state, event);
    case "step.ended":
      return endStep(state, event);
    case "act.ended":
      return endActivation(state, event);
    case "act.failed":
      return failActivation(state, event);
    case "round.ended":
      return endRound(state, event);
    case "run.resumed":
      return resume(state, event);
    case "run.ended":
      state.phase = { phase: "ended", status: event.status, ...(event.error === undefined ? {} : { error: event.error }) };
      return;
  }
}

function start(state: RunState, event: RunStarted, runId: string): void {
  if (state.seq !== 0) throw damaged("it started twice");
  state.runId = runId;
  state.seed = event.seed;
  state.scheduler = event.scheduler;
  state.budget = event.budget;
  if (event.bounds !== undefined) state.bounds = event.bounds;
  measureMailboxes(state);
  state.about = event.about ?? null;
  state.parent = event.parent;
  state.team = event.roles;
  for (const role of event.roles) addRoleState(state, role.name, role);
}

/** The end of an id that an activation gives: `role#n.k`. */
const ISSUED = /#\d+\.\d+$/;

/** @param isAnew its id is known to be nobody's yet */
function publish(state: RunState, event: MessagePublished, isAnew: boolean): void {
  state.outside += 1;
  if (!state.hasChosenIds && !isAnew) state.hasChosenIds = ISSUED.test(event.message.id);
  if (event.atBarrier === true) state.pending.push(new Pending(OUTSIDE, event));
  else if (event.dropped !== true) deliver(state, event.message, event.to, event.dead, OUTSIDE, isAnew);
}

function endRound(state: RunState, event: RoundEnded): void {
  if (event.round !== state.round) throw damaged(`round ${event.round} ended in round ${state.round}`);
  orderDead(state);
  const pending = inOrder(state.pending);
  state.pending = [];
  if (state.held.length > 0) deliverHeld(state);
  for (let place = 0; place < pending.length; place += 1) {
    const { order, sent } = pending[place] as Pending;
    if (sent.dropped !== true) deliver(state, sent.message, sent.to, sent.dead, order, order !== OUTSIDE);
  }
  state.hasActed = false;
  state.round += 1;
  state.deadBefore = state.dead.length;
}

/** In the order of hiring. Mostly they stand so, for roles begin their turns in it and most wait for nothing. */
function inOrder(pending: readonly Pending[]): readonly Pending[] {
  for (let place = 1; place < pending.length; place += 1)
    if ((pending[place - 1] as Pending).order > (pending[place] as Pending).order) return pending.toSorted((a, b) => a.order - b.order);
  return pending;
}

/** Those of a round stand in the order in which the roles were hired. */
function orderDead(state: RunState): void {
  const came = state.dead.slice(state.deadBefore);
  const ordered = came.toSorted((a, b) => placeOf(state, a) - placeOf(state, b));
  if (ordered.some((letter, place) => letter !== came[place])) state.dead = [...state.dead.slice(0, state.deadBefore), ...ordered];
}

/** Who failed first is a matter of latency; in which order they were hired is not. What no role failed on came before. */
function placeOf(state: RunState, { reason }: DeadLetter): number {
  return reason.kind === "failed" ? roleOf(state, reason.role).index : -1;
}

function resume(state: RunState, event: RunResumed): void {
  if (event.hired === true) {
    for (const role of event.roles ?? []) addRoleState(state, role.name, role);
    return;
  }
  for (const { role, record } of stepsInFlight(state)) {
    const { started } = record;
    settleAtHold(state, started);
    role.open?.steps.set(started.key, { ...record, inFlight: false });
    state.uncertain += started.hold;
  }
  if (event.forked === true) {
    // What was counted so far is the parent's.
    state.reused = 0;
    state.reusedCalls = 0;
    state.calls = 0;
  }
  state.saved += event.saved ?? 0;
  if (event.budget !== undefined) state.budget = event.budget;
  if (event.bounds !== undefined) state.bounds = { ...state.bounds, ...event.bounds };
  if (event.roles !== undefined) changeTeam(state, event.roles);
  if (event.bounds !== undefined || event.roles !== undefined) measureMailboxes(state);
  if (event.afresh === true) forgetCarried(state);
  if (event.forked === true) state.isAfresh = event.afresh === true;
  if (state.phase.phase === "running" && event.forked !== true) countCrash(state);
  state.phase = { phase: "running" };
}

/** The process died: what was under way may be the reason, as long as nothing moves between two such deaths. Not what waits for a person. */
function countCrash(state: RunState): void {
  state.stalled += 1;
  for (const name of state.open) {
    const { open } = roleOf(state, name);
    if (open === undefined) continue;
    if (open.isUnderWay && !waitsForPerson(open)) {
      open.crashes += 1;
      open.deaths += 1;
      state.suspects.add(name);
    }
    open.isUnderWay = false;
  }
}

function waitsForPerson({ steps }: OpenActivation): boolean {
  return [...steps.values()].some(({ started, outcome }) => started.kind === "human" && outcome === undefined);
}

/** Who is new has no mail; who is gone reads none any more. */
function changeTeam(state: RunState, roles: readonly HiredRole[]): void {
  state.team = roles;
  for (const role of roles) {
    const known = state.roles.get(role.name);
    if (known === undefined) addRoleState(state, role.name, role);
    else known.hireAgain(role);
  }
}
