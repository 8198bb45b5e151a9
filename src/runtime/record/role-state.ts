import type { ErrorRecord } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import { isRecord } from "../../kernel/value-kind.ts";
import { Memory } from "../../memory/memory.ts";
import { Plan } from "../../role/plan.ts";
import { NOTHING_SUMMED_UP, type RoleSummary } from "../../memory/summary-levels.ts";
import type { Message } from "../../message/message.ts";
import type { Usage } from "../../model/chat-model.ts";
import { MessageQueue } from "../../message/message-queue.ts";
import type { Joins } from "../../role/reaction.ts";
import type { HiredRole, StepStarted } from "./event.ts";

/** The recorded definition of a role, apart from its name: all roles hired by one definition share it. */
export type HiredAs = Omit<HiredRole, "name">;

export interface StepRecord {
  readonly started: StepStarted;
  /** True while its last try has not ended: its hold is open. */
  readonly inFlight: boolean;
  /** Micro-dollars of the tries that have ended. */
  readonly paid: number;
  /** The last try that the receiver answered with a failure; 0: none. */
  readonly answered: number;
  readonly outcome: StepOutcome | undefined;
}

export interface StepOutcome {
  readonly ok: boolean;
  readonly value: Json;
  readonly error: ErrorRecord | undefined;
  readonly at: number;
  /** Number of team changes before it was recorded. */
  readonly teamAt: number;
  /** Number of messages from outside before it was recorded. */
  readonly outsideAt: number;
  /** The answer is the default of a question whose deadline passed. */
  readonly byDeadline?: true;
  /** The end of a wait, or a change of the board: every later attempt of the activation gets it again. */
  readonly isLasting?: true;
  /** Micro-dollars that it cost in its original run. */
  readonly saved?: number;
  readonly inside?: StepSpending;
}

export interface StepSpending {
  /** Micro-dollars. */
  readonly cost: number;
  /** Tokens of the answers of models; left out without any. */
  readonly usage?: Usage;
}

/** An activation that has begun in the record and has not ended. */
export interface OpenActivation {
  readonly act: string;
  readonly attempt: number;
  readonly take: number;
  readonly at: number;
  /** Number of team changes before it began. */
  readonly teamAt: number;
  readonly steps: Map<string, StepRecord>;
  /** Deaths of the process during it since the last progress of the run. */
  crashes: number;
  /** Deaths of the process during it since its last answer. */
  deaths: number;
  /** True when it has begun since the run was last resumed. */
  isUnderWay: boolean;
}

/** Failed attempts of the present activation, as far as the next attempt needs them. */
export interface RetryState {
  readonly failures: number;
  /** Failures with the present messages: a failure policy counts these. */
  readonly strikes: number;
  /** Messages that are still to be tried one by one, because one of them is faulty. */
  readonly isolated: number;
  /** Good answers of the failed attempt. */
  readonly carry: ReadonlyMap<string, StepOutcome>;
  /** Micro-dollars that the steps of failed attempts cost, by key. */
  readonly paid: ReadonlyMap<string, number>;
  /** The number of messages of the failed attempt: the next one has as many. */
  readonly retake: number | undefined;
}

export const NO_RETRY: RetryState = Object.freeze({
  failures: 0,
  strikes: 0,
  isolated: 0,
  carry: new Map<string, StepOutcome>(),
  paid: new Map<string, number>(),
  retake: undefined,
});

const NO_JOINS: Joins = Object.freeze({});

/** Parts that most roles of a large population never have. They are replaced and never changed, except the working memory. */
interface RareParts {
  readonly plan: Plan;
  readonly joins: Joins;
  readonly summary: RoleSummary;
  readonly workingMemory?: Memory;
  readonly hiredAgain?: HiredAs;
  /** The team changes by which the role joined and left, alternating. Undefined: it belonged to the first team. */
  readonly turns?: readonly number[];
  readonly isCrashed?: true;
}

const NO_PARTS: RareParts = Object.freeze({ plan: new Plan({ goal: "" }), joins: NO_JOINS, summary: NOTHING_SUMMED_UP });

/** Messages that were delivered to roles, and are made when a role reads them. */
export interface Post {
  readonly round: number;
  /** The tick of the last delivery. */
  readonly tick: number;
  countFor(index: number): number;
  messagesFor(index: number): readonly Message[];
}

/**
 * The state of one role in one run: its mailbox, memories, plan, custom state and present activation. `apply` is its only writer.
 *
 * Parts are created when first needed: an idle role has a name, an index and a shared definition. The first definition sets the initial state
 * and the memory limit, even if the role is hired again with another definition.
 *
 * RoleState.R3 (`wasHired`) it records every joining and leaving, so an activation that runs again finds the team that it began
 * with.
 */
export class RoleState {
  readonly name: string;
  readonly index: number;
  // What a sender looks at comes first: in a large run it is one wait for memory then.
  #alone: readonly string[] | undefined;
  #rare: RareParts = NO_PARTS;
  n = 0;
  /** True if it acts in each round, with mail or without. */
  actsAlways: boolean;
  /** The last round in which it ended an activation; -1 for none. */
  ranIn = -1;
  /** Replaced and never changed. */
  custom: { readonly [key: string]: Json };
  open: OpenActivation | undefined;
  retry: RetryState = NO_RETRY;
  readonly #hired: HiredAs;
  #mailbox: MessageQueue | undefined;
  #post: Post | undefined;
  /** The delivery of the post whose messages it has. */
  #collected = -1;
  /** The tick at which the messages arrived that wait, and the ticks of later arrivals by the ids of their messages. */
  #arrivals: { tick: number; later: Map<string, number> | undefined } | undefined;
  #memory: Memory | undefined;

  constructor(name: string, index: number, hired: HiredAs) {
    this.name = name;
    this.index = index;
    this.custom = hired.state;
    this.#hired = hired;
    this.actsAlways = hired.traits["acts"] !== undefined;
  }

  get hired(): HiredAs {
    return this.#rare.hiredAgain ?? this.#hired;
  }

  get profile(): string {
    const { card } = this.traits;
    const profile = isRecord(card) ? card["profile"] : undefined;
    return typeof profile === "string" ? profile : "";
  }

  get fingerprint(): string {
    return this.hired.fingerprint;
  }

  get traits(): HiredRole["traits"] {
    return this.hired.traits;
  }

  hireAgain(hiredAgain: HiredAs): void {
    this.#rare = { ...this.#rare, hiredAgain };
    this.actsAlways = hiredAgain.traits["acts"] !== undefined;
  }

  /** True while it belongs to the team. A retired role may still end its last activation. */
  get isHired(): boolean {
    const { turns } = this.#rare;
    return turns === undefined || turns.length % 2 === 1;
  }

  /** True once a scheduler has let it crash: it still belongs to the team, and messages to it are lost. */
  get isCrashed(): boolean {
    return this.#rare.isCrashed === true;
  }

  /** The reason why it gets no messages; undefined if it does. */
  get gone(): "crashed" | "retired" | undefined {
    const { isCrashed, turns } = this.#rare;
    if (isCrashed === true) return "crashed";
    return turns === undefined || turns.length % 2 === 1 ? undefined : "retired";
  }

  crash(): void {
    this.#rare = { ...this.#rare, isCrashed: true };
  }

  /** True if it belonged to the team after `teamAt` team changes. */
  wasHired(teamAt: number): boolean {
    const { turns } = this.#rare;
    return turns === undefined || turns.filter((turn) => turn <= teamAt).length % 2 === 1;
  }

  /** Called for a role that a later event hires. */
  awaitHire(): void {
    this.#rare = { ...this.#rare, turns: [] };
  }

  /** Adds the role to the team, or returns it, by a team change. */
  join(change: number): void {
    this.#rare = { ...this.#rare, turns: [...(this.#rare.turns ?? []), change] };
  }

  leave(change: number): void {
    this.#rare = { ...this.#rare, turns: [...(this.#rare.turns ?? [0]), change] };
  }

  /** The frozen list of its name alone, which all messages to it share. */
  get alone(): readonly string[] {
    return (this.#alone ??= Object.freeze([this.name]));
  }

  get mailbox(): MessageQueue {
    const mailbox = (this.#mailbox ??= new MessageQueue());
    if (this.#post !== undefined && this.#posted > 0) for (const message of this.collect()) this.receive(message, this.#post.tick, mailbox);
    return mailbox;
  }

  /** Puts a message that arrives at a tick into its mailbox. */
  receive(message: Message, tick: number, mailbox: MessageQueue = this.mailbox): void {
    const arrivals = (this.#arrivals ??= { tick, later: undefined });
    if (mailbox.isEmpty) [arrivals.tick, arrivals.later] = [tick, undefined];
    else if (tick !== arrivals.tick) {
      const later = (arrivals.later ??= new Map<string, number>());
      // A mailbox that is never empty does not keep the ticks of all that it had.
      if (later.size > 2 * mailbox.size + 16) for (const id of later.keys()) if (!mailbox.holds(id)) later.delete(id);
      later.set(message.id, tick);
    }
    mailbox.append(message);
  }

  /** The tick at which a waiting message of its mailbox arrived. */
  arrivedAt(id: string): number {
    return this.#arrivals?.later?.get(id) ?? this.#arrivals?.tick ?? 0;
  }

  get waiting(): number {
    const held = this.#mailbox?.size ?? 0;
    return this.#post === undefined ? held : held + this.#posted;
  }

  /** The number of messages that it holds itself. */
  get held(): number {
    return this.#mailbox?.size ?? 0;
  }

  get #posted(): number {
    return this.#post === undefined || this.#post.round === this.#collected ? 0 : this.#post.countFor(this.index);
  }

  getPostFrom(post: Post): void {
    this.#post = post;
  }

  /** Returns its messages of the last delivery. They are its own from now on. */
  collect(): readonly Message[] {
    if (this.#post === undefined || this.#post.round === this.#collected) return noNews;
    this.#collected = this.#post.round;
    return this.#post.messagesFor(this.index);
  }

  /** Called when it has read the messages of the last delivery. */
  collected(): void {
    this.#collected = this.#post?.round ?? -1;
  }

  /** True if it may act: it has mail, or acts in each round as a member of the team. */
  get isReady(): boolean {
    return this.waiting > 0 || (this.actsAlways && this.isHired && !this.isCrashed);
  }

  /** Number of waiting messages, from the first, that the present activation has taken or the next one will retry. */
  get taken(): number {
    const { open, retry } = this;
    return Math.max(open?.take ?? retry.retake ?? 0, retry.isolated);
  }

  /** Puts messages into its empty mailbox, first out first. */
  refill(messages: readonly Message[]): void {
    if (messages.length > 0) this.mailbox.refill(messages, this.taken);
  }

  /** Returns the first `limit` waiting messages without taking them. Default: all. */
  news(limit: number = this.waiting): readonly Message[] {
    return this.#mailbox === undefined && (this.#post === undefined || this.#posted === 0) ? noNews : this.mailbox.first(limit);
  }

  get memory(): Memory {
    return (this.#memory ??= new Memory({ limit: this.#hired.memoryLimit }));
  }

  get workingMemory(): Memory {
    if (this.#rare.workingMemory === undefined) this.#rare = { ...this.#rare, workingMemory: new Memory() };
    return this.#rare.workingMemory as Memory;
  }

  get plan(): Plan {
    return this.#rare.plan;
  }

  set plan(plan: Plan) {
    this.#rare = { ...this.#rare, plan };
  }

  get joins(): Joins {
    return this.#rare.joins;
  }

  set joins(joins: Joins) {
    this.#rare = { ...this.#rare, joins };
  }

  get summary(): RoleSummary {
    return this.#rare.summary;
  }

  set summary(summary: RoleSummary) {
    this.#rare = { ...this.#rare, summary };
  }

  /** The name of its next activation, or of the next attempt at it. */
  get nextAct(): string {
    return `${this.name}#${this.n}~${this.retry.failures + 1}`;
  }

  /** Ends the present activation for good. Only the messages still to be tried alone are kept from its attempts. */
  completeActivation(): void {
    this.n += 1;
    const isolated = this.retry.isolated - 1;
    this.open = undefined;
    this.retry = isolated > 0 ? { ...NO_RETRY, isolated, retake: 1 } : NO_RETRY;
  }

  /** Discards the present activation, if there is one. Its name is not used again. */
  abandonActivation(): void {
    if (this.open !== undefined || this.retry.failures > 0) this.n += 1;
    this.open = undefined;
    this.retry = NO_RETRY;
  }

  /** Returns its state as plain data: mutable parts are copied, messages and definitions shared. */
  form() {
    const { name, n, ranIn, custom, open, retry } = this;
    const rare = this.#rare;
    const mailbox = this.news();
    return {
      ...{ name, n, ranIn, custom, first: this.#hired, mailbox, arrived: mailbox.map(({ id }) => this.arrivedAt(id)) },
      memory: this.#memory && [...this.#memory],
      retry: retry === NO_RETRY ? undefined : retry,
      open: open && { ...open, steps: new Map(open.steps) },
      rare: rare === NO_PARTS ? undefined : { ...rare, plan: rare.plan.toJSON(), workingMemory: [...(rare.workingMemory ?? [])] },
    };
  }

  static of(form: ReturnType<RoleState["form"]>, index: number): RoleState {
    const { name, n, ranIn, custom, first, mailbox, arrived, memory, retry = NO_RETRY, open, rare } = form;
    const role = new RoleState(name, index, first);
    Object.assign(role, { n, ranIn, custom, retry, open: open && { ...open, steps: new Map(open.steps) } });
    role.refill(mailbox);
    const [tick] = arrived;
    const later = arrived.length > 1 ? new Map(mailbox.map(({ id }, nth) => [id, arrived[nth] ?? 0])) : undefined;
    if (tick !== undefined) role.#arrivals = { tick, later };
    for (const message of memory ?? []) role.memory.put(message);
    if (rare === undefined) return role;
    const { plan, workingMemory, ...others } = rare;
    role.#rare = { ...others, plan: Plan.fromJSON(plan) };
    role.actsAlways = role.traits["acts"] !== undefined;
    for (const message of workingMemory) role.workingMemory.put(message);
    return role;
  }
}

const noNews: readonly Message[] = Object.freeze([]);

export function roleNameIn(activation: string): string {
  return activation.slice(0, activation.lastIndexOf("#"));
}
