import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { UserRequirement } from "../message/address.ts";
import { isCauseLeftOpen, isMessage, made, type Message, type MessageFields, nameOr } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Sent } from "../run/event.ts";
import type { ActivationParts } from "./activation-parts.ts";

/** Whose words they are. */
interface Author {
  readonly news: readonly Message[];
  now(): number;
}

type OutboxParts = Pick<ActivationParts, "act" | "spec" | "state" | "host">;

/** A message of the activation, and how it was sent once it was. */
interface Issued {
  readonly message: Message;
  sent: Sent | undefined;
}

/** Most messages that are looked through one by one. */
const FEW_ISSUED = 8;

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
  /** What was issued, and at the same place in `#origins` what it was made from: itself, or a message made elsewhere. */
  readonly #issued: Issued[] = [];
  readonly #origins: Message[] = [];
  /** The same by origin; made when there are too many to look through one by one. */
  #byOrigin: Map<Message, Issued> | undefined;
  readonly #sent: Sent[] = [];
  #messages = 0;
  #closed = false;

  constructor(parts: OutboxParts, author: Author) {
    this.#parts = parts;
    this.#author = author;
    this.#name = parts.state.name;
  }

  /** Everything that was sent, in order: no more will be, once it is closed. */
  get sent(): readonly Sent[] {
    return this.#closed ? this.#sent : [...this.#sent];
  }

  close(): void {
    this.#closed = true;
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = {}): Message<P> {
    const { causeBy, sentFrom, parents } = fields;
    return this.#make(content, fields, {
      causeBy: causeBy === undefined ? this.#parts.spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom: sentFrom === undefined ? this.#name : nameOr(sentFrom, ""),
      parents: parents ?? this.#heard,
    }).message as Message<P>;
  }

  issue(message: Message, cause: string = this.#parts.spec.card.name): Message {
    return this.#issue(message, cause).message;
  }

  publish(given: Message, cause: string = this.#parts.spec.card.name): Receipt {
    this.#assertOpen("publish");
    const issued = this.#issue(given, cause);
    const { message } = issued;
    if (issued.sent === undefined) {
      const { to, dead } = this.#parts.host.route(message, this.#name);
      issued.sent = dead.length === 0 ? { message, to } : { message, to, dead };
      this.#sent.push(issued.sent);
    }
    return { message, recipients: issued.sent.to };
  }

  #issue(message: Message, cause: string): Issued {
    const known = this.#issuedFrom(message);
    if (known !== undefined) return known;
    if (!isMessage(message)) {
      throw new UsageError(
        "MESSAGE_INVALID",
        `Expected a message from role ${this.#name}, got ${valueText(message)}. Make one: rc.message(text).`,
      );
    }
    const issued = this.#make(message.content, message, {
      causeBy: isCauseLeftOpen(message) ? nameOr(cause, UserRequirement.name) : message.causeBy,
      sentFrom: message.sentFrom === "" ? this.#name : message.sentFrom,
      parents: message.parents.length === 0 ? this.#heard : message.parents,
    });
    this.#keep(message, issued);
    return issued;
  }

  #make<P>(content: string, fields: MessageFields<P>, from: Pick<Message, "causeBy" | "sentFrom" | "parents">): Issued {
    this.#assertOpen("a message");
    this.#assertSize(content);
    const message = made(content, fields, {
      id: `${this.#name}#${this.#parts.state.n}.${this.#messages}`,
      role: fields.role ?? "assistant",
      causeBy: from.causeBy,
      sentFrom: from.sentFrom,
      parents: from.parents,
      timestamp: this.#author.now(),
    });
    this.#messages += 1;
    const issued: Issued = { message, sent: undefined };
    this.#keep(message, issued);
    return issued;
  }

  #keep(origin: Message, issued: Issued): void {
    this.#origins.push(origin);
    this.#issued.push(issued);
    this.#byOrigin?.set(origin, issued);
  }

  #issuedFrom(origin: Message): Issued | undefined {
    if (this.#origins.length <= FEW_ISSUED) return this.#issued[this.#origins.indexOf(origin)];
    this.#byOrigin ??= new Map(this.#origins.map((known, place) => [known, this.#issued[place] as Issued]));
    return this.#byOrigin.get(origin);
  }

  get #heard(): readonly string[] {
    return this.#author.news.map(({ id }) => id);
  }

  #assertOpen(what: string): void {
    if (this.#closed) throw new ContextClosedError(this.#parts.act, what);
  }

  #assertSize(content: string): void {
    const { messageLimit } = this.#parts.host;
    if (typeof content !== "string" || content.length <= messageLimit) return;
    throw new UsageError(
      "MESSAGE_TOO_LONG",
      `Expected a message of at most ${messageLimit} characters from ${this.#name}, got ${content.length}. Write large results to a file and say where it is.`,
    );
  }
}
