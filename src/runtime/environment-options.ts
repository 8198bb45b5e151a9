import type { Known } from "../kernel/known-options.ts";
import type { Deps } from "../kernel/deps.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { LimitOptions, ModelLimits } from "../model/limits.ts";
import type { PriceTable } from "../model/price.ts";
import type { FailurePolicy } from "../role/failure-policy.ts";
import type { Mailbox } from "../message/mailbox.ts";
import type { HumanPort } from "../tool/approval.ts";
import type { Scheduler } from "./schedulers/scheduler.ts";
import type { StopCondition } from "./stop-condition.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { Funds } from "../model/budget-pool.ts";
import type { AnswerSource } from "./steps/answer-source.ts";
import type { OwnedRun } from "./record/run-log.ts";
import type { RunState } from "./record/run-state.ts";
import type { ObserverRegistry } from "./observers.ts";
import type { Driver } from "./schedulers/drive.ts";

/** Most activations at once, unless said otherwise. */
export const DEFAULT_CONCURRENCY = 16;
/** Most rounds of one `run`, unless said otherwise. */
export const DEFAULT_ROUNDS = 100;
/** Most characters of one message, unless said otherwise. */
export const DEFAULT_MESSAGE_LIMIT = 1_000_000;

/** What an environment is made of. All of it has a default. */
export interface EnvironmentOptions {
  /** Where the roles find themselves, in prompts. */
  readonly description?: string;
  /** The model of roles that have none of their own. Needed only when an action asks one. */
  readonly model?: ChatModel;
  /**
   * How roles remember beyond the messages of their run, unless they say otherwise. Default: not at all. `false`: nothing that was said is kept
   * when those who heard it have acted. History and `result.messages` stay empty, and so does the memory of every role that has no options of
   * its own: it holds the news while the role acts. Outputs and dead letters are kept. For runs that would fill the memory.
   */
  readonly memory?: RoleMemoryOptions | false;
  /** Default: random. */
  readonly seed?: string | number;
  readonly clock?: Clock;
  /** Decides which role acts when, by name or as an object. Default `rounds`. */
  readonly scheduler?: "rounds" | "eager" | Scheduler;
  /** Most activations at once. Default 16. */
  readonly concurrency?: number;
  /** Default `stop`. */
  readonly onFailure?: FailurePolicy;
  readonly human?: HumanPort;
  readonly logger?: Logger;
  /** Prices that win over the table. */
  readonly prices?: PriceTable;
  /**
   * Bounds on model calls. Options hold for all runs of the environment or team together; `modelLimits(...)` of `troupe/limits` holds for
   * everybody who has the same object. Default: none.
   */
  readonly limits?: LimitOptions | ModelLimits;
  /** What roles get from outside, as `ctx.deps`: see {@link Deps}. Never recorded. Default: none. */
  readonly deps?: Deps;
  /** Texts that must never be written down, besides what looks like a key. */
  readonly secrets?: readonly string[];
  /** Most characters of one message. Default 1,000,000. */
  readonly messageLimit?: number;
  /** Bounds the mailboxes of all roles that have no bound of their own. Default: 1,000,000 messages, and more are refused. */
  readonly mailbox?: Mailbox;
}

/** Their names. @internal */
export const environmentOptions: Known<EnvironmentOptions> = {
  description: true,
  model: true,
  memory: true,
  seed: true,
  clock: true,
  scheduler: true,
  concurrency: true,
  onFailure: true,
  human: true,
  logger: true,
  prices: true,
  limits: true,
  deps: true,
  secrets: true,
  messageLimit: true,
  mailbox: true,
};

/** How one run of an environment goes. All of it has a default. */
export interface EnvironmentRunOptions {
  /** Most rounds more; where there are no rounds, most activations of one role in all. Default 100. */
  readonly rounds?: number;
  /** Stops the run with status `stopped`. Asked after every round or, when eager, after every activation, and when the run goes on. */
  readonly stopWhen?: StopCondition;
  /** Stops the run with status `stopped` when it aborts. What was under way stays open: the next run goes on with it. */
  readonly signal?: AbortSignal;
}

/** Their names. @internal */
export const environmentRunOptions: Known<EnvironmentRunOptions> = { rounds: true, stopWhen: true, signal: true };

/** What a team adds to an environment: a journal, a budget, a state to go on from. */
export interface RunBacking {
  readonly state?: RunState;
  readonly observers?: ObserverRegistry;
  readonly owned?: OwnedRun;
  /** Its accounts with the pools that bind it. */
  readonly funds?: Funds | undefined;
  readonly requirePrice?: boolean;
  readonly resumed?: () => Promise<void> | undefined;
  /** What else answers steps. Default: nothing. */
  readonly past?: AnswerSource;
  /** Default `live`. */
  readonly mode?: StepDoor["mode"];
  /** Drives the run instead of its scheduler: a replay. */
  readonly driver?: Driver;
  /** Called after every event that became durable. */
  readonly grew?: () => void;
}
