import { ContextClosedError, UsageError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message, type MessageFields } from "../message/message.ts";
import type { Receipt } from "../message/receipt.ts";
import type { Sent } from "../run/event.ts";
import type { ActivationParts } from "./activation.ts";

/** Whose words they are. */
interface Author {
  readonly news: readonly Message[];
  now(): number;
}

/**
 * What an activation says. It owns the messages it made and sent, and counts them for their ids; nothing leaves it before the activation
 * has ended.
 *
 * A3 a message is sent once, however often it is published. A4 a message made elsewhere is issued again under the activation's id, time
 * and parents. A5 once closed, nothing is made or sent.
 */
export class Outbox {
  readonly #parts: Pick<ActivationParts, "act" | "spec" | "state" | "host">;
  readonly #author: Author;
  readonly #name: string;
  /** What was issued, by what it was made from: itself, or a message made elsewhere. */
  #issued: Map<Message, Message> | undefined;
  #sent: Map<string, Sent> | undefined;
  #messages = 0;
  #closed = false;

  constructor(parts: Pick<ActivationParts, "act" | "spec" | "state" | "host">, author: Author) {
    this.#parts = parts;
    this.#author = author;
    this.#name = parts.state.name;
  }

  /** Everything that was sent, in order. */
  get sent(): readonly Sent[] {
    return [...(this.#sent?.values() ?? [])];
  }

  close(): void {
    this.#closed = true;
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = {}): Message<P> {
    this.#assertOpen("a message");
    this.#assertSize(content);
    const message = createMessage(content, {
      ...fields,
      id: `${this.#name}#${this.#parts.state.n}.${this.#messages}`,
      role: fields.role ?? "assistant",
      causeBy: fields.causeBy ?? this.#parts.spec.card.name,
      sentFrom: fields.sentFrom ?? this.#name,
      parents: fields.parents ?? this.#author.news.map((news) => news.id),
      timestamp: this.#author.now(),
    });
    this.#messages += 1;
    (this.#issued ??= new Map()).set(message, message);
    return message;
  }

  issue(message: Message, cause: string = this.#parts.spec.card.name): Message {
    const known = this.#issued?.get(message);
    if (known !== undefined) return known;
    if (!isMessage(message)) {
      throw new UsageError(
        "MESSAGE_INVALID",
        `Expected a message from role ${this.#name}, got ${valueText(message)}. Make one: rc.message(text).`,
      );
    }
    const { id: _id, timestamp: _timestamp, content, ...fields } = message;
    const issued = this.message(content, {
      ...fields,
      causeBy: isCauseLeftOpen(message) ? cause : message.causeBy,
      sentFrom: message.sentFrom === "" ? this.#name : message.sentFrom,
      parents: message.parents.length === 0 ? this.#author.news.map((news) => news.id) : message.parents,
    });
    this.#issued?.set(message, issued);
    return issued;
  }

  publish(given: Message, cause?: string): Receipt {
    this.#assertOpen("publish");
    const message = this.issue(given, cause);
    const sent = (this.#sent ??= new Map<string, Sent>());
    const known = sent.get(message.id);
    if (known !== undefined) return { message, recipients: known.to };
    const { to, dead } = this.#parts.host.route(message, this.#name);
    sent.set(message.id, dead.length === 0 ? { message, to } : { message, to, dead });
    return { message, recipients: to };
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
