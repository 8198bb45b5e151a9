import type { Clock } from "../kernel/clock.ts";

/** The pause after a failure, in milliseconds. */
export interface Cooldown {
  /** After the first failure. */
  readonly first: number;
  /** Each failed try after it doubles the time, up to this. */
  readonly most: number;
}

type State =
  | { readonly kind: "closed" }
  | { readonly kind: "open"; readonly until: number; readonly cooldown: number }
  | { readonly kind: "probing"; readonly cooldown: number };

/**
 * Decides whether a service that may be down is asked.
 *
 * CircuitBreaker.B1 (`pass`) closed, every call passes; the first failure opens it. CircuitBreaker.B2 (`pass`) open, no call passes until the
 * cooldown ends; then exactly one does, and its outcome decides. CircuitBreaker.B3 (`failed`, `succeeded`) a call that began before it opened and
 * ends later decides nothing. Every caller that passes must report the outcome.
 */
export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #cooldown: Cooldown;
  #state: State = { kind: "closed" };

  constructor(clock: Clock, cooldown: Cooldown) {
    this.#clock = clock;
    this.#cooldown = cooldown;
  }

  get isClosed(): boolean {
    return this.#state.kind === "closed";
  }

  /** Milliseconds until the next call may pass. */
  get wait(): number {
    return this.#state.kind === "open" ? Math.max(0, this.#state.until - this.#clock.now()) : 0;
  }

  /** Tells whether to ask now. The first call that passes after the cooldown is the probe. */
  pass(): "ask" | "probe" | "no" {
    if (this.#state.kind === "closed") return "ask";
    if (this.#state.kind === "probing" || this.wait > 0) return "no";
    this.#state = { kind: "probing", cooldown: this.#state.cooldown };
    return "probe";
  }

  /** Reports an answer. @param asked the result of {@link pass} */
  succeeded(asked: "ask" | "probe"): void {
    if (asked === "probe") this.#state = { kind: "closed" };
  }

  /** Reports a failure. @param asked the result of {@link pass} */
  failed(asked: "ask" | "probe"): void {
    if (asked === "probe" && this.#state.kind === "probing") this.#open(Math.min(this.#state.cooldown * 2, this.#cooldown.most));
    if (asked === "ask" && this.#state.kind === "closed") this.#open(this.#cooldown.first);
  }

  #open(cooldown: number): void {
    this.#state = { kind: "open", until: this.#clock.now() + cooldown, cooldown };
  }
}
