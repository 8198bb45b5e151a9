import { either, having, listOf, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { type Clock, systemClock } from "../kernel/clock.ts";
import { withTimeout } from "../kernel/abort.ts";

/** Something that has work to finish before its process ends. */
export interface Flushable {
  /** Resolves when everything it was given is stored. */
  persist(): Promise<unknown>;
}

const aFlushable = having("a memory", "persist");

/** Options of {@link flushOnSignals}. */
export interface FlushOptions {
  /** Default: SIGINT, SIGTERM and SIGHUP. */
  readonly signals?: readonly NodeJS.Signals[];
  /** Milliseconds the flush may take before the process ends all the same. Default 5,000. */
  readonly timeout?: number;
  /** Called with each error of storing. Default: a line on standard error. */
  readonly onError?: (error: unknown) => void;
  readonly clock?: Clock;
}

const flushOptions: Known<FlushOptions> = {
  signals: kinds.texts,
  timeout: kinds.milliseconds,
  onError: kinds.function,
  clock: kinds.clock,
};

const SIGNALS: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", "SIGHUP"];
const TIMEOUT = 5_000;

interface Registration {
  readonly flush: () => readonly Promise<unknown>[];
  readonly stop: () => void;
}

/** The calls that wait for each signal: however many there are, the process has one listener for them. */
const waiting = new Map<NodeJS.Signals, Set<Registration>>();
let flushes = 0;

/**
 * Stores the waiting messages of memories when a signal ends the process. Then the signal ends the process, unless the program listens to
 * that signal itself. After several calls the process waits for all of them. A second signal ends the process at once. No program can
 * react to SIGKILL: messages that must survive it are stored with `persist`.
 *
 * @returns a function that stops listening
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
  takes("flushOnSignals", "memories", memories, either(aFlushable, listOf(aFlushable)));
  const all = Array.isArray(memories) ? (memories as readonly Flushable[]) : [memories as Flushable];
  const never = new AbortController().signal;
  const registration: Registration = {
    flush: () => all.map((memory) => withTimeout(clock, timeout, "storing memories", never, () => memory.persist()).catch(onError)),
    stop: () => signals.forEach((signal) => leave(signal, registration)),
  };
  for (const signal of signals) join(signal, registration);
  return registration.stop;
}

function join(signal: NodeJS.Signals, registration: Registration): void {
  const others = waiting.get(signal);
  if (others !== undefined) return void others.add(registration);
  waiting.set(signal, new Set([registration]));
  // Before the listeners of the program: one that listens once would already be gone from the list when this one runs.
  process.prependListener(signal, end);
}

function leave(signal: NodeJS.Signals, registration: Registration): void {
  const others = waiting.get(signal);
  if (others?.delete(registration) !== true || others.size > 0) return;
  waiting.delete(signal);
  process.off(signal, end);
}

function end(signal: NodeJS.Signals): void {
  const isAlone = process.listeners(signal).every((listener) => listener === end);
  const registrations = [...(waiting.get(signal) ?? [])];
  for (const { stop } of registrations) stop();
  flushes += 1;
  void Promise.allSettled(registrations.flatMap(({ flush }) => flush())).then(() => {
    flushes -= 1;
    if (isAlone && flushes === 0) process.kill(process.pid, signal);
  });
}

function tellOnStderr(error: unknown): void {
  process.stderr.write(`Not all memories were stored: ${error instanceof Error ? error.message : String(error)}\n`);
}
