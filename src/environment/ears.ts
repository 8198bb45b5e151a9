import { EventEmitter } from "eventemitter3";
import type { Observed, ObservedOf } from "../run/event.ts";

/** What is looked at by those who would have something to tell. */
export type Hearing = Readonly<Pick<Ears, "isDeaf">>;

/**
 * Who listens to a run: before it has an environment, and after. It owns the listeners of each type.
 *
 * EA1 whether anybody listens at all is known without asking for a type: most runs have nobody, and ask several times a turn.
 */
export class Ears {
  readonly #emitter = new EventEmitter();
  /** The types that somebody listens to. */
  readonly #heard = new Set<Observed["type"]>();
  /** Whether nobody listens to anything: a look, and no question. Written here alone. */
  isDeaf = true;

  /** Whether somebody wants to hear of a type. */
  hears(type: Observed["type"]): boolean {
    return this.#heard.has(type);
  }

  /** Calls `listener` for every event or notice of a type; the returned function stops that. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    const heard = listener as (observed: Observed) => void;
    this.#emitter.on(type, heard);
    this.#heard.add(type);
    this.isDeaf = false;
    return () => {
      this.#emitter.off(type, heard);
      if (this.#emitter.listenerCount(type) === 0) this.#heard.delete(type);
      this.isDeaf = this.#heard.size === 0;
    };
  }

  /** Those who listen to a type now. */
  listenersTo(type: Observed["type"]): readonly ((observed: Observed) => unknown)[] {
    return this.#emitter.listeners(type);
  }
}
