import type { RunEvent } from "../runtime/record/event.ts";

/**
 * The steps of a run in flight, except those that wait for a person.
 *
 * StepsInFlight.F1 (`settled`) after a pause it resolves when no step is in flight, so that a stop interrupts no paid call.
 */
export class StepsInFlight {
  readonly #steps = new Set<string>();
  #settled: (() => void)[] = [];

  note(event: RunEvent): void {
    if (event.type === "step.started" && event.kind !== "human") this.#steps.add(`${event.act} ${event.key}`);
    if (event.type === "step.ended") this.#steps.delete(`${event.act} ${event.key}`);
    if (event.type === "run.ended") this.#steps.clear();
    if (this.#steps.size > 0) return;
    for (const settle of this.#settled.splice(0)) settle();
  }

  settled(): Promise<void> {
    if (this.#steps.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#settled.push(resolve));
  }
}
