import { type Usage, addUsage } from "../../model/chat-model.ts";
import { isAnswered } from "../../model/failure.ts";
import type { Settlement } from "../../model/ledger.ts";
import type { MicroUsd } from "../../model/money.ts";
import { APPROVAL_STEP, isAlways } from "../../tool/approval.ts";
import { damaged, openNamed, roleOf, progress, type RunState } from "./run-state.ts";
import { work } from "./turn-count.ts";
import type { FormerOwner } from "./journal.ts";
import type { ResumeCause, RunEventBody, RunResumed, StepEnded, StepStarted, RunSettled, SettledTry } from "./event.ts";
import { isSameTry, type LostTry } from "./lost-tries.ts";
import { roleNameIn, type RoleState, type StepRecord, type StepOutcome, type StepSpending } from "./role-state.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { questionIn } from "./questions.ts";
import { takeSignal } from "./signals.ts";
import { BOARD_STEP } from "../board/board.ts";

/** Kinds of steps whose name is the id of their model. */
const BY_MODELS: ReadonlySet<string> = new Set(["model", "embedding"]);

export function openStep(state: RunState, event: StepStarted): void {
  const open = openNamed(state, event.act);
  const { steps } = open;
  open.isUnderWay = true;
  work(state);
  const before = steps.get(event.key);
  if (before?.outcome !== undefined) throw damaged(`a step was tried again after its answer: ${event.act} ${event.key}`);
  if (before?.inFlight === true) lose(state, before.started, timeOf(event));
  steps.set(event.key, { started: event, inFlight: true, paid: before?.paid ?? 0, answered: before?.answered ?? 0, outcome: undefined });
  state.ledger.open(holdKey(event), event.hold as MicroUsd, event.unpriced === true);
}

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
  for (const one of event.settles ?? []) settleLost(state, one);
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
  const isWait = record.started.kind === APPROVAL_STEP.kind && questionIn(record.started).wait !== undefined;
  if (isWait) takeSignal(state, record.started, event.value);
  else if (record.started.kind === APPROVAL_STEP.kind) noteAllowed(state, record.started, event.value);
  const isChange = record.started.kind === BOARD_STEP && event.ok && state.board.apply(event.value);
  steps.set(event.key, {
    ...record,
    inFlight: false,
    paid,
    outcome: {
      ...{ ok: event.ok, value: event.value ?? null, error: event.error, at: event.at, ...knownIn(state) },
      ...(event.byDeadline === true ? { byDeadline: true } : {}),
      ...(isWait || isChange ? { isLasting: true } : {}),
      ...(event.saved === undefined ? {} : { saved: event.saved }),
    },
  });
}

/** The team changes and the messages from outside so far. An activation learns of them with its next answer. */
export function knownIn({ teamChanges, fromOutside }: RunState): Pick<StepOutcome, "teamAt" | "outsideAt"> {
  return { teamAt: teamChanges, outsideAt: fromOutside.size };
}

function noteAllowed(state: RunState, { name, request }: StepStarted, answer: unknown): void {
  const { tool } = (request ?? {}) as { readonly tool?: unknown };
  if (name !== APPROVAL_STEP.name || typeof tool !== "string") return;
  if (typeof answer === "string" && isAlways(answer)) state.allowedTools.add(tool);
}

function settle(state: RunState, started: StepStarted, settlement: Settlement): void {
  state.ledger.settle(holdKey(started), settlement);
  state.byRole.add(roleNameIn(started.act), settlement);
  if (BY_MODELS.has(started.kind)) state.byModel.add(started.model ?? started.name, settlement);
}

export function holdKey(event: { readonly act: string; readonly key: string; readonly try: number }): string {
  return `${event.act} ${event.key} ${event.try}`;
}

/** Keeps the hold of a try whose end is unknown, because it may have been paid. @param at milliseconds */
export function lose(state: RunState, started: StepStarted, at: number): void {
  const { act, key, try: nth, hold, kind, name, unpriced, dropsRepeats } = started;
  if (hold === 0 && unpriced !== true) return settle(state, started, { cost: 0 as MicroUsd, basis: "none" });
  const model = BY_MODELS.has(kind) ? (started.model ?? name) : undefined;
  const one: LostTry = {
    ...{ act, key, try: nth, hold, at },
    ...(model === undefined ? {} : { model }),
    ...(unpriced === undefined ? {} : { unpriced }),
    ...(dropsRepeats === undefined ? {} : { dropsRepeats }),
  };
  state.ledger.lose(holdKey(one));
  state.lost = [...state.lost, one];
  state.uncertain += hold;
  const kept: Settlement = unpriced === true ? { cost: undefined, basis: "usage" } : { cost: hold as MicroUsd, basis: "hold" };
  state.byRole.add(roleNameIn(act), kept);
  if (model !== undefined) state.byModel.add(model, kept);
}

/** Applies the settlements of tries whose end is unknown. One whose process died is still in flight in the record. */
export function settleTries(state: RunState, event: RunSettled): void {
  state.saved += event.saved ?? 0;
  for (const one of event.settles) {
    const role = state.roles.get(roleNameIn(one.act));
    const record = role?.open?.act === one.act ? role.open.steps.get(one.key) : undefined;
    if (record?.inFlight === true && record.started.try === one.try) {
      lose(state, record.started, timeOf(event));
      role?.open?.steps.set(one.key, { ...record, inFlight: false });
    }
    settleLost(state, one);
  }
}

function settleLost(state: RunState, settled: SettledTry): void {
  const lost = state.lost.find((one) => isSameTry(one, settled));
  if (lost === undefined) throw damaged(`a try was settled that was not lost: ${holdKey(settled)}`);
  const { act, model, hold, unpriced } = lost;
  const [before, after] = [unpriced === true ? undefined : hold, settled.cost ?? undefined];
  state.ledger.settle(holdKey(lost), { cost: after as MicroUsd | undefined, basis: "usage" });
  state.lost = state.lost.filter((one) => one !== lost);
  state.uncertain += (after ?? 0) - hold;
  state.byRole.correct(roleNameIn(act), before, after);
  if (model !== undefined) state.byModel.correct(model, before, after);
}

/** Milliseconds: when an event was recorded. If no journal keeps the run, no time is needed: nothing of it outlives the process. */
export function timeOf(event: RunEventBody): number {
  return "time" in event && typeof event.time === "number" ? event.time : 0;
}

/** Returns the steps whose last try has no recorded end. Their effects may or may not have happened. */
export function stepsInFlight(state: RunState): readonly { readonly role: RoleState; readonly record: StepRecord }[] {
  return [...state.open].flatMap((name) => {
    const role = roleOf(state, name);
    return [...(role.open?.steps.values() ?? [])].filter((record) => record.inFlight).map((record) => ({ role, record }));
  });
}

/** Returns the event with which a recorded run continues. @param former how the owner before left the run */
export function resumption(state: RunState, former: FormerOwner | undefined): RunResumed {
  return {
    type: "run.resumed",
    ...(state.phase.phase === "running" ? { cause: causeOf(former) } : {}),
    uncertain: uncertainSteps(state),
  };
}

function causeOf(former: FormerOwner = "taken"): ResumeCause {
  return former === "none" || former === "released" ? "taken" : former;
}

/** Returns the calls that were in flight when the process died. They may have been paid. */
function uncertainSteps(state: RunState): RunResumed["uncertain"] {
  return stepsInFlight(state)
    .filter(({ record: { started } }) => started.kind !== "human" && started.reused === undefined)
    .map(({ record: { started } }) => ({ act: started.act, key: started.key, hold: started.hold }));
}

const NOTHING: StepSpending = Object.freeze({ cost: 0 });

/** Returns what the steps inside others have used, by the keys of these. */
export function spentInside(steps: ReadonlyMap<string, StepRecord>): ReadonlyMap<string, StepSpending> {
  const inside = new Map<string, StepSpending>();
  for (const { started, paid, outcome } of steps.values()) {
    const spent = { cost: paid + (outcome?.saved ?? 0), ...tokensOf(started.kind, outcome) };
    let around = started.in;
    // A record that was imported may name a step as its own enclosing one.
    for (let level = 0; around !== undefined && level < steps.size; level += 1) {
      inside.set(around, together(inside.get(around), spent));
      around = steps.get(around)?.started.in;
    }
  }
  return inside;
}

interface Sourced {
  readonly started: { readonly kind: string };
  readonly outcome: StepOutcome;
  readonly saved: number;
  readonly within: readonly Sourced[];
}

export function spentThere(steps: readonly Sourced[]): StepSpending {
  return steps.reduce((sum, { started: { kind }, outcome, saved, within }) => {
    return together(together(sum, { cost: saved, ...tokensOf(kind, outcome) }), spentThere(within));
  }, NOTHING);
}

/** Returns the spending of an answered step, wherever it was. @param paid micro-dollars of the step itself @param inside of steps that are not asked for again */
export function spentBefore(
  kind: string,
  outcome: StepOutcome,
  { paid, inside }: { readonly paid: number; readonly inside: StepSpending | undefined },
): StepSpending {
  return together({ cost: (outcome.saved ?? 0) + paid, ...tokensOf(kind, outcome) }, inside ?? NOTHING);
}

function together(one: StepSpending = NOTHING, other: StepSpending): StepSpending {
  const usage = one.usage === undefined ? other.usage : addUsage(one.usage, other.usage);
  return { cost: one.cost + other.cost, ...(usage === undefined ? {} : { usage }) };
}

function tokensOf(kind: string, outcome: StepOutcome | undefined): Pick<StepSpending, "usage"> {
  if (kind !== "model" || outcome?.ok !== true || !isRecord(outcome.value) || !isRecord(outcome.value["usage"])) return {};
  // The record has it as the model gave it.
  return { usage: outcome.value["usage"] as unknown as Usage };
}
