import type { Message } from "../message/message.ts";
import type { RunEvent } from "./record/event.ts";
import type { Observer } from "./record/run-log.ts";
import type { Listeners } from "./listeners.ts";
import type { RoleMemories } from "./role-memories.ts";

/** Who looks at a run's events in its environment: what remembers beyond the run, those who listen, and whoever waits for it to grow. */
export class RunObserver implements Observer {
  readonly #memories: RoleMemories;
  readonly #listeners: Listeners;
  readonly #grew: (() => void) | undefined;

  /** @param grew called after every event */
  constructor(memories: RoleMemories, listeners: Listeners, grew: (() => void) | undefined) {
    this.#memories = memories;
    this.#listeners = listeners;
    this.#grew = grew;
  }

  hears(type: RunEvent["type"]): boolean {
    const { ears } = this.#listeners;
    return this.#memories.isUsed || (!ears.isDeaf && ears.hears(type));
  }

  observe(event: RunEvent, taken?: readonly Message[]): void {
    if (this.#memories.isUsed) this.#memories.learn(event, taken);
    this.#listeners.tell(event);
    this.#grew?.();
  }
}
