import { AbortedError } from "../kernel/errors.ts";
import { deepFreeze } from "../kernel/json.ts";
import { ObserverRegistry } from "../runtime/observers.ts";
import type { RunResult } from "../runtime/run-result.ts";
import type { Observed, ObservedOf, RunEvent } from "../runtime/record/event.ts";
import type { Journal } from "../runtime/record/journal.ts";

/** The means by which a run is watched, paused and stopped. */
export interface RunControls {
  readonly id: string;
  readonly observers: ObserverRegistry;
  readonly signal: AbortSignal;
  /** Called when events have become durable. */
  readonly grew: () => void;
  /** Called when the journal has the run. */
  readonly started: () => void;
  /** Resolves when activations may start. */
  readonly resumed: () => Promise<void> | undefined;
}

/**
 * A run under way, returned by {@link Team.run}. `result` never rejects: its status and error show how the run ended. Iterate a run to get
 * its events, from the first one, also after it has ended.
 *
 * Run.H1 (`[Symbol.asyncIterator]`): an iterator yields all durable events in order, and ends when the run has ended.
 * Run.H2 (`stop`): activations that are under way stay open, so that the run can be resumed.
 *
 * @example
 * import { defineAction, defineRole, type Run, Team } from "troupe";
 *
 * const Shout = defineAction({ name: "Shout", run: (ctx) => ctx.text.toUpperCase() });
 * const run: Run = new Team({ roles: [defineRole({ name: "Sam", actions: [Shout] })] }).run("hello");
 * for await (const event of run) if (event.type === "act.ended") console.log(event.role, event.said[0]?.message.content); // Sam HELLO
 * console.log((await run.result).status); // finished
 */
export class Run implements AsyncIterable<RunEvent> {
  readonly id: string;
  readonly result: Promise<RunResult>;
  readonly #journal: Journal;
  readonly #observers = new ObserverRegistry();
  readonly #abort = new AbortController();
  #phase: "starting" | "running" | "ended" = "starting";
  #isKnown = false;
  #isStopped: () => boolean;
  #growth = 0;
  #wake: (() => void)[] = [];
  #pause: { readonly over: Promise<void>; readonly end: () => void } | undefined;

  constructor(id: string, journal: Journal, signal: AbortSignal | undefined, drive: (controls: RunControls) => Promise<RunResult>) {
    this.id = id;
    this.#journal = journal;
    const own = this.#abort.signal;
    const controls: RunControls = {
      id,
      observers: this.#observers,
      signal: signal === undefined ? own : AbortSignal.any([own, signal]),
      grew: () => this.#grew(),
      started: () => this.#becomeRunning(),
      resumed: () => (this.#pause === undefined ? undefined : this.#pauseOver()),
    };
    const { signal: stopped } = controls;
    const proceed = (): void => this.proceed();
    stopped.addEventListener("abort", proceed, { once: true });
    this.#isStopped = () => stopped.aborted;
    this.result = drive(controls).finally(() => {
      stopped.removeEventListener("abort", proceed);
      this.#phase = "ended";
      this.#grew();
    });
  }

  async *[Symbol.asyncIterator](): AsyncIterator<RunEvent> {
    let next = 0;
    for (;;) {
      const phase = this.#phase;
      const growth = this.#growth;
      if (this.#isKnown) {
        for await (const event of this.#journal.read(this.id, next)) {
          next = event.seq + 1;
          yield deepFreeze(event);
        }
      }
      if (phase === "ended") return;
      // Events that came meanwhile did not wake the iterator, so it reads again.
      if (growth === this.#growth) await new Promise<void>((resolve) => void this.#wake.push(resolve));
    }
  }

  /** Calls `listener` for every event or notice of a type, as it comes; the returned function unsubscribes it. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    return this.#observers.on(type, listener);
  }

  /** Stops calls in flight and ends the run with status `stopped`. Activations under way stay open. */
  stop(reason = "the run was asked to stop"): void {
    this.#abort.abort(new AbortedError(reason));
    this.proceed();
  }

  /** Lets no further activation start until {@link proceed}; those under way go on. A stopped run cannot be paused. */
  pause(): void {
    if (this.#pause !== undefined || this.#isStopped()) return;
    let end = (): void => {};
    const over = new Promise<void>((resolve) => (end = resolve));
    this.#pause = { over, end };
  }

  /** Ends a pause. */
  proceed(): void {
    this.#pause?.end();
    this.#pause = undefined;
  }

  #becomeRunning(): void {
    this.#phase = "running";
    this.#isKnown = true;
    this.#grew();
  }

  async #pauseOver(): Promise<void> {
    while (this.#pause !== undefined) await this.#pause.over;
  }

  #grew(): void {
    this.#growth += 1;
    const waiting = this.#wake;
    this.#wake = [];
    for (const wake of waiting) wake();
  }
}
