import { nextMacrotask } from "../../kernel/clock.ts";
import type { Line } from "../record/ready-roles.ts";
import { type Scheduler, type SchedulerEnd, type SchedulerHost, type TurnEnd, TURNS_PER_BREATH } from "./scheduler.ts";

/**
 * Bulk-synchronous rounds. Every role with mail runs once per round, concurrently up to the limit; what they say is delivered at
 * the end of the round in hire order, so that a run does not depend on how fast a model answers.
 *
 * E3 quiescence is counted: one message needs one round. E5 a failing role does not orphan its siblings: the round's others finish.
 */
export const rounds: Scheduler = {
  name: "rounds",
  async run(host) {
    const breath = { turns: 0 };
    for (;;) {
      const end = await nextRound(host, breath);
      if (end !== "done") return end;
    }
  },
};

/** Turns so far. */
interface Breath {
  turns: number;
}

/** What is waited for before its end and after it lets those be heard who are told something by a promise, and stop the run or publish. */
async function nextRound(host: SchedulerHost, breath: Breath): Promise<SchedulerEnd | "done"> {
  const paused = host.resumed?.();
  if (paused !== undefined) await paused;
  if (host.life.ended !== undefined) return "interrupted";
  // Before a round and not after it: a run that was killed where it would have stopped stops there when it goes on.
  if (host.state.round > 0 && !host.midRound && host.checkpoint?.() === true) return "checkpoint";
  const ready = host.ready();
  if (ready.size === 0 && !host.midRound) return "idle";
  if (host.state.round >= host.roundLimit) return "rounds";
  const isDone = await new Round(host, ready, breath).run();
  if (!isDone || host.life.ended !== undefined) return "interrupted";
  host.endRound();
  return "done";
}

/**
 * Turns of all the roles, at most `concurrency` at once, begun in their order. It owns who has had none yet, and whether all so far are done.
 *
 * RO1 no promise is made for a turn that waits for nothing, and none for its worker.
 */
class Round {
  readonly #host: SchedulerHost;
  readonly #roles: Line;
  readonly #breath: Breath;
  readonly #workers: number;
  #left: number;
  #isDone = true;

  constructor(host: SchedulerHost, roles: Line, breath: Breath) {
    this.#host = host;
    this.#roles = roles;
    this.#breath = breath;
    this.#left = roles.size;
    this.#workers = Math.min(host.concurrency, roles.size);
    roles.begin();
  }

  /** Tells whether all of them are done: at once, where none waits. */
  run(): boolean | Promise<boolean> {
    const wait = this.#left === 0 ? undefined : this.#turnsAtOnce();
    return wait === undefined ? this.#isDone : this.#runOn(wait);
  }

  async #runOn(wait: Promise<void>): Promise<boolean> {
    const workers = [this.#work(wait)];
    while (workers.length < this.#workers) workers.push(this.#work(this.#turnsAtOnce()));
    await Promise.all(workers);
    return this.#isDone;
  }

  async #work(first: Promise<void> | undefined): Promise<void> {
    for (let wait = first; wait !== undefined; wait = this.#turnsAtOnce()) await wait;
  }

  /** As many turns as wait for nothing, and what is to be waited for then; undefined when there is nobody left. */
  #turnsAtOnce(): Promise<void> | undefined {
    const { life, resumed } = this.#host;
    for (;;) {
      const paused = resumed?.();
      if (paused !== undefined) return paused;
      const role = this.#left === 0 || life.ended !== undefined ? undefined : this.#roles.next();
      if (role === undefined) return undefined;
      this.#left -= 1;
      const turn = this.#host.turn(role);
      if (typeof turn === "object") return this.#ended(turn);
      if (turn !== "done") this.#isDone = false;
      this.#breath.turns += 1;
      if (this.#breath.turns % TURNS_PER_BREATH === 0) return nextMacrotask();
    }
  }

  async #ended(turn: Promise<TurnEnd>): Promise<void> {
    if ((await turn) !== "done") this.#isDone = false;
    this.#breath.turns += 1;
    await (this.#breath.turns % TURNS_PER_BREATH === 0 ? nextMacrotask() : undefined);
  }
}
