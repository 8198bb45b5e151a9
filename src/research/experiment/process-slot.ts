import { fileURLToPath } from "node:url";
import { throwIfAborted } from "../../kernel/abort.ts";
import { UsageError } from "../../kernel/errors.ts";
import { shownText } from "../../kernel/value-text.ts";
import { CellProcess, type CellProcessOptions, type WireRequest } from "./cell-process.ts";
import type { CellFailed } from "./cell-run.ts";
import { type CellUse, UseSum } from "./cell-use.ts";
import { type AnyExperiment, type CellReply, CELLS } from "./experiment.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";

const DEFAULT_TRIES = 3;

/**
 * The processes of one worker, one after another. It owns the present one.
 *
 * ProcessSlot.S1 (`run`) a process that is gone is dropped, so the next try starts another. ProcessSlot.S2 (`#tries`) a cell whose
 * processes die is tried that often; one that takes too long or too much memory is not tried again. ProcessSlot.S3 (`run`) the use by
 * processes that died is reported: as `lost` of the reply, or as the use of the failed cell.
 */
export class ProcessSlot implements CellRunner {
  readonly #options: CellProcessOptions;
  readonly #tries: number;
  #process: CellProcess | undefined;

  constructor(options: CellProcessOptions, tries: number = DEFAULT_TRIES) {
    this.#options = options;
    this.#tries = tries;
  }

  async run(request: WireRequest): Promise<CellReply> {
    let text = "";
    let lost = new UseSum();
    let isWhole = false;
    const gone = (end: CellFailed): CellReply => ({ end, usesConcurrency: false, ...(isWhole ? { kept: "continued" } : {}) });
    for (let tried = 0; tried < this.#tries; tried += 1) {
      const process = (this.#process ??= await this.#started());
      const taken = new UseSum();
      const answer = await process.run(request, (fresh) => {
        // The record of a run that continues has what earlier tries used.
        if (fresh.isWhole === true) lost = new UseSum();
        isWhole ||= fresh.isWhole === true;
        taken.add(fresh);
      });
      if (answer.kind === "ended") return tried === 0 ? answer.reply : { ...answer.reply, lost: lost.use };
      this.#process = undefined;
      lost.add(taken.use);
      const { memory, timeLimit } = this.#options;
      if (answer.why === "late") return gone(late(timeLimit, lost.use));
      if (answer.why === "memory") {
        const message = `Expected the run to take at most ${memory} megabytes, but it took more. Raise memory.`;
        return gone({ kind: "failed", code: "EXPERIMENT_MEMORY", message, use: lost.use });
      }
      text = answer.text;
    }
    const message = `Expected the process of the run to live, but ${text}, in each of ${this.#tries} tries.`;
    return gone({ kind: "failed", code: "EXPERIMENT_DIED", message, use: lost.use });
  }

  async #started(): Promise<CellProcess> {
    let text = "";
    for (let tried = 0; tried < this.#tries; tried += 1) {
      await this.#options.check?.();
      const started = await CellProcess.start(this.#options);
      if (typeof started !== "string") return started;
      text = started;
    }
    throw new UsageError(
      "EXPERIMENT_UNREADABLE",
      `Expected a process to load ${shownText(fileURLToPath(this.#options.module))}, but ${text}, in each of ${this.#tries} tries.`,
    );
  }

  close(): void {
    this.#process?.close();
    this.#process = undefined;
  }
}

function late(timeLimit: number, use: CellUse): CellFailed {
  const message = `Expected the run to end within ${timeLimit} ms, but it did not. Raise timeLimit, or give it fewer rounds.`;
  return { kind: "failed", use, code: "EXPERIMENT_LATE", message };
}

/** Bounds of runs and of the processes that run them. All have defaults. */
export interface ProcessBounds {
  /** The module that exports the experiment: `import.meta.url` there. Its runs have processes of their own. Without it they share this process, and a run that never ends or crashes takes it along. */
  readonly module?: string;
  /** Milliseconds that one run may take. Default one hour. Without `module` it holds for runs that wait for something. */
  readonly timeLimit?: number;
  /** Megabytes that a process may take. Default 4096. Needs `module`. */
  readonly memory?: number;
  /** Processes that may die during one run until it has failed. Default 3. */
  readonly tries?: number;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

export const processBounds: Known<ProcessBounds> = {
  module: {
    says: "the address of a file, such as import.meta.url",
    fits: (value) => typeof value === "string" && value.startsWith("file:"),
  },
  timeLimit: kinds.size,
  memory: kinds.size,
  tries: kinds.size,
  signal: kinds.signal,
  clock: kinds.clock,
};

/** Concurrent activations of a run: the default of an Environment. */
export const CONCURRENCY = 16;
/** Milliseconds that a run may take by default. */
const HOUR = 3_600_000;
const DEFAULT_MEMORY = 4096;

export function checkProcessOptions(caller: string, { module, memory }: ProcessBounds): void {
  if (module === undefined && memory !== undefined)
    throw new UsageError("OPTION_INVALID", `Expected module with memory of ${caller}, got none. ${WRITE_MODULE}`);
}

export const WRITE_MODULE = "Write module: import.meta.url in the file that exports the experiment.";

/** Runs the cells of an experiment, in this process or in others. */
export interface CellRunner {
  /** @throws UsageError where no process can load the module; ControlError when the signal aborts */
  run(request: WireRequest): Promise<CellReply>;
  close(): void;
}

type RunnerMeans = Pick<CellProcessOptions, "clock" | "signal" | "check" | "host">;

export function cellRunner(experiment: AnyExperiment, o: ProcessBounds & { readonly node?: string }, means: RunnerMeans): CellRunner {
  const { module, node = process.execPath, timeLimit = HOUR, memory = DEFAULT_MEMORY } = o;
  const { name, plan } = experiment;
  if (module === undefined) return { run: (request) => ranHere(experiment, request, timeLimit, means), close: () => undefined };
  return new ProcessSlot({ module, name, plan: JSON.stringify(plan), timeLimit, memory, node, ...means }, o.tries);
}

async function ranHere(experiment: AnyExperiment, request: WireRequest, timeLimit: number, means: RunnerMeans): Promise<CellReply> {
  const { clock, signal, host } = means;
  const connection = host?.connected();
  const limit = new AbortController();
  const cancel = clock.timer(timeLimit, () => limit.abort());
  const reply = await experiment[CELLS]({
    ...request,
    signal: AbortSignal.any([signal, limit.signal]),
    ...(connection && { host: connection.ask }),
  }).finally(cancel);
  connection?.end();
  throwIfAborted(signal);
  return limit.signal.aborted ? { ...reply, end: late(timeLimit, reply.end.use) } : reply;
}
