import type { EnvironmentOptions } from "../environment/environment-options.ts";
import type { Json } from "../kernel/json.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { Message } from "../message/message.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Role } from "../role/role.ts";
import type { MessageChange } from "../run/fork-copy.ts";
import type { Journal } from "../run/journal.ts";
import type { StopCondition } from "./stop-condition.ts";

/** What a team is made of. */
export interface TeamOptions extends Omit<EnvironmentOptions, "memory"> {
  /** How roles remember beyond the messages of their run, unless they say otherwise. Default: not at all. */
  readonly memory?: RoleMemoryOptions;
  /** Default "team". Also where the roles find themselves, unless a description says more. */
  readonly name?: string;
  readonly roles?: Iterable<Role>;
  /** Most a run may spend, in micro-dollars: see `usd`. Default: no bound. */
  readonly budget?: MicroUsd;
  /** Allow models without a known price under a budget; their calls then cost nothing in the ledger. Default false. */
  readonly allowUnpriced?: boolean;
  /** Where runs are kept. Default: in memory. */
  readonly journal?: Journal;
  /** How often the process may die under one activation before what it was about goes to the dead letters. Default 3. */
  readonly poisonAfter?: number;
}

/** How a run goes on. */
export interface ResumeOptions {
  /** Most rounds in all. Default 100. */
  readonly rounds?: number;
  readonly stopWhen?: StopCondition;
  readonly signal?: AbortSignal;
  /** Go on with a team that is not the one of the run. Default false: it is refused. */
  readonly force?: boolean;
}

/** How a run goes. */
export interface RunOptions extends ResumeOptions {
  /** Default: a fresh one. A run the journal has goes on where it stopped. */
  readonly id?: string;
  /** Kept with the run for whoever reads its record, such as the settings it began with. */
  readonly about?: Json;
}

/** Where a fork leaves the run it comes from, and in what. */
export interface ForkOptions extends RunOptions {
  /** Sequence number of the last event that is shared. Default: the last event that `change` names, else the last of all. */
  readonly at?: number;
  /** Messages of the shared past that are others here, or were never delivered. */
  readonly change?: readonly MessageChange[];
  /** Messages from outside that come right after the shared past. A text becomes a user's requirement. */
  readonly add?: readonly (Message | string)[];
}

/** How a replay is told to stop. */
export interface ReplayOptions {
  readonly signal?: AbortSignal;
}
