import { aFunction, orNothing, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

export const DEFAULT_MAX_STEPS = 30;

/** The state of an agent. */
export type AgentState = "IDLE" | "RUNNING" | "FINISHED" | "ERROR";

/** `step`: one more step of the run; `give_up`: it ends without an answer (steps used up, a loop, stopped). */
export type AgentMove = "start" | "step" | "finish" | "fail" | "give_up" | "reset";

const MOVES: Readonly<Record<AgentState, Partial<Record<AgentMove, AgentState>>>> = {
  IDLE: { start: "RUNNING", reset: "IDLE" },
  RUNNING: { step: "RUNNING", finish: "FINISHED", fail: "ERROR", give_up: "IDLE" },
  FINISHED: { reset: "IDLE" },
  ERROR: { reset: "IDLE" },
};

export function moved(state: AgentState, move: AgentMove): AgentState | undefined {
  return Object.hasOwn(MOVES[state], move) ? MOVES[state][move] : undefined;
}

/**
 * The state of one agent and the steps of its run. It owns both.
 *
 * `Lifecycle.L1` the state changes by legal moves alone; a refused move changes nothing (`move`). `Lifecycle.L2` `FINISHED` and `ERROR`
 * stay until a reset (`MOVES`). `Lifecycle.L3` `steps` counts the steps of the latest run: it starts at 0 with each (`move`).
 */
export class Lifecycle {
  #state: AgentState = "IDLE";
  #steps = 0;

  get state(): AgentState {
    return this.#state;
  }

  get steps(): number {
    return this.#steps;
  }

  /** @param moving called after the move @throws UsageError `AGENT_TRANSITION` for a move that is not legal in the present state */
  move(move: AgentMove, moving?: (move: AgentMove, from: AgentState, to: AgentState) => void): AgentState {
    takes("Lifecycle.move", "moving", moving, orNothing(aFunction));
    const from = this.#state;
    const to = moved(from, move);
    if (to === undefined) throw refused(from, move);
    if (move === "start") this.#steps = 0;
    if (move === "step") this.#steps++;
    this.#state = to;
    moving?.(move, from, to);
    return to;
  }
}

function refused(from: AgentState, move: AgentMove): UsageError {
  const legal = Object.keys(MOVES[from]).join(", ");
  return new UsageError(
    "AGENT_TRANSITION",
    `Expected a move that an agent can make in state ${from} (${legal}), got ${move}. Wait until its run has ended, or reset it first.`,
    { data: { state: from, move } },
  );
}
