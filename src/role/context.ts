import type { AnySchema, ValueOf } from "../model/standard-schema.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import type { Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { RandomStream } from "../kernel/random.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Guard } from "../tool/guard.ts";
import type { Plan } from "./plan.ts";
import type { Task } from "../agent/task.ts";
import type { ReactLoop } from "./react.ts";
import type { RoleSpec } from "./role-spec.ts";
import type { MessageFile } from "../message/file.ts";
import type { Message, MessageFields, Receipt } from "../message/message.ts";
import type { ChatMessage, ImagePart } from "../model/chat-message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { SteppedModel } from "../model/ask.ts";
import type { Meter } from "../model/meter.ts";
import type { DeltaInfo } from "../model/streamed-text.ts";
import type { Human } from "./human.ts";
import type { Until, WaitForOptions } from "./wait.ts";
import type { Json } from "../kernel/json.ts";

/** The identity of a role, as prompts and user interfaces show it. */
export interface RoleCard {
  readonly name: string;
  readonly profile: string;
  readonly goal: string;
  readonly constraints: string;
  readonly description: string;
}

/** Options of a question to a model. */
export interface AskOptions {
  /** Added to the system prompt, after the role's own introduction. */
  readonly system?: string;
  /** Default in an action: the files of its news. */
  readonly images?: readonly ImagePart[];
  /** Replaces the role's or the team's model. */
  readonly model?: ChatModel;
  readonly temperature?: number;
  /** Limit on the tokens of the reply. */
  readonly maxTokens?: number;
  /** For a role with a memory: the string to search for, instead of the news; `false` recalls nothing. */
  readonly recall?: string | false;
  /**
   * Called with the pieces of the reply as they arrive; for a recorded answer once, with the whole. A failed try is repeated from the
   * beginning: then `info.try` differs, and `info.step` if a reply did not fit its schema.
   */
  readonly onDelta?: (text: string, info: DeltaInfo) => void;
  /** Called when the pieces of a try are void: the try failed, or its reply did not fit the schema. */
  readonly onVoid?: (info: DeltaInfo) => void;
}

export const askOptions: Known<AskOptions> = {
  system: kinds.text,
  images: kinds.list(kinds.object),
  model: kinds.model,
  temperature: kinds.number,
  maxTokens: kinds.count,
  recall: kinds.either(kinds.text, kinds.oneOf(false)),
  onDelta: kinds.function,
  onVoid: kinds.function,
};

/** Options of recording a side effect. */
export interface StepOptions {
  /** True if it may run again after a crash when its outcome is unknown. Default true. */
  readonly idempotent?: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default false. */
  readonly again?: boolean;
  /** The answer depends on more than the request, as in a file read, so a fork takes no answer from its parent. Default false. */
  readonly fresh?: boolean;
}

export const stepOptions: Known<StepOptions> = { idempotent: kinds.boolean, again: kinds.boolean, fresh: kinds.boolean };

/** The access of an effect to steps and questions that are part of it. */
export interface EffectDoor extends StepDoor {
  readonly ask: RoleContext["ask"];
  readonly human: Human;
  /** The budget of this run with all its bounds, for runs and agents that the effect starts. Their spending is part of the step's cost. */
  readonly budget: BudgetPool;
}

/** The values of the program for roles and tools; never recorded. */
export interface GivenValues {
  readonly deps: Deps | undefined;
  readonly context: RunContext | undefined;
  readonly guards: readonly Guard[] | undefined;
}

export interface JoinMarks {
  /** @param reaction the index of the reaction in the role's list */
  consumed(reaction: number): Readonly<Record<string, string>> | undefined;
  consume(reaction: number, inputs: Readonly<Record<string, string>>): void;
}

/** Custom state of a role in one run: plain JSON, changed in place, committed when the activation ends. */
export type CustomState = Record<string, unknown>;

/** The interface of a role to its surroundings. It belongs to one activation and is closed when that ends. */
export interface RoleContext<S = CustomState> {
  readonly role: RoleCard;
  /** The name the role was hired under. */
  readonly name: string;
  readonly runId: string;
  /** The news of this activation. */
  readonly news: readonly Message[];
  /** The messages that this activation took from the mailbox. */
  readonly inbox: readonly Message[];
  readonly memory: MessageMemory;
  readonly workingMemory: MessageMemory;
  /** The remembered messages whose cause the role watches. */
  readonly important: readonly Message[];
  state: S;
  /** The `deps` of the team or the environment. @throws UsageError `DEPS_MISSING` */
  readonly deps: Deps;
  /** The `context` of this run, as the caller gave it. @throws ControlError `CONTEXT_MISSING`: the run ends as `stopped`, and can be resumed with a context */
  readonly context: RunContext;
  plan: Plan;
  readonly joins: JoinMarks;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * The action's model, else the role's, else the team's, for code that calls a model itself: each answer is a recorded step, bounded by the
   * budget. An effect uses it through its own port: `model.through(door)`.
   *
   * @throws UsageError `MODEL_MISSING`
   */
  readonly model: SteppedModel;
  /** As {@link model}, of another model. @internal */
  modelOf?(model: ChatModel): SteppedModel;
  /** Returns the memories about a string, as {@link ask} adds them to a question of a role with `memory`. Default: about the news. */
  recall(about?: string): Promise<readonly ChatMessage[]>;
  /** The step port of this activation, for code that records its own side effects; others use {@link step}. */
  readonly steps: StepPort;
  /** Asks the model: the role's introduction as system prompt, then `prompt`. @throws ModelError, OutputError, ControlError */
  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends AnySchema>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<ValueOf<T>>;
  /**
   * Runs any other side effect once, records it, and answers from the record afterwards. Its result must be JSON. Questions and steps of
   * the effect must use the port passed to it, and are part of its step.
   *
   * @throws StepError when the effect failed, now or in the record
   */
  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o?: StepOptions): Promise<T>;
  /** Returns a message of this activation: its cause, sender, parents, id and time are filled in. It is not published yet. */
  message<P = unknown>(content: string, fields?: MessageFields<P>): Message<P>;
  /** Returns the bytes of a file of a message. @throws UsageError `FILE_UNKNOWN` for a file that this run does not have */
  file(file: MessageFile): Promise<Uint8Array>;
  /** Returns a message made elsewhere as one of this activation: with its id, time and parents, and the message's explicit cause and sender. */
  issue(message: Message, cause?: string): Message;
  /** Issues a message and publishes it when the activation ends. The receipt lists its recipients. */
  publish(message: Message, cause?: string): Receipt;
  /**
   * As `publish`, for a message that is delivered `delay` ticks after the activation has ended. A tick is a unit of the run's clock: see
   * `ClockKind`. 0 and 1 act like `publish`; with the clock `time` only 0 does.
   *
   * @throws UsageError `DELAY_INVALID`
   */
  publishAfter(delay: number, message: Message, cause?: string): Receipt;
  /** Returns a number in [0, 1) from the role's own stream; the same in every run of one seed. */
  random(): number;
  /**
   * Returns the activation's stream of that name: a function of the seed, the role's name, its activation count, and the name. Draws from
   * other streams, or by {@link random}, do not change it.
   *
   * @throws UsageError `STREAM_TAKEN` for a name used before in this activation
   */
  stream(name: string): RandomStream;
  /** Returns milliseconds: the time of the last released answer, or of the activation's start. */
  now(): number;
  /** Returns an id that is unique in the run and the same in every run of one seed. */
  id(): string;
  /**
   * Waits until a time, also of another day: the run ends as `waiting` where only waits are left, and no process holds it. A time of the past
   * is over at once. The option `wait` of the run, a server or a worker of a fleet continues the run when the time has come.
   *
   * @throws UsageError `WAIT_INVALID`
   */
  sleep(until: Until): Promise<void>;
  /**
   * Waits for a signal of this name, as {@link sleep} waits for a time, and returns its value. A signal is sent by `run.signal`, `team.signal`,
   * a client of a server, or `troupe signal`. One that came before is kept for the wait; one that comes after the timeout is not for it. Each ends one wait.
   *
   * @throws UsageError `WAIT_INVALID`, `OPTION_UNKNOWN`, `SCHEMA_UNSUPPORTED` for a schema without a JSON form
   * @throws TimeoutError `WAIT_TIMEOUT` when the timeout has passed
   * @throws OutputError `OUTPUT_INVALID` for a value that breaks a rule without a JSON form, such as a `refine`
   */
  waitFor(name: string, o?: Omit<WaitForOptions, "schema">): Promise<Json>;
  waitFor<T extends AnySchema>(name: string, o: WaitForOptions & { readonly schema: T }): Promise<ValueOf<T>>;
  readonly human: Human;
  /** The role's identity and its colleagues, as in the prompt of its model. */
  readonly introduction: string;
  /** The values for the tools of the role. @internal */
  readonly given?: GivenValues | undefined;
  /** For code of the activation that starts agents, flows and teams, or asks other models. @internal */
  readonly meter?: Meter | undefined;
  /** For time limits only: the record of a run must not depend on it. @internal */
  readonly clock: Clock;
  /** The resolved role. @internal */
  readonly spec?: RoleSpec;
  /** The state of the activation's loop of thinking and acting. @internal */
  loop?: ReactLoop | undefined;
  /** Messages from outside that came for the role before its last answer was recorded, and that it does not remember yet. @internal */
  heard?(): readonly Message[];
  /** Called when an action starts. @internal */
  actionStarted?(action: string): void;
  /** Called with the error of an action. @internal */
  actionFailed?(action: string, error: unknown): void;
}

/** The context of an action: the role's context with the input of the action. */
export interface ActionContext<Inputs = readonly Message[], S = CustomState> extends RoleContext<S> {
  /** Name of the action that runs. */
  readonly action: string;
  /** The newest message of each of the action's `needs`, in their order. */
  readonly inputs: Inputs;
  /**
   * The input as a prompt: the contents of the news, joined by blank lines. In a plan: its goal, the results of the tasks this one depends
   * on, the news that came since the plan was made, and the task's instruction, each under a title. The instruction alone is
   * `task.instruction`.
   */
  readonly text: string;
  /** The task of the plan that the action runs, in mode `plan_and_act`. */
  readonly task?: Task;
}
