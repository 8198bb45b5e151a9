import { defined } from "../kernel/value-kind.ts";
import type { Mask } from "../kernel/mask.ts";
import { assertSameEdges } from "../runtime/edges/edge-policy.ts";
import { assertArrivalOrder, recordedBy } from "../runtime/schedulers/scheduler.ts";
import { DEFAULT_CONCURRENCY, DEFAULT_MESSAGE_LIMIT, DEFAULT_ROUNDS } from "../runtime/environment-options.ts";
import type { DriveEnd } from "../runtime/schedulers/drive.ts";
import { conditionOf, recordOf, type StopCondition, stopText } from "../runtime/stop-condition.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import { ControlError, JournalError } from "../kernel/errors.ts";
import { canonicalJson } from "../kernel/json.ts";
import { isBudgetPool } from "../model/budget-pool.ts";
import type { MicroUsd } from "../model/money.ts";
import type { RecordedBounds, RunResumed } from "../runtime/record/event.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { turnCount } from "../runtime/record/turn-count.ts";
import { type Crew, inOrderOf } from "./crew.ts";
import type { ResumeOptions, TeamOptions } from "./team-options.ts";

export function poolsFor({ budget, pools = [] }: ResumeOptions, own: BudgetPool | undefined): readonly BudgetPool[] {
  return [isBudgetPool(budget) ? budget : undefined, ...pools, own].filter((pool) => pool !== undefined);
}

const DEFAULT_POISON_AFTER = 3;

export interface Bounds {
  readonly recorded: RecordedBounds;
  readonly stopWhen: StopCondition | undefined;
}

/** @throws JournalError `STOP_CONDITION_NEEDED` if the record names a function of a program, and no condition is given */
export function boundsNow(state: RunState, asked: ResumeOptions, options: TeamOptions): Bounds {
  const { bounds: before, delivery } = state;
  const stopWhen = stopConditionNow(state, asked.stopWhen);
  const stop = stopWhen === undefined ? (before.stopWhen === undefined ? {} : { stopWhen: null }) : { stopWhen: recordOf(stopWhen) };
  const concurrency = options.concurrency ?? before.concurrency ?? DEFAULT_CONCURRENCY;
  const recorded: RecordedBounds = {
    ...defined({
      budget: typeof asked.budget === "number" ? asked.budget : before.budget,
      ticks: asked.ticks ?? before.ticks,
      mailbox: options.mailbox ?? before.mailbox,
    }),
    rounds: asked.rounds ?? before.rounds ?? DEFAULT_ROUNDS,
    ...stop,
    messageLimit: options.messageLimit ?? before.messageLimit ?? DEFAULT_MESSAGE_LIMIT,
    // With rounds, concurrency does not affect the behavior of a run.
    ...(delivery === "round" ? {} : { concurrency }),
    poisonAfter: options.poisonAfter ?? before.poisonAfter ?? DEFAULT_POISON_AFTER,
  };
  return { recorded, stopWhen };
}

/** @throws JournalError for another scheduler, other edges or another order of arrival than recorded; `STOP_CONDITION_NEEDED` */
export function continuing(
  state: RunState,
  crew: Crew,
  asked: ResumeOptions,
  { options, mask }: { readonly options: TeamOptions; readonly mask: Mask },
): { readonly bounds: Bounds; readonly crew: Crew } {
  recordedBy(state, options.scheduler, mask);
  assertSameEdges(state.edges, options.edges, mask);
  assertArrivalOrder(state, options.delivery);
  const bounds = boundsNow(state, asked, options);
  return { bounds, crew: { ...crewOf(crew, bounds), roles: inOrderOf(state, crew) } };
}

export function crewOf(crew: Crew, { recorded: { budget = crew.budget } }: Bounds): Crew {
  return { ...crew, budget: budget as MicroUsd | undefined };
}

export function boundsChange({ bounds: before }: RunState, { recorded }: Bounds, { budget }: Crew): Pick<RunResumed, "bounds" | "budget"> {
  const names = Object.keys(recorded) as (keyof RecordedBounds)[];
  const changed = names.filter((name) => canonicalJson(before[name] ?? null) !== canonicalJson(recorded[name] ?? null));
  const bounds: RecordedBounds = Object.fromEntries(changed.map((name) => [name, recorded[name]]));
  return { ...(budget === undefined ? {} : { budget }), ...(changed.length === 0 ? {} : { bounds }) };
}

export function nothingLeft(state: RunState, reason: DriveEnd): ControlError | undefined {
  const { runId, bounds } = state;
  const { rounds } = turnCount(state);
  if (reason === "rounds") {
    const text = `Expected rounds left for run ${runId}, but it has had ${rounds} of at most ${bounds.rounds} rounds since the last message from outside.`;
    return new ControlError("ROUNDS_REACHED", `${text} Raise the bound by the option rounds: { rounds: ${2 * Math.max(rounds, 1)} }.`, {
      data: { rounds, bound: bounds.rounds },
    });
  }
  if (reason !== "checkpoint" || bounds.stopWhen === undefined || bounds.stopWhen === null) return undefined;
  const text = `Expected run ${runId} to continue, but its stop condition holds already: ${stopText(bounds.stopWhen)}.`;
  return new ControlError("STOP_CONDITION_HOLDS", `${text} Give another one as stopWhen, or null to continue without.`);
}

function stopConditionNow({ runId, bounds }: RunState, asked: ResumeOptions["stopWhen"]): StopCondition | undefined {
  if (asked !== undefined) return asked ?? undefined;
  const { stopWhen: before } = bounds;
  if (before === undefined || before === null) return undefined;
  const rebuilt = conditionOf(before);
  if (rebuilt !== undefined) return rebuilt;
  throw new JournalError(
    "STOP_CONDITION_NEEDED",
    `Expected the stop condition that run ${runId} was begun with, ${stopText(before)}, which is a function of its program. Pass it as stopWhen again, or null to continue without.`,
    { data: { stopWhen: stopText(before) } },
  );
}
