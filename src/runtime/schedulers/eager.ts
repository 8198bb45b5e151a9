import { nextMacrotask } from "../../kernel/clock.ts";
import type { RoleState } from "../record/role-state.ts";
import { type Scheduler, type SchedulerEnd, type SchedulerHost, type TurnEnd, TURNS_PER_BREATH } from "./scheduler.ts";

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
  /** Roles that may have no turn: one of theirs is under way, or they cannot go on in this run, for they failed or wait for somebody. */
  readonly #aside = new Set<RoleState>();
  /** How many of them are under way. */
  #running = 0;
  #turns = 0;
  #wake: () => void = () => {};
  #end: SchedulerEnd | undefined;

  constructor(host: SchedulerHost) {
    this.#host = host;
  }

  async run(): Promise<SchedulerEnd> {
    const { state, life, resumed } = this.#host;
    this.#host.onMail(() => this.#wake());
    if (state.busiest > 0 && this.#host.checkpoint?.() === true) return "checkpoint";
    for (;;) {
      const paused = resumed?.();
      if (paused !== undefined) await paused;
      if (life.ended !== undefined) this.#end ??= "interrupted";
      const left = this.#end === undefined ? this.#startReady() : "nothing";
      if (typeof left === "object") await left;
      else if (left === "perhaps") continue;
      else if (this.#running === 0) return this.#end ?? (this.#aside.size > 0 ? "interrupted" : "idle");
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
    const { state, life, roundLimit, checkpoint, resumed } = this.#host;
    const line = this.#host.line();
    let left: "perhaps" | "nothing" = "nothing";
    line.begin();
    for (let role = line.next(); role !== undefined; role = line.next()) {
      if (this.#aside.size > 0) {
        if (this.#running > 0 && this.#running >= this.#host.concurrency) return left;
        if (this.#aside.has(role)) continue;
      }
      if (!this.#host.mayAct(role)) continue;
      if (life.ended !== undefined) this.#end ??= "interrupted";
      if (state.busiest >= roundLimit) this.#end ??= "rounds";
      if (this.#end !== undefined) return "nothing";
      const turn = this.#host.turn(role);
      if (typeof turn === "object") {
        this.#running += 1;
        this.#aside.add(role);
        void this.#follow(role, turn);
        continue;
      }
      if (turn !== "done" || checkpoint !== undefined) this.#ended(role, turn);
      left = "perhaps";
      this.#turns += 1;
      const pause = this.#turns % TURNS_PER_BREATH === 0 ? nextMacrotask() : resumed?.();
      if (pause !== undefined) return pause;
    }
    return left;
  }

  async #follow(role: RoleState, turn: Promise<TurnEnd>): Promise<void> {
    const end = await turn;
    this.#turns += 1;
    await (this.#turns % TURNS_PER_BREATH === 0 ? nextMacrotask() : undefined);
    this.#running -= 1;
    this.#aside.delete(role);
    this.#ended(role, end);
    this.#wake();
  }

  #ended(role: RoleState, end: TurnEnd): void {
    if (end === "stopped") this.#end ??= "interrupted";
    if (end !== "done") this.#aside.add(role);
    else if (this.#host.checkpoint?.() === true) this.#end ??= "checkpoint";
  }
}
