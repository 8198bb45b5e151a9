import type { BudgetPool } from "../kernel/budget.ts";
import type { Known } from "../kernel/known-options.ts";
import { environmentOptions, type EnvironmentOptions } from "../runtime/environment-options.ts";
import type { Json } from "../kernel/json.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { Message } from "../message/message.ts";
import type { LimitOptions, ModelLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import type { MessageChange } from "../runtime/replay/fork-copy.ts";
import type { Journal } from "../runtime/record/journal.ts";
import type { StopCondition } from "../runtime/stop-condition.ts";

/**
 * What a team is made of. Bounds of a run (`messageLimit`, `poisonAfter`, `budget`, and in an eager team `concurrency`) are recorded when it
 * begins, and hold when it goes on or is forked, until they are given again.
 */
export interface TeamOptions extends Omit<EnvironmentOptions, "memory"> {
  /** How roles remember beyond the messages of their run, unless they say otherwise. Default: not at all. */
  readonly memory?: RoleMemoryOptions;
  /** Default "team". Also where the roles find themselves, unless a description says more. */
  readonly name?: string;
  readonly roles?: Iterable<Role>;
  /**
   * Most that all runs of the team may spend together, in micro-dollars: see `usd`. A run is never allowed more than that alone, which is
   * recorded. Or a pool that others share: `budgetPool(usd(5))` of `troupe/limits`. Default: no bound.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Allow models without a known price under a budget; their calls then cost nothing in the ledger. Default false. */
  readonly allowUnpriced?: boolean;
  /** Where runs are kept. Default: in memory. */
  readonly journal?: Journal;
  /** How often the process may die under one activation before what it was about goes to the dead letters. Default 3. */
  readonly poisonAfter?: number;
}

/** Their names. @internal */
export const teamOptions: Known<TeamOptions> = {
  ...environmentOptions,
  memory: true,
  name: true,
  roles: true,
  budget: true,
  allowUnpriced: true,
  journal: true,
  poisonAfter: true,
};

/** How a run goes on. */
export interface ResumeOptions {
  /** Most rounds in all. Default: as the run's record says; 100 for one that begins. */
  readonly rounds?: number;
  /**
   * When the run shall stop, looked at after every round. Default: as the run's record says, which refuses by `STOP_CONDITION_NEEDED` where it
   * names a function of a program; null: never.
   */
  readonly stopWhen?: StopCondition | null;
  readonly signal?: AbortSignal;
  /**
   * Most this run may spend, in micro-dollars, or a pool that it shares with others, such as the `budget` that the effect of a step is
   * given. The team's budget holds besides. An amount is recorded, and holds when the run goes on or is forked. Default: as the run's record
   * says, else that of the team.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Bounds on the model calls of this run. Those of the team hold besides. */
  readonly limits?: LimitOptions | ModelLimits;
  /** Go on with a team that is not the one of the run. Default false: it is refused. */
  readonly force?: boolean;
  /**
   * Whether an activation whose failure ended the run gets the answers of its last attempt again. `all`: what was recorded is not paid
   * again. `none`: it asks everything anew, this once, because the answers themselves may be at fault. Default `all`.
   */
  readonly reuse?: "all" | "none";
}

/** Their names. @internal */
export const resumeOptions: Known<ResumeOptions> = {
  rounds: true,
  stopWhen: true,
  signal: true,
  budget: true,
  limits: true,
  force: true,
  reuse: true,
};

/** How a run goes. */
export interface RunOptions extends ResumeOptions {
  /** Default: a fresh one. A run the journal has goes on where it stopped. */
  readonly id?: string;
  /** Kept with the run for whoever reads its record, such as the settings it began with. */
  readonly about?: Json;
}

/** Their names. @internal */
export const runOptions: Known<RunOptions> = { ...resumeOptions, id: true, about: true };

/** Where a fork leaves the run it comes from, and in what. */
export interface ForkOptions extends RunOptions {
  /** Sequence number of the last event that is shared. Default: the last event that `change` names, else the last of all. */
  readonly at?: number;
  /** Messages of the shared past that are others here, or were never delivered. */
  readonly change?: readonly MessageChange[];
  /**
   * Whether the parent answers what the fork asks after the past they share. `all`: each answer whose request is the same, at no cost.
   * `none`: everything is asked anew, as after another model whose id is the same. Default `all`.
   */
  readonly reuse?: "all" | "none";
  /**
   * Decides all that is random after the shared past, which keeps what it drew. An activation that is open there lives again and draws anew.
   * Default: the parent's seed.
   */
  readonly seed?: string | number;
  /** Messages from outside that come right after the shared past. A text becomes a user's requirement. */
  readonly add?: readonly (Message | string)[];
}

/** Their names. @internal */
export const forkOptions: Known<ForkOptions> = { ...runOptions, at: true, change: true, add: true, seed: true };

/** How a replay is told to stop. */
export interface ReplayOptions {
  readonly signal?: AbortSignal;
}

/** Their names. @internal */
export const replayOptions: Known<ReplayOptions> = { signal: true };
