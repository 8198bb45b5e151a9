import { breather, type Scheduler, type SchedulerEnd, type SchedulerHost } from "./scheduler.ts";

/**
 * A role runs as soon as it has mail, one activation at a time per role, and what it says is delivered when the activation ends.
 *
 * E2 at most one activation per role is under way; who has waited longest runs first, so that nobody starves. E3 quiescence is
 * counted: idle is no role ready and none running.
 */
export const eager: Scheduler = {
  name: "eager",
  run: (host) => new EagerRun(host).run(),
};

class EagerRun {
  readonly #host: SchedulerHost;
  readonly #running = new Set<string>();
  readonly #breathe = breather();
  /** Roles that cannot go on in this run: they failed or wait for somebody. */
  readonly #blocked = new Set<string>();
  #wake: () => void = () => {};
  #end: SchedulerEnd | undefined;

  constructor(host: SchedulerHost) {
    this.#host = host;
  }

  async run(): Promise<SchedulerEnd> {
    this.#host.onMail(() => this.#wake());
    if (this.#host.rounds > 0 && this.#host.checkpoint()) return "checkpoint";
    for (;;) {
      await this.#host.resumed();
      if (this.#host.signal.aborted) this.#end ??= "interrupted";
      if (this.#end === undefined) this.#startReady();
      if (this.#running.size === 0) return this.#end ?? (this.#blocked.size > 0 ? "interrupted" : "idle");
      await new Promise<void>((resolve) => (this.#wake = resolve));
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
      this.#running.add(role);
      void this.#turn(role);
    }
  }

  async #turn(role: string): Promise<void> {
    const end = await this.#host.turn(role);
    await this.#breathe();
    this.#running.delete(role);
    if (end === "stopped") this.#end ??= "interrupted";
    if (end !== "done") this.#blocked.add(role);
    else if (this.#host.checkpoint()) this.#end ??= "checkpoint";
    this.#wake();
  }
}
