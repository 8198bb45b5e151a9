import { type AnySchema, type ValueOf, zodOf } from "../../model/standard-schema.ts";
import type { z } from "zod";
import type { BudgetPool } from "../../kernel/budget.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Deps, RunContext } from "../../kernel/deps.ts";
import { contextMissing } from "../../kernel/errors.ts";
import type { Logger } from "../../kernel/emit.ts";
import type { Json } from "../../kernel/json.ts";
import { checkKnownOptions } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import type { RandomStream } from "../../kernel/random.ts";
import type { Scope } from "../../kernel/scope.ts";
import type { StepPort } from "../../kernel/step.ts";
import { Memory } from "../../memory/memory.ts";
import { MemoryDraft } from "../../memory/memory-draft.ts";
import { scopeInside } from "../../memory/memory-scope.ts";
import type { MessageMemory } from "../../memory/message-memory.ts";
import { type MessageFile, readFile } from "../../message/file.ts";
import type { Message, MessageFields, Receipt } from "../../message/message.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { ChatModel } from "../../model/chat-model.ts";
import type { SteppedModel } from "../../model/ask.ts";
import type { CallPolicy } from "../../model/call.ts";
import { type Meter, meters, seedsOf } from "../../model/meter.ts";
import {
  askOptions,
  type AskOptions,
  type CustomState,
  type EffectDoor,
  type GivenValues,
  type JoinMarks,
  type RoleCard,
  type RoleContext,
  stepOptions,
  type StepOptions,
} from "../../role/context.ts";
import type { Human } from "../../role/human.ts";
import type { Until, WaitForOptions } from "../../role/wait.ts";
import type { Plan } from "../../role/plan.ts";
import type { ReactLoop } from "../../role/react.ts";
import type { Said } from "../../role/role.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import { messagesOf } from "../../role/act.ts";
import { isThenable } from "../../kernel/value-kind.ts";
import { assertRoomForAct } from "../record/delivery.ts";
import type { RecordedMemoryOp, Sent } from "../record/event.ts";
import { Asking } from "../steps/asking.ts";
import { loggerOf, missingDeps, type Changes } from "./commit.ts";
import { Drafts } from "./drafts.ts";
import { Outbox } from "./outbox.ts";
import type { RoleTurn } from "./turn.ts";

/**
 * One activation of one role, as the role sees it. It owns all uncommitted changes of the activation.
 *
 * Activation.A1 (`changes`) others see no change of an activation before its end is committed.
 * Activation.A2 (`random`, `stream`, `now`, `id`) ids, random numbers and times are functions of the seed, the role, the role's activation
 * count, and recorded answers.
 * Activation.A3 (`close`) after `close`, the activation creates, sends, remembers and changes nothing.
 */
export class Activation implements RoleContext, Meter {
  /** Own property, so that contexts derived from this one inherit it. */
  readonly meter: Meter = this;
  /** Own for the same reason. */
  readonly given: GivenValues;
  readonly spec: RoleSpec;
  readonly name: string;
  readonly inbox: readonly Message[];
  news: readonly Message[] = [];
  loop: ReactLoop | undefined;
  readonly #turn: RoleTurn;
  readonly #memory: MemoryDraft;
  readonly #outbox: Outbox;
  #drafts: Drafts | undefined;
  #asking: Asking | undefined;
  #seeds: (() => string) | undefined;
  #failed: { readonly action: string; readonly error: unknown } | undefined;
  #isClosed = false;

  constructor(turn: RoleTurn) {
    const { role, started } = turn;
    this.#turn = turn;
    this.given = turn.tools.host;
    this.name = role.name;
    this.spec = turn.definition.spec;
    this.inbox = Object.freeze(role.news(started.take));
    const base = turn.definition.remembers === "its turn" ? new Memory({ limit: role.hired.memoryLimit }) : role.memory;
    this.#memory = new MemoryDraft({ base, by: started });
    this.#outbox = new Outbox(turn, this);
  }

  /** Observes, remembers the news, reacts, and publishes the results, synchronously unless the role waits. */
  run(): void | Promise<void> {
    const { definition, tools } = this.#turn;
    const memory = definition.remembers === "longer" ? tools.host.memoryOf(this.name) : undefined;
    if (memory === undefined && !definition.hasHooks) return this.#observe();
    const begin = (): void | Promise<void> => (definition.hasHooks ? meters.run(this, () => this.#observe()) : this.#observe());
    return memory === undefined ? begin() : memory.kept.ready().then(begin);
  }

  #observe(): void | Promise<void> {
    const observed = this.spec.role.observe(this);
    return isThenable(observed) ? Promise.resolve(observed).then((came) => this.#react(came)) : this.#react(observed);
  }

  #react(observed: Said): void | Promise<void> {
    const news = observed === this.inbox ? this.inbox : Object.freeze([...messagesOf(observed, this.name)]);
    for (const message of news) this.#memory.put(message);
    this.news = news;
    if (news.length === 0) return undefined;
    const said = this.spec.role.react(this);
    return isThenable(said) ? Promise.resolve(said).then((came) => this.#publish(came)) : this.#publish(said);
  }

  #publish(said: Said): void {
    for (const message of messagesOf(said, this.name)) this.#outbox.send(message);
  }

  /** @internal */
  close(): void {
    this.#isClosed = true;
    this.#outbox.isClosed = true;
    this.#memory.close();
    this.#drafts?.close();
  }

  /** After the commit: reads now come from the run's state. @internal */
  settle(): void {
    this.#memory.settle();
    this.#drafts?.settle();
  }

  /** Returns all changes of this activation, with its messages in the order sent. */
  changes(): Changes {
    const { role, definition } = this.#turn;
    const { said } = this.#outbox;
    const drafts = this.#drafts;
    const state = drafts?.state.changes(role.name, this.spec.role.state);
    const plan = drafts?.changedPlan;
    return {
      said,
      memory: definition.remembers === "its turn" ? nothing : this.#recorded(this.#memory.ops, said),
      working: drafts === undefined ? nothing : this.#recorded(drafts.workingOps, said),
      state,
      plan,
      joins: drafts?.joined,
      summary: this.#asking?.newSummary,
    };
  }

  /** Returns the changes with delays and edge faults applied to their messages. */
  routed(changes: Changes): Changes {
    if (changes.said.length === 0) return changes;
    const { role, started, tools } = this.#turn;
    const delayed = this.#outbox.delayed(changes.said);
    const said = tools.edges === undefined ? delayed : tools.edges.pass(delayed, role.name, tools.log.state.tick);
    assertRoomForAct(tools.log.state, role, said, started.take);
    return said === changes.said ? changes : { ...changes, said };
  }

  #recorded(ops: MemoryDraft["ops"], said: readonly Sent[]): readonly RecordedMemoryOp[] {
    if (ops.length === 0) return nothing;
    const known: unknown[] = [...this.inbox];
    for (const { message } of said) known.push(message);
    const many = known.length > FEW ? new Set(known) : undefined;
    const recorded: RecordedMemoryOp[] = [];
    for (const op of ops) {
      const isKnown = op[0] === "+" && (many === undefined ? known.includes(op[1]) : many.has(op[1]));
      recorded.push(isKnown ? ["+", op[1].id] : op);
    }
    return recorded;
  }

  /** @internal */
  heard(): readonly Message[] {
    const { role, tools, outsideAt } = this.#turn;
    if (outsideAt === 0) return nothing;
    const { fromOutside, pending } = tools.log.state;
    const isUnread = ({ id }: Message): boolean => role.mailbox.has(id) || pending.some(({ sent }) => sent.message.id === id);
    const came = [...fromOutside.values()].slice(0, outsideAt).filter(({ to }) => to.includes(this.name));
    return came.flatMap(({ message }) =>
      isUnread(message) && !this.inbox.includes(message) && !this.#memory.has(message.id) ? [message] : [],
    );
  }

  /** @internal */
  actionStarted(action: string): void {
    const { observed, tell } = this.#turn.tools.host;
    if (observed.has("action.started")) tell("action.started")?.({ type: "action.started", role: this.name, action });
  }

  /** @internal */
  actionFailed(action: string, error: unknown): void {
    this.#failed = { action, error };
  }

  failedActionOf(error: unknown): string | undefined {
    return this.#failed !== undefined && Object.is(this.#failed.error, error) ? this.#failed.action : undefined;
  }

  get role(): RoleCard {
    const { card } = this.spec;
    return card.name === this.name ? card : { ...card, name: this.name };
  }

  get runId(): string {
    return this.#turn.tools.host.runId;
  }

  get memory(): MessageMemory {
    return this.#memory;
  }

  get workingMemory(): MessageMemory {
    return this.#changing.working;
  }

  get important(): readonly Message[] {
    return this.#memory.getByActions(this.spec.watch);
  }

  get state(): CustomState {
    return this.#changing.state.view;
  }

  set state(state: CustomState) {
    this.#changing.state.replace(state);
  }

  get deps(): Deps {
    return this.given.deps ?? missingDeps(this.name);
  }

  get context(): RunContext {
    const { context } = this.given;
    if (context === undefined) throw contextMissing(this.name);
    return context;
  }

  get plan(): Plan {
    return this.#changing.plan;
  }

  set plan(plan: Plan) {
    this.#changing.plan = plan;
  }

  get joins(): JoinMarks {
    return this.#changing.joins;
  }

  get signal(): AbortSignal {
    return this.#turn.scope.signal;
  }

  get logger(): Logger {
    return loggerOf(this.#turn.tools.host, this.name);
  }

  get policy(): CallPolicy {
    return this.#turn.tools.answerer.policy;
  }

  get pools(): readonly BudgetPool[] {
    return this.#turn.tools.pools;
  }

  get scope(): Scope | undefined {
    return scopeInside(this.#turn.tools.log.state);
  }

  hand<T>(what: string, work: Promise<T>): Promise<T> {
    return this.#turn.hand(what, work);
  }

  nextSeed(): string {
    const { role, tools } = this.#turn;
    return (this.#seeds ??= seedsOf(tools.host.seed, role.name, role.n))();
  }

  get clock(): Clock {
    return this.#turn.tools.answerer.clock;
  }

  get introduction(): string {
    return this.#turn.tools.answerer.introduction(this.role, this.#turn.teamAt);
  }

  get teamAt(): number {
    return this.#turn.teamAt;
  }

  get human(): Human {
    return this.#questions.human;
  }

  get model(): SteppedModel {
    return this.#questions.model;
  }

  modelOf(model: ChatModel): SteppedModel {
    return this.#questions.modelOf(model);
  }

  get port(): StepPort {
    return this.#questions.port;
  }

  get steps(): StepPort {
    return this.#questions.steps;
  }

  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends AnySchema>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<ValueOf<T>>;
  ask(prompt: string, o: AskOptions & { readonly schema?: AnySchema } = {}): Promise<unknown> {
    checkKnownOptions("ask", o, knownInAsk);
    return this.#questions.ask(prompt, o.schema === undefined ? (o as AskOptions) : { ...o, schema: zodOf(o.schema) as z.ZodType });
  }

  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o: StepOptions = {}): Promise<T> {
    checkKnownOptions("step", o, stepOptions);
    return this.#questions.step(name, request, effect, o);
  }

  sleep(until: Until): Promise<void> {
    return this.#questions.sleep(until);
  }

  waitFor(name: string, o?: Omit<WaitForOptions, "schema">): Promise<Json>;
  waitFor<T extends AnySchema>(name: string, o: WaitForOptions & { readonly schema: T }): Promise<ValueOf<T>>;
  waitFor(name: string, o: WaitForOptions = {}): Promise<unknown> {
    return this.#questions.waitFor(name, o);
  }

  recall(about?: string): Promise<readonly ChatMessage[]> {
    return this.#questions.recall(about);
  }

  message<P = unknown>(content: string, fields?: MessageFields<P>): Message<P> {
    return this.#outbox.message(content, fields);
  }

  file(file: MessageFile): Promise<Uint8Array> {
    return this.hand("file", readFile(file, this.policy.files));
  }

  issue(message: Message, cause?: string): Message {
    return this.#outbox.issue(message, cause);
  }

  publish(given: Message, cause?: string): Receipt {
    const { message, to } = this.#outbox.send(given, cause);
    return { message, recipients: to };
  }

  publishAfter(delay: number, given: Message, cause?: string): Receipt {
    const { message, to } = this.#outbox.send(given, cause, delay);
    return { message, recipients: to };
  }

  random(): number {
    return this.#changing.random(this.#turn.tools.host.seed);
  }

  stream(name: string): RandomStream {
    return this.#changing.stream(this.#turn.tools.host.seed, name);
  }

  now(): number {
    return this.#turn.now;
  }

  id(): string {
    return this.#changing.id();
  }

  get #questions(): Asking {
    return (this.#asking ??= new Asking(this.#turn, this));
  }

  get #changing(): Drafts {
    if (this.#drafts === undefined) {
      this.#drafts = new Drafts(this.#turn.role, this.#turn.started.act);
      if (this.#isClosed) this.#drafts.close();
    }
    return this.#drafts;
  }
}

/** Up to this many messages, a linear search beats a set. */
const FEW = 8;

const nothing: readonly never[] = Object.freeze([]);

const knownInAsk = { ...askOptions, schema: kinds.checked } as const;
