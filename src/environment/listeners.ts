import { EventEmitter } from "eventemitter3";
import type { Logger } from "../kernel/emit.ts";
import { deepFreeze } from "../kernel/json.ts";
import { isThenable } from "../kernel/thenable.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Observed, ObservedOf } from "../run/event.ts";
import { maskedError } from "../run/masking.ts";
import type { Tell } from "./announcer.ts";

/** What listeners are told with. */
export interface ListenersParts {
  /** Default: one of its own. A run has one before it has an environment. */
  readonly emitter?: EventEmitter | undefined;
  readonly logger: Logger;
  readonly mask: Mask;
}

/**
 * Who listens to what happens in an environment. It owns who listens; what there is to tell is its environment's.
 *
 * O1 what a listener throws is its own affair: it is logged, and the run goes on, for the other listeners too. O2 what is told is frozen:
 * nobody who hears it can change the run. O3 nothing is made to be told when nobody listens.
 */
export class Listeners {
  readonly #parts: ListenersParts;
  readonly #emitter: EventEmitter;

  constructor(parts: ListenersParts) {
    this.#parts = parts;
    this.#emitter = parts.emitter ?? new EventEmitter();
  }

  /** Calls `listener` for every event or notice of a type; the returned function stops that. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    this.#emitter.on(type, listener as (observed: Observed) => void);
    return () => void this.#emitter.off(type, listener as (observed: Observed) => void);
  }

  /** Where notices of a type are told; undefined while nobody listens to it (O3). */
  readonly hearing: Tell = (type) => (this.#emitter.listenerCount(type) > 0 ? this.tell : undefined);

  /** Whether somebody wants to hear of this type. */
  listensTo(type: Observed["type"]): boolean {
    return this.#emitter.listenerCount(type) > 0;
  }

  readonly tell = (observed: Observed): void => {
    if (!this.listensTo(observed.type)) return;
    deepFreeze(observed);
    for (const listener of this.#emitter.listeners(observed.type)) {
      try {
        const heard: unknown = listener(observed);
        if (isThenable(heard)) void Promise.resolve(heard).catch((error: unknown) => this.#failed(observed, error));
      } catch (error) {
        this.#failed(observed, error);
      }
    }
  };

  #failed(observed: Observed, error: unknown): void {
    const { logger, mask } = this.#parts;
    logger.error(`A listener of ${observed.type} failed: ${maskedError(mask, error).message}`);
  }
}
