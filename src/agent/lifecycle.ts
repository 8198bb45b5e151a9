import { kinds } from "../kernel/option-kinds.ts";
import { aFunction, orNothing, takes } from "../kernel/argument.ts";
import { UsageError } from "../kernel/errors.ts";

/** Default of the most steps of one run. */
export const DEFAULT_MAX_STEPS = 30;

/** The state of an agent. */
export type AgentState = "IDLE" | "RUNNING" | "FINISHED" | "ERROR";

/** The moves of an agent from one state to the next; there are no others. */
export interface AgentMoves {
  readonly IDLE: { readonly start: "RUNNING"; readonly reset: "IDLE" };
  /** `step`: one more step of the run; `give_up`: it ends without an answer (steps used up, a loop, stopped). */
  readonly RUNNING: { readonly step: "RUNNING"; readonly finish: "FINISHED"; readonly fail: "ERROR"; readonly give_up: "IDLE" };
  readonly FINISHED: { readonly reset: "IDLE" };
  readonly ERROR: { readonly reset: "IDLE" };
}

/** The moves that are legal in a state. */
export type AgentMoveFrom<S extends AgentState> = keyof AgentMoves[S] & string;
/** Any move. */
export type AgentMove = { [S in AgentState]: AgentMoveFrom<S> }[AgentState];

const MOVES: AgentMoves = {
  IDLE: { start: "RUNNING", reset: "IDLE" },
  RUNNING: { step: "RUNNING", finish: "FINISHED", fail: "ERROR", give_up: "IDLE" },
  FINISHED: { reset: "IDLE" },
  ERROR: { reset: "IDLE" },
};

/** The state after a move. An illegal move from a literal state does not compile. */
export function stateAfter<S extends AgentState, M extends AgentMoveFrom<S>>(state: S, move: M): AgentMoves[S][M] {
  const states = Object.keys(MOVES);
  takes("stateAfter", "state", state, { says: `one of ${states.join(", ")}`, fits: (value) => states.includes(value as string) });
  takes("stateAfter", "move", move, kinds.oneOf(...Object.keys(MOVES[state])));
  return MOVES[state][move];
}

/** The state after a move; undefined when it is illegal. */
export function moved(state: AgentState, move: AgentMove): AgentState | undefined {
  const legal: Partial<Record<AgentMove, AgentState>> = MOVES[state];
  return Object.hasOwn(legal, move) ? legal[move] : undefined;
}

/** Called after every move. */
export type MoveListener = (move: AgentMove, from: AgentState, to: AgentState) => void;

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

  /** @throws UsageError `AGENT_TRANSITION` for a move that is not legal in the present state. */
  move(move: AgentMove, tell?: MoveListener): AgentState {
    takes("Lifecycle.move", "tell", tell, orNothing(aFunction));
    const from = this.#state;
    const to = moved(from, move);
    if (to === undefined) throw refused(from, move);
    if (move === "start") this.#steps = 0;
    if (move === "step") this.#steps++;
    this.#state = to;
    tell?.(move, from, to);
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
