import type { Message, MessageFields } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Engine } from "../engine.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { RunLog } from "../record/run-log.ts";
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
}

/**
 * The output of a step function in the lane: a text to one role goes into the columns of the mail, any other message is made and kept.
 *
 * LaneOutbox.LO1 (`say`) the message that it returns equals the one that its recipient reads.
 */
export class LaneOutbox extends StepOutbox {
  readonly #desk: Desk;
  readonly #cause: string;
  /** True if the columns of the mail before have all that the role has read. */
  readonly #isPlain: boolean;
  #delayed: Sent[] | undefined;
  #parents: readonly string[] | undefined;

  constructor(desk: Desk, spec: RoleSpec, role: RoleState, at: number, isPlain: boolean) {
    super(desk, spec, role, at);
    this.#desk = desk;
    this.#cause = spec.card.name;
    this.#isPlain = isPlain;
  }

  /** True if it has sent a message that is no entry of columns alone. */
  hasKept = false;

  get delayed(): readonly Sent[] {
    return this.#delayed ?? none;
  }

  /** The number of messages that it has sent. */
  get sent(): number {
    return this.count;
  }

  override say<P = unknown>(content: string, fields?: MessageFields<P>): Message<P> {
    const to = this.#isPlain && this.isOpen && this.due === undefined ? this.#recipient(content, fields) : undefined;
    if (to === undefined) return super.say(content, fields);
    const { name, n, index } = this.role;
    const nth = this.count;
    this.count = nth + 1;
    const isOwn = fields?.sendTo === ROUTE_TO_SELF;
    const { mail } = this.#desk;
    mail.messages += 1;
    mail.add(index, to.index, n, isOwn ? ~nth : nth, content);
    const parents = (this.#parents ??= idsOf(this.news));
    return plainMessage(messageId(name, n, nth), content, this.#cause, name, isOwn ? TO_SELF : to.alone, parents, this.at) as Message<P>;
  }

  /** Returns the one role that a text goes to, if its fields say nothing else. */
  #recipient(content: unknown, fields: object | undefined): RoleState | undefined {
    if (typeof content !== "string" || typeof fields !== "object" || fields === null) return undefined;
    for (const key in fields) if (key !== "sendTo") return undefined;
    const { sendTo } = fields as MessageFields;
    if (typeof sendTo !== "string") return undefined;
    const { host, messageLimit, isClean } = this.#desk;
    if (content.length > messageLimit || !isClean(content)) return undefined;
    return sendTo === ROUTE_TO_SELF ? this.role : (host.directory.named(sendTo) as RoleState | undefined);
  }

  protected override send(sent: Sent): void {
    const { log, host, mail } = this.#desk;
    const clean = log.masked(sent);
    super.send(clean);
    this.hasKept = true;
    if (clean.due !== undefined) (this.#delayed ??= []).push(clean);
    else mail.keep(this.role.index, clean, (name) => host.state.roles.get(name)?.index ?? 0);
  }
}

function idsOf(news: readonly Message[]): readonly string[] {
  const [first, second] = news;
  if (first === undefined) return NO_PARENTS;
  // A literal takes less time than a list that grows.
  if (second === undefined) return Object.freeze([first.id]);
  return Object.freeze(news.length === 2 ? [first.id, second.id] : news.map(({ id }) => id));
}

const none: readonly Sent[] = Object.freeze([]);
