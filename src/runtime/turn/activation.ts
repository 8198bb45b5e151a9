import type { Deps } from "../../kernel/deps.ts";
import { checkKnownOptions } from "../../kernel/known-options.ts";
import type { z } from "zod";
import {
  askOptions,
  type AskOptions,
  type CustomState,
  type EffectDoor,
  type Human,
  type JoinMarks,
  type RoleCard,
  type RoleContext,
  stepOptions,
  type StepOptions,
} from "../../role/context.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Logger } from "../../kernel/emit.ts";
import type { StepPort } from "../../kernel/step.ts";
import { MemoryDraft } from "../../memory/memory-draft.ts";
import type { MessageMemory } from "../../memory/message-memory.ts";
import type { Plan } from "../../role/plan.ts";
import type { Message } from "../../message/message.ts";
import type { ChatMessage } from "../../model/chat-message.ts";
import type { SteppedModel } from "../../model/ask.ts";
import type { ReactLoop } from "../../role/react-loop.ts";
import { actName } from "../record/act-name.ts";
import type { RecordedMemoryOp } from "../record/event.ts";
import { noPast } from "../steps/past.ts";
import type { RoleState } from "../record/role-state.ts";
import type { ToldEnd } from "../record/told-end.ts";
import { loggerOf, missingDeps } from "./activation-parts.ts";
import { Asking } from "../steps/asking.ts";
import { Attempt } from "./attempt.ts";
import type { Definition } from "../hired-roles.ts";
import { live } from "./life.ts";
import { isKnown, knownMemory, recordedMemory } from "./recorded-memory.ts";
import { SideWork } from "./side-work.ts";
import { Speaker } from "./speaker.ts";
import type { TurnTools } from "./turn-tools.ts";

/**
 * One activation of one role: it observes, reacts, and what it did takes effect by one event, or not at all. It owns everything
 * the activation changed and has not committed. What it says it has as a {@link Speaker}, what it asks is its {@link Asking}'s; the base state
 * belongs to the run.
 *
 * T1 nothing of an activation is visible to anyone before its `act.ended`. A1 ids, random numbers and `now()` are functions of
 * (seed, role, n) and recorded answers. A2 once closed, sends and memory writes throw.
 */
export class Activation extends Speaker implements RoleContext {
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
  /** What it remembers, in order, where that is known to be new and nobody has looked at its memory. */
  #remembered: readonly Message[] | undefined;
  /** Made when somebody looks at it. */
  #memory: MemoryDraft | undefined;
  /** How many the role had ended before. */
  readonly #n: number;
  #act: string | undefined;
  #attempt: Attempt | undefined;
  #sideWork: SideWork | undefined;

  constructor(tools: TurnTools, hired: Definition, role: RoleState) {
    super(tools.host, hired.spec, role);
    const { isPlain } = role;
    const open = isPlain ? undefined : role.open;
    const now = tools.clock.now();
    this.#n = role.n;
    this.#act = isPlain ? undefined : (open?.act ?? role.nextAct);
    this.at = open?.at ?? (tools.past === noPast ? undefined : tools.past.startOf(role.nextAct)) ?? now;
    this.beganAt = this.at === now ? undefined : now;
    this.#tools = tools;
    this.#hired = hired;
    this.#state = role;
    this.#inbox = role.news(isPlain ? undefined : (open?.take ?? role.retake));
    this.take = open === undefined ? this.#inbox.length : open.take;
  }

  /** A plain role's first attempt is named when that is told. @internal */
  get act(): string {
    return (this.#act ??= actName(this.name, this.#n, 1));
  }

  /** Made when something waits in it, or fails. @internal */
  get attempt(): Attempt {
    return (this.#attempt ??= new Attempt(this.#tools, this.#hired, this.#state, this, this.isClosed));
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
    return card.name === this.name ? card : (this.#side.card ??= { ...card, name: this.name });
  }

  get runId(): string {
    return this.#tools.host.runId;
  }

  get human(): Human {
    return this.#questions.human;
  }

  get joins(): JoinMarks {
    return this.#side.joins;
  }

  /** See {@link live}. @internal */
  live(): void | Promise<void> {
    return live(this, this.#hired, this.#tools.host, this.#inbox);
  }

  /** Takes all that came as news, and remembers it. False, and nothing changes, where some of it may be remembered already. @internal */
  takeNews(): boolean {
    const inbox = this.#inbox;
    if (inbox.length === 0 || !this.#state.hearsOnlyNews) return false;
    this.#remembered = inbox;
    this.news = Object.freeze(inbox);
    return true;
  }

  /**
   * Remembers a message that was made here, where its memory need not be asked: it took all that came as news, and nobody has looked at that
   * memory. Tells whether it did. What is kept twice is seen when that is looked at. @internal
   */
  keeps(value: unknown): boolean {
    if (!this.isOwn(value)) return false;
    const remembered = this.#remembered;
    if (remembered === undefined || this.#memory !== undefined || this.isClosed) return false;
    const own = value as Message;
    // Most remember two, and say no more.
    if (remembered !== this.#inbox) (remembered as Message[]).push(own);
    else this.#remembered = remembered.length === 1 ? [remembered[0] as Message, own] : [...remembered, own];
    return true;
  }

  /** Nothing can be said, remembered, changed or asked any more. @internal */
  override close(): void {
    super.close();
    this.#memory?.close();
    this.#sideWork?.close();
  }

  /** What it changed is the run's now: who still reads here sees that. @internal */
  settle(): void {
    this.#remembered = undefined;
    this.#memory?.settle();
    this.#sideWork?.settle();
  }

  /** Everything this activation changed. What it remembered and is no message fails it where it is forgotten, too. @internal */
  ended(round: number): ToldEnd {
    const { take, at } = this;
    const role = this.#state.name;
    const side = this.#sideWork;
    const said = this.sent;
    if (said.length > 0) this.#tools.host.assertRoom(this.#state, said, take);
    // What is wrong with the state is told before what is wrong with what it remembers.
    const written = side?.written;
    const state = written?.custom?.changes(role, this.#hired.spec.role.state);
    const planned = written?.plan?.changes();
    const forgets = this.#hired.remembers === "its turn";
    const isPlain = this.#memory === undefined && (forgets || isKnown(this.#remembered, this.#inbox, said));
    const known = isPlain ? (this.#remembered ?? nothing) : knownMemory(this.memory, this.#inbox, said);
    const ops = known === undefined ? recordedMemory(this.memory, this.#inbox, said) : undefined;
    const memory = forgets ? undefined : ops;
    const remembered = forgets ? nothing : known;
    if (side === undefined) return { type: "act.ended", by: this, role, round, take, at, said, memory, working: noOps, remembered };
    const noted = written?.working === undefined ? noOps : recordedMemory(written.working, this.#inbox, said);
    const summary = side.asking?.newSummary;
    const { joined } = side;
    const ended = { type: "act.ended" as const, by: this, role, round, take, at, said, memory, working: noted, remembered };
    if ((planned ?? joined ?? summary) !== undefined)
      return {
        ...ended,
        ...(state === undefined ? {} : { state }),
        ...(planned === undefined ? {} : { plan: planned }),
        ...(joined === undefined ? {} : { joins: joined }),
        ...(summary === undefined ? {} : { summary }),
      };
    // Written out: most change a state at most, and a spread costs more than all of it.
    if (state === undefined) return ended;
    return { type: "act.ended", by: this, role, round, take, at, said, memory, working: noted, remembered, state };
  }

  /** @internal */
  began(action: string): void {
    const { host } = this.#tools;
    if (host.ears.hearsNotices) host.tell("action.started")?.({ type: "action.started", role: this.name, action });
  }

  /** @internal */
  broke(action: string, error: unknown): void {
    this.#side.broken = { action, error };
  }

  /** Which action threw this, if one did. @internal */
  actionBehind(error: unknown): string | undefined {
    const broken = this.#sideWork?.broken;
    return broken !== undefined && Object.is(broken.error, error) ? broken.action : undefined;
  }

  get signal(): AbortSignal {
    return this.attempt.lifetime.signal;
  }

  get logger(): Logger {
    return loggerOf(this.#tools.host, this.name);
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

  get memory(): MemoryDraft {
    if (this.#memory === undefined) {
      const remembered = this.#remembered && [...new Set(this.#remembered)];
      this.#memory = new MemoryDraft({ base: this.#state.recalled, by: this, remembered });
      if (this.isClosed) this.#memory.close();
    }
    return this.#memory;
  }

  get workingMemory(): MessageMemory {
    return this.#side.workingMemory;
  }

  get important(): readonly Message[] {
    return this.memory.getByActions(this.#hired.spec.watch);
  }

  get state(): CustomState {
    return this.#side.state;
  }

  set state(state: CustomState) {
    this.#side.state = state;
  }

  get deps(): Deps {
    return this.#tools.host.deps ?? missingDeps(this.name);
  }

  get toolDeps(): Deps | undefined {
    return this.#tools.host.deps;
  }

  get plan(): Plan {
    return this.#side.plan;
  }

  set plan(plan: Plan) {
    this.#side.plan = plan;
  }

  get loop(): ReactLoop | undefined {
    return this.#sideWork?.loop;
  }

  set loop(loop: ReactLoop | undefined) {
    this.#side.loop = loop;
  }

  ask(prompt: string, o?: AskOptions): Promise<string>;
  ask<T extends z.ZodType>(prompt: string, o: AskOptions & { readonly schema: T }): Promise<z.infer<T>>;
  ask(prompt: string, o: AskOptions & { readonly schema?: z.ZodType } = {}): Promise<unknown> {
    checkKnownOptions("ask", o, knownInAsk);
    return this.#questions.ask(prompt, o);
  }

  step<T>(name: string, request: unknown, effect: (door: EffectDoor) => Promise<T>, o: StepOptions = {}): Promise<T> {
    checkKnownOptions("step", o, stepOptions);
    return this.#questions.step(name, request, effect, o);
  }

  recall(about?: string): Promise<readonly ChatMessage[]> {
    return this.#questions.recall(about);
  }

  random(): number {
    return this.#side.random(this.#tools.host.seed);
  }

  now(): number {
    return this.#attempt === undefined ? this.at : this.#attempt.now;
  }

  id(): string {
    return this.#side.id();
  }

  get #questions(): Asking {
    return (this.#side.asking ??= new Asking(this.attempt, this));
  }

  get #side(): SideWork {
    return (this.#sideWork ??= new SideWork(this.#state, this.act, this.isClosed));
  }
}

const nothing: readonly Message[] = Object.freeze([]);
const noOps: readonly RecordedMemoryOp[] = Object.freeze([]);

const knownInAsk = { ...askOptions, schema: true } as const;
