import type { Deps } from "../kernel/deps.ts";
import type { Action, InputsOf } from "./action.ts";
import type { ActionContext, AskOptions, CustomState, Human, JoinMarks, RoleCard, RoleContext } from "./context.ts";
import { NotJsonError, UsageError } from "../kernel/errors.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import type { StepPort } from "../kernel/step.ts";
import { canonicalJson } from "../kernel/json.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Plan } from "./plan.ts";
import type { Task } from "../agent/task.ts";
import { type Address, addressOf } from "../message/address.ts";
import type { Message, MessageFields } from "../message/message.ts";
import type { SteppedModel } from "../model/ask.ts";
import type { z } from "zod";

/** The input of an action, where it differs from the whole news. */
export interface Work {
  readonly news?: readonly Message[];
  readonly text?: string;
  readonly task?: Task;
}

/**
 * A role's context as one action sees it. Every member but `action`, `news`, `inputs`, `text` and `task` is the role's own. Its functions
 * are bound when they are read, so that an action can destructure it: `run: ({ ask, text }) => ask(text)`.
 */
export class ActionView<N extends readonly Address[], S = CustomState> implements ActionContext<InputsOf<N>, S> {
  readonly action: string;
  readonly news: readonly Message[];
  readonly text: string;
  declare readonly task?: Task;
  readonly #rc: RoleContext<S>;
  readonly #does: Action<unknown, N>;
  /** Made with its first value: most actions read no inputs, and get no typed answers. */
  #kept: Kept<N> | undefined;

  constructor(rc: RoleContext<S>, action: Action<unknown, N>, work: Work) {
    const { news = rc.news, text, task } = work;
    this.#rc = rc;
    this.#does = action;
    this.action = action.name;
    this.news = news;
    this.text = text ?? (news.length === 1 ? (news[0] as Message).content : news.map(({ content }) => content).join("\n\n"));
    if (task !== undefined) this.task = task;
  }

  /** @throws UsageError `NEEDS_MISSING` when no message caused by one of the needs is remembered. */
  get inputs(): InputsOf<N> {
    const kept = (this.#kept ??= new Kept());
    return (kept.inputs ??= this.#does.needs.map((need) => this.#newest(need)) as unknown as InputsOf<N>);
  }

  get role(): RoleCard {
    return this.#rc.role;
  }
  get name(): string {
    return this.#rc.name;
  }
  get runId(): string {
    return this.#rc.runId;
  }
  get inbox(): readonly Message[] {
    return this.#rc.inbox;
  }
  get memory(): MessageMemory {
    return this.#rc.memory;
  }
  get workingMemory(): MessageMemory {
    return this.#rc.workingMemory;
  }
  get important(): readonly Message[] {
    return this.#rc.important;
  }
  get state(): S {
    return this.#rc.state;
  }
  set state(value: S) {
    this.#rc.state = value;
  }
  get deps(): Deps {
    return this.#rc.deps;
  }
  get plan(): Plan {
    return this.#rc.plan;
  }
  set plan(value: Plan) {
    this.#rc.plan = value;
  }
  get joins(): JoinMarks {
    return this.#rc.joins;
  }
  get signal(): AbortSignal {
    return this.#rc.signal;
  }
  get logger(): Logger {
    return this.#rc.logger;
  }
  get human(): Human {
    return this.#rc.human;
  }
  get model(): SteppedModel {
    return this.#rc.model;
  }
  get steps(): StepPort {
    return this.#rc.steps;
  }
  get introduction(): string {
    return this.#rc.introduction;
  }
  get clock(): Clock {
    return this.#rc.clock;
  }

  get ask(): RoleContext<S>["ask"] {
    return ((prompt: string, o?: AskOptions & { readonly schema?: z.ZodType }): Promise<unknown> => {
      const answer: Promise<unknown> = this.#rc.ask(prompt, o);
      return o?.schema === undefined || o.schema !== this.#does.output ? answer : answer.then((value) => this.#remembered(value));
    }) as RoleContext<S>["ask"];
  }
  get step(): RoleContext<S>["step"] {
    return (name, request, effect, o) => this.#rc.step(name, request, effect, o);
  }
  get recall(): RoleContext<S>["recall"] {
    return (about) => this.#rc.recall(about);
  }
  get message(): RoleContext<S>["message"] {
    return <P>(content: string, fields: MessageFields<P> = noFields) => {
      const { instructContent, role, sentFrom, sendTo, metadata, causeBy = this.action } = fields;
      // The context takes the whole news by itself.
      const parents = fields.parents ?? (this.news === this.#rc.news ? undefined : this.news.map(idOf));
      // Every message of an action passes here, and a spread costs more than this list. Undefined members are left out.
      const all = { instructContent, role, causeBy, sentFrom, sendTo, parents, metadata };
      return this.#rc.message(content, all as MessageFields<P>);
    };
  }
  get issue(): RoleContext<S>["issue"] {
    return (message, cause = this.action) => this.#rc.issue(message, cause);
  }
  get publish(): RoleContext<S>["publish"] {
    return (message, cause = this.action) => this.#rc.publish(message, cause);
  }
  get random(): RoleContext<S>["random"] {
    return () => this.#rc.random();
  }
  get now(): RoleContext<S>["now"] {
    return () => this.#rc.now();
  }
  get id(): RoleContext<S>["id"] {
    return () => this.#rc.id();
  }

  /** True when `ask` returned this very value for the action's own output schema: then it is valid. */
  isAnswer(value: unknown): boolean {
    return this.#kept?.answers.has(value) === true;
  }

  /** True when a message's payload equals a value that {@link isAnswer} knows: a message holds a copy. */
  isAnswered(payload: unknown): boolean {
    return this.#kept !== undefined && [...this.#kept.answers].some((answer) => isSameJson(answer, payload));
  }

  #remembered(answer: unknown): unknown {
    (this.#kept ??= new Kept()).answers.add(answer);
    return answer;
  }

  #newest(need: Address): Message {
    const newest = this.memory.newestBy(need);
    if (newest !== undefined) return newest;
    throw new UsageError(
      "NEEDS_MISSING",
      `Action ${this.action} of ${this.name} needs a message caused by ${addressOf(need)}, but none is remembered. Watch ${addressOf(need)}, or use a reaction that waits for it.`,
    );
  }
}

/** The inputs and the answers that a view keeps. */
class Kept<N extends readonly Address[]> {
  inputs: InputsOf<N> | undefined;
  readonly answers = new Set<unknown>();
}

const noFields = Object.freeze({});

function idOf(message: Message): string {
  return message.id;
}

/** True for two values with the same JSON. A value without a JSON form equals none. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other;
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch (error) {
    if (error instanceof NotJsonError) return false;
    throw error;
  }
}
