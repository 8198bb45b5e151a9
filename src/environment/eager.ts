import { isThenable } from "../kernel/thenable.ts";
import type { RoleState } from "../run/role-state.ts";
import { breather, type Scheduler, type SchedulerEnd, type SchedulerHost, type TurnEnd } from "./scheduler.ts";

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
  readonly #running = new Set<RoleState>();
  readonly #breathe = breather();
  /** Roles that cannot go on in this run: they failed or wait for somebody. */
  readonly #blocked = new Set<RoleState>();
  #wake: () => void = () => {};
  #end: SchedulerEnd | undefined;

  constructor(host: SchedulerHost) {
    this.#host = host;
  }

  async run(): Promise<SchedulerEnd> {
    this.#host.onMail(() => this.#wake());
    if (this.#host.rounds > 0 && this.#host.checkpoint()) return "checkpoint";
    for (;;) {
      const paused = this.#host.resumed();
      if (paused !== undefined) await paused;
      if (this.#host.isStopped) this.#end ??= "interrupted";
      const left = this.#end === undefined ? this.#startReady() : "nothing";
      if (typeof left === "object") await left;
      else if (left === "perhaps") continue;
      else if (this.#running.size === 0) return this.#end ?? (this.#blocked.size > 0 ? "interrupted" : "idle");
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /**
   * Starts turns as long as somebody may have one. Those that wait for nothing are over when they have been started, and who got mail by
   * them comes up in the same walk.
   *
   * @returns what is to be waited for before the next one starts, or whether there may be another
   */
  #startReady(): Promise<void> | "perhaps" | "nothing" {
    let left: "perhaps" | "nothing" = "nothing";
    for (const role of this.#host.ready()) {
      if (this.#running.size > 0 && this.#running.size >= this.#host.concurrency) return left;
      if (isIn(this.#running, role) || isIn(this.#blocked, role)) continue;
      if (this.#host.isStopped) this.#end ??= "interrupted";
      if (this.#host.rounds >= this.#host.roundLimit) this.#end ??= "rounds";
      if (this.#end !== undefined) return "nothing";
      const turn = this.#host.turn(role);
      if (isThenable(turn)) {
        this.#running.add(role);
        void this.#follow(role, turn);
        continue;
      }
      this.#ended(role, turn);
      left = "perhaps";
      const pause = this.#breathe() ?? this.#host.resumed();
      if (pause !== undefined) return pause;
    }
    return left;
  }

  async #follow(role: RoleState, turn: Promise<TurnEnd>): Promise<void> {
    const end = await turn;
    await this.#breathe();
    this.#running.delete(role);
    this.#ended(role, end);
    this.#wake();
  }

  #ended(role: RoleState, end: TurnEnd): void {
    if (end === "stopped") this.#end ??= "interrupted";
    if (end !== "done") this.#blocked.add(role);
    else if (this.#host.checkpoint()) this.#end ??= "checkpoint";
  }
}

/** Mostly nobody is: an empty set is not worth the hash. */
function isIn(roles: ReadonlySet<RoleState>, role: RoleState): boolean {
  return roles.size > 0 && roles.has(role);
}
