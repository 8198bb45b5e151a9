import type { Usage } from "../../model/chat-model.ts";
import { isAnswered } from "../../model/failure.ts";
import type { Settlement } from "../../model/ledger.ts";
import type { MicroUsd } from "../../model/money.ts";
import { APPROVAL_STEP, isAlways } from "../../tool/approval.ts";
import { damaged, openNamed, roleOf, progress, type RunState } from "./run-state.ts";
import { work } from "./turn-count.ts";
import type { StepEnded, StepStarted } from "./event.ts";
import { roleNameIn, type RoleState, type StepRecord } from "./role-state.ts";

/** Kinds of steps whose name is the id of their model. */
const BY_MODELS: ReadonlySet<string> = new Set(["model", "embedding"]);

/** Applies the start of a try of a step, and holds its possible cost. */
export function openStep(state: RunState, event: StepStarted): void {
  const open = openNamed(state, event.act);
  const { steps } = open;
  open.isUnderWay = true;
  work(state);
  const before = steps.get(event.key);
  if (before?.outcome !== undefined) throw damaged(`a step was tried again after its answer: ${event.act} ${event.key}`);
  if (before?.inFlight === true) settleAtHold(state, before.started);
  steps.set(event.key, { started: event, inFlight: true, paid: before?.paid ?? 0, answered: before?.answered ?? 0, outcome: undefined });
  state.ledger.open(holdKey(event), event.hold as MicroUsd, event.unpriced === true);
}

/** Applies the end of a try of a step, and settles its hold. */
export function endStep(state: RunState, event: StepEnded): void {
  const open = openNamed(state, event.act);
  const { steps } = open;
  const record = steps.get(event.key);
  if (record === undefined) throw damaged(`a step ended that had not started: ${event.act} ${event.key}`);
  if (record.outcome !== undefined || (event.retry === true && !record.inFlight))
    throw damaged(`a step ended twice: ${event.act} ${event.key}`);
  // The answer of a step whose last try was settled at its failure closes no hold.
  if (record.inFlight) {
    if (event.try !== record.started.try)
      throw damaged(`try ${event.try} of a step ended while try ${record.started.try} was open: ${event.act} ${event.key}`);
    settle(state, record.started, {
      cost: event.cost === null ? undefined : (event.cost as MicroUsd),
      basis: event.basis,
      ...(event.usage === undefined ? {} : { usage: event.usage as unknown as Usage }),
    });
  }
  state.saved += event.saved ?? 0;
  const paid = record.paid + (event.cost ?? 0);
  if (event.retry === true) {
    const answered = event.error !== undefined && isAnswered(event.error.code) ? event.try : record.answered;
    steps.set(event.key, { ...record, inFlight: false, paid, answered });
    return;
  }
  progress(state);
  open.deaths = 0;
  if (record.started.reused !== undefined) {
    state.reused += 1;
    if (record.started.kind === "model") state.reusedCalls += 1;
  } else if (record.started.kind === "model") state.calls += 1;
  if (record.started.kind === APPROVAL_STEP.kind) noteAllowed(state, record.started, event.value);
  steps.set(event.key, {
    ...record,
    inFlight: false,
    paid,
    outcome: {
      ...{ ok: event.ok, value: event.value ?? null, error: event.error, at: event.at, teamAt: state.teamChanges },
      ...(event.byDeadline === true ? { byDeadline: true } : {}),
    },
  });
}

/** Notes a tool that a person has allowed for the whole run. */
function noteAllowed(state: RunState, { name, request }: StepStarted, answer: unknown): void {
  const { tool } = (request ?? {}) as { readonly tool?: unknown };
  if (name !== APPROVAL_STEP.name || typeof tool !== "string") return;
  if (typeof answer === "string" && isAlways(answer)) state.allowedTools.add(tool);
}

function settle(state: RunState, started: StepStarted, settlement: Settlement): void {
  state.ledger.settle(holdKey(started), settlement);
  state.byRole.add(roleNameIn(started.act), settlement);
  if (BY_MODELS.has(started.kind)) state.byModel.add(started.name, settlement);
}

function holdKey(event: { readonly act: string; readonly key: string; readonly try: number }): string {
  return `${event.act} ${event.key} ${event.try}`;
}

/** Settles a try with an unknown end at its hold, because it may have been paid. */
export function settleAtHold(state: RunState, started: StepStarted): void {
  const { hold, unpriced } = started;
  settle(
    state,
    started,
    unpriced === true ? { cost: undefined, basis: "usage" } : { cost: hold as MicroUsd, basis: hold > 0 ? "hold" : "none" },
  );
}

/** Returns the steps whose last try has no recorded end. Their effects may or may not have happened. */
export function stepsInFlight(state: RunState): readonly { readonly role: RoleState; readonly record: StepRecord }[] {
  return [...state.open].flatMap((name) => {
    const role = roleOf(state, name);
    return [...(role.open?.steps.values() ?? [])].filter((record) => record.inFlight).map((record) => ({ role, record }));
  });
}
