import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { UserRequirement } from "../../message/address.ts";
import {
  isCauseLeftOpen,
  isMessage,
  made,
  type Message,
  type MessageFields,
  nameOr,
  parentsOfAnswer,
  type Receipt,
} from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { Sent } from "../record/event.ts";
import { messageId } from "../record/message-id.ts";
import type { RoleState } from "../record/role-state.ts";
import type { ActivationHost } from "./activation-parts.ts";
import { assertMessageSize } from "./message-size.ts";

/** So many are looked through one by one. */
const FEW = 8;

/**
 * An activation as one that speaks. It owns the messages that were made and sent, and counts them for their ids; nothing leaves it before the
 * activation has ended. A part of the activation itself: most speak, and an object of its own for that would be made for each.
 *
 * A3 a message is sent once, however often it is published. A4 a message made elsewhere is issued again under the activation's id, time
 * and parents. A5 once closed, nothing is made or sent.
 */
export abstract class Speaker {
  abstract readonly act: string;
  abstract readonly news: readonly Message[];
  readonly #host: ActivationHost;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  /** What was made first: most activations say one thing. */
  #first: Message | undefined;
  /** All that was made, where that is more. */
  #made: Message[] | undefined;
  /** Made with the first, for one: a list that grows has room for many. */
  #sent: Sent[] | undefined;
  #much: Much | undefined;
  #closed = false;

  constructor(host: ActivationHost, spec: RoleSpec, role: RoleState) {
    this.#host = host;
    this.#spec = spec;
    this.#role = role;
  }

  abstract now(): number;

  /** Everything that was sent, in order: no more will be, once it is closed. @internal */
  get sent(): readonly Sent[] {
    if (this.#sent === undefined) return silence;
    return this.#closed ? this.#sent : [...this.#sent];
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Nothing can be said any more. @internal */
  close(): void {
    this.#closed = true;
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    const { causeBy, sentFrom, parents } = fields;
    return this.#make(
      content,
      fields,
      causeBy === undefined ? this.#spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom === undefined ? this.#role.name : nameOr(sentFrom, ""),
      parents === undefined || parents === null ? this.#heard() : Object.freeze([...parents]),
    );
  }

  issue(message: Message, cause: string = this.#spec.card.name): Message {
    if (this.isOwn(message)) return message;
    const known = this.#much?.issuedFrom?.get(message);
    if (known !== undefined) return known;
    if (!isMessage(message)) {
      throw new UsageError(
        "MESSAGE_INVALID",
        `Expected a message from role ${this.#role.name}, got ${valueText(message)}. Make one: rc.message(text).`,
      );
    }
    const issued = this.#make(
      message.content,
      message,
      isCauseLeftOpen(message) ? nameOr(cause, UserRequirement.name) : message.causeBy,
      message.sentFrom === "" ? this.#role.name : message.sentFrom,
      message.parents.length === 0 ? this.#heard() : Object.freeze([...message.parents]),
    );
    ((this.#much ??= new Much()).issuedFrom ??= new Map()).set(message, issued);
    return issued;
  }

  /** Whether it was made here. Also asked of what somebody made of this context, which knows nothing of it. @internal */
  isOwn(value: unknown): boolean {
    if (!(#first in this) || this.#first === undefined) return false;
    const own = this.#made;
    if (own === undefined || own.length <= FEW) return this.#first === value || own?.includes(value as Message) === true;
    return this.#indexed(own).has(value as Message);
  }

  publish(given: Message, cause?: string): Receipt {
    if (this.#closed) throw this.#late("publish");
    const message = this.isOwn(given) ? given : this.issue(given, cause);
    return { message, recipients: this.send(message).to };
  }

  /** Publishes a message that was made here. @internal */
  send(message: Message): Sent {
    const before = this.#sent === undefined ? undefined : this.#sentOf(this.#sent, message);
    if (before !== undefined) return before;
    const { to, dead } = this.#host.directory.route(message, this.#role.name);
    const sent: Sent = dead.length === 0 ? { message, to } : { message, to, dead };
    if (this.#sent === undefined) this.#sent = [sent];
    else this.#sent.push(sent);
    this.#much?.byMessage?.set(message, sent);
    return sent;
  }

  #make<P>(content: string, fields: MessageFields<P>, causeBy: string, sentFrom: string, parents: readonly string[]): Message<P> {
    if (this.#closed) throw this.#late("a message");
    const { name, n } = this.#role;
    const { messageLimit } = this.#host;
    if (typeof content !== "string" || content.length > messageLimit) assertMessageSize(content, messageLimit, name);
    const first = this.#first;
    const id = messageId(name, n, first === undefined ? 0 : (this.#made?.length ?? 1));
    const message = made(content, fields, id, fields.role ?? "assistant", causeBy, sentFrom, parents, this.now());
    if (first === undefined) this.#first = message;
    else if (this.#made === undefined) this.#made = [first, message];
    else this.#made.push(message);
    this.#much?.byMessage?.set(message, undefined);
    return message;
  }

  #sentOf(sent: readonly Sent[], message: Message): Sent | undefined {
    const own = this.#made;
    if (own !== undefined && own.length > FEW) return this.#indexed(own).get(message);
    for (let place = 0; place < sent.length; place += 1) if (sent[place]?.message === message) return sent[place];
    return undefined;
  }

  /** Made when there is too much to look through one by one. */
  #indexed(own: readonly Message[]): Map<Message, Sent | undefined> {
    return ((this.#much ??= new Much()).byMessage ??= indexed(own, this.#sent ?? silence));
  }

  /** Shared by all that is said of the same news. */
  #heard(): readonly string[] {
    const { news } = this;
    if (news.length === 1) return parentsOfAnswer((news[0] as Message).id);
    const much = (this.#much ??= new Much());
    if (much.news !== news) {
      much.news = news;
      much.parents = Object.freeze(news.map(({ id }) => id));
    }
    return much.parents;
  }

  #late(what: string): ContextClosedError {
    return new ContextClosedError(this.act, what);
  }
}

/** What only an activation holds that says much, of much, or what was made elsewhere. */
class Much {
  /** What was made, and how it was sent once it was. */
  byMessage: Map<Message, Sent | undefined> | undefined;
  /** What became of messages that were made elsewhere. */
  issuedFrom: Map<Message, Message> | undefined;
  /** Ids of the news that was answered last. */
  news: readonly Message[] | undefined;
  parents: readonly string[] = nobody;
}

function indexed(own: readonly Message[], sent: readonly Sent[]): Map<Message, Sent | undefined> {
  const byMessage = new Map<Message, Sent | undefined>(own.map((message) => [message, undefined]));
  for (const one of sent) byMessage.set(one.message, one);
  return byMessage;
}

const noFields = Object.freeze({});
const nobody: readonly string[] = Object.freeze([]);
const silence: readonly Sent[] = Object.freeze([]);
