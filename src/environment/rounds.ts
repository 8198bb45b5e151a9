import { isThenable } from "../kernel/thenable.ts";
import type { RoleState } from "../run/role-state.ts";
import { breather, type Scheduler, type SchedulerEnd, type SchedulerHost, type TurnEnd } from "./scheduler.ts";

/**
 * Bulk-synchronous rounds. Every role with mail runs once per round, concurrently up to the limit; what they say is delivered at
 * the end of the round in hire order, so that a run does not depend on how fast a model answers.
 *
 * E3 quiescence is counted: one message needs one round. E5 a failing role does not orphan its siblings: the round's others finish.
 */
export const rounds: Scheduler = {
  name: "rounds",
  async run(host) {
    const breathe = breather();
    for (;;) {
      const end = await nextRound(host, breathe);
      if (end !== "done") return end;
    }
  },
};

type Breathe = ReturnType<typeof breather>;

async function nextRound(host: SchedulerHost, breathe: Breathe): Promise<SchedulerEnd | "done"> {
  const paused = host.resumed();
  if (paused !== undefined) await paused;
  if (host.isStopped) return "interrupted";
  // Before a round and not after it: a run that was killed where it would have stopped stops there when it goes on.
  if (host.rounds > 0 && !host.midRound && host.checkpoint()) return "checkpoint";
  const ready = listOf(host.ready());
  if (ready.length === 0 && !host.midRound) return "idle";
  if (host.rounds >= host.roundLimit) return "rounds";
  if (!(await runAll(host, ready, breathe))) return "interrupted";
  host.endRound();
  return "done";
}

/** It may be a million of them. */
function listOf(roles: Iterable<RoleState>): readonly RoleState[] {
  return Array.isArray(roles) ? (roles as readonly RoleState[]) : Array.from(roles);
}

/**
 * Turns of all the roles, at most `concurrency` at once, begun in their order.
 *
 * @returns whether all of them are done
 */
async function runAll(host: SchedulerHost, roles: readonly RoleState[], breathe: Breathe): Promise<boolean> {
  let isDone = true;
  let next = 0;

  /** As many turns as wait for nothing, and what is to be waited for then; undefined when there is nobody left. */
  function turnsAtOnce(): Promise<void> | undefined {
    for (;;) {
      const paused = host.resumed();
      if (paused !== undefined) return paused;
      const role = roles[next];
      if (role === undefined || host.isStopped) return undefined;
      next += 1;
      const turn = host.turn(role);
      if (isThenable(turn)) return ended(turn);
      if (turn !== "done") isDone = false;
      const breath = breathe();
      if (breath !== undefined) return breath;
    }
  }

  async function ended(turn: Promise<TurnEnd>): Promise<void> {
    if ((await turn) !== "done") isDone = false;
    await breathe();
  }

  async function worker(): Promise<void> {
    for (let wait = turnsAtOnce(); wait !== undefined; wait = turnsAtOnce()) await wait;
  }
  await Promise.all(Array.from({ length: Math.min(host.concurrency, roles.length) }, worker));
  return isDone && !host.isStopped;
}
