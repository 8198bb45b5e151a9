import type { Action, InputsOf } from "../action/action.ts";
import type { ActionContext, AskOptions, CustomState, Human, JoinMarks, RoleCard, RoleContext, StepOptions } from "../action/context.ts";
import { UsageError } from "../kernel/errors.ts";
import type { Logger } from "../kernel/emit.ts";
import type { StepDoor } from "../kernel/step.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Plan } from "../memory/plan.ts";
import type { Task } from "../memory/task.ts";
import { type Address, addressOf } from "../message/address.ts";
import type { Message, MessageFields } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { z } from "zod";

/** What an action shall work on, where it differs from the whole news. */
export interface Work {
  readonly news?: readonly Message[];
  readonly text?: string;
  readonly task?: Task;
}

/** A role's context as one action sees it. Everything but `action`, `news`, `inputs`, `text` and `task` is the role's own. */
export class ActionView<N extends readonly Address[], S = CustomState> implements ActionContext<InputsOf<N>, S> {
  readonly action: string;
  readonly news: readonly Message[];
  readonly text: string;
  declare readonly task?: Task;
  readonly #rc: RoleContext<S>;
  readonly #needs: N;
  #inputs: InputsOf<N> | undefined;

  constructor(rc: RoleContext<S>, action: Action<unknown, N>, work: Work) {
    this.#rc = rc;
    this.#needs = action.needs;
    this.action = action.name;
    this.news = work.news ?? rc.news;
    this.text = work.text ?? this.news.map((message) => message.content).join("\n\n");
    if (work.task !== undefined) this.task = work.task;
  }

  /** @throws UsageError `NEEDS_MISSING` when nothing caused by one of the needs is remembered. */
  get inputs(): InputsOf<N> {
    this.#inputs ??= this.#needs.map((need) => this.#newest(need)) as unknown as InputsOf<N>;
    return this.#inputs;
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

  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends z.ZodType>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<z.infer<T>>;
  ask(prompt: string, o?: AskOptions): Promise<unknown> {
    return this.#rc.ask(prompt, o);
  }

  step<T>(name: string, request: unknown, effect: (door: StepDoor) => Promise<T>, o?: StepOptions): Promise<T> {
    return this.#rc.step(name, request, effect, o);
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = {}): Message<P> {
    return this.#rc.message(content, { ...fields, causeBy: fields.causeBy ?? this.action, parents: fields.parents ?? this.news.map(idOf) });
  }

  issue(message: Message, cause: string = this.action): Message {
    return this.#rc.issue(message, cause);
  }
  publish(message: Message, cause: string = this.action): Receipt {
    return this.#rc.publish(message, cause);
  }
  random(): number {
    return this.#rc.random();
  }
  now(): number {
    return this.#rc.now();
  }
  id(): string {
    return this.#rc.id();
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

function idOf(message: Message): string {
  return message.id;
}
