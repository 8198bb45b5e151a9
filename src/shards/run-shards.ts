import { Worker } from "node:worker_threads";
import { abortReason, onAbort, throwIfAborted } from "../kernel/abort.ts";
import { aText, object, takes } from "../kernel/argument.ts";
import { systemClock } from "../kernel/clock.ts";
import { type ErrorRecord, StepError, TimeoutError, UsageError } from "../kernel/errors.ts";
import { type Json, type JsonObject, jsonRoundTrip } from "../kernel/json.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed } from "../kernel/random.ts";
import { clauseText, shownText, valueText } from "../kernel/value-text.ts";
import { DEFAULT_ROUNDS } from "../runtime/environment-options.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { assertPopulationFits } from "./need.ts";
import type { AtBarrier, FromShard, HasRoom, ShardDone, ShardStart, ToShard } from "./protocol.ts";

const DEFAULT_SHARDS = 2;
const MAX_SHARDS = 1_024;
const DEFAULT_ROUND_LIMIT = 600_000;

/** Options of {@link runShards}. */
export interface ShardsOptions {
  /** The address of the module that exports the `world`: `new URL("./world.js", import.meta.url).href`. */
  readonly module: string;
  /** Parameters of the world, plain JSON. Default null. */
  readonly params?: Json;
  /** Worker threads, from 1 to 1,024. The result does not depend on it. Default 2. */
  readonly shards?: number;
  /** Default: a random one. */
  readonly seed?: string | number;
  /** Limit on the rounds. Default 100. */
  readonly rounds?: number;
  /** True keeps the events of the run, which take about a thousand bytes for each activation. Default false. */
  readonly record?: boolean;
  /** Milliseconds that the shards may take to start, and for each round. Default 600,000. */
  readonly roundLimit?: number;
  /** Ends the threads when it aborts. */
  readonly signal?: AbortSignal;
}

const shardsOptions: Known<ShardsOptions> = {
  module: kinds.text,
  params: kinds.checked,
  shards: {
    says: `a whole number from 1 to ${MAX_SHARDS}`,
    fits: (value) => kinds.size.fits(value) && Number(value) <= MAX_SHARDS,
    advice: (value) => ({ got: valueText(value), todo: "Take as many as the machine has cores." }),
  },
  seed: kinds.seed,
  rounds: kinds.count,
  record: kinds.boolean,
  roundLimit: kinds.size,
  signal: kinds.signal,
};

/** The result of a run over shards. */
export interface ShardsResult {
  /** `idle`: no role has mail. `rounds`: the limit of rounds was reached. `failed`: a role failed. */
  readonly reason: "idle" | "rounds" | "failed";
  /** The failure of the role that was hired first among those that failed. */
  readonly failure: ErrorRecord | undefined;
  readonly seed: string;
  readonly rounds: number;
  /** Activations that have ended. */
  readonly activations: number;
  /** Messages of roles and from outside. */
  readonly messages: number;
  /** The states of the roles by their names, in the order of hiring. */
  readonly states: ReadonlyMap<string, JsonObject>;
  /** The events in the order of one environment; none unless they were kept. */
  readonly events: readonly RunEvent[];
}

/** The program of a thread. It is a string, so that the module's own copy of this package runs in the thread. */
const SHARD_SCRIPT = String.raw`
const { parentPort, workerData } = require("node:worker_threads");
const { module, start } = workerData;
const broken = (error) => {
  const { name = "Error", code = "SHARD_FAILED", message = String(error) } = error ?? {};
  parentPort.postMessage({ kind: "broken", error: { name, code: String(code), message: String(message) } });
};
(async () => {
  const { world } = await import(module);
  if (typeof world?.runShard !== "function") {
    const text = "Expected the module " + module.slice(0, 200) + " to export a world made by shardedWorld, got none. Export const world = shardedWorld(...).";
    throw Object.assign(new Error(text), { name: "UsageError", code: "WORLD_INVALID" });
  }
  await world.runShard(parentPort, start);
})().catch(broken);
`;

/**
 * Runs a world over worker threads. Each thread runs a contiguous range of the roles; at the end of a round the threads exchange the messages
 * of the round. States and events are those of one environment with the same seed, whatever the number of shards.
 *
 * A role of a world is part of one thread alone: data outside of its state, such as variables of its module, are not shared.
 *
 * @throws UsageError `OPTION_INVALID`, `OPTION_UNKNOWN`, `POPULATION_TOO_LARGE`, `SHARD_FAILED`, `WORLD_INVALID`, `SHARDS_SCHEDULER`;
 * NotJsonError for parameters that are no JSON; StepError `SHARD_DIED`; TimeoutError for a late round; ControlError
 */
export async function runShards(options: ShardsOptions): Promise<ShardsResult> {
  takes("runShards", "options", options, object("an object with the address of a module"));
  checkKnownOptions("runShards", options, shardsOptions);
  const { module, shards = DEFAULT_SHARDS, rounds = DEFAULT_ROUNDS, roundLimit = DEFAULT_ROUND_LIMIT } = options;
  takes("runShards", "module", module, aText);
  assertPopulationFits({ roles: 0, shards });
  throwIfAborted(options.signal);
  const { params } = jsonRoundTrip({ params: options.params ?? null });
  const seed = String(options.seed ?? freshSeed());
  const common = { params, seed, rounds, shards, record: options.record === true };
  const starts = Array.from({ length: shards }, (_, shard): ShardStart => ({ ...common, shard }));
  const run = new ShardedRun(module, starts, roundLimit, options.signal);
  try {
    return { seed, ...(await run.result()) };
  } finally {
    await run.close();
  }
}

type Report = AtBarrier | HasRoom | ShardDone;

/**
 * One run over shards. It owns the threads.
 *
 * ShardedRun.SR1 (`#next`) a thread that ends, is silent or fails ends the run with an error that names it, and no thread outlives the run.
 * ShardedRun.SR2 (`result`) the answer to a round follows from the reports of all shards in their order, whatever their times.
 */
class ShardedRun {
  readonly #module: string;
  readonly #workers: readonly Worker[];
  readonly #roundLimit: number;
  readonly #rounds: number;
  readonly #reports: (Report | undefined)[];
  readonly #letGo: () => void;
  readonly #events: RunEvent[] = [];
  #settle: (() => void) | undefined;
  #broken: Error | undefined;
  #isClosed = false;

  constructor(module: string, starts: readonly ShardStart[], roundLimit: number, signal: AbortSignal | undefined) {
    this.#module = module;
    this.#roundLimit = roundLimit;
    this.#rounds = starts[0]?.rounds ?? 0;
    this.#reports = starts.map(() => undefined);
    this.#workers = starts.map((start, shard) => this.#begin(start, shard));
    this.#letGo = signal === undefined ? (): void => {} : onAbort(signal, () => this.#fail(abortReason(signal)));
  }

  async result(): Promise<Omit<ShardsResult, "seed">> {
    for (;;) {
      const reports = await this.#next();
      this.#read(reports);
      const done = reports.filter((one) => one.kind === "done");
      if (done.length === reports.length) return this.#joined(done);
      for (const [shard, one] of reports.entries()) if (one.kind !== "done") this.#answer(shard, this.#answerTo(reports, shard));
    }
  }

  /** Takes the events in the order of the shards, which is that of hiring. A shard that has ended reports them once. */
  #read(reports: readonly Report[]): void {
    for (const [shard, one] of reports.entries()) {
      if (one.events === "") continue;
      for (const event of JSON.parse(one.events) as RunEvent[]) this.#events.push(event);
      this.#reports[shard] = { ...one, events: "" };
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#letGo();
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }

  #begin(start: ShardStart, shard: number): Worker {
    const worker = new Worker(SHARD_SCRIPT, { eval: true, name: `shard ${shard}`, workerData: { module: this.#module, start } });
    const died = (why: string, cause?: unknown): void => this.#fail(shardDied(shard, why, cause));
    worker.on("message", (report: FromShard) => this.#receive(shard, report));
    worker.once("error", (error) => died(error.message, error));
    worker.once("messageerror", (error) => died(error.message, error));
    worker.once("exit", (code) => {
      if (this.#reports[shard]?.kind !== "done") died(`it ended with exit code ${code}`);
    });
    return worker;
  }

  #receive(shard: number, report: FromShard): void {
    if (report.kind === "broken") return this.#fail(shardFailed(this.#module, shard, report.error));
    this.#reports[shard] = report;
    if (this.#reports.every((one) => one !== undefined)) this.#settle?.();
  }

  #fail(error: Error): void {
    if (this.#isClosed) return;
    this.#broken ??= error;
    this.#settle?.();
  }

  async #next(): Promise<readonly Report[]> {
    const late = (): void => {
      const silent = this.#reports.flatMap((one, shard) => (one === undefined ? [shard] : []));
      this.#fail(new TimeoutError(`a round of shard ${silent.join(", ")}`, this.#roundLimit));
    };
    const cancel = systemClock.timer(this.#roundLimit, late);
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      if (this.#broken !== undefined || this.#reports.every((one) => one !== undefined)) resolve();
    });
    cancel();
    if (this.#broken !== undefined) throw this.#broken;
    return this.#reports.flatMap((one) => one ?? []);
  }

  #answerTo(reports: readonly Report[], shard: number): ToShard {
    if (reports.every(({ kind }) => kind === "has room")) return { kind: "deliver" };
    const waiting = reports.filter((one) => one.kind === "barrier");
    if (waiting.length < reports.length) return { kind: "over" };
    if (waiting.some(({ isMidRound }) => isMidRound)) return { kind: "round", packets: waiting.map(({ packets }) => packets[shard] ?? "") };
    const due = Math.min(...waiting.map((one) => one.due ?? Infinity));
    return due === Infinity ? { kind: "over" } : { kind: "advance", tick: Math.min(Math.ceil(due), this.#rounds) };
  }

  #answer(shard: number, answer: ToShard): void {
    this.#reports[shard] = undefined;
    this.#workers[shard]?.postMessage(answer);
  }

  #joined(done: readonly ShardDone[]): Omit<ShardsResult, "seed"> {
    const failure = done.find((one) => one.failure !== undefined)?.failure;
    const sum = (count: (one: ShardDone) => number): number => done.reduce((all, one) => all + count(one), 0);
    const states = new Map<string, JsonObject>();
    for (const one of done) for (const [name, state] of JSON.parse(one.states) as [string, JsonObject][]) states.set(name, state);
    return {
      reason: failure !== undefined ? "failed" : done.some(({ hasWork }) => hasWork) ? "rounds" : "idle",
      failure,
      rounds: Math.max(...done.map(({ rounds }) => rounds)),
      activations: sum(({ activations }) => activations),
      messages: sum(({ messages }) => messages),
      states,
      events: this.#events.map((event, seq) => ({ ...event, seq })),
    };
  }
}

function shardDied(shard: number, why: string, cause: unknown): StepError {
  return new StepError(
    "SHARD_DIED",
    `Expected the thread of shard ${shard} to live until the run is over, but ${why}. Look for what ended it; where it was memory, take more shards or a larger --max-old-space-size.`,
    { cause, data: { shard } },
  );
}

function shardFailed(module: string, shard: number, { name, code, message }: ErrorRecord): UsageError {
  const [text, data] = [shownText(message, 1_000), { shard, code }];
  if (name === "UsageError") return new UsageError(code, text, { data });
  return new UsageError(
    "SHARD_FAILED",
    `Expected ${shownText(module)} to give a world for shard ${shard}, but ${clauseText(text)}. Correct the module, and what it does to make its world.`,
    { data },
  );
}
