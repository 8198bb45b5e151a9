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
import type { RecordedMemoryOp, Sent } from "../run/event.ts";
import type { RoleState } from "../run/role-state.ts";
import type { ToldEnd } from "../run/told-end.ts";
import { Asking } from "./asking.ts";
import { Attempt } from "./attempt.ts";
import type { Definition } from "./hired-roles.ts";
import { live } from "./life.ts";
import { Outbox } from "./outbox.ts";
import { PlanDraft } from "./plan-draft.ts";
import { knownMemory, recordedMemory } from "./recorded-memory.ts";
import { StateDraft } from "./state-draft.ts";
import type { TurnTools } from "./turn-tools.ts";

/**
 * One activation of one role: it observes, reacts, and what it did takes effect by one event, or not at all. It owns everything
 * the activation changed and has not committed. What it says is its outbox's, what it asks its {@link Asking}'s; the base state belongs to
 * the run.
 *
 * T1 nothing of an activation is visible to anyone before its `act.ended`. A1 ids, random numbers and `now()` are functions of
 * (seed, role, n) and recorded answers. A2 once closed, sends and memory writes throw.
 */
export class Activation implements RoleContext {
  /** @internal */
  readonly act: string;
  /** @internal */
  readonly take: number;
  /** @internal */
  readonly at: number;
  /** @internal */
  readonly beganAt: number | undefined;
  news: readonly Message[] = nothing;
  readonly #tools: TurnTools;
  readonly #hired: Definition;
  readonly #state: RoleState;
  readonly #inbox: readonly Message[];
  readonly #memory: MemoryDraft;
  #outbox: Outbox | undefined;
  #attempt: Attempt | undefined;
  #more: More | undefined;
  #closed = false;

  constructor(tools: TurnTools, hired: Definition, role: RoleState) {
    const { open } = role;
    const now = tools.clock.now();
    this.act = open?.act ?? role.nextAct;
    this.take = open?.take ?? role.retake ?? role.waiting;
    this.at = open?.at ?? tools.past.startOf(this.act) ?? now;
    this.beganAt = this.at === now ? undefined : now;
    this.#tools = tools;
    this.#hired = hired;
    this.#state = role;
    this.#inbox = role.news(this.take);
    this.#memory = new MemoryDraft({ base: role.memory, act: this.act });
  }

  /** Made when something waits in it, or fails. @internal */
  get attempt(): Attempt {
    return (this.#attempt ??= new Attempt(this.#tools, this.#hired, this.#state, this, this.#closed));
  }

  /** Whether something waited in it, or may have. @internal */
  get isAttempted(): boolean {
    return this.#attempt !== undefined;
  }

  get name(): string {
    return this.#state.name;
  }

  /** Frozen when somebody else looks at it. */
  get inbox(): readonly Message[] {
    return Object.freeze(this.#inbox);
  }

  get role(): RoleCard {
    const { card } = this.#hired.spec;
    return card.name === this.name ? card : (this.#rest.card ??= { ...card, name: this.name });
  }

  get runId(): string {
    return this.#tools.host.runId;
  }

  get human(): Human {
    return this.#questions.human;
  }

  get joins(): JoinMarks {
    const rest = this.#rest;
    return (rest.joins ??= {
      consumed: (reaction) => rest.joined?.[reaction] ?? this.#state.joins[reaction],
      consume: (reaction, inputs) => void ((rest.joined ??= {})[reaction] = inputs),
    });
  }

  /** See {@link live}. @internal */
  live(): void | Promise<void> {
    return live(this, this.#hired, this.#tools.host, this.#inbox);
  }

  /** Nothing can be said, remembered, changed or asked any more. @internal */
  close(): void {
    this.#closed = true;
    this.#outbox?.close();
    this.#memory.close();
    this.#more?.close();
  }

  /** What it changed is the run's now: who still reads here sees that. @internal */
  settle(): void {
    this.#memory.settle();
    this.#more?.working?.settle();
  }

  /** Everything this activation changed. @internal */
  ended(round: number): ToldEnd {
    const { act, take, at } = this;
    const role = this.#state.name;
    const more = this.#more;
    const said = this.#outbox?.sent ?? silence;
    const remembered = knownMemory(this.#memory, this.#inbox, said);
    const memory = remembered === undefined ? recordedMemory(this.#memory, this.#inbox, said) : undefined;
    if (more === undefined) return { type: "act.ended", act, role, round, take, at, said, memory, working: noOps, remembered };
    const custom = more.custom?.changes(role, this.#hired.spec.role.state);
    const plan = more.plan?.changes();
    const working = more.working === undefined ? noOps : recordedMemory(more.working, this.#inbox, said);
    const summary = more.asking?.newSummary;
    const ended = { type: "act.ended" as const, act, role, round, take, at, said, memory, working, remembered };
    return {
      ...ended,
      ...(custom === undefined ? {} : { state: custom }),
      ...(plan === undefined ? {} : { plan }),
      ...(more.joined === undefined ? {} : { joins: more.joined }),
      ...(summary === undefined ? {} : { summary }),
    };
  }

  /** @internal */
  began(action: string): void {
    const { host } = this.#tools;
    if (!host.ears.isDeaf) host.tell("action.started")?.({ type: "action.started", role: this.name, action });
  }

  get signal(): AbortSignal {
    return this.attempt.lifetime.signal;
  }

  /** The environment's logger; a warning is told to listeners too. */
  get logger(): Logger {
    const { host } = this.#tools;
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
    return this.#tools.answerer.introduction(this.role);
  }

  get clock(): Clock {
    return this.#tools.answerer.clock;
  }

  get memory(): MessageMemory {
    return this.#memory;
  }

  get workingMemory(): MessageMemory {
    const rest = this.#rest;
    return (rest.working ??= this.#closable(new MemoryDraft({ base: this.#state.workingMemory, act: this.act })));
  }

  get important(): readonly Message[] {
    return this.#memory.getByActions(this.#hired.spec.watch);
  }

  get state(): CustomState {
    return this.#customState.view;
  }

  set state(state: CustomState) {
    this.#customState.replace(state);
  }

  get #customState(): StateDraft {
    const rest = this.#rest;
    return (rest.custom ??= this.#closable(new StateDraft(this.#state.custom, this.act)));
  }

  get plan(): Plan {
    return this.#planned.plan;
  }

  set plan(plan: Plan) {
    this.#planned.replace(plan);
  }

  get #planned(): PlanDraft {
    const rest = this.#rest;
    return (rest.plan ??= this.#closable(new PlanDraft(this.#state.plan, this.act, this.name)));
  }

  get loop(): ReactLoop | undefined {
    return this.#more?.loop;
  }

  set loop(loop: ReactLoop | undefined) {
    this.#rest.loop = loop;
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
    return (this.#outbox ?? this.#speak()).message(content, fields);
  }

  issue(message: Message, cause?: string): Message {
    return (this.#outbox ?? this.#speak()).issue(message, cause);
  }

  /** @internal */
  isOwn(value: unknown): boolean {
    return this.#outbox !== undefined && this.#outbox.isOwn(value);
  }

  publish(message: Message, cause?: string): Receipt {
    return (this.#outbox ?? this.#speak()).publish(message, cause);
  }

  #speak(): Outbox {
    const outbox = new Outbox(this.#tools.host, this.#hired.spec, this.#state, this);
    if (this.#closed) outbox.close();
    this.#outbox = outbox;
    return outbox;
  }

  random(): number {
    const rest = this.#rest;
    rest.random ??= randomStream(this.#tools.host.seed, "role", this.name, this.#state.n);
    return rest.random();
  }

  now(): number {
    return this.#attempt === undefined ? this.at : this.#attempt.now;
  }

  id(): string {
    const rest = this.#rest;
    rest.ids += 1;
    return `${this.name}#${this.#state.n}:${rest.ids}`;
  }

  get #questions(): Asking {
    return (this.#rest.asking ??= new Asking(this.attempt, this));
  }

  get #rest(): More {
    return (this.#more ??= new More());
  }

  /** What is made after the end can be looked at, and takes nothing. */
  #closable<T extends { close(): void }>(made: T): T {
    if (this.#closed) made.close();
    return made;
  }
}

/** What only an activation holds that does more than hear, remember and say. */
class More {
  card: RoleCard | undefined;
  loop: ReactLoop | undefined;
  joins: JoinMarks | undefined;
  joined: Record<string, Readonly<Record<string, string>>> | undefined;
  custom: StateDraft | undefined;
  working: MemoryDraft | undefined;
  plan: PlanDraft | undefined;
  asking: Asking | undefined;
  random: Random | undefined;
  ids = 0;

  close(): void {
    this.custom?.close();
    this.working?.close();
    this.plan?.close();
  }
}

const noFields = Object.freeze({});
const silence: readonly Sent[] = Object.freeze([]);
const nothing: readonly Message[] = Object.freeze([]);
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);
