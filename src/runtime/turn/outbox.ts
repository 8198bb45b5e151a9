import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { UserRequirement } from "../../message/address.ts";
import { isCauseLeftOpen, isMessage, made, type Message, type MessageFields, nameOr } from "../../message/message.ts";
import type { Sent } from "../record/event.ts";
import { messageId } from "../record/role-state.ts";
import { assertMessageSize } from "./commit.ts";
import type { RoleTurn } from "./role-turn.ts";

/** The parts of an activation that its outbox uses. */
export interface Speaker {
  readonly news: readonly Message[];
  now(): number;
}

/**
 * The messages of one activation. It owns the made and the sent messages; none leaves it before the activation has ended.
 *
 * Outbox.O1 (`send`) a message is sent once, however often it is published.
 * Outbox.O2 (`issue`) a message made elsewhere is issued again under the activation's id, time and parents.
 * Outbox.O3 (`#assertOpen`) once closed, nothing is made or sent.
 */
export class Outbox {
  readonly #turn: RoleTurn;
  readonly #speaker: Speaker;
  readonly #made = new Set<unknown>();
  readonly #sent = new Map<Message, Sent>();
  readonly #issued = new Map<Message, Message>();
  #parents: readonly string[] = nobody;
  /** The news from which the cached parents were made. */
  #answered: readonly Message[] = [];
  #isClosed = false;

  constructor(turn: RoleTurn, speaker: Speaker) {
    this.#turn = turn;
    this.#speaker = speaker;
  }

  /** All sent messages, in order. */
  get sent(): readonly Sent[] {
    return [...this.#sent.values()];
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Makes a message of this activation. */
  message<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    const { causeBy, sentFrom, parents } = fields;
    return this.#make(
      content,
      fields,
      causeBy === undefined ? this.#turn.definition.spec.card.name : nameOr(causeBy, UserRequirement.name),
      sentFrom === undefined ? this.#turn.role.name : nameOr(sentFrom, ""),
      parents ?? this.#parentsNow(),
    );
  }

  /** Returns a message as this activation sends it: itself, if it was made here. */
  issue(message: Message, cause: string = this.#turn.definition.spec.card.name): Message {
    if (this.#made.has(message)) return message;
    const known = this.#issued.get(message);
    if (known !== undefined) return known;
    if (!isMessage(message)) {
      throw new UsageError(
        "MESSAGE_INVALID",
        `Expected a message from role ${this.#turn.role.name}, got ${valueText(message)}. Make one: rc.message(text).`,
      );
    }
    const issued = this.#make(
      message.content,
      message,
      isCauseLeftOpen(message) ? nameOr(cause, UserRequirement.name) : message.causeBy,
      message.sentFrom === "" ? this.#turn.role.name : message.sentFrom,
      message.parents.length === 0 ? this.#parentsNow() : message.parents,
    );
    this.#issued.set(message, issued);
    return issued;
  }

  /** Sends a message when the activation ends. */
  send(given: Message, cause?: string): Sent {
    this.#assertOpen("publish");
    const message = this.issue(given, cause);
    const before = this.#sent.get(message);
    if (before !== undefined) return before;
    const { to, dead } = this.#turn.tools.host.directory.route(message, this.#turn.role.name);
    const sent: Sent = dead.length === 0 ? { message, to } : { message, to, dead };
    this.#sent.set(message, sent);
    return sent;
  }

  #make<P>(content: string, fields: MessageFields<P>, causeBy: string, sentFrom: string, parents: readonly string[]): Message<P> {
    this.#assertOpen("a message");
    const { name, n } = this.#turn.role;
    assertMessageSize(content, this.#turn.tools.host.messageLimit, name);
    const id = messageId(name, n, this.#made.size);
    const at = this.#speaker.now();
    const message = made(content, fields, id, fields.role ?? "assistant", causeBy, sentFrom, Object.freeze([...parents]), at);
    this.#made.add(message);
    return message;
  }

  /** The ids of the news: the parents of a message that names none. */
  #parentsNow(): readonly string[] {
    const { news } = this.#speaker;
    if (this.#answered !== news) {
      this.#answered = news;
      this.#parents = news.map(({ id }) => id);
    }
    return this.#parents;
  }

  #assertOpen(what: string): void {
    if (this.#isClosed) throw new ContextClosedError(this.#turn.begun.act, what);
  }
}

const noFields = Object.freeze({});
const nobody: readonly string[] = Object.freeze([]);
