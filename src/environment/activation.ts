import type { z } from "zod";
import type { AskOptions, CustomState, EffectDoor, Human, JoinMarks, RoleCard, RoleContext, StepOptions } from "../action/context.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Logger } from "../kernel/emit.ts";
import { type Random, randomStream } from "../kernel/random.ts";
import type { StepPort } from "../kernel/step.ts";
import { MemoryDraft } from "../memory/memory-draft.ts";
import type { MessageMemory } from "../memory/message-memory.ts";
import type { Plan } from "../memory/plan.ts";
import type { Message, MessageFields } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { ChatMessage } from "../model/chat-message.ts";
import type { SteppedModel } from "../model/stepped-model.ts";
import type { ReactLoop } from "../role/react-loop.ts";
import type { ActEnded, RecordedMemoryOp, Sent } from "../run/event.ts";
import { KnownMessages } from "../run/known-messages.ts";
import type { ActivationParts } from "./activation-parts.ts";
import { Asking } from "./asking.ts";
import { live } from "./life.ts";
import { Outbox } from "./outbox.ts";
import { PlanDraft } from "./plan-draft.ts";
import { recordedMemory } from "./recorded-memory.ts";
import { StateDraft } from "./state-draft.ts";

/**
 * One activation of one role: it observes, reacts, and what it did takes effect by one event, or not at all. It owns everything
 * the activation changed and has not committed. What it says is its outbox's, what it asks its {@link Asking}'s; the base state belongs to
 * the run.
 *
 * T1 nothing of an activation is visible to anyone before its `act.ended`. A1 ids, random numbers and `now()` are functions of
 * (seed, role, n) and recorded answers. A2 once closed, sends and memory writes throw.
 */
export class Activation implements RoleContext {
  readonly name: string;
  news: readonly Message[] = nothing;
  /** Local to the activation. @internal */
  loop: ReactLoop | undefined;
  readonly #parts: ActivationParts;
  readonly #inbox: readonly Message[];
  readonly #memory: MemoryDraft;
  #outbox: Outbox | undefined;
  #role: RoleCard | undefined;
  #joins: JoinMarks | undefined;
  #custom: StateDraft | undefined;
  #asking: Asking | undefined;
  #working: MemoryDraft | undefined;
  #plan: PlanDraft | undefined;
  #joined: Record<string, Readonly<Record<string, string>>> | undefined;
  #ids = 0;
  #random: Random | undefined;
  #closed = false;

  constructor(parts: ActivationParts) {
    this.#parts = parts;
    this.name = parts.state.name;
    this.#inbox = parts.state.news(parts.take);
    this.#memory = new MemoryDraft({ base: parts.state.memory, act: parts.act });
  }

  /** Frozen when somebody else looks at it. */
  get inbox(): readonly Message[] {
    return Object.freeze(this.#inbox);
  }

  get role(): RoleCard {
    const { card } = this.#parts.spec;
    return (this.#role ??= card.name === this.name ? card : { ...card, name: this.name });
  }

  get runId(): string {
    return this.#parts.host.runId;
  }

  get human(): Human {
    return this.#questions.human;
  }

  get joins(): JoinMarks {
    return (this.#joins ??= {
      consumed: (reaction) => this.#joined?.[reaction] ?? this.#parts.state.joins[reaction],
      consume: (reaction, inputs) => void ((this.#joined ??= {})[reaction] = inputs),
    });
  }

  /** See {@link live}. */
  live(): void | Promise<void> {
    return live(this, this.#parts, this.#inbox);
  }

  /** Nothing can be said, remembered, changed or asked any more. */
  close(): void {
    this.#closed = true;
    this.#outbox?.close();
    this.#memory.close();
    this.#working?.close();
    this.#custom?.close();
    this.#plan?.close();
  }

  /** What it changed is the run's now: who still reads here sees that. */
  settle(): void {
    this.#memory.settle();
    this.#working?.settle();
  }

  /**
   * Everything this activation changed.
   *
   * @param at when it began, where no record tells
   */
  ended(round: number, at: number): ActEnded {
    const { act, take, spec } = this.#parts;
    const said = this.#outbox?.sent ?? silence;
    const known = new KnownMessages(this.#inbox, said);
    const custom = this.#custom?.changes(this.name, spec.role.state);
    const plan = this.#plan?.changes();
    const memory = recordedMemory(this.#memory, known);
    const working = this.#working === undefined ? noOps : recordedMemory(this.#working, known);
    const summary = this.#asking?.newSummary;
    const ended = { type: "act.ended" as const, act, role: this.name, round, take, at, said, memory, working };
    if (custom === undefined && plan === undefined && this.#joined === undefined && summary === undefined) return ended;
    return {
      ...ended,
      ...(custom === undefined ? {} : { state: custom }),
      ...(plan === undefined ? {} : { plan }),
      ...(this.#joined === undefined ? {} : { joins: this.#joined }),
      ...(summary === undefined ? {} : { summary }),
    };
  }

  began(action: string): void {
    this.#parts.host.tell("action.started")?.({ type: "action.started", role: this.name, action });
  }

  get signal(): AbortSignal {
    return this.#parts.lifetime.signal;
  }

  /** The environment's logger; a warning is told to listeners too. */
  get logger(): Logger {
    const { host } = this.#parts;
    const { logger } = host;
    return {
      debug: (text) => logger.debug(text),
      info: (text) => logger.info(text),
      warn: (text) => host.warn(this.name, text),
      error: (text) => logger.error(text),
    };
  }

  get model(): SteppedModel {
    return this.#questions.model;
  }

  get steps(): StepPort {
    return this.#questions.steps;
  }

  get introduction(): string {
    return this.#parts.answerer.introduction(this.role);
  }

  get clock(): Clock {
    return this.#parts.answerer.clock;
  }

  get memory(): MessageMemory {
    return this.#memory;
  }

  get workingMemory(): MessageMemory {
    if (this.#working === undefined) {
      this.#working = new MemoryDraft({ base: this.#parts.state.workingMemory, act: this.#parts.act });
      if (this.#closed) this.#working.close();
    }
    return this.#working;
  }

  get important(): readonly Message[] {
    return this.#memory.getByActions(this.#parts.spec.watch);
  }

  get state(): CustomState {
    return this.#customState.view;
  }

  set state(state: CustomState) {
    this.#customState.replace(state);
  }

  get #customState(): StateDraft {
    if (this.#custom === undefined) {
      this.#custom = new StateDraft(this.#parts.state.custom, this.#parts.act);
      if (this.#closed) this.#custom.close();
    }
    return this.#custom;
  }

  get plan(): Plan {
    return this.#planned.plan;
  }

  set plan(plan: Plan) {
    this.#planned.replace(plan);
  }

  get #planned(): PlanDraft {
    if (this.#plan === undefined) {
      this.#plan = new PlanDraft(this.#parts.state.plan, this.#parts.act, this.name);
      if (this.#closed) this.#plan.close();
    }
    return this.#plan;
  }

  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends z.ZodType>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<z.infer<T>>;
  ask(prompt: string, o: AskOptions & { readonly schema?: z.ZodType } = {}): Promise<unknown> {
    return this.#questions.ask(prompt, o);
  }

  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o: StepOptions = {}): Promise<T> {
    return this.#questions.step(name, request, effect, o);
  }

  recall(about?: string): Promise<readonly ChatMessage[]> {
    return this.#questions.recall(about);
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    return this.#words.message(content, fields);
  }

  issue(message: Message, cause?: string): Message {
    return this.#words.issue(message, cause);
  }

  publish(message: Message, cause?: string): Receipt {
    return this.#words.publish(message, cause);
  }

  get #words(): Outbox {
    if (this.#outbox === undefined) {
      this.#outbox = new Outbox(this.#parts, this);
      if (this.#closed) this.#outbox.close();
    }
    return this.#outbox;
  }

  random(): number {
    this.#random ??= randomStream(this.#parts.host.seed, "role", this.name, this.#parts.state.n);
    return this.#random();
  }

  now(): number {
    return this.#parts.now;
  }

  id(): string {
    this.#ids += 1;
    return `${this.name}#${this.#parts.state.n}:${this.#ids}`;
  }

  get #questions(): Asking {
    return (this.#asking ??= new Asking(this.#parts, this));
  }
}

const noFields = Object.freeze({});
const silence: readonly Sent[] = Object.freeze([]);
const nothing: readonly Message[] = Object.freeze([]);
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
