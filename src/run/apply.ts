import { JournalError } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { applyMemoryOps, type MemoryOp } from "../memory/memory-draft.ts";
import { Plan } from "../memory/plan.ts";
import { ROUTE_TO_ALL } from "../message/address.ts";
import type { Message } from "../message/message.ts";
import type { Usage } from "../model/chat-model.ts";
import type { MicroUsd } from "../model/money.ts";
import {
  type ActEnded,
  type ActFailed,
  type ActStarted,
  EVENT_VERSION,
  type MessagePublished,
  type RoundEnded,
  type RecordedMemoryOp,
  type RunEvent,
  type RunResumed,
  type RunStarted,
  type Sent,
  type StepEnded,
  type StepStarted,
} from "./event.ts";
import {
  actName,
  addRoleState,
  emptyRunState,
  nothingCarried,
  type OpenActivation,
  type RoleState,
  type RunState,
  type StepOutcome,
  type StepRecord,
} from "./run-state.ts";

/**
 * The state a list of events leads to.
 *
 * @throws JournalError `JOURNAL_VERSION`, `JOURNAL_GAP`, `JOURNAL_DAMAGED`
 */
export function fold(events: Iterable<RunEvent>): RunState {
  const state = emptyRunState("");
  for (const event of events) apply(state, event);
  return state;
}

/** Changes a state by one event. The only writer of a run's state, live and from a journal alike. */
export function apply(state: RunState, event: RunEvent): void {
  if (event.v !== EVENT_VERSION) {
    throw new JournalError(
      "JOURNAL_VERSION",
      `Expected events of version ${EVENT_VERSION}, got ${String(event.v)}. Update this program to read the run.`,
    );
  }
  if (event.seq !== state.seq) {
    throw new JournalError(
      "JOURNAL_GAP",
      `Expected event ${state.seq} of run ${event.runId} next, got ${event.seq}. Events are missing or doubled.`,
    );
  }
  if (state.runId !== "" && event.runId !== state.runId) throw damaged(`run ${state.runId} has an event of run ${event.runId}`);
  try {
    change(state, event);
  } catch (error) {
    // Arithmetic and plans refuse in their own words; from a record it is all the same.
    throw error instanceof JournalError ? error : damaged(`event ${event.seq}, ${event.type}, does not fit`, error);
  }
  state.seq += 1;
}

function change(state: RunState, event: RunEvent): void {
  switch (event.type) {
    case "run.started":
      return start(state, event, event.runId);
    case "message":
      return publish(state, event);
    case "act.started":
      return openActivation(state, event);
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
  for (const role of event.roles) addRoleState(state, role);
}

function publish(state: RunState, event: MessagePublished): void {
  state.outside += 1;
  if (event.atBarrier === true) state.pending.push({ order: Number.MAX_SAFE_INTEGER, sent: event });
  else deliver(state, event, "outside");
}

function deliver(state: RunState, sent: Sent, from: "role" | "outside"): void {
  state.history.add(sent.message);
  for (const name of sent.to) {
    if (roleOf(state, name).mailbox.push(sent.message)) state.ready.add(name);
  }
  for (const address of sent.dead ?? []) state.dead.push({ message: sent.message, reason: { kind: "no such address", address } });
  if (from === "role" && isOutput(sent)) state.outputs.push(sent.message);
}

/** A broadcast of a role that nobody watches is what the run has to say to the outside. */
export function isOutput(sent: Sent): boolean {
  return sent.to.length === 0 && sent.message.sendTo.includes(ROUTE_TO_ALL);
}

function openActivation(state: RunState, event: ActStarted): void {
  const role = roleOf(state, event.role);
  if (role.open !== undefined) throw damaged(`${event.role} began ${event.act} while ${role.open.act} was open`);
  if (event.act !== actName(role.name, role.n, role.failures + 1)) throw damaged(`${event.act} is not the next activation of ${role.name}`);
  if (event.take > role.mailbox.size) throw damaged(`${event.act} takes ${event.take} messages of ${role.mailbox.size}`);
  role.open = { act: event.act, attempt: event.attempt, take: event.take, at: event.at, steps: new Map() };
  state.open.add(event.role);
}

function openStep(state: RunState, event: StepStarted): void {
  const steps = openSteps(state, event.act);
  const before = steps.get(event.key);
  if (before?.outcome !== undefined) throw damaged(`a step was tried again after its answer: ${event.act} ${event.key}`);
  if (before?.inFlight === true) settleAtHold(state, before.started);
  steps.set(event.key, { started: event, inFlight: true, outcome: undefined });
  state.ledger.open(holdKey(event), event.hold as MicroUsd);
}

function endStep(state: RunState, event: StepEnded): void {
  const steps = openSteps(state, event.act);
  const record = steps.get(event.key);
  if (record === undefined) throw damaged(`a step ended that had not started: ${event.act} ${event.key}`);
  if (record.outcome !== undefined || (event.retry === true && !record.inFlight))
    throw damaged(`a step ended twice: ${event.act} ${event.key}`);
  // The answer of a step whose last try was settled when it failed closes no hold any more.
  if (record.inFlight) settleTry(state, event);
  if (event.retry === true) {
    steps.set(event.key, { ...record, inFlight: false });
    return;
  }
  steps.set(event.key, {
    ...record,
    inFlight: false,
    outcome: { ok: event.ok, value: event.value ?? null, error: event.error, at: event.at },
  });
}

function settleTry(state: RunState, event: StepEnded): void {
  state.ledger.settle(holdKey(event), {
    cost: event.cost === null ? undefined : (event.cost as MicroUsd),
    basis: event.basis,
    ...(event.usage === undefined ? {} : { usage: event.usage as unknown as Usage }),
  });
}

function holdKey(event: { readonly act: string; readonly key: string; readonly try: number }): string {
  return `${event.act} ${event.key} ${event.try}`;
}

function endActivation(state: RunState, event: ActEnded): void {
  const role = actingRole(state, event);
  const known = consume(state, role, event.take);
  for (const sent of event.said) known.set(sent.message.id, sent.message);
  applyMemoryOps(role.memory, resolved(event.memory, known));
  applyMemoryOps(role.workingMemory, resolved(event.working, known));
  if (event.state !== undefined) role.custom = changedState(role.custom, event.state);
  if (event.plan !== undefined) role.plan = Plan.fromJSON(event.plan);
  if (event.joins !== undefined) role.joins = { ...role.joins, ...event.joins };
  closeActivation(state, role);
  passOn(state, role);
  for (const sent of event.said) {
    if (state.scheduler === "rounds") state.pending.push({ order: role.index, sent });
    else deliver(state, sent, "role");
  }
}

/** The activation is over for good, and the next one is another. */
function passOn(state: RunState, role: RoleState): void {
  role.n += 1;
  role.failures = 0;
  role.carry = nothingCarried();
  role.retake = undefined;
  if (state.scheduler === "rounds") state.ran.add(role.name);
  state.busiest = Math.max(state.busiest, role.n);
}

/** What failed is tried again, at once or when the run goes on: with the same messages, and with its good answers if a step was at fault. */
function failActivation(state: RunState, event: ActFailed): void {
  const role = actingRole(state, event);
  role.carry = event.stepFailed ? goodAnswers(role) : nothingCarried();
  role.retake = event.take;
  closeActivation(state, role);
  role.failures += 1;
  if (event.then !== "dead") return;
  const consumed = consume(state, role, event.take);
  for (const message of consumed.values()) state.dead.push({ message, reason: { kind: "failed", role: role.name, error: event.error } });
  passOn(state, role);
}

function goodAnswers(role: RoleState): ReadonlyMap<string, StepOutcome> {
  const good = new Map(role.carry);
  for (const [key, record] of role.open?.steps ?? []) {
    if (record.outcome?.ok === true) good.set(key, record.outcome);
  }
  return good;
}

function closeActivation(state: RunState, role: RoleState): void {
  role.open = undefined;
  state.open.delete(role.name);
}

function consume(state: RunState, role: RoleState, take: number): Map<string, Message> {
  const taken = new Map<string, Message>();
  for (let i = 0; i < take; i += 1) {
    const message = role.mailbox.pop();
    if (message === undefined) throw damaged(`${role.name} consumed ${take} messages but had ${i}`);
    taken.set(message.id, message);
  }
  state.ready.delete(role.name);
  if (!role.mailbox.isEmpty) state.ready.add(role.name);
  return taken;
}

function resolved(ops: readonly RecordedMemoryOp[], known: ReadonlyMap<string, Message>): readonly MemoryOp[] {
  return ops.map((op) => {
    if (op[0] !== "+" || typeof op[1] !== "string") return op as MemoryOp;
    const message = known.get(op[1]);
    if (message === undefined) throw damaged(`a memory names message ${op[1]}, which the run does not have`);
    return ["+", message];
  });
}

function changedState(before: RoleState["custom"], { set, unset }: NonNullable<ActEnded["state"]>): RoleState["custom"] {
  const after: Record<string, Json> = { ...before, ...set };
  for (const key of unset) delete after[key];
  return after;
}

function endRound(state: RunState, event: RoundEnded): void {
  if (event.round !== state.round) throw damaged(`round ${event.round} ended in round ${state.round}`);
  const pending = state.pending.toSorted((a, b) => a.order - b.order);
  state.pending = [];
  for (const { order, sent } of pending) deliver(state, sent, order === Number.MAX_SAFE_INTEGER ? "outside" : "role");
  state.ran.clear();
  state.round += 1;
}

function resume(state: RunState, event: RunResumed): void {
  for (const { role, record } of stepsInFlight(state)) {
    const { started } = record;
    settleAtHold(state, started);
    role.open?.steps.set(started.key, { ...record, inFlight: false });
    state.uncertain += started.hold;
  }
  if (event.budget !== undefined) state.budget = event.budget;
  state.phase = { phase: "running" };
}

/** Nobody knows whether it happened, so it counts as paid. */
function settleAtHold(state: RunState, started: StepStarted): void {
  state.ledger.settle(holdKey(started), { cost: started.hold as MicroUsd, basis: started.hold > 0 ? "hold" : "none" });
}

/** Steps whose last try was never ended: nobody knows whether they happened. */
export function stepsInFlight(state: RunState): readonly { readonly role: RoleState; readonly record: StepRecord }[] {
  return [...state.open].flatMap((name) => {
    const role = roleOf(state, name);
    return [...(role.open?.steps.values() ?? [])].filter((record) => record.inFlight).map((record) => ({ role, record }));
  });
}

function roleOf(state: RunState, name: string): RoleState {
  const role = state.roles.get(name);
  if (role === undefined) throw damaged(`it names role ${name}, which was never hired`);
  return role;
}

/** The role an activation's end is about: the activation is its open one, or its next one when it took no step. */
function actingRole(state: RunState, event: ActEnded | ActFailed): RoleState {
  const role = roleOf(state, event.role);
  if (event.act !== (role.open?.act ?? actName(role.name, role.n, role.failures + 1)))
    throw damaged(`${event.act} ended, which is not open`);
  return role;
}

function openSteps(state: RunState, act: string): OpenActivation["steps"] {
  const role = roleOf(state, act.slice(0, act.lastIndexOf("#")));
  if (role.open?.act !== act) throw damaged(`it names activation ${act}, which is not open`);
  return role.open.steps;
}

function damaged(what: string, cause?: unknown): JournalError {
  return new JournalError("JOURNAL_DAMAGED", `Expected a run's own record, got one that contradicts itself: ${what}.`, { cause });
}
