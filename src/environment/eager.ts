import type { Scheduler, SchedulerEnd, SchedulerHost } from "./scheduler.ts";

/**
 * A role runs as soon as it has mail, one activation at a time per role, and what it says is delivered when the activation ends.
 *
 * E2 at most one activation per role is under way. E3 quiescence is counted: idle is no role ready and none running.
 */
export const eager: Scheduler = {
  name: "eager",
  run: (host) => new EagerRun(host).run(),
};

class EagerRun {
  readonly #host: SchedulerHost;
  readonly #running = new Map<string, Promise<void>>();
  /** Roles that cannot go on in this run: they failed or wait for somebody. */
  readonly #blocked = new Set<string>();
  #end: SchedulerEnd | undefined;

  constructor(host: SchedulerHost) {
    this.#host = host;
  }

  async run(): Promise<SchedulerEnd> {
    for (;;) {
      await this.#host.resumed();
      if (this.#host.signal.aborted) this.#end ??= "interrupted";
      if (this.#end === undefined) this.#startReady();
      if (this.#running.size === 0) return this.#end ?? (this.#blocked.size > 0 ? "interrupted" : "idle");
      await Promise.race(this.#running.values());
    }
  }

  #startReady(): void {
    for (const role of this.#host.ready()) {
      if (this.#running.size >= this.#host.concurrency) return;
      if (this.#running.has(role) || this.#blocked.has(role)) continue;
      if (this.#host.rounds >= this.#host.roundLimit) {
        this.#end = "rounds";
        return;
      }
      this.#running.set(role, this.#turn(role));
    }
  }

  async #turn(role: string): Promise<void> {
    const end = await this.#host.turn(role);
    this.#running.delete(role);
    if (end === "stopped") this.#end ??= "interrupted";
    if (end !== "done") this.#blocked.add(role);
    else if (this.#host.checkpoint()) this.#end ??= "checkpoint";
  }
}
