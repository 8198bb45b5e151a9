import type { ErrorRecord, JournalError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { applyMemoryOp, type MemoryOp } from "../../memory/memory-draft.ts";
import { Plan } from "../../role/plan.ts";
import type { Message } from "../../message/message.ts";
import { damaged, roleOf } from "./damage.ts";
import { deliver } from "./deliver.ts";
import type { ActEnded, ActFailed, ActResumed, ActStarted, RecordedMemoryOp, Sent } from "./event.ts";
import { KnownMessages } from "./known-messages.ts";
import { nothing } from "./role-life.ts";
import { deliverHeld } from "./mailbox.ts";
import type { RoleState } from "./role-state.ts";
import { type OpenActivation, Pending, progress, type RunState, type StepOutcome } from "./run-state.ts";
import type { Effect } from "./told-end.ts";

/** An activation began. */
export function openActivation(state: RunState, event: ActStarted): void {
  const role = roleOf(state, event.role);
  if (role.open !== undefined) throw damaged(`${event.role} began ${event.act} while ${role.open.act} was open`);
  if (event.act !== role.nextAct) throw damaged(`${event.act} is not the next activation of ${role.name}`);
  if (event.take > role.waiting) throw damaged(`${event.act} takes ${event.take} messages of ${role.waiting}`);
  role.open = {
    act: event.act,
    attempt: event.attempt,
    take: event.take,
    at: event.at,
    steps: new Map(),
    crashes: 0,
    deaths: 0,
    isUnderWay: true,
  };
  state.open.add(event.role);
}

/** An activation took effect, as a record tells. Who wrote that is not known: what an activation of ours would not do is looked at. */
export function endActivation(state: RunState, event: ActEnded): void {
  const role = actingRole(state, event);
  if (!state.hasChosenIds) state.hasChosenIds = !areGiven(role, event.said);
  takeEffect(state, role, event, undefined);
}

/**
 * The same where it is known that the activation is the one that the role is in, or its next one. Every hop comes by here.
 *
 * @param remembered see {@link Effect}
 */
export function takeEffect(state: RunState, role: RoleState, event: Effect, remembered: Effect["remembered"]): void {
  const { memory, working, said, take } = event;
  if (working.length > 0 || (memory !== undefined && memory.length > 0)) consumeAndRemember(state, role, event);
  else {
    const left = role.takeAway(take);
    if (left < 0) throw tookTooMany(role, take, take + left);
    state.ready.delete(role);
    // Who has more mail waits behind all others.
    if (left > 0) state.ready.add(role);
  }
  if (remembered !== undefined) role.remember(remembered);
  if (event.state !== undefined) role.custom = changedState(role.custom, event.state);
  if (event.plan !== undefined) role.plan = Plan.fromJSON(event.plan);
  if (event.joins !== undefined) role.joins = { ...role.joins, ...event.joins };
  if (event.summary !== undefined) role.summary = event.summary;
  passOn(state, role);
  if (state.held.length > 0 && state.scheduler !== "rounds") deliverHeld(state);
  for (let place = 0; place < said.length; place += 1) {
    const sent = said[place] as Sent;
    if (state.scheduler === "rounds") state.pending.push(new Pending(role.index, sent));
    else if (sent.dropped !== true) deliver(state, sent.message, sent.to, sent.dead, role.index, true);
  }
}

/** Whether the ids are as the role's present activation gives them, each once. */
function areGiven({ name, n }: RoleState, said: readonly Sent[]): boolean {
  const beginning = `${name}#${n}.`;
  return said.every(({ message }) => message.id.startsWith(beginning)) && (said.length < 2 || new Set(said.map(idOf)).size === said.length);
}

function idOf({ message }: Sent): string {
  return message.id;
}

/** An activation that was open began again: if the process dies now, it may be the reason. */
export function resumeActivation(state: RunState, event: ActResumed): void {
  openNamed(state, event.act).isUnderWay = true;
}

/** The activation is over for good, and the next one is another. */
function passOn(state: RunState, role: RoleState): void {
  if (state.stalled > 0 || state.suspects.size > 0) progress(state);
  if (role.passOn()) state.open.delete(role.name);
  if (state.scheduler === "rounds") {
    role.ranIn = state.round;
    state.hasActed = true;
  }
  if (role.n > state.busiest) state.busiest = role.n;
}

/** Whether the answers of an activation are at fault, and not what its code does with them: with the same answers it would fail again. */
function blamesAnswers({ name, code }: ErrorRecord): boolean {
  return name === "OutputError" || code === "AGENT_UNFINISHED";
}

/**
 * A failed activation is tried again, at once or when the run goes on, with the same messages. It keeps its good answers if a step was at
 * fault. It also keeps them if the failure ended the run: before that goes on somebody has looked, and has most likely mended the code.
 * Where its messages are isolated, each of them is tried alone.
 */
export function failActivation(state: RunState, event: ActFailed): void {
  const role = actingRole(state, event);
  const isKept = event.stepFailed || (event.then === "stop" && !blamesAnswers(event.error));
  role.carry = isKept ? goodAnswers(role) : nothing.carry;
  role.paid = paidSoFar(role);
  role.retake = event.take;
  progress(state);
  if (role.open !== undefined) state.open.delete(role.name);
  role.open = undefined;
  role.failures += 1;
  role.strikes += 1;
  if (event.then === "isolate") isolate(role, event.take);
  if (event.then !== "dead") return;
  const consumed = consume(state, role, event.take);
  for (const message of consumed) state.dead.push({ message, reason: { kind: "failed", role: role.name, error: event.error } });
  passOn(state, role);
  if (state.held.length > 0 && state.scheduler !== "rounds") deliverHeld(state);
}

/** What failed asks for everything again. */
export function forgetCarried(state: RunState): void {
  for (const role of state.roles.values()) role.carry = nothing.carry;
}

/** None of these messages has been found at fault yet, so each starts with a clean sheet. */
function isolate(role: RoleState, messages: number): void {
  role.isolated = messages;
  role.retake = 1;
  role.strikes = 0;
}

function goodAnswers(role: RoleState): ReadonlyMap<string, StepOutcome> {
  const good = new Map(role.carry);
  for (const [key, record] of role.open?.steps ?? []) {
    if (record.outcome?.ok === true) good.set(key, record.outcome);
  }
  return good;
}

/** An effect has the same name in every attempt, so what it started may go on in the next one. */
function paidSoFar(role: RoleState): ReadonlyMap<string, number> {
  const costly = [...(role.open?.steps ?? [])].filter(([, record]) => record.paid > 0);
  if (costly.length === 0) return role.paid;
  const paid = new Map(role.paid);
  for (const [key, record] of costly) paid.set(key, (paid.get(key) ?? 0) + record.paid);
  return paid;
}

function consume(state: RunState, role: RoleState, take: number): readonly Message[] {
  // Most take one: a list that grows has room for many.
  const taken = take === 1 ? [nextOf(role, take, 0)] : [];
  for (let had = taken.length; had < take; had += 1) taken.push(nextOf(role, take, had));
  state.ready.delete(role);
  if (role.waiting > 0) state.ready.add(role);
  return taken;
}

function nextOf(role: RoleState, take: number, had: number): Message {
  const message = role.takeNext();
  if (message === undefined) throw tookTooMany(role, take, had);
  return message;
}

function tookTooMany({ name }: RoleState, take: number, had: number): JournalError {
  return damaged(`${name} consumed ${take} messages but had ${had}`);
}

function consumeAndRemember(state: RunState, role: RoleState, { take, said, memory, working }: Effect): void {
  const known = new KnownMessages(consume(state, role, take), said);
  if (memory !== undefined && memory.length > 0) remember(role.memory, memory, known);
  if (working.length > 0) remember(role.workingMemory, working, known);
}

/** By places, here and in what else every hop comes by: lists that are frozen and lists that are not make an iterator each time. */
function remember(memory: RoleState["memory"], ops: readonly RecordedMemoryOp[], known: KnownMessages): void {
  for (let place = 0; place < ops.length; place += 1) {
    const op = ops[place] as RecordedMemoryOp;
    if (op[0] !== "+" || typeof op[1] !== "string") {
      applyMemoryOp(memory, op as MemoryOp);
      continue;
    }
    const message = known.find(op[1]);
    if (message === undefined) throw damaged(`a memory names message ${op[1]}, which the run does not have`);
    memory.add(message);
  }
}

/** A role's custom state after a change of it: what was there keeps its place. */
export function changedState(before: RoleState["custom"], { set, unset }: NonNullable<ActEnded["state"]>): RoleState["custom"] {
  if (unset.length === 0 && Object.isFrozen(set) && saysAll(before, set)) return set;
  const after: Record<string, Json> = { ...before, ...set };
  for (const key of unset) delete after[key];
  return after;
}

/** Whether a change tells every key anew, each at its place. */
function saysAll(before: RoleState["custom"], set: RoleState["custom"]): boolean {
  const told = Object.keys(set);
  return Object.keys(before).every((key, place) => key === told[place]);
}

/** The role an activation's end is about: the activation is its open one, or its next one when it took no step. */
function actingRole(state: RunState, event: ActEnded | ActFailed): RoleState {
  const role = roleOf(state, event.role);
  if (event.act !== (role.open?.act ?? role.nextAct)) throw damaged(`${event.act} ended, which is not open`);
  return role;
}

/** The role of an activation, by its name: `role#n~attempt`. */
export function roleNameIn(act: string): string {
  return act.slice(0, act.lastIndexOf("#"));
}

/** @throws JournalError `JOURNAL_DAMAGED` when no activation of that name is open. */
export function openNamed(state: RunState, act: string): OpenActivation {
  const { open } = roleOf(state, roleNameIn(act));
  if (open?.act !== act) throw damaged(`it names activation ${act}, which is not open`);
  return open;
}
