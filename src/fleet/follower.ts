import { throwIfAborted } from "../kernel/abort.ts";
import { type Clock, sleep } from "../kernel/clock.ts";
import { deepFreeze } from "../kernel/json.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Message } from "../message/message.ts";
import { apply } from "../runtime/record/apply.ts";
import type { RunEvent } from "../runtime/record/event.ts";
import { type Journal, readEvents } from "../runtime/record/journal.ts";
import { RunState } from "../runtime/record/run-state.ts";
import type { RunResult } from "../runtime/run-result.ts";
import { recordedResult } from "../team/drive.ts";
import type { RunControls, RunEntry } from "../team/run.ts";

/** Milliseconds without a new event after which the owner may be gone; also the pause between two reads of a journal without `watch`. */
const PAUSE = 1_000;

interface FollowerParts {
  readonly journal: Journal;
  readonly clock: Clock;
  readonly mask: Mask;
  readonly controls: RunControls;
  readonly meant: (idea: Message) => void;
  readonly report: (event: RunEvent) => void;
}

/**
 * Follows a run that another process owns. It owns a copy of the state; the owner has the run.
 *
 * Follower.F1 (`#read`) observers get every event that is recorded after the beginning, once and in order.
 * Follower.F2 (`#read`) a result is one that was recorded after the beginning: the run may continue after an older end.
 */
export class Follower {
  readonly #parts: FollowerParts;
  readonly #state: RunState;
  readonly #watching = new AbortController();
  #hasBegun = false;
  #hasEnded = false;
  #hasGrown = false;
  #wake: () => void = () => undefined;

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#state = new RunState(parts.controls.id);
    void this.#watch().catch(() => undefined);
  }

  async untilQuiet(entry: RunEntry): Promise<RunResult | undefined> {
    for (let isFirst = true; ; isFirst = false) {
      const before = this.#state.seq;
      await this.#read();
      // An end that a stop brings is recorded after the beginning.
      if (isFirst) this.#parts.controls.enter(entry);
      this.#hasBegun = true;
      // This also wakes the iterators of the run.
      if (this.#state.seq > 0) this.#parts.controls.started();
      if (this.#hasEnded) return recordedResult(this.#state, this.#parts.mask);
      const isWoken = await this.#growth();
      if (!isWoken && this.#state.seq === before) return undefined;
    }
  }

  close(): void {
    this.#watching.abort();
  }

  async #read(): Promise<void> {
    const { journal, controls, meant, report } = this.#parts;
    const { id, signal } = controls;
    for await (const event of readEvents(journal, id, { from: this.#state.seq, signal })) {
      if (event.type === "message" && this.#state.outside === 0) meant(event.message);
      apply(this.#state, deepFreeze(event));
      if (!this.#hasBegun) continue;
      if (event.type === "run.ended") this.#hasEnded = true;
      if (event.type === "run.resumed") this.#hasEnded = false;
      report(event);
    }
  }

  /** Resolves when the run may have grown, with true, or when the pause is over. @throws ControlError when the signal aborts */
  async #growth(): Promise<boolean> {
    const { clock, controls } = this.#parts;
    const over = new AbortController();
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    if (!this.#hasGrown)
      await Promise.race([woken, sleep(clock, PAUSE, AbortSignal.any([controls.signal, over.signal])).catch(() => undefined)]);
    over.abort();
    throwIfAborted(controls.signal);
    const isWoken = this.#hasGrown;
    this.#hasGrown = false;
    return isWoken;
  }

  async #watch(): Promise<void> {
    const { journal, controls } = this.#parts;
    const signal = AbortSignal.any([controls.signal, this.#watching.signal]);
    for await (const _ of journal.watch?.(controls.id, { signal }) ?? []) {
      this.#hasGrown = true;
      this.#wake();
    }
  }
}
