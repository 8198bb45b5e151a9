import { iterable, takes } from "../../kernel/argument.ts";
import { JournalError } from "../../kernel/errors.ts";
import { deliveryOf } from "../schedulers/scheduler.ts";
import { endActivation, failActivation, forgetCarried, openActivation, resumeActivation } from "./activations.ts";
import { endStep, openStep, settleAtHold, stepsInFlight } from "./apply-steps.ts";
import { damaged, roleOf, addRoleState, type DeadLetter, OUTSIDE, RunState } from "./run-state.ts";
import { deliver, deliverHeld, measureMailboxes } from "./delivery.ts";
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
import type { OpenActivation } from "./role-state.ts";

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

/** Changes a state by one event. It is the only writer of a run's state, live and from a journal alike. */
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

/** Applies the next event of the state's own run. */
export function applyNext(state: RunState, body: RunEventBody, runId: string): void {
  if (state.justDropped.length > 0) state.justDropped = [];
  try {
    change(state, body, runId);
  } catch (error) {
    if (error instanceof JournalError) throw error;
    throw damaged(`event ${state.seq}, ${body.type}, does not fit`, error);
  }
  state.seq += 1;
}

/** Counts an event that the state already reflects. */
export function skipEvent(state: RunState): void {
  state.seq += 1;
}

function otherVersion({ v, seq }: { readonly v: unknown; readonly seq: number }): JournalError {
  if (typeof v !== "number" || v < EVENT_VERSION) return damaged(`event ${seq} has version ${String(v)}, which never was`);
  return new JournalError(
    "EVENT_NEWER",
    `Expected events of version ${EVENT_VERSION} or older, got one of version ${v}. Update this program to read the run.`,
    { data: { version: v } },
  );
}

function change(state: RunState, event: RunEventBody, runId: string): void {
  switch (event.type) {
    case "run.started":
      return start(state, event, runId);
    case "message":
      return publish(state, event);
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
  state.parameters = event.parameters ?? null;
  state.delivery = event.delivery ?? deliveryOf(event.scheduler);
  state.budget = event.budget;
  if (event.bounds !== undefined) state.bounds = event.bounds;
  measureMailboxes(state);
  state.about = event.about ?? null;
  state.parent = event.parent;
  state.team = event.roles;
  for (const role of event.roles) addRoleState(state, role.name, role);
}

function publish(state: RunState, event: MessagePublished): void {
  state.outside += 1;
  if (event.atBarrier === true) state.pending.push({ order: OUTSIDE, sent: event });
  else deliver(state, event, OUTSIDE);
}

function endRound(state: RunState, event: RoundEnded): void {
  if (event.round !== state.round) throw damaged(`round ${event.round} ended in round ${state.round}`);
  orderDead(state);
  const pending = state.pending.sort((a, b) => a.order - b.order);
  state.pending = [];
  deliverHeld(state);
  for (const { order, sent } of pending) deliver(state, sent, order);
  state.acted = 0;
  state.round += 1;
  state.deadBefore = state.dead.length;
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
    // The counts so far belong to the parent.
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

/** Counts a death of the process. An activation under way may be the cause, unless it waits for a person. */
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

function changeTeam(state: RunState, roles: readonly HiredRole[]): void {
  state.team = roles;
  for (const role of roles) {
    const known = state.roles.get(role.name);
    if (known === undefined) addRoleState(state, role.name, role);
    else known.hireAgain(role);
  }
}
