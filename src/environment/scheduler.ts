import { nextMacrotask } from "../kernel/clock.ts";
import type { RoleState } from "../run/role-state.ts";

/** How one turn of a role ended, as schedulers need to know it. */
export type TurnEnd = "done" | "stopped" | "suspended";

/** What a scheduler may ask of the environment. */
export interface SchedulerHost {
  /** Most activations at once. */
  readonly concurrency: number;
  /** Roles with mail that may run now: in hire order where there are rounds, else in the order in which they came to have it. */
  ready(): Iterable<RoleState>;
  /** Calls `wake` whenever a message comes from outside. */
  onMail(wake: () => void): void;
  /** Runs one activation, with its retries, to its end: at once, where it waits for nothing. Never throws or rejects. */
  turn(role: RoleState): TurnEnd | Promise<TurnEnd>;
  /** Whether a round is under way: some role has ended an activation in it. */
  readonly midRound: boolean;
  /** Delivers what was said in the round. */
  endRound(): void;
  /** Rounds so far; in regimes without rounds the most activations of one role. */
  readonly rounds: number;
  /** The number of rounds at which the run stops. */
  readonly roundLimit: number;
  /** Asked after every round or, in regimes without rounds, every activation, and when a run goes on. True: stop here. Never throws. */
  checkpoint(): boolean;
  /** Resolves when activations may start again; undefined unless the run is paused. */
  resumed(): Promise<void> | undefined;
  /** Whether nothing more may start: somebody stopped the run, or nothing can go on. */
  readonly isStopped: boolean;
}

/** Turns between two breaths: few enough that a stop is heard within milliseconds, many enough to cost nothing. */
const TURNS_PER_BREATH = 128;

/**
 * Lets timers, signals and input be heard now and then: turns that wait for nothing would keep them out for the whole run.
 * To be called once a turn.
 */
export function breather(): () => Promise<void> | undefined {
  let turns = 0;
  return () => {
    turns += 1;
    return turns % TURNS_PER_BREATH === 0 ? nextMacrotask() : undefined;
  };
}

/** Why a scheduler stopped. `interrupted`: a turn was stopped or suspended, or the run was stopped. */
export type SchedulerEnd = "idle" | "rounds" | "checkpoint" | "interrupted";

/** A regime: in which order roles run and when what they say is delivered. */
export interface Scheduler {
  readonly name: string;
  run(host: SchedulerHost): Promise<SchedulerEnd>;
}
