import { nextMacrotask } from "../kernel/clock.ts";
import type { Line } from "../run/ready-roles.ts";
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

async function nextRound(host: SchedulerHost, breath: Breath): Promise<SchedulerEnd | "done"> {
  const paused = host.resumed?.();
  if (paused !== undefined) await paused;
  if (host.life.ended !== undefined) return "interrupted";
  // Before a round and not after it: a run that was killed where it would have stopped stops there when it goes on.
  if (host.state.round > 0 && !host.midRound && host.checkpoint?.() === true) return "checkpoint";
  const ready = host.ready();
  if (ready.size === 0 && !host.midRound) return "idle";
  if (host.state.round >= host.roundLimit) return "rounds";
  if (!(await runAll(host, ready, breath))) return "interrupted";
  host.endRound();
  return "done";
}

/**
 * Turns of all the roles, at most `concurrency` at once, begun in their order.
 *
 * @returns whether all of them are done
 */
async function runAll(host: SchedulerHost, roles: Line, breath: Breath): Promise<boolean> {
  const { life, resumed } = host;
  let isDone = true;
  let left = roles.size;
  const workers = Math.min(host.concurrency, left);
  roles.begin();

  /** As many turns as wait for nothing, and what is to be waited for then; undefined when there is nobody left. */
  function turnsAtOnce(): Promise<void> | undefined {
    for (;;) {
      const paused = resumed?.();
      if (paused !== undefined) return paused;
      const role = left === 0 || life.ended !== undefined ? undefined : roles.next();
      if (role === undefined) return undefined;
      left -= 1;
      const turn = host.turn(role);
      if (typeof turn === "object") return ended(turn);
      if (turn !== "done") isDone = false;
      breath.turns += 1;
      if (breath.turns % TURNS_PER_BREATH === 0) return nextMacrotask();
    }
  }

  async function ended(turn: Promise<TurnEnd>): Promise<void> {
    if ((await turn) !== "done") isDone = false;
    breath.turns += 1;
    await (breath.turns % TURNS_PER_BREATH === 0 ? nextMacrotask() : undefined);
  }

  async function worker(): Promise<void> {
    for (let wait = turnsAtOnce(); wait !== undefined; wait = turnsAtOnce()) await wait;
  }
  await Promise.all(Array.from({ length: workers }, worker));
  return isDone && life.ended === undefined;
}
