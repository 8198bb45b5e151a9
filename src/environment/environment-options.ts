import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { RoleMemoryOptions } from "../memory/role-memory.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { LimitOptions } from "../model/limits.ts";
import type { PriceTable } from "../model/price.ts";
import type { FailurePolicy } from "../role/failure-policy.ts";
import type { HumanPort } from "../tool/human-port.ts";

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
  /** Default `rounds`. */
  readonly scheduler?: "rounds" | "eager";
  /** Most activations at once. Default 16. */
  readonly concurrency?: number;
  /** Default `stop`. */
  readonly onFailure?: FailurePolicy;
  readonly human?: HumanPort;
  readonly logger?: Logger;
  /** Prices that win over the table. */
  readonly prices?: PriceTable;
  /** Bounds on model calls. */
  readonly limits?: LimitOptions;
  /** Texts that must never be written down, besides what looks like a key. */
  readonly secrets?: readonly string[];
  /** Most characters of one message. Default 1,000,000. */
  readonly messageLimit?: number;
}
