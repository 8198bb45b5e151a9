import type { BudgetPool } from "../kernel/budget.ts";
import { systemClock } from "../kernel/clock.ts";
import { JournalError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { Funds } from "../model/funds.ts";
import type { MicroUsd } from "../model/money.ts";
import { stepsInFlight } from "../runtime/record/apply-steps.ts";
import { type LostTry, settledAt } from "../runtime/record/lost-tries.ts";
import { RunLog } from "../runtime/record/run-log.ts";
import type { RunState } from "../runtime/record/run-state.ts";
import { type ClaimedRun, isDone, spenderOf, type TeamParts } from "./drive.ts";
import type { Runs } from "./runs.ts";

/** Options of {@link Team.settle}. */
export interface SettleOptions {
  /** Micro-dollars of each lost call, as billed by the provider: see `usd`. Default 0: the bill has no such call. */
  readonly cost?: MicroUsd;
  /** Milliseconds: settles only calls lost for longer. Default: all. */
  readonly olderThan?: number;
  readonly signal?: AbortSignal;
}

const settleOptions: Known<SettleOptions> = { cost: kinds.count, olderThan: kinds.count, signal: kinds.signal };

/** The settled amounts. */
export interface Settlement {
  readonly runId: string;
  /** The number of lost calls. */
  readonly calls: number;
  /** Micro-dollars that were reserved for them. */
  readonly kept: MicroUsd;
  /** Micro-dollars that they count now. */
  readonly cost: MicroUsd;
}

interface SettleParts extends TeamParts {
  readonly runs: Runs;
  readonly pool: BudgetPool | undefined;
}

export async function settleRun({ runs, ...parts }: SettleParts, runId: string, o: SettleOptions): Promise<Settlement> {
  checkKnownOptions("settle", o, settleOptions);
  const { cost = 0 as MicroUsd, signal = new AbortController().signal } = o;
  if (runs.find(runId) !== undefined) {
    const advice = "Its lost calls may be repeated: settle them when it has ended.";
    throw new JournalError("RUN_OWNED", `Expected a run at rest, but ${runId} is under way. ${advice}`);
  }
  return runs.claimed(runId, { signal }, (run) => settled({ ...parts, ...run }, { ...o, cost }));
}

async function settled(
  run: Omit<SettleParts, "runs"> & ClaimedRun,
  { cost, olderThan }: SettleOptions & { readonly cost: MicroUsd },
): Promise<Settlement> {
  const { journal, mask, options, pool, state, epoch } = run;
  const { clock = systemClock } = options;
  const { runId } = state;
  const lost = olderThan === undefined ? lostIn(state) : state.lost.filter(({ at }) => at <= clock.now() - olderThan);
  const settles = lost.map((one) => settledAt(one, cost));
  if (settles.length === 0)
    throw new JournalError("NOTHING_LOST", `Expected a run with interrupted calls, but ${runId} has no call to settle.`);
  const log = new RunLog({ state, clock, mask, owned: { journal, epoch } });
  log.record({ type: "run.settled", settles });
  await log.durable();
  // The pools take the present amounts of the record.
  const funds = await Funds.open([pool], spenderOf(state));
  await funds?.close(isDone(state));
  const kept = settles.reduce((sum, { hold }) => sum + hold, 0);
  return { runId, calls: settles.length, kept: kept as MicroUsd, cost: (cost * settles.length) as MicroUsd };
}

function lostIn(state: RunState): readonly Omit<LostTry, "at">[] {
  const inFlight = stepsInFlight(state).map(({ record: { started } }) => started);
  return [...state.lost, ...inFlight.filter(({ hold, unpriced }) => hold > 0 || unpriced === true)];
}
