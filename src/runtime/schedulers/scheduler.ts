import type { Ending } from "../../kernel/lifetime.ts";
import type { Line } from "../record/ready-roles.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RunState } from "../record/run-state.ts";

/** How one turn of a role ended, as schedulers need to know it. */
export type TurnEnd = "done" | "stopped" | "suspended";

/** What a scheduler may ask of the environment. */
export interface SchedulerHost {
  /** Most activations at once. */
  readonly concurrency: number;
  /** Roles with mail that may run in this round, in hire order: so many as its size says now, for who joins it meanwhile does for the next round. */
  ready(): Line;
  /** Roles with mail, in the order in which they came to have it. */
  line(): Line;
  /** Whether a role may have a turn: not as long as something that it said waits for room. */
  mayAct(role: RoleState): boolean;
  /** Calls `wake` whenever a message comes from outside. */
  onMail(wake: () => void): void;
  /** Runs one activation, with its retries, to its end: at once, where it waits for nothing. Never throws or rejects. */
  turn(role: RoleState): TurnEnd | Promise<TurnEnd>;
  /** Whether a round is under way: some role has ended an activation in it. */
  readonly midRound: boolean;
  /** Delivers what was said in the round. */
  endRound(): void;
  /** How far the run has come: `round` counts rounds; in regimes without rounds `busiest` bounds it, the most activations of one role. */
  readonly state: Readonly<Pick<RunState, "round" | "busiest">>;
  /** The number of rounds at which the run stops. */
  readonly roundLimit: number;
  /**
   * Asked after every round or, in regimes without rounds, every activation, and when a run goes on. True: stop here. Never throws.
   * Undefined where nothing would ever stop it.
   */
  readonly checkpoint: (() => boolean) | undefined;
  /** Resolves when activations may start again; gives undefined unless the run is paused. Undefined where nobody can pause it. */
  readonly resumed: (() => Promise<void> | undefined) | undefined;
  /** Ended when nothing more may start: somebody stopped the run, or nothing can go on. */
  readonly life: Pick<Ending, "ended">;
}

/**
 * Turns between two breaths, which let timers, signals and input be heard: turns that wait for nothing would keep them out for the whole run.
 * Few enough that a stop is heard within milliseconds, many enough to cost nothing.
 */
export const TURNS_PER_BREATH = 128;

/** Why a scheduler stopped. `interrupted`: a turn was stopped or suspended, or the run was stopped. */
export type SchedulerEnd = "idle" | "rounds" | "checkpoint" | "interrupted";

/** A regime: in which order roles run and when what they say is delivered. */
export interface Scheduler {
  readonly name: string;
  run(host: SchedulerHost): Promise<SchedulerEnd>;
}
