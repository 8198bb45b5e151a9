import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { applyMemoryOp, type MemoryOp } from "../../memory/memory-draft.ts";
import { Plan } from "../../role/plan.ts";
import type { Message } from "../../message/message.ts";
import { damaged, openNamed, roleOf, progress, type RunState } from "./run-state.ts";
import { deliver, deliverHeld } from "./delivery.ts";
import type { ActEnded, ActFailed, ActResumed, ActStarted, RecordedMemoryOp, Sent } from "./event.ts";
import { NO_RETRY, type RetryState, type RoleState, type StepOutcome } from "./role-state.ts";

/** Applies the beginning of an activation. */
export function openActivation(state: RunState, event: ActStarted): void {
  const { act, attempt, take, at } = event;
  const role = roleOf(state, event.role);
  if (role.open !== undefined) throw damaged(`${role.name} began ${act} while ${role.open.act} was open`);
  if (act !== role.nextAct) throw damaged(`${act} is not the next activation of ${role.name}`);
  if (take > role.waiting) throw damaged(`${act} takes ${take} messages of ${role.waiting}`);
  const open = { act, attempt, take, at, steps: new Map(), crashes: 0, deaths: 0, isUnderWay: true };
  role.activation = { kind: "open", open, retry: role.retry };
  state.open.add(role.name);
}

/** Applies that an open activation began again: if the process dies now, it may be the cause. */
export function resumeActivation(state: RunState, event: ActResumed): void {
  openNamed(state, event.act).isUnderWay = true;
}

/** Applies everything that an activation changed. */
export function endActivation(state: RunState, event: ActEnded): void {
  const role = actingRole(state, event);
  const taken = consume(state, role, event.take);
  if (event.memory.length > 0 || event.working.length > 0) rememberAll(role, event, taken);
  if (event.state !== undefined) role.custom = changedState(role.custom, event.state);
  if (event.plan !== undefined) role.plan = Plan.fromJSON(event.plan);
  if (event.joins !== undefined) role.joins = { ...role.joins, ...event.joins };
  if (event.summary !== undefined) role.summary = event.summary;
  completeActivation(state, role);
  for (const sent of event.said) {
    if (state.delivery === "round") state.pending.push({ order: role.index, sent });
    else deliver(state, sent, role.index);
  }
}

/**
 * Applies that an attempt failed. It is tried again with the same messages, at once or when the run is resumed. The next attempt gets the
 * good answers if a step failed, and also if the failure ended the run: then the code has most likely been fixed.
 */
export function failActivation(state: RunState, event: ActFailed): void {
  const role = actingRole(state, event);
  const { retry } = role;
  const keepsAnswers = event.stepFailed || (event.then === "stop" && !blamesAnswers(event.error));
  const failed: RetryState = {
    failures: retry.failures + 1,
    strikes: retry.strikes + 1,
    isolated: retry.isolated,
    carry: keepsAnswers ? goodAnswers(role) : NO_RETRY.carry,
    paid: paidSoFar(role),
    retake: event.take,
  };
  progress(state);
  state.open.delete(role.name);
  // No isolated message has been found at fault yet, so each starts without strikes.
  const isolated = { ...failed, isolated: event.take, retake: 1, strikes: 0 };
  role.activation = { kind: "waiting", retry: event.then === "isolate" ? isolated : failed };
  if (event.then !== "dead") return;
  for (const message of consume(state, role, event.take))
    state.dead.push({ message, reason: { kind: "failed", role: role.name, error: event.error } });
  completeActivation(state, role);
}

/** Makes failed activations ask for all their answers again. */
export function forgetCarried(state: RunState): void {
  for (const role of state.roles.values())
    if (role.retry.carry.size > 0) role.activation = { ...role.activation, retry: { ...role.retry, carry: NO_RETRY.carry } };
}

/** Returns a role's custom state after a change. Existing keys keep their place. */
export function changedState(before: RoleState["custom"], { set, unset }: NonNullable<ActEnded["state"]>): RoleState["custom"] {
  const after: Record<string, Json> = { ...before, ...set };
  for (const key of unset) delete after[key];
  return after;
}

function completeActivation(state: RunState, role: RoleState): void {
  progress(state);
  role.completeActivation();
  state.open.delete(role.name);
  state.activations += 1;
  if (role.n > state.busiest) state.busiest = role.n;
  if (state.delivery === "round") {
    role.ranIn = state.round;
    state.acted += 1;
  } else deliverHeld(state);
}

/** Returns the role of an activation that ended: it must be the role's open one, or its next one. */
function actingRole(state: RunState, event: ActEnded | ActFailed): RoleState {
  const role = roleOf(state, event.role);
  if (event.act !== (role.open?.act ?? role.nextAct)) throw damaged(`${event.act} ended, which is not open`);
  return role;
}

/** Takes messages out of the mailbox. A role with more mail moves behind all others. */
function consume(state: RunState, role: RoleState, take: number): readonly Message[] {
  if (take > role.waiting) throw damaged(`${role.name} consumed ${take} messages but had ${role.waiting}`);
  const taken: Message[] = [];
  for (let place = 0; place < take; place += 1) taken.push(role.mailbox.pop() as Message);
  state.ready.delete(role);
  if (role.waiting > 0) state.ready.add(role);
  return taken;
}

/** Applies memory changes. An event names the messages that its activation took or sent by their ids. */
function rememberAll(role: RoleState, { said, memory, working }: ActEnded, taken: readonly Message[]): void {
  const known = knownMessages(taken, said);
  for (const op of memory) applyMemoryOp(role.memory, resolved(op, known));
  for (const op of working) applyMemoryOp(role.workingMemory, resolved(op, known));
}

/** Returns the messages that an event of an activation may name, by id: those it sent, else those it took. */
export function knownMessages(taken: readonly Message[], said: readonly Sent[]): ReadonlyMap<string, Message> {
  const known = new Map<string, Message>();
  for (const message of taken) known.set(message.id, message);
  for (const { message } of said) known.set(message.id, message);
  return known;
}

function resolved(op: RecordedMemoryOp, known: ReadonlyMap<string, Message>): MemoryOp {
  if (op[0] !== "+" || typeof op[1] !== "string") return op as MemoryOp;
  const message = known.get(op[1]);
  if (message === undefined) throw damaged(`a memory names message ${op[1]}, which the run does not have`);
  return ["+", message];
}

/** With the same answers such an attempt would fail again. */
function blamesAnswers({ name, code }: ErrorRecord): boolean {
  return name === "OutputError" || code === "AGENT_UNFINISHED";
}

function goodAnswers(role: RoleState): ReadonlyMap<string, StepOutcome> {
  const good = new Map(role.retry.carry);
  for (const [key, { outcome }] of role.open?.steps ?? []) if (outcome?.ok === true) good.set(key, outcome);
  return good;
}

/** An effect has the same key in every attempt, so one that the failed attempt began may go on in the next one. */
function paidSoFar(role: RoleState): ReadonlyMap<string, number> {
  const paid = new Map(role.retry.paid);
  for (const [key, record] of role.open?.steps ?? []) if (record.paid > 0) paid.set(key, (paid.get(key) ?? 0) + record.paid);
  return paid;
}
