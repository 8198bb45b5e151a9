import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { UserRequirement } from "../message/address.ts";
import { isCauseLeftOpen, isMessage, made, type Message, type MessageFields, nameOr } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Sent } from "../run/event.ts";
import type { ActivationParts } from "./activation-parts.ts";
import { assertMessageSize } from "./message-size.ts";

/** Whose words they are. */
interface Author {
  readonly news: readonly Message[];
  now(): number;
}

type OutboxParts = Pick<ActivationParts, "act" | "spec" | "state" | "host">;

/** So many are looked through one by one. */
const FEW = 8;

/**
 * What an activation says. It owns the messages it made and sent, and counts them for their ids; nothing leaves it before the activation
 * has ended.
 *
 * A3 a message is sent once, however often it is published. A4 a message made elsewhere is issued again under the activation's id, time
 * and parents. A5 once closed, nothing is made or sent.
 */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #author: Author;
  readonly #name: string;
  /** Both are made with the first, for one: most activations say one thing, and a list that grows has room for many. */
  #made: Message[] | undefined;
  #sent: Sent[] | undefined;
  /** What was made, and how it was sent once it was; made when there is too much to look through one by one. */
  #byMessage: Map<Message, Sent | undefined> | undefined;
  /** What became of messages that were made elsewhere. */
  #issuedFrom: Map<Message, Message> | undefined;
  #parents: { readonly of: readonly Message[]; readonly ids: readonly string[] } | undefined;
  #closed = false;

  constructor(parts: OutboxParts, author: Author) {
    this.#parts = parts;
    this.#author = author;
    this.#name = parts.state.name;
  }

  /** Everything that was sent, in order: no more will be, once it is closed. */
  get sent(): readonly Sent[] {
    if (this.#sent === undefined) return silence;
    return this.#closed ? this.#sent : [...this.#sent];
  }

  close(): void {
    this.#closed = true;
  }

  message<P = unknown>(content: string, fields: MessageFields<P>): Message<P> {
    const { causeBy, sentFrom, parents } = fields;
    return this.#make(
      content,
      fields,
      causeBy === undefined ? this.#parts.spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom === undefined ? this.#name : nameOr(sentFrom, ""),
      parents === undefined || parents === null ? this.#heard : Object.freeze([...parents]),
    );
  }

  issue(message: Message, cause: string = this.#parts.spec.card.name): Message {
    if (this.#isOwn(message)) return message;
    const known = this.#issuedFrom?.get(message);
    if (known !== undefined) return known;
    if (!isMessage(message)) {
      throw new UsageError(
        "MESSAGE_INVALID",
        `Expected a message from role ${this.#name}, got ${valueText(message)}. Make one: rc.message(text).`,
      );
    }
    const issued = this.#make(
      message.content,
      message,
      isCauseLeftOpen(message) ? nameOr(cause, UserRequirement.name) : message.causeBy,
      message.sentFrom === "" ? this.#name : message.sentFrom,
      message.parents.length === 0 ? this.#heard : Object.freeze([...message.parents]),
    );
    (this.#issuedFrom ??= new Map()).set(message, issued);
    return issued;
  }

  publish(given: Message, cause?: string): Receipt {
    if (this.#closed) throw this.#late("publish");
    const message = this.issue(given, cause);
    const { to } = this.#sentOf(message) ?? this.#send(message);
    return { message, recipients: to };
  }

  #send(message: Message): Sent {
    const { to, dead } = this.#parts.host.directory.route(message, this.#name);
    const sent: Sent = dead.length === 0 ? { message, to } : { message, to, dead };
    if (this.#sent === undefined) this.#sent = [sent];
    else this.#sent.push(sent);
    this.#byMessage?.set(message, sent);
    return sent;
  }

  #make<P>(content: string, fields: MessageFields<P>, causeBy: string, sentFrom: string, parents: readonly string[]): Message<P> {
    if (this.#closed) throw this.#late("a message");
    assertMessageSize(content, this.#parts.host.messageLimit, this.#name);
    const id = `${this.#name}#${this.#parts.state.n}.${this.#made?.length ?? 0}`;
    const role = fields.role ?? "assistant";
    const message = made(content, fields, { id, role, causeBy, sentFrom, parents, timestamp: this.#author.now() });
    if (this.#made === undefined) this.#made = [message];
    else this.#made.push(message);
    if (this.#byMessage !== undefined) this.#byMessage.set(message, undefined);
    else if (this.#made.length > FEW) this.#byMessage = indexed(this.#made, this.#sent ?? silence);
    return message;
  }

  #isOwn(message: Message): boolean {
    if (this.#byMessage !== undefined) return this.#byMessage.has(message);
    return this.#made !== undefined && this.#made.includes(message);
  }

  #sentOf(message: Message): Sent | undefined {
    if (this.#byMessage !== undefined) return this.#byMessage.get(message);
    return this.#sent?.find((sent) => sent.message === message);
  }

  /** Shared by all that is said of the same news. */
  get #heard(): readonly string[] {
    const { news } = this.#author;
    if (this.#parents?.of === news) return this.#parents.ids;
    const only = news.length === 1 ? news[0] : undefined;
    const ids = Object.freeze(only !== undefined ? [only.id] : news.map(({ id }) => id));
    this.#parents = { of: news, ids };
    return ids;
  }

  #late(what: string): ContextClosedError {
    return new ContextClosedError(this.#parts.act, what);
  }
}

function indexed(own: readonly Message[], sent: readonly Sent[]): Map<Message, Sent | undefined> {
  const byMessage = new Map<Message, Sent | undefined>(own.map((message) => [message, undefined]));
  for (const one of sent) byMessage.set(one.message, one);
  return byMessage;
}

const silence: readonly Sent[] = Object.freeze([]);
