import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { withTimeout } from "../kernel/abort.ts";

/** Something that has work to finish before its process ends. */
export interface Flushable {
  /** Resolves when what it was given is safe. */
  persist(): Promise<unknown>;
}

/** How a process ends. */
export interface FlushOptions {
  /** Default: SIGINT, SIGTERM and SIGHUP. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Milliseconds the flush may take before the process ends all the same. Default 5,000. */
  readonly timeout?: number;
  /** Told what could not be stored. Default: a line on standard error. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

const flushOptions: Known<FlushOptions> = { signals: true, timeout: true, onError: true, clock: true };

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const TIMEOUT = 5_000;

/** What listens for this file, and how many of them store something right now: the process is all of theirs. */
const listeners = new WeakSet<object>();
let flushes = 0;

/**
 * Lets memories store what waits when the process is told to end, and then lets it end as it would have: by the signal, unless the program
 * listens to that signal itself. Where this was called several times, all are waited for. A second signal ends the process at once. Nothing
 * helps against SIGKILL: there `persist` is what counts.
 *
 * @returns stops listening
 * @example
 * import { LongTermMemory, MemoryStorage } from "troupe";
 * import { flushOnSignals } from "troupe/sqlite";
 *
 * const memory = new LongTermMemory({ storage: new MemoryStorage({ roleId: "Ada" }) });
 * const stopListening = flushOnSignals(memory, { timeout: 10_000 });
 * stopListening();
 */
export function flushOnSignals(memories: Flushable | readonly Flushable[], o: FlushOptions = {}): () => void {
  checkKnownOptions("flushOnSignals", o, flushOptions);
  const { signals = SIGNALS, timeout = TIMEOUT, onError = tellOnStderr, clock = systemClock } = o;
  const all = Array.isArray(memories) ? (memories as readonly Flushable[]) : [memories as Flushable];
  const stop = (): void => signals.forEach((signal) => void process.off(signal, end));
  const never = new AbortController().signal;
  function end(signal: NodeJS.Signals): void {
    const isAlone = process.listeners(signal).every((listener) => listeners.has(listener));
    stop();
    flushes += 1;
    const flushed = all.map((memory) => withTimeout(clock, timeout, "storing what waits", never, () => memory.persist()).catch(onError));
    void Promise.allSettled(flushed).then(() => {
      flushes -= 1;
      if (isAlone && flushes === 0) process.kill(process.pid, signal);
    });
  }
  listeners.add(end);
  // Before those of the program: one that listens but once is gone when its turn is over, and could not be seen any more.
  for (const signal of signals) process.prependListener(signal, end);
  return stop;
}

function tellOnStderr(error: unknown): void {
  process.stderr.write(`Not all memories were stored: ${error instanceof Error ? error.message : String(error)}\n`);
}
