import type { Deps } from "../kernel/deps.ts";
import type { Known } from "../kernel/known-options.ts";
import type { z } from "zod";
import type { BudgetPool } from "../kernel/budget.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { StepDoor, StepPort } from "../kernel/step.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Plan } from "./plan.ts";
import type { Task } from "../agent/task.ts";
import type { ReactLoop } from "./react.ts";
import type { Message, MessageFields, Receipt } from "../message/message.ts";
import type { ChatMessage, ImagePart } from "../model/chat-message.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { SteppedModel } from "../model/ask.ts";
import type { DeltaInfo } from "../model/told-text.ts";

/** Who a role is, as prompts and screens tell it. */
export interface RoleCard {
  readonly name: string;
  readonly profile: string;
  readonly goal: string;
  readonly constraints: string;
  readonly description: string;
}

/** How a model is asked. */
export interface AskOptions {
  /** Added to the system prompt, after the role's own introduction. */
  readonly system?: string;
  readonly images?: readonly ImagePart[];
  /** Instead of the role's or the team's model. */
  readonly model?: ChatModel;
  readonly temperature?: number;
  /** Most tokens of the reply. */
  readonly maxTokens?: number;
  /**
   * Of a role with a memory: what to look for in it, instead of the news; `false`: recall nothing. What an effect asks through its own
   * door, and what goes to `rc.model`, comes without.
   */
  readonly recall?: string | false;
  /**
   * Gets the reply in pieces while it comes; answered from a record, it gets one call with the whole text. A try that breaks is asked again,
   * and the next one tells its text from the beginning: `info.try` is another then, and `info.step` where a reply did not fit its schema
   * and was asked for again. {@link onVoid} says which text counts no more.
   */
  readonly onDelta?: (text: string, info: DeltaInfo) => void;
  /** Told that the text of a try counts no more: the try broke, or its reply did not fit the schema. Comes before any later text. */
  readonly onVoid?: (info: DeltaInfo) => void;
}

/** Their names. @internal */
export const askOptions: Known<AskOptions> = {
  system: true,
  images: true,
  model: true,
  temperature: true,
  maxTokens: true,
  recall: true,
  onDelta: true,
  onVoid: true,
};

/** How a side effect is recorded. */
export interface StepOptions {
  /** Whether it can simply run again when a crash left it unknown whether it happened. Default true. */
  readonly idempotent?: boolean;
  /** Recorded, but run again on resume, replay and fork: for writes into a workspace. Default false. */
  readonly again?: boolean;
  /** Its answer depends on more than its request says, as that of a read of files does: a fork asks anew, and takes none from its parent. Default false. */
  readonly fresh?: boolean;
}

/** Their names. @internal */
export const stepOptions: Known<StepOptions> = { idempotent: true, again: true, fresh: true };

/** A person who can be asked. */
export interface Human {
  /**
   * Asks and waits for the answer, which is recorded like a model's.
   *
   * @throws WaitingError when nobody is there: the run ends with status `waiting`.
   */
  ask(question: string): Promise<string>;
  /**
   * Puts a question to them that is recorded already, by a step of kind `human` with this id.
   *
   * @throws WaitingError as {@link ask}
   * @internal
   */
  answer(question: { readonly id: string; readonly text: string }, signal: AbortSignal): Promise<string>;
}

/** What the effect of a step is given: steps and questions that are part of it. */
export interface EffectDoor extends StepDoor {
  readonly ask: RoleContext["ask"];
  readonly human: Human;
  /**
   * The budget of this run with all that bind it, for a run or an agent that the effect starts: give it as their `budget`. What they
   * spend is part of the step's cost, so it is recorded with the step and is not paid or counted again when the run goes on.
   */
  readonly budget: BudgetPool;
}

/** What each reaction of a role consumed last: ids of messages by the name of the need. Changes take effect when the activation ends. */
export interface JoinMarks {
  /** @param reaction the reaction's place in the role's list */
  consumed(reaction: number): Readonly<Record<string, string>> | undefined;
  consume(reaction: number, inputs: Readonly<Record<string, string>>): void;
}

/** Custom state of a role in one run: plain JSON, changed in place, kept when the activation ends. */
export type CustomState = Record<string, unknown>;

/** The only thing a role may ask of its world. It belongs to one activation and is closed when that ends. */
export interface RoleContext<S = CustomState> {
  readonly role: RoleCard;
  /** The name the role was hired under. */
  readonly name: string;
  readonly runId: string;
  /** What was observed in this activation. */
  readonly news: readonly Message[];
  /** What this activation took from the mailbox. */
  readonly inbox: readonly Message[];
  readonly memory: MessageMemory;
  readonly workingMemory: MessageMemory;
  /** The remembered messages whose cause the role watches. */
  readonly important: readonly Message[];
  state: S;
  /**
   * The `deps` of the team or the environment.
   *
   * @throws UsageError `DEPS_MISSING` when it was given none
   */
  readonly deps: Deps;
  plan: Plan;
  readonly joins: JoinMarks;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * The role's model, or the team's, for what speaks to a model itself: each answer is a recorded step, bound by the budget. Neither the
   * role's introduction nor what it remembers is added. An effect takes it through its own door: `model.through(door)`.
   *
   * @throws UsageError `MODEL_MISSING` when there is none
   */
  readonly model: SteppedModel;
  /**
   * What the role remembers of something, as messages for its model: what {@link ask} puts before a question by itself. Default: of the news.
   * A role without the option `memory` recalls nothing.
   */
  recall(about?: string): Promise<readonly ChatMessage[]>;
  /** The door of this activation, for what records its side effects itself; see {@link step} for all others. */
  readonly steps: StepPort;
  /**
   * Asks the model: the role's introduction as system prompt, then `prompt`.
   *
   * @throws ModelError, OutputError, ControlError
   */
  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends z.ZodType>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<z.infer<T>>;
  /**
   * Any other side effect: runs once, is recorded, and is answered from the record afterwards. Its result must be JSON.
   * What the effect asks and does goes through the door it is given, and is part of its step.
   *
   * @throws StepError when the effect failed, now or in the record.
   */
  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o?: StepOptions): Promise<T>;
  /** A message of this activation: its cause, sender, parents, id and time are filled in. It is not published yet. */
  message<P = unknown>(content: string, fields?: MessageFields<P>): Message<P>;
  /**
   * A message made elsewhere, as this activation says it: id, time and parents are the activation's, its explicit cause and
   * sender are kept. A message of this activation is given back as it is.
   */
  issue(message: Message, cause?: string): Message;
  /** Issues a message and publishes it when the activation ends. The receipt tells who will hear it. */
  publish(message: Message, cause?: string): Receipt;
  /** A number in [0, 1) from the role's own stream; the same in every run of one seed. */
  random(): number;
  /** Milliseconds: the time of the last released answer, or of the activation's start. */
  now(): number;
  /** An id that is unique in the run and the same in every run of one seed. */
  id(): string;
  readonly human: Human;
  /** Who the role is and with whom it works, as its model is told. */
  readonly introduction: string;
  /** {@link deps}, undefined where there are none: what the tools of the role get. @internal */
  readonly toolDeps?: Deps | undefined;
  /** For limits of time alone: nothing that a run is may depend on it. @internal */
  readonly clock: Clock;
  /** Where the activation stands in its loop of thinking and acting. @internal */
  loop?: ReactLoop | undefined;
  /** Told which action begins. @internal */
  began?(action: string): void;
  /** Told what an action threw. @internal */
  broke?(action: string, error: unknown): void;
}

/** What an action is given: the role's context and what it shall work on. */
export interface ActionContext<Inputs = readonly Message[], S = CustomState> extends RoleContext<S> {
  /** Name of the action that runs. */
  readonly action: string;
  /** The newest message of each of the action's `needs`, in their order. */
  readonly inputs: Inputs;
  /**
   * What to work on, as a prompt can say it: the contents of the news, joined by blank lines. In a plan: its goal, the results of the
   * tasks this one depends on, the news that came since the plan was made, and the task's instruction, each under a title. The
   * instruction alone is `task.instruction`.
   */
  readonly text: string;
  /** The task of the plan this action works on, in mode `plan_and_act`. */
  readonly task?: Task;
}
