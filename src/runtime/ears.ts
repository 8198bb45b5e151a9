import { EventEmitter } from "eventemitter3";
import { EVENT_TYPES, type Observed, type ObservedOf } from "./record/event.ts";

/** What is looked at by those who would have something to tell. */
export type Hearing = Readonly<Pick<Ears, "hearsNotices">>;

/** One who listens. What it gives back is looked at: it may be a promise that fails. */
type Listener = (observed: Observed) => unknown;

/**
 * Who listens to a run: before it has an environment, and after. It owns the listeners of each type.
 *
 * EA1 whether anybody listens at all, and whether to a notice, is known without asking for a type: most runs have nobody, and those who have
 * mostly listen to events, while every turn has several notices to tell. EA2 a list of listeners that somebody was given stays as it is.
 */
export class Ears {
  readonly #emitter = new EventEmitter();
  /** Who listens to each type that somebody listens to. */
  readonly #heard = new Map<Observed["type"], readonly Listener[]>();
  /** Whether nobody listens to anything: a look, and no question. Written here alone. */
  isDeaf = true;
  /** Whether somebody listens to what is never recorded. Written here alone. */
  hearsNotices = false;

  /** Whether somebody wants to hear of a type. */
  hears(type: Observed["type"]): boolean {
    return this.#heard.has(type);
  }

  /** Calls `listener` for every event or notice of a type; the returned function stops that. */
  on<T extends Observed["type"]>(type: T, listener: (observed: ObservedOf<T>) => void): () => void {
    const heard = listener as (observed: Observed) => void;
    this.#emitter.on(type, heard);
    this.#know(type);
    return () => {
      this.#emitter.off(type, heard);
      this.#know(type);
    };
  }

  /** Those who listen to a type now. */
  listenersTo(type: Observed["type"]): readonly Listener[] {
    return this.#heard.get(type) ?? nobody;
  }

  #know(type: Observed["type"]): void {
    const listeners: readonly Listener[] = this.#emitter.listeners(type);
    if (listeners.length === 0) this.#heard.delete(type);
    else this.#heard.set(type, listeners);
    this.isDeaf = this.#heard.size === 0;
    this.hearsNotices = [...this.#heard.keys()].some((known) => !(known in EVENT_TYPES));
  }
}

const nobody: readonly Listener[] = Object.freeze([]);
