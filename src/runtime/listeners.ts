import type { Logger } from "../kernel/emit.ts";
import { isThenable } from "../kernel/value-kind.ts";
import type { Mask } from "../kernel/mask.ts";
import type { Observed, ObservedOf } from "./record/event.ts";
import { freezeObserved } from "./record/frozen-event.ts";
import { maskedError } from "./record/masking.ts";
import type { Tell } from "./announcer.ts";
import { Ears } from "./ears.ts";

/** What listeners are told with. */
export interface ListenersParts {
  /** Default: its own. A run has them before it has an environment. */
  readonly ears?: Ears | undefined;
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
  /** Who listens, for those who look whether anybody does. */
  readonly ears: Ears;

  constructor(parts: ListenersParts) {
    this.#parts = parts;
    this.ears = parts.ears ?? new Ears();
  }

  /** Calls `listener` for every event or notice of a type; the returned function stops that. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    return this.ears.on(type, listener);
  }

  /** Where notices of a type are told; undefined while nobody listens to it (O3). */
  readonly hearing: Tell = (type) => (this.ears.isDeaf || !this.ears.hears(type) ? undefined : this.tell);

  readonly tell = (observed: Observed): void => {
    const listeners = this.ears.listenersTo(observed.type);
    if (listeners.length === 0) return;
    freezeObserved(observed);
    for (const listener of listeners) {
      try {
        const heard = listener(observed);
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
