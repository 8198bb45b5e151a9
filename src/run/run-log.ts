import type { Clock } from "../kernel/clock.ts";
import type { Mask } from "../kernel/mask.ts";
import { apply } from "./apply.ts";
import { EVENT_VERSION, type RunEvent, type RunEventBody } from "./event.ts";
import type { Journal } from "./journal.ts";
import { maskedBody } from "./masking.ts";
import type { RunState } from "./run-state.ts";

/** A journal, and the right to write one run into it. */
export interface OwnedRun {
  readonly journal: Journal;
  readonly epoch: number;
}

/** What a log is made of. */
export interface RunLogParts {
  readonly state: RunState;
  readonly clock: Clock;
  readonly mask: Mask;
  /** Where events are kept. Without it they change the state, are observed, and are gone. */
  readonly owned?: OwnedRun | undefined;
  /** Told of every event once it is durable. */
  readonly observe?: ((event: RunEvent) => void) | undefined;
}

/**
 * The pen of a run. It gives events their sequence number and time, applies them at once and in order, and writes them behind.
 * It owns the tail that is not durable yet; the state is owned by whoever made it, and written by `apply` alone.
 *
 * W0 no secret is ever recorded. W1 the store gets events in their order, so it always holds a prefix. W2 `durable()` resolves when everything recorded before
 * the call is in the store. W3 observers see an event only when it is durable. W4 after a failed append nothing is recorded any more.
 * The tail is bounded by what roles record while one append is in flight.
 */
export class RunLog {
  readonly state: RunState;
  readonly #clock: Clock;
  readonly #mask: Mask;
  readonly #owned: OwnedRun | undefined;
  readonly #observe: ((event: RunEvent) => void) | undefined;
  #tail: RunEvent[] = [];
  #writing: Promise<void> | undefined;
  #broken: { readonly error: unknown } | undefined;

  constructor(parts: RunLogParts) {
    this.state = parts.state;
    this.#clock = parts.clock;
    this.#mask = parts.mask;
    this.#owned = parts.owned;
    this.#observe = parts.observe;
  }

  /** Records what happened. @throws whatever broke the journal before */
  record(body: RunEventBody): void {
    if (this.#broken !== undefined) throw this.#broken.error;
    const event = { v: EVENT_VERSION, runId: this.state.runId, seq: this.state.seq, time: this.#clock.now(), ...maskedBody(this.#mask, body) } as RunEvent;
    apply(this.state, event);
    if (this.#owned === undefined) return this.#observe?.(event);
    this.#tail.push(event);
    this.#writing ??= this.#write(this.#owned);
  }

  /** @throws JournalError when the store refused */
  async durable(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    if (this.#broken !== undefined) throw this.#broken.error;
  }

  async #write(owned: OwnedRun): Promise<void> {
    await Promise.resolve();
    while (this.#tail.length > 0 && this.#broken === undefined) {
      const batch = this.#tail;
      this.#tail = [];
      try {
        await owned.journal.append(this.state.runId, owned.epoch, batch[0]?.seq ?? 0, batch);
        for (const event of batch) this.#observe?.(event);
      } catch (error) {
        this.#broken = { error };
      }
    }
    this.#writing = undefined;
  }
}
