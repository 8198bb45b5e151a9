import { isList } from "../../kernel/value-kind.ts";
import { LightStream, type RandomStream } from "../../kernel/random.ts";
import type { Message, MessageFields } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { StepOut } from "../../role/step-role.ts";
import type { Engine } from "../engine.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RunLog } from "../record/run-log.ts";
import { roleOf } from "../record/run-state.ts";
import { StepOutbox } from "../turn/step-turn.ts";
import { ROUTE_TO_SELF } from "../../message/address.ts";
import { messageId, NO_PARENTS, plainMessage, type SentMail, TO_SELF } from "./mail.ts";

/** What the outboxes of a stretch in the lane share. */
export interface Desk {
  readonly host: Engine;
  readonly log: RunLog;
  readonly mail: SentMail;
  readonly messageLimit: number;
  /** True for a text that is recorded as it is: one with a secret is not. */
  readonly isClean: (text: string) => boolean;
  /** The last recipients of each role that wrote to several: most roles write to the same again. */
  readonly circles: (Circle | undefined)[];
  /** The number of team changes up to which the circles are right. */
  readonly teamAt: number;
}

interface Circle {
  readonly sendTo: readonly string[];
  /** In the order of hiring. */
  readonly roles: readonly RoleState[];
  readonly to: readonly string[];
}

/** The output of a step function in the lane, whose messages are made when they are sent, and kept. */
export class KeptOutbox extends StepOutbox {
  readonly #desk: Desk;
  #delayed: Sent[] | undefined;

  constructor(desk: Desk, spec: RoleSpec, role: RoleState, at: number, n?: number) {
    super(desk, spec, role, at, n);
    this.#desk = desk;
  }

  get kept(): this {
    return this;
  }

  get delayed(): readonly Sent[] {
    return this.#delayed ?? none;
  }

  get sent(): number {
    return this.count;
  }

  set sent(count: number) {
    this.count = count;
  }

  protected override send(sent: Sent): void {
    const { log, host, mail } = this.#desk;
    const clean = log.masked(sent);
    super.send(clean);
    if (clean.due !== undefined) (this.#delayed ??= []).push(clean);
    else mail.keep(this.role.index, clean, recipientsOf(clean, host));
  }
}

/**
 * The output of a function over a whole mailbox that is in the columns: a text to one role goes into the columns of the mail, any other
 * message is kept. It has few members, because each act has its own.
 *
 * LaneOutbox.LO1 (`say`) the message that it returns equals the one that its recipient reads.
 * LaneOutbox.LO2 (`#rest`) once closed, no message is sent.
 */
export class LaneOutbox implements StepOut {
  /** The number of messages that it has sent. */
  sent = 0;
  /** The output of what is not plain. */
  kept: KeptOutbox | undefined = undefined;
  readonly #desk: Desk;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  readonly #news: readonly Message[];
  readonly #at: number;
  readonly #n: number;
  #isOpen = true;
  #parents: readonly string[] | undefined = undefined;
  #random: LightStream | undefined = undefined;

  constructor(desk: Desk, spec: RoleSpec, role: RoleState, at: number, news: readonly Message[]) {
    this.#desk = desk;
    this.#spec = spec;
    this.#role = role;
    this.#news = news;
    this.#at = at;
    this.#n = role.n;
  }

  close(): void {
    this.#isOpen = false;
    this.kept?.close();
  }

  say<P = unknown>(content: string, fields?: MessageFields<P>): Message<P> {
    const sendTo = this.#isOpen && this.#isPlain(content) ? soleAddress(fields) : undefined;
    const message = typeof sendTo === "string" ? this.#toOne(content, sendTo) : isList(sendTo) ? this.#toMany(content, sendTo) : undefined;
    return message === undefined ? this.#saidBy((rest) => rest.say(content, fields)) : (message as Message<P>);
  }

  #isPlain(content: unknown): boolean {
    const { messageLimit, isClean } = this.#desk;
    return typeof content === "string" && content.length <= messageLimit && isClean(content);
  }

  #toOne(content: string, address: string): Message | undefined {
    const isOwn = address === ROUTE_TO_SELF;
    const to = isOwn ? this.#role : this.#named(address);
    if (to === undefined) return undefined;
    const { mail } = this.#desk;
    mail.messages += 1;
    mail.add(this.#role.index, to.index, this.#n, isOwn ? ~this.sent : this.sent, content);
    return this.#message(content, isOwn ? TO_SELF : to.alone);
  }

  #toMany(content: string, addresses: readonly unknown[]): Message | undefined {
    const { circles, mail, host, teamAt } = this.#desk;
    if (host.state.teamChanges !== teamAt) return undefined;
    const { index } = this.#role;
    const last = circles[index];
    const circle = last !== undefined && isSame(last.sendTo, addresses) ? last : this.#circle(addresses);
    if (circle === undefined) return undefined;
    if (circle !== last) circles[index] = circle;
    const message = this.#message(content, circle.sendTo);
    mail.keep(index, { message, to: circle.to }, circle.roles);
    return message;
  }

  /** Undefined unless the addresses are the names of different roles. */
  #circle(addresses: readonly unknown[]): Circle | undefined {
    const roles: RoleState[] = [];
    for (const address of addresses) {
      const role = typeof address === "string" ? this.#named(address) : undefined;
      if (role === undefined) return undefined;
      roles.push(role);
    }
    if (roles.length === 0 || new Set(roles).size < roles.length) return undefined;
    const sendTo = Object.freeze(roles.map(({ name }) => name));
    roles.sort((a, b) => a.index - b.index);
    return {
      sendTo,
      roles,
      to: roles.every(({ name }, at) => name === sendTo[at]) ? sendTo : Object.freeze(roles.map(({ name }) => name)),
    };
  }

  #message(content: string, sendTo: readonly string[]): Message {
    const { name } = this.#role;
    const nth = this.sent;
    this.sent = nth + 1;
    const parents = (this.#parents ??= idsOf(this.#news));
    return plainMessage(messageId(name, this.#n, nth), content, this.#spec.card.name, name, sendTo, parents, this.#at);
  }

  #named(address: string): RoleState | undefined {
    return this.#desk.host.directory.named(address) as RoleState | undefined;
  }

  after<P = unknown>(delay: number, content: string, fields?: MessageFields<P>): Message<P> {
    return this.#saidBy((rest) => rest.after(delay, content, fields));
  }

  #saidBy<T>(say: (rest: KeptOutbox) => T): T {
    const rest = this.#rest();
    rest.sent = this.sent;
    const message = say(rest);
    this.sent = rest.sent;
    return message;
  }

  #rest(): KeptOutbox {
    if (this.kept !== undefined) return this.kept;
    this.kept = new KeptOutbox(this.#desk, this.#spec, this.#role, this.#at, this.#n);
    this.kept.readAll(this.#news);
    if (!this.#isOpen) this.kept.close();
    return this.kept;
  }

  get name(): string {
    return this.#role.name;
  }

  random(): number {
    this.#random ??= new LightStream(this.#desk.host.seed, this.#role.name, this.#n);
    return this.#random.next();
  }

  stream(name: string): RandomStream {
    return this.#rest().stream(name);
  }

  now(): number {
    return this.#at;
  }

  arrivedAt(message: Message): number {
    return this.#rest().arrivedAt(message);
  }

  get round(): number {
    return this.#desk.host.state.round;
  }

  get tick(): number {
    return this.#desk.host.state.tick;
  }
}

function soleAddress(fields: object | undefined): unknown {
  if (typeof fields !== "object" || fields === null) return undefined;
  for (const key in fields) if (key !== "sendTo") return undefined;
  return (fields as MessageFields).sendTo;
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false;
  return true;
}

export function recipientsOf({ to }: Sent, { state }: Engine): readonly RoleState[] {
  return to.map((name) => roleOf(state, name));
}

function idsOf(news: readonly Message[]): readonly string[] {
  // A literal takes less time than a list that grows.
  if (news.length === 1) return Object.freeze([(news[0] as Message).id]);
  if (news.length === 2) return Object.freeze([(news[0] as Message).id, (news[1] as Message).id]);
  return news.length === 0 ? NO_PARENTS : Object.freeze(news.map(({ id }) => id));
}

const none: readonly Sent[] = Object.freeze([]);
