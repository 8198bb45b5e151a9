import type { Shape } from "../kernel/argument.ts";
import type { Known } from "../kernel/known-options.ts";
import { valueText } from "../kernel/value-text.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { Guard } from "../tool/guard.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import { anEffectPort, type EffectPort } from "../kernel/effect.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { Role } from "../role/role.ts";
import { type RoleMemoryOptions, checkRoleMemory } from "../memory/role-memory.ts";
import { type CallTuning, checkTuning } from "../model/call.ts";
import type { ChatModel } from "../model/chat-model.ts";
import { type LimitOptions, type ModelLimits, sharedLimits } from "../model/limits.ts";
import type { PriceTable } from "../model/price.ts";
import { type FailurePolicy, isFailurePolicy } from "../role/failure-policy.ts";
import { type Mailbox, checkMailbox } from "../message/mailbox.ts";
import type { HumanPort } from "../tool/approval.ts";
import { type EdgeDecisions, type EdgePolicy, checkEdges } from "./edges/edge-policy.ts";
import { type ArrivalOrder, type SchedulerOption, schedulerOf } from "./schedulers/scheduler.ts";
import type { StopCondition } from "./stop-condition.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { Funds } from "../model/funds.ts";
import type { AnswerSource } from "./steps/answer-source.ts";
import type { SnapshotWriterParts } from "./snapshot/snapshot.ts";
import type { OwnRun } from "./own-run.ts";
import type { Journal } from "./record/journal.ts";
import type { OwnedRun } from "./record/run-log.ts";
import type { RunState } from "./record/run-state.ts";
import type { ObserverRegistry } from "./observers.ts";
import type { Driver } from "./schedulers/drive.ts";
import { UsageError } from "../kernel/errors.ts";
import { checkModel } from "../kernel/foreign-models.ts";

export const DEFAULT_CONCURRENCY = 16;
export const DEFAULT_ROUNDS = 100;
export const DEFAULT_MESSAGE_LIMIT = 1_000_000;

/** Options of an environment. All have defaults. */
export interface EnvironmentOptions {
  /** Describes the surroundings of the roles in prompts. */
  readonly description?: string;
  /** The model of roles without an own model. Needed only if an action asks a model. */
  readonly model?: ChatModel;
  /** Models by the names of roles, which override a role's own. A name that no role has is ignored. */
  readonly models?: Readonly<Record<string, ChatModel>>;
  /**
   * Memory of roles beyond the messages of their run, unless a role has its own options. Default: none. With `false` no message is kept
   * once its recipients have acted. History and `result.messages` stay empty, and so does the memory of every role without own options,
   * except for the news while the role acts. Outputs and dead letters are kept. Use it for runs whose messages would fill the memory.
   */
  readonly memory?: RoleMemoryOptions | false;
  /** Default: random. */
  readonly seed?: string | number;
  readonly clock?: Clock;
  /** Chooses the roles that act next, by name or as an object: see {@link SchedulerName}. Default `rounds`. */
  readonly scheduler?: SchedulerOption;
  /** The order of messages that arrive together in a mailbox: see {@link ArrivalOrder}. Default `hire`. */
  readonly delivery?: ArrivalOrder;
  /** Limit on concurrent activations. Default 16. */
  readonly concurrency?: number;
  /** Default `stop`. */
  readonly onFailure?: FailurePolicy;
  /**
   * A message to an address of no role is a dead letter with a warning (`warn`), or fails its activation by the UsageError `ADDRESS_UNKNOWN`, which
   * an agent's model sees (`fail`). Default `warn`.
   */
  readonly onDeadAddress?: "warn" | "fail";
  readonly human?: HumanPort;
  /** Default: warnings and errors go to stderr, see {@link Logger}. */
  readonly logger?: Logger;
  /** Prices that override the table. */
  readonly prices?: PriceTable;
  /** Bounds on model calls: options for all runs of the environment or team, `modelLimits(...)` for all that share the object. Default: none. */
  readonly limits?: LimitOptions | ModelLimits;
  /** Retries and time limits of model calls. A model's own time limits take precedence. */
  readonly calls?: CallTuning;
  /** Dependencies that roles get as `ctx.deps`: see {@link Deps}. Never recorded. Default: none. */
  readonly deps?: Deps;
  /** Checks of the input, the output and the tool calls of every role, before those of the role: see `guard`. Default: none. */
  readonly guards?: readonly Guard[];
  /** Runs the effects of steps, for example `remoteEffects(...)` of `troupe/fleet` on other machines. Default: in this process. */
  readonly effects?: EffectPort;
  /** Keeps a record of the run, as for a team. Every `run` records an end; the next one continues. No other process can write meanwhile. Default: none. */
  readonly journal?: Journal;
  /** The id of the run in the journal. Default: a new one. */
  readonly id?: string;
  /**
   * Milliseconds after which an unrepeated call that a crash interrupted counts as free, when its run is resumed, answered, or found by a starting
   * server. Default never: its worst case counts as spent until `Team.settle`.
   */
  readonly uncertainAfter?: number;
  /** Strings that must never be recorded, besides those that look like a key. */
  readonly secrets?: readonly string[];
  /** Limit on the characters of one message. Default 1,000,000. */
  readonly messageLimit?: number;
  /** Policies of loss, delay and other faults for messages of roles, in their order: see `troupe/edges`. Default: messages arrive as sent. */
  readonly edges?: readonly EdgePolicy[];
  /** Bounds the mailboxes of all roles without an own bound. Default: 1,000,000 messages; more are refused. */
  readonly mailbox?: Mailbox;
}

function advised(shape: Shape, todo = "Leave it out for the default."): Shape {
  return { ...shape, advice: (value) => ({ got: valueText(value), todo }) };
}

export const environmentOptions: Known<EnvironmentOptions> = {
  ...kinds.each(kinds.checked, "memory", "scheduler", "limits", "calls", "deps", "edges", "mailbox"),
  ...kinds.each(kinds.text, "description", "id"),
  ...kinds.each(advised(kinds.size), "concurrency", "messageLimit"),
  model: kinds.model,
  models: advised(kinds.object, 'Write models: { Alex: openai({ model: "..." }) }.'),
  seed: advised(kinds.seed),
  clock: kinds.clock,
  delivery: advised(kinds.oneOf("hire", "shuffled", "sender")),
  onFailure: advised({ says: '"stop", "skip" or retry(n)', fits: isFailurePolicy }),
  onDeadAddress: advised(kinds.oneOf("warn", "fail")),
  guards: kinds.guards,
  human: advised(kinds.function, "Write human: (question) => answer, or leave it out: then questions wait."),
  logger: kinds.logger,
  prices: kinds.record(kinds.price),
  effects: advised(anEffectPort, "Make one by remoteEffects(...) of troupe/fleet."),
  journal: kinds.journal,
  uncertainAfter: advised(kinds.count, "Leave it out to wait for ever."),
  secrets: kinds.secrets,
};

/** The record of an environment, from which it is restored. */
export interface EnvironmentRecord {
  readonly journal: Journal;
  /** The id of its run. */
  readonly id: string;
}

/** Options of a restored environment. The snapshot has its seed, its mailboxes and whether it keeps a history. */
export interface RestoreOptions extends Omit<EnvironmentOptions, "seed" | "mailbox" | "memory" | "journal" | "id"> {
  /** Definitions of all roles of the snapshot, by their own names. */
  readonly roles: Iterable<Role>;
  /** Memory of roles beyond the messages of their run, as it was. Default: none. */
  readonly memory?: RoleMemoryOptions;
}

const { seed: _seed, mailbox: _mailbox, journal: _journal, id: _id, ...givenAgain } = environmentOptions;

export const restoreOptions: Known<RestoreOptions> = { ...givenAgain, roles: kinds.iterable("roles") };

/** Options of one run of an environment. All have defaults. */
export interface EnvironmentRunOptions {
  /** Limit on further rounds; without rounds, on all activations of one role. Infinity needs a `signal`. Default 100. */
  readonly rounds?: number;
  /** Limit on further ticks of the clock, with status `stopped`: nothing happens later than this time. Default: none. */
  readonly ticks?: number;
  /** Stops the run with status `stopped`. Called after every round or, without rounds, every activation, and when the run is resumed. */
  readonly stopWhen?: StopCondition;
  /** Stops the run with status `stopped` when it aborts. Activations under way stay open, and the next run continues them. */
  readonly signal?: AbortSignal;
}

export const environmentRunOptions: Known<EnvironmentRunOptions> = {
  rounds: kinds.rounds,
  ticks: kinds.ticks,
  stopWhen: kinds.function,
  signal: kinds.signal,
};

export interface RunBacking {
  readonly state?: RunState;
  readonly own?: OwnRun;
  /** True if the environment records its own start, and the roles hired later. Default: true without a given state. */
  readonly opens?: boolean;
  readonly observers?: ObserverRegistry;
  readonly owned?: OwnedRun;
  /** Has the files of the run, if `owned` does not. */
  readonly filesOf?: Pick<Journal, "file">;
  /** Accounts with the pools that bound the run. */
  readonly funds?: Funds | undefined;
  readonly requirePrice?: boolean;
  readonly context?: RunContext | undefined;
  readonly resumed?: () => Promise<void> | undefined;
  /** Another source of answers to steps. Default: none. */
  readonly past?: AnswerSource;
  /** Default `live`. */
  readonly mode?: StepDoor["mode"];
  /** Replaces the scheduler in a replay. */
  readonly driver?: Driver;
  /** Called after every event that became durable. */
  readonly grew?: () => void;
  /** Replaces the edge policies in a replay. */
  readonly edges?: EdgeDecisions;
  /** Snapshots of the state in the journal. Default: none. */
  readonly snapshots?: Pick<SnapshotWriterParts, "clock" | "every" | "last">;
}

/** Checks the options whose tables do not know all their rules. */
export function checkOptions({ scheduler, models = {}, limits, calls, memory, mailbox, edges }: EnvironmentOptions): void {
  if (scheduler !== undefined) schedulerOf(scheduler);
  for (const [role, model] of Object.entries(models)) checkModel("OPTION_INVALID", `models.${role}`, model);
  sharedLimits(limits);
  checkTuning(calls);
  checkRoleMemory(memory);
  checkMailbox(mailbox);
  checkEdges(edges);
}

export function checkWhole(value: number, name: string, least: number, todo = "Leave it out for the default."): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new UsageError("OPTION_INVALID", `Expected ${name} to be a whole number of ${least} or more, got ${valueText(value)}. ${todo}`);
}
