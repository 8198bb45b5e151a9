import { AbortedError, errorRecord, UsageError } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { valueText } from "../../kernel/value-text.ts";
import { EVENT_TYPES } from "../../runtime/record/event.ts";
import type { Run, RunEvent, RunProgress, RunResult } from "../../index.ts";
import { type CellJob, type CellParams, type CellValue, DEFAULT_ROUNDS, isCellValue, OWN_COLUMNS } from "./cell.ts";
import { CellRecord, type RecordRequest, type RecordUse } from "./cell-record.ts";
import { type CellUse, type FreshUse, UseWatch } from "./cell-use.ts";
import type { AskHost } from "./sweep-host.ts";
import { placeOfError } from "./manifest.ts";
import type { CellBudget, CellIdentity, CellSetting, ExperimentOptions, ExperimentWorld, WorldRunOptions } from "./experiment.ts";

/** `rounds` and `ticks` are bounds of the experiment, `limit` is the default limit on rounds. */
export type CellStop = "idle" | "stop" | "rounds" | "limit" | "ticks" | "messages" | "calls" | "usd";

export interface CellCounts {
  readonly rounds: number;
  readonly tick: number;
  readonly messages: number;
  readonly unread: number;
  readonly calls: number;
  readonly usd: number;
  readonly unpriced: number;
}

export type SeriesPoint = { readonly [name: string]: CellValue };

export type CellEnd = CellDone | CellFailed;

export interface FinishedCell {
  readonly cell: number;
  readonly rep: number;
  readonly end: CellEnd;
  /** Milliseconds that it took, which no row has: rows of equal runs are equal. */
  readonly ms: number;
  /** The use by tries whose process died. No row has it. */
  readonly lost?: CellUse;
  /** True if its use is of its whole record, with what an earlier line of the run has. */
  readonly continued?: boolean;
}

export interface CellDone {
  readonly kind: "done";
  readonly ended: CellStop;
  readonly counts: CellCounts;
  readonly measures: { readonly [name: string]: CellValue };
  readonly series: readonly SeriesPoint[];
  readonly use: CellUse;
}

export interface CellFailed {
  readonly kind: "failed";
  readonly code: string;
  readonly message: string;
  /** The file, line and column at which it was thrown, where a stack has one outside of packages. No row has it: rows of equal runs are equal. */
  readonly place?: string;
  /** The spending before the failure. No row has it, because how far a run came may depend on time. */
  readonly use: CellUse;
}

export interface CellWatch {
  readonly signal: AbortSignal;
  readonly concurrency: number;
  readonly onConcurrency?: () => void;
  readonly record?: (event: RunEvent) => void;
  readonly onUse?: (fresh: FreshUse) => void;
  readonly keeps?: RecordRequest;
  readonly host?: AskHost;
  readonly onStart?: UseWatch["onStart"];
  readonly onKept?: (use: RecordUse | undefined) => void;
}

const MAX_POINTS = 1_000_000;

/** Runs one cell in this process. It never rejects: an error of the experiment is the end of the cell. */
export async function runCell<P extends CellParams, W extends ExperimentWorld>(
  options: ExperimentOptions<P, W>,
  job: CellJob,
  watch: CellWatch,
): Promise<CellEnd> {
  const use = new UseWatch(watch.onUse);
  use.onStart = watch.onStart;
  let record: CellRecord | undefined;
  try {
    record = await CellRecord.open(watch.keeps, watch.signal, watch.host);
    return await doneCell(options, job, { ...watch, use, kept: record });
  } catch (error) {
    const { code, message } = errorRecord(error);
    const place = placeOfError(error);
    return { kind: "failed", code, message, ...(place === undefined ? {} : { place }), use: use.use };
  } finally {
    watch.onKept?.(record?.useOf(use.isPaid));
    // Everything that was recorded is on the disk by now.
    await record?.close().catch(() => undefined);
  }
}

interface KeptCell extends CellWatch {
  readonly use: UseWatch;
  readonly kept: CellRecord;
}

async function doneCell<P extends CellParams, W extends ExperimentWorld>(
  options: ExperimentOptions<P, W>,
  { params: given, rep, seed }: CellJob,
  watch: KeptCell,
): Promise<CellDone> {
  const identity: CellIdentity<P> = { params: given as P, rep, seed };
  const bounds = boundsOf(options, identity.params);
  const { signal, use, kept } = watch;
  const setting = settingOf(identity, options.budget ?? {}, watch);
  const world = await options.world(setting);
  assertWorld(world);
  const series = new CellSeries(options, identity);
  const start = async (): Promise<{ readonly ran: Run | Promise<RunResult> }> => {
    if (kept.isContinued) await readPast(series, watch, world.progress !== undefined);
    await kept.begin(use.use.microUsd, use.held);
    if (!kept.isContinued) await options.begin?.(world, setting);
    if (world.progress !== undefined && !kept.isContinued) series.begins(world.progress);
    return { ran: world.run({ ...bounds, stopWhen: (progress) => series.stops(progress), signal }) };
  };
  const result = await watched(world, start, { use, record: watch.record });
  use.take(result, series.calls);
  assertEnded(result, signal);
  const measures = checkedMeasures(await options.measure?.({ ...identity, world, result }), identity.params);
  const usd = (result.cost.known - result.uncertain) / 1_000_000;
  const unpriced = result.cost.unpriced - use.lostUnpriced;
  const { messages, calls } = series;
  return {
    kind: "done",
    ended: endOf(result, series.stop, options),
    counts: { rounds: result.rounds, tick: result.tick, messages, unread: result.unread, calls, usd, unpriced },
    measures,
    series: series.points,
    use: use.use,
  };
}

/** Reads the record of a run that continues: what it used, and the series until it was cut off. */
async function readPast<P extends CellParams>(series: CellSeries<P>, { use, kept }: KeptCell, hasStart: boolean): Promise<void> {
  use.begin();
  series.isKnown = await kept.past({
    event: (event) => use.learn(event),
    begun: (progress) => (hasStart ? series.begins(progress) : undefined),
    checked: (progress) => void series.stops(progress),
  });
}

function boundsOf<P extends CellParams>(
  { rounds = DEFAULT_ROUNDS, ticks }: Pick<ExperimentOptions<P, ExperimentWorld>, "rounds" | "ticks">,
  params: P,
): Pick<WorldRunOptions, "rounds" | "ticks"> {
  const most = typeof rounds === "function" ? rounds(params) : rounds;
  // A team records its limit, and JSON has no Infinity.
  const limit = { rounds: Math.min(most, Number.MAX_SAFE_INTEGER) };
  return ticks === undefined ? limit : { ...limit, ticks: typeof ticks === "function" ? ticks(params) : ticks };
}

/** The concurrency and the record are getters, to know whether the program takes them. */
function settingOf<P extends CellParams>(
  identity: CellIdentity<P>,
  budget: CellBudget,
  { signal, concurrency, onConcurrency, kept }: KeptCell,
): CellSetting<P> {
  return {
    ...identity,
    budget,
    signal,
    get run() {
      return kept.take();
    },
    get concurrency() {
      onConcurrency?.();
      return concurrency;
    },
  };
}

function assertWorld(world: unknown): void {
  if (isRecord(world) && typeof world["run"] === "function") return;
  throw invalid(
    "world to return an Environment, or an object with run",
    valueText(world),
    "Write world: ({ seed }) => new Environment({ seed }).",
  );
}

interface Watching {
  readonly use: UseWatch;
  readonly record: CellWatch["record"];
}

async function watched(
  world: ExperimentWorld,
  start: () => Promise<{ readonly ran: Run | Promise<RunResult> }>,
  { use, record }: Watching,
): Promise<RunResult> {
  const letGo = world.on === undefined ? undefined : observing({ on: world.on.bind(world) }, { use, record });
  try {
    const { ran } = await start();
    if (!isRun(ran)) return await ran;
    if (world.on === undefined) {
      use.watch(ran.on.bind(ran));
      if (record !== undefined) for await (const event of ran) record(event);
    }
    return await ran.result;
  } finally {
    letGo?.();
  }
}

function observing(world: Required<Pick<ExperimentWorld, "on">>, { use, record }: Watching): () => void {
  const types = record === undefined ? [] : EVENT_TYPES;
  const offs = types.map((type) => world.on(type, (event) => record?.(event)));
  offs.push(use.watch(world.on));
  return () => {
    for (const off of offs) off();
  };
}

function isRun(ran: Promise<RunResult> | Run): ran is Run {
  return "result" in ran && Symbol.asyncIterator in ran;
}

function assertEnded({ status, error }: RunResult, signal: AbortSignal): void {
  if (signal.aborted) throw error ?? new AbortedError();
  if (status === "finished" || status === "rounds" || status === "stopped" || status === "budget") return;
  if (error !== undefined) throw error;
  throw invalid("a run that comes to its end", `one with the status ${status}`, "Let roles of an experiment ask no person.");
}

function endOf(
  { status, stoppedBy }: RunResult,
  stop: CellStop | undefined,
  { rounds, ticks }: { readonly rounds?: unknown; readonly ticks?: unknown },
): CellStop {
  if (stop !== undefined) return stop;
  if (status === "rounds") return rounds === undefined ? "limit" : "rounds";
  if (status === "budget") return "usd";
  if (stoppedBy !== undefined) return "stop";
  if (status !== "stopped") return "idle";
  return ticks === undefined ? "stop" : "ticks";
}

function checkedMeasures(given: unknown, params: CellParams): { readonly [name: string]: CellValue } {
  if (given === undefined) return {};
  if (!isRecord(given)) throw invalid("measure to return an object of values", valueText(given), "Write measure: () => ({ name: value }).");
  const measures: Record<string, CellValue> = {};
  for (const [name, value] of Object.entries(given)) {
    if (OWN_COLUMNS.includes(name) || name in params)
      throw invalid(
        "measures with names of their own",
        `${name}, which is a parameter or a column of every row`,
        `Rename the measure ${name}.`,
      );
    measures[name] = checkedValue(`the measure ${name}`, value);
  }
  return measures;
}

function checkedValue(what: string, value: unknown): CellValue {
  if (isCellValue(value)) return value;
  throw new UsageError(
    "EXPERIMENT_VALUE",
    `Expected ${what} to be a finite number, a string, true, false or null, got ${valueText(value)}. Return null where there is no value.`,
  );
}

function invalid(expected: string, got: string, remedy: string): UsageError {
  return new UsageError("EXPERIMENT_INVALID", `Expected ${expected}, got ${got}. ${remedy}`);
}

type SeriesOptions<P extends CellParams> = Pick<ExperimentOptions<P, ExperimentWorld>, "collect" | "stop" | "budget">;

/**
 * Ends a run at the first bound, and collects values on the way.
 *
 * CellSeries.S1 (`stops`) values are collected before a bound is checked, so the series ends with the round that reached it. CellSeries.S2
 * (`stops`) counts are those of the last check, so a bound ends equal runs in the same place at every concurrency.
 */
class CellSeries<P extends CellParams> {
  readonly points: SeriesPoint[] = [];
  messages = 0;
  calls = 0;
  stop: CellStop | undefined;
  /** True if the next check is one that the record of the run has: its values are collected. */
  isKnown = false;
  readonly #options: SeriesOptions<P>;
  readonly #identity: CellIdentity<P>;

  constructor(options: SeriesOptions<P>, identity: CellIdentity<P>) {
    this.#options = options;
    this.#identity = identity;
  }

  begins(progress: RunProgress): void {
    this.#collect(progress);
  }

  stops(progress: RunProgress): boolean {
    this.messages = progress.delivered;
    this.calls = progress.calls;
    if (!this.isKnown) this.#collect(progress);
    this.isKnown = false;
    this.stop = this.#reached(progress);
    return this.stop !== undefined;
  }

  #collect(progress: RunProgress): void {
    const { collect } = this.#options;
    if (collect === undefined) return;
    if (this.points.length >= MAX_POINTS)
      throw invalid(`at most ${MAX_POINTS} rounds with collectors`, "more", "Leave out collect, or measure at the end.");
    const point: Record<string, CellValue> = { round: progress.rounds };
    for (const [name, of] of Object.entries(collect))
      point[name] = checkedValue(`what collect.${name} returns`, of(progress, this.#identity));
    this.points.push(point);
  }

  #reached(progress: RunProgress): CellStop | undefined {
    const { budget = {}, stop } = this.#options;
    if (this.messages >= (budget.messages ?? Infinity)) return "messages";
    if (this.calls >= (budget.calls ?? Infinity)) return "calls";
    if (progress.spent >= (budget.usd ?? Infinity)) return "usd";
    return stop?.(progress, this.#identity) === true ? "stop" : undefined;
  }
}
