import type { AttemptOutcome, Attempts } from "../../src/kernel/step.ts";
import { randomStream } from "../../src/kernel/random.ts";
import type { CallDeps } from "../../src/model/call.ts";
import { simulatedClock, type SimulatedClock } from "../../src/testing/simulated-clock.ts";

/** The words of a call to its meter, in order. */
export type Told = { readonly open: number } | { readonly settle: Omit<AttemptOutcome, "error"> & { readonly failed: boolean } };

/** A meter that keeps what it is told, and checks that tries are opened and settled in turn. */
export class RecordedAttempts implements Attempts {
  readonly told: Told[] = [];
  #open = false;

  open(hold: number): Promise<void> {
    if (this.#open) throw new Error("a try was opened while one was open");
    this.#open = true;
    this.told.push({ open: hold });
    return Promise.resolve();
  }

  settle({ error, ...outcome }: AttemptOutcome): void {
    if (!this.#open) throw new Error("a try was settled that was not open");
    this.#open = false;
    this.told.push({ settle: { ...outcome, failed: error !== undefined } });
  }

  /** `hold usage:12 none:0!`: each try's basis and cost, `!` where it failed. */
  get line(): string {
    return this.told
      .flatMap((event) => ("open" in event ? [] : [`${event.settle.basis}:${event.settle.cost ?? "?"}${event.settle.failed ? "!" : ""}`]))
      .join(" ");
  }

  get isOpen(): boolean {
    return this.#open;
  }
}

/** Everything a call needs, on a clock the test moves. */
export interface CallSetup {
  readonly clock: SimulatedClock;
  readonly attempts: RecordedAttempts;
  readonly abort: AbortController;
  readonly warnings: string[];
  readonly deps: CallDeps;
}

export function callSetup(more: Partial<CallDeps> = {}): CallSetup {
  const clock = simulatedClock();
  const attempts = new RecordedAttempts();
  const abort = new AbortController();
  const warnings: string[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) };
  const deps: CallDeps = { clock, random: randomStream("test"), attempts, signal: abort.signal, logger, ...more };
  return { clock, attempts, abort, warnings, deps };
}

/** The form of an error of this package: what was expected, what came, and in sentences of their own what to do about it. */
export const WITH_NEXT_STEP = /^Expected .+[.!?"…] (?:Change|Check|Look|Mend|Raise|Say|Set|Take|Use) .+\.$/s;

/** The error a promise rejects with; fails when it resolves. */
export async function errorOf(
  work: Promise<unknown>,
): Promise<Error & { readonly code?: string; readonly data?: Record<string, unknown> }> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ("error" in outcome) return outcome.error as Error;
  throw new Error(`expected a rejection, got ${JSON.stringify(outcome.value)?.slice(0, 200)}`);
}

/** Lets the event loop turn until something is true; the bound is turns, not time. */
export async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 200_000; turn++) {
    if (isTrue()) return;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  throw new Error(`waited in vain for ${what}`);
}

/**
 * Waits for work that needs simulated time: moves the clock to its next timer, over and over, until the work is done. Turns in which
 * no timer waits are not time that went on: then something real is on its way, a module that is loaded for the first time.
 */
export async function withTime<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let done = false;
  const finish = (): void => {
    done = true;
  };
  work.then(finish, finish);
  for (let fired = 0, turn = 0; fired < 10_000 && turn < 5_000_000 && !done; turn++) if (await clock.advanceToNext()) fired++;
  if (!done) throw new Error("the work did not end although time went on");
  return work;
}

/** Waits for work that goes over a socket: fires what is due now and moves no time, so that nothing times out that is merely on its way. */
export async function withSockets<T>(clock: SimulatedClock, work: Promise<T>): Promise<T> {
  let done = false;
  const finish = (): void => {
    done = true;
  };
  work.then(finish, finish);
  while (!done) await clock.advance(0);
  return work;
}
