import type { AnySchema } from "../model/standard-schema.ts";
import { checkChoiceForm } from "../tool/call-options.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Deps } from "../kernel/deps.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { StepPort } from "../kernel/step.ts";
import { checkBudget } from "../model/budget-pool.ts";
import { callPolicy, type CallPolicy, checkTuning } from "../model/call.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { ChatModel, ChatRequest } from "../model/chat-model.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { MicroUsd } from "../model/money.ts";
import type { Guard } from "../tool/guard.ts";
import type { Approver, HumanPort } from "../tool/approval.ts";
import { checkPolicy, type PermissionPolicy } from "../tool/permission.ts";
import { compactionOptions, type CompactionOptions } from "./compaction.ts";
import { loopOptions, type LoopOptions } from "./loop-detector.ts";
import type { Net } from "./net.ts";

/** Rules for the tools of an agent. */
export interface CallRules {
  /** As persons see it. */
  readonly name?: string;
  readonly permissions?: PermissionPolicy;
  /** Asked before a call that needs permission; without one, such a call is denied. */
  readonly approve?: Approver;
  readonly ask?: HumanPort;
  /** Checks of the task, the answer and the calls: see `guard`. Default: none. */
  readonly guards?: readonly Guard[];
  /** Passed to tools as `ctx.deps`, never recorded. A role in mode `agent` passes those of its team. */
  readonly deps?: Deps;
  /** Calls of one reply that run at the same time. Default 4. */
  readonly parallelTools?: number;
}

/** Options of a brain. */
export interface BrainOptions<O = unknown> extends CallRules {
  readonly model: ChatModel;
  /** Default {@link react}. */
  readonly net?: Net;
  /** Default 30. */
  readonly maxSteps?: number;
  /** Characters of one result of a tool that the model reads. Events have it whole. Default: the `maxOutput` of each tool. */
  readonly maxObserve?: number;
  /** Default "auto". */
  readonly toolChoice?: NonNullable<ChatRequest["toolChoice"]>;
  /** The first message of every request but summaries. */
  readonly systemPrompt?: string;
  /** The last message of every request in which it decides what to do; never stored. */
  readonly nextStepPrompt?: string;
  /**
   * Returns what came meanwhile, such as the words of a user. It is called before each step but the first, and adds to the conversation; the
   * model reads it in that step. What comes during the last step is not asked for.
   */
  readonly news?: () => readonly ChatMessage[];
  /** A role's `ctx.steps`. Default: nothing is recorded. */
  readonly steps?: StepPort;
  readonly clock?: Clock;
  /**
   * Micro-dollars that all runs may spend together (see `usd`), or a shared pool. A model without a known price is refused then, unless
   * `calls: { requirePrice: false }`. Not with `steps`: there the budget of the role's run holds. Default: no bound.
   */
  readonly budget?: MicroUsd | BudgetPool;
  /** Tokens of requests and replies after which one run makes no further call. Default: no limit. */
  readonly tokenLimit?: number;
  /**
   * Bounds on model calls that no `steps` records. Options hold for all runs together; `modelLimits(...)` for all users of the same object.
   * Default: none.
   */
  readonly limits?: LimitOptions | ModelLimits;
  /** Retries, limits and timeouts of model calls that no `steps` records. */
  readonly calls?: Partial<CallPolicy>;
  /**
   * Schema of the answer as a value, read from its text; else the model is asked for it, three times at most. Default: the answer is text
   * alone.
   */
  readonly output?: AnySchema<O>;
  /** False: never. */
  readonly loops?: LoopOptions | false;
  readonly compaction?: CompactionOptions;
}

/** @internal */
export const brainOptions: Known<BrainOptions> = {
  ...kinds.each(kinds.text, "name", "systemPrompt", "nextStepPrompt"),
  permissions: kinds.object,
  guards: kinds.guards,
  calls: kinds.options(callPolicy),
  ...kinds.each(kinds.function, "approve", "ask", "news"),
  ...kinds.each(
    kinds.checked,
    "deps",
    "parallelTools",
    "model",
    "maxSteps",
    "maxObserve",
    "toolChoice",
    "budget",
    "tokenLimit",
    "limits",
    "loops",
    "compaction",
  ),
  output: kinds.schema,
  net: kinds.having("a net", "startOf", "state"),
  steps: kinds.steps,
  clock: kinds.clock,
};

/** @throws UsageError `AGENT_INVALID`, `LIMIT_INVALID`, `PERMISSION_INVALID`, `TOOL_CHOICE_INVALID` */
export function checkBrainLimits(options: Omit<BrainOptions, "model">): void {
  const { loops = {}, compaction = {}, budget, steps, calls, permissions, toolChoice } = options;
  if (permissions !== undefined) checkPolicy(permissions);
  if (toolChoice !== undefined) checkChoiceForm(toolChoice);
  if (loops !== false) checkKnownOptions("the option loops", loops, loopOptions);
  checkKnownOptions("the option compaction", compaction, compactionOptions);
  checkBudget(budget, "AGENT_INVALID");
  sharedLimits(options.limits);
  checkTuning({ retry: calls?.retry, timeouts: calls?.timeouts });
  if (budget !== undefined && steps !== undefined) {
    throw new UsageError(
      "AGENT_INVALID",
      "Expected either a budget or the steps of a role, got both: the budget of the run binds what the role records. Leave one of them out.",
    );
  }
  const { repeats, longest } = loops === false ? {} : loops;
  const counts: readonly (readonly [name: string, count: number | undefined, least: number])[] = [
    ["maxSteps", options.maxSteps, 1],
    ["maxObserve", options.maxObserve, 1],
    ["tokenLimit", options.tokenLimit, 1],
    ["parallelTools", options.parallelTools, 1],
    ["loops.repeats", repeats, 2],
    ["loops.longest", longest, 1],
    ["compaction.contextTokens", compaction.contextTokens, 1],
    ["compaction.keepResults", compaction.keepResults, 0],
    ["compaction.summaryWords", compaction.summaryWords, 1],
  ];
  for (const [name, count, least] of counts)
    if (count !== undefined && !(Number.isSafeInteger(count) && count >= least))
      throw invalid(`${name} to be a whole number of ${least} or more`, count);
  const { share } = compaction;
  if (share !== undefined && !(share > 0 && share <= 1)) throw invalid("compaction.share to be more than 0 and at most 1", share);
}

function invalid(expected: string, got: number): UsageError {
  return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${String(got)}. Leave it out for its default.`);
}
