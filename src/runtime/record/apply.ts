import { anEvent } from "./journal.ts";
import { iterable, takes } from "../../kernel/argument.ts";
import { type ErrorRecord, JournalError } from "../../kernel/errors.ts";
import { defined } from "../../kernel/value-kind.ts";
import { applyMemoryOp, type MemoryOp } from "../../memory/memory-draft.ts";
import type { Memory } from "../../memory/memory.ts";
import type { Message } from "../../message/message.ts";
import { Plan } from "../../role/plan.ts";
import { termsOf } from "../schedulers/scheduler.ts";
import { endStep, lose, openStep, settleTries, stepsInFlight, timeOf, spentInside } from "./apply-steps.ts";
import { choose } from "./apply-choice.ts";
import { advanceClock, beginRound, endRound } from "./apply-clock.ts";
import { changePlayer, hire, retire, takeBack } from "./apply-team.ts";
import { damaged, isFinished, openNamed, roleOf, progress, addRoleState, OUTSIDE, RunState } from "./run-state.ts";
import { measureMailboxes, send } from "./delivery.ts";
import {
  type ActEnded,
  type ActFailed,
  type ActResumed,
  type ActStarted,
  EVENT_VERSION,
  type HiredRole,
  type MessagePublished,
  type RecordedMemoryOp,
  type RunEnded,
  type RunEvent,
  type RunEventBody,
  type RunResumed,
  type RunStarted,
  type Sent,
} from "./event.ts";
import { noteEnd } from "./run-summary.ts";
import { keepSignal, SIGNAL, lastingAmong } from "./signals.ts";
import { changedState } from "./state-change.ts";
import { beginTurn, countInTurn, hear, read, rest } from "./turn-count.ts";
import type { OpenActivation, RetryState, RoleState, StepOutcome, StepRecord } from "./role-state.ts";

/**
 * Returns the state that a list of events leads to. The events begin with number 0 and have no gap.
 *
 * @throws JournalError `EVENT_NEWER`, `JOURNAL_GAP`, `JOURNAL_DAMAGED` for events that contradict each other
 * @example
 * import { fold, type Run, type RunEvent } from "troupe";
 *
 * export async function messagesOf(run: Run): Promise<number> {
 *   const events: RunEvent[] = [];
 *   for await (const event of run) events.push(event);
 *   return fold(events).history.size;
 * }
 */
export function fold(events: Iterable<RunEvent>): RunState {
  takes("fold", "events", events, iterable("events of a run"));
  const state = new RunState("");
  for (const event of events) {
    takes("fold", "an event", event, anEvent);
    apply(state, event);
  }
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
    case "clock.advanced":
      return advanceClock(state, event);
    case "choice.made":
      return choose(state, event);
    case "role.hired":
      return hire(state, event);
    case "role.retired":
      return retire(state, event);
    case "role.taken":
      return changePlayer(state, event);
    case "run.resumed":
      return resume(state, event);
    case "run.settled":
      return settleTries(state, event);
    case "run.ended":
      return end(state, event);
    case "run.erased":
      // An open activation may need the erased words.
      state.erased ||= event.partly !== true || state.open.size > 0;
      return;
  }
}

function start(state: RunState, event: RunStarted, runId: string): void {
  if (state.seq !== 0) throw damaged("it started twice");
  state.runId = runId;
  state.seed = event.seed;
  Object.assign(state, termsOf(event));
  state.arrival = event.arrival ?? "hire";
  state.pastSeeds = event.pastSeeds ?? [];
  state.budget = event.budget;
  if (event.bounds !== undefined) state.bounds = event.bounds;
  if (event.edges !== undefined) state.edges = event.edges;
  measureMailboxes(state);
  state.about = event.about ?? null;
  state.scope = event.scope;
  state.parent = event.parent;
  state.team = event.roles;
  for (const role of event.roles) addRoleState(state, role.name, role);
}

function end(state: RunState, { status, error, stoppedBy }: RunEnded): void {
  const reason = { ...(stoppedBy === undefined ? {} : { stoppedBy }), ...(error === undefined ? {} : { error }) };
  state.phase = { phase: "ended", status, ...reason };
  state.takes = 0;
  rest(state);
  // While a try is lost, the run stays the same spender, so it gets the hold of the try back.
  if (isFinished(state) && state.lost.length === 0) state.done = { seq: state.seq, spent: state.ledger.spent + state.ledger.held };
}

function publish(state: RunState, event: MessagePublished): void {
  const sent = sentIn(event);
  state.outside += 1;
  state.idea ??= sent.message;
  if (state.hasHistory && sent.dropped !== true) state.fromOutside.set(sent.message.id, sent);
  if (sent.to.length > 0 && sent.dropped !== true) hear(state, sent.message);
  if (sent.message.causeBy === SIGNAL && sent.dropped !== true) keepSignal(state, sent.message);
  send(state, { order: OUTSIDE, sent }, event.atBarrier === true);
}

function sentIn({ message, to, dead, dropped, due, faults }: MessagePublished): Sent {
  return { message, to, ...defined({ dead, dropped, due, faults }) };
}

function resume(state: RunState, event: RunResumed): void {
  for (const { role, record } of stepsInFlight(state)) {
    const { started } = record;
    lose(state, started, timeOf(event));
    role.open?.steps.set(started.key, { ...record, inFlight: false });
  }
  if (event.forked === true) {
    // The counts so far belong to the parent.
    state.reused = 0;
    state.reusedCalls = 0;
    state.calls = 0;
    state.turn = "at rest";
  }
  state.saved += event.saved ?? 0;
  if (event.budget !== undefined) state.budget = event.budget;
  if (event.bounds !== undefined) state.bounds = { ...state.bounds, ...event.bounds };
  if (event.roles !== undefined) changeTeam(state, event.roles);
  if (event.bounds !== undefined || event.roles !== undefined) measureMailboxes(state);
  if (event.afresh === true) forgetCarried(state);
  if (event.forked === true) state.isAfresh = event.afresh === true;
  if (state.phase.phase === "running" && event.forked !== true) countInterruption(state, event.cause);
  state.phase = { phase: "running" };
}

/** Counts a resume of a run that had not ended. An activation under way may be the cause of a death, unless it waits for a person. */
function countInterruption(state: RunState, cause: RunResumed["cause"]): void {
  const isDeath = cause === undefined || cause === "died";
  if (isDeath) state.stalled += 1;
  else if (!openActivations(state).some(waitsForPerson)) state.takes += 1;
  for (const name of state.open) {
    const { open } = roleOf(state, name);
    if (open === undefined) continue;
    if (isDeath && open.isUnderWay && !waitsForPerson(open)) {
      open.crashes += 1;
      open.deaths += 1;
      state.suspects.add(name);
    }
    open.isUnderWay = false;
  }
}

function openActivations(state: RunState): readonly OpenActivation[] {
  return [...state.open].flatMap((name) => roleOf(state, name).open ?? []);
}

function waitsForPerson({ steps }: OpenActivation): boolean {
  return [...steps.values()].some(({ started, outcome }) => started.kind === "human" && outcome === undefined);
}

function changeTeam(state: RunState, roles: readonly HiredRole[]): void {
  state.team = roles;
  for (const role of roles) {
    const known = state.roles.get(role.name);
    if (known === undefined) addRoleState(state, role.name, role);
    else takeBack(state, known, role);
  }
  const names = new Set(roles.map(({ name }) => name));
  for (const owner of state.board.owners) if (!names.has(owner)) state.board.release(owner, `${owner} is not in the team`);
}

function openActivation(state: RunState, event: ActStarted): void {
  const { act, attempt, take, at, teamAt = state.teamChanges } = event;
  const role = roleOf(state, event.role);
  if (role.open !== undefined) throw damaged(`${role.name} began ${act} while ${role.open.act} was open`);
  if (act !== role.nextAct) throw damaged(`${act} is not the next activation of ${role.name}`);
  if (take > role.waiting) throw damaged(`${act} takes ${take} messages of ${role.waiting}`);
  beginTurn(state);
  beginRound(state);
  const open = { act, attempt, take, at, teamAt, steps: new Map(), crashes: 0, deaths: 0, isUnderWay: true };
  role.open = open;
  state.open.add(role.name);
}

/** Applies a restart of an open activation: if the process dies now, the activation may be the cause. */
function resumeActivation(state: RunState, event: ActResumed): void {
  openNamed(state, event.act).isUnderWay = true;
}

function endActivation(state: RunState, event: ActEnded): void {
  const role = actingRole(state, event);
  if (state.failures.size > 0) noteEnd(state.failures, event);
  const taken = consume(state, role, event.take);
  if (event.memory.length > 0 || event.working.length > 0) {
    const known = knownMessages(taken, event.said);
    if (event.memory.length > 0) rememberAll(role.memory, event.memory, known);
    if (event.working.length > 0) rememberAll(role.workingMemory, event.working, known);
  }
  if (event.state !== undefined) role.custom = changedState(role.custom, event.state);
  if (event.plan !== undefined) role.plan = Plan.fromJSON(event.plan);
  if (event.joins !== undefined) role.joins = { ...role.joins, ...event.joins };
  if (event.summary !== undefined) role.summary = event.summary;
  completeActivation(state, role);
  if (!role.isHired) state.board.release(role.name, `${role.name} was retired`);
  for (const sent of event.said) {
    send(state, { order: role.index, sent }, state.delivery === "round");
  }
}

/** Applies a failed attempt. The next one gets the same messages, and the good answers unless the code itself failed. */
function failActivation(state: RunState, event: ActFailed): void {
  const role = actingRole(state, event);
  noteEnd(state.failures, event);
  const { retry } = role;
  const keepsAnswers = event.stepFailed || (event.then === "stop" && !blamesAnswers(event.error));
  const failed: RetryState = {
    failures: retry.failures + 1,
    strikes: retry.strikes + 1,
    isolated: retry.isolated,
    carry: keepsAnswers ? goodAnswers(role) : lastingAmong(goodAnswers(role)),
    paid: paidSoFar(role),
    retake: event.take,
  };
  progress(state);
  state.open.delete(role.name);
  // No isolated message has been found at fault yet, so each starts without strikes.
  role.retry = event.then === "isolate" ? { ...failed, isolated: event.take, retake: 1, strikes: 0 } : failed;
  role.open = undefined;
  if (event.then !== "dead") return;
  state.board.release(role.name, `an activation of ${role.name} failed: ${event.error.message}`);
  for (const message of consume(state, role, event.take))
    state.dead.push({ message, reason: { kind: "failed", role: role.name, error: event.error } });
  completeActivation(state, role);
}

function forgetCarried(state: RunState): void {
  for (const role of state.roles.values())
    if (role.retry.carry.size > 0) role.retry = { ...role.retry, carry: lastingAmong(role.retry.carry) };
}

function completeActivation(state: RunState, role: RoleState): void {
  progress(state);
  role.completeActivation();
  if (state.open.size > 0) state.open.delete(role.name);
  state.activations += 1;
  if (role.n > state.busiest) state.busiest = role.n;
  if (state.turnStart !== undefined && state.clock !== "rounds") countInTurn(state, role.index);
  state.lastActed = role.index;
  state.next = undefined;
  if (state.clock === "rounds") {
    role.ranIn = state.round;
    state.acted += 1;
  } else if (state.clock === "activations") state.tick += 1;
}

/** Returns the role of an activation that ended: it must be the role's open one, or its next one. */
function actingRole(state: RunState, event: ActEnded | ActFailed): RoleState {
  const role = roleOf(state, event.role);
  if (event.act !== (role.open === undefined ? role.nextAct : role.open.act)) throw damaged(`${event.act} ended, which is not open`);
  return role;
}

/** Takes messages out of the mailbox. A role with more mail moves behind all others. */
function consume(state: RunState, role: RoleState, take: number): readonly Message[] {
  const { mailbox } = role;
  if (take > mailbox.size) throw damaged(`${role.name} consumed ${take} messages but had ${mailbox.size}`);
  if (state.turn !== "under way") beginTurn(state);
  if (state.clock === "rounds") beginRound(state);
  const taken = mailbox.take(take);
  if (state.unheard.size > 0) read(state, taken);
  state.unread -= take;
  state.ready.delete(role);
  if (mailbox.size > 0 || (role.actsAlways && role.isReady)) state.ready.add(role);
  return taken;
}

/** Applies memory changes. An event names the messages that its activation took or sent by their ids. */
function rememberAll(memory: Memory, ops: readonly RecordedMemoryOp[], known: ReadonlyMap<string, Message>): void {
  for (const op of ops) {
    if (op[0] !== "+" || typeof op[1] !== "string") {
      applyMemoryOp(memory, op as MemoryOp);
      continue;
    }
    const message = known.get(op[1]);
    if (message === undefined) throw damaged(`a memory names message ${op[1]}, which the run does not have`);
    // A draft records what its memory does not have.
    memory.put(message, true);
  }
}

/** Returns the messages that an event of an activation may name, by id: those it sent, else those it took. */
function knownMessages(taken: readonly Message[], said: readonly Sent[]): ReadonlyMap<string, Message> {
  const known = new Map<string, Message>();
  for (const message of taken) known.set(message.id, message);
  for (const { message } of said) known.set(message.id, message);
  return known;
}

/** With the same answers such an attempt would fail again. */
function blamesAnswers({ name, code }: ErrorRecord): boolean {
  return name === "OutputError" || code === "AGENT_UNFINISHED";
}

function goodAnswers(role: RoleState): ReadonlyMap<string, StepOutcome> {
  const good = new Map(role.retry.carry);
  const { steps = new Map<string, StepRecord>() } = role.open ?? {};
  const spent = spentInside(steps);
  for (const [key, { outcome }] of steps) {
    const inside = spent.get(key);
    if (outcome?.ok === true) good.set(key, inside === undefined ? outcome : { ...outcome, inside });
  }
  return good;
}

/** An effect has the same key in every attempt, so the next attempt may continue an effect of the failed one. */
function paidSoFar(role: RoleState): ReadonlyMap<string, number> {
  const paid = new Map(role.retry.paid);
  for (const [key, record] of role.open?.steps ?? []) if (record.paid > 0) paid.set(key, (paid.get(key) ?? 0) + record.paid);
  return paid;
}
