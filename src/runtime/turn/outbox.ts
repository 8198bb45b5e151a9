import { ContextClosedError, UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { UserRequirement } from "../../message/address.ts";
import {
  addressedIn,
  assertMessageAlone,
  isCauseLeftOpen,
  isMessage,
  type Message,
  type MessageFields,
  nameOr,
  parentsOfAnswer,
} from "../../message/message.ts";
import { delayedBy, dueOf } from "../record/delivery.ts";
import type { Sent } from "../record/event.ts";
import { HANDOFF } from "../../role/handoff.ts";
import { assertNotDead, messageOf, parentsIn, routedBy } from "./commit.ts";
import type { Routed } from "../routing/directory.ts";
import type { RoleTurn } from "./turn.ts";

interface Issued {
  readonly message: Message;
  sent?: Sent;
}

/**
 * The messages of one activation. It owns the made and the sent messages; none leaves it before the activation has ended.
 *
 * Outbox.O1 (`send`) a message is sent once, however often it is published.
 * Outbox.O2 (`issue`) a message made elsewhere is issued again under the activation's id, time and parents.
 * Outbox.O3 (`isClosed`) once closed, nothing is made or sent.
 * Outbox.O4 (`#asMeant`) an address that no role has is compared by its normal form.
 */
export class Outbox {
  isClosed = false;
  readonly #turn: RoleTurn;
  readonly #activation: { readonly news: readonly Message[] };
  /** By every given message, also one that was made here. */
  readonly #issued = new Map<unknown, Issued>();
  readonly said: Sent[] = [];
  #delays: Map<Sent, number> | undefined;
  #made = 0;
  #answered: { readonly news: readonly Message[]; readonly ids: readonly string[] } | undefined;

  constructor(turn: RoleTurn, activation: { readonly news: readonly Message[] }) {
    this.#turn = turn;
    this.#activation = activation;
  }

  message<P = unknown>(content: string, fields: MessageFields<P> = noFields): Message<P> {
    const { definition, role } = this.#turn;
    const routed = routedBy(fields, definition.spec.card.name, role.name);
    const parents = fields.parents === undefined ? undefined : parentsIn(fields);
    return this.#make(content, fields, routed, parents ?? this.#parents());
  }

  issue(given: Message, cause: string = this.#turn.definition.spec.card.name): Message {
    const known = this.#issued.get(given);
    if (known !== undefined) return known.message;
    const { name } = this.#turn.role;
    if (!isMessage(given)) {
      throw new UsageError("MESSAGE_INVALID", `Expected a message from role ${name}, got ${valueText(given)}. Make one: rc.message(text).`);
    }
    const causeBy = isCauseLeftOpen(given) ? nameOr(cause, UserRequirement.name) : given.causeBy;
    const sentFrom = given.sentFrom === "" ? name : given.sentFrom;
    // A copy would lose members of the message's class, such as its recipients.
    const parents = given.parents.length === 0 ? this.#parents() : Object.freeze([...given.parents]);
    const issued = this.#make(given.content, given, { sendTo: addressedIn(given), causeBy, sentFrom }, parents);
    this.#issued.set(given, this.#issued.get(issued) as Issued);
    return issued;
  }

  /** Sends a message when the activation ends, or `delay` ticks later. */
  send(given: Message, cause?: string, delay?: number): Sent {
    if (this.isClosed) throw new ContextClosedError(this.#turn.started.act, "publish");
    if (cause !== undefined && typeof cause !== "string") assertMessageAlone("publish", cause);
    const { name } = this.#turn.role;
    if (delay !== undefined) dueOf(this.#turn.tools.log.state, delay, name);
    const issued = this.#issued.get(given) ?? (this.#issued.get(this.issue(given, cause)) as Issued);
    if (issued.sent !== undefined) return issued.sent;
    const { message } = issued;
    const { directory } = this.#turn.tools.host;
    const { to, dead } = directory.route(message, name, this.#turn.teamAt);
    const sent: Sent = dead.length === 0 ? { message, to } : this.#asMeant({ message, to, dead });
    issued.sent = sent;
    this.said.push(sent);
    if (delay !== undefined && delay > 0) (this.#delays ??= new Map()).set(sent, delay);
    return sent;
  }

  #asMeant({ message, to, dead = [] }: Sent): Sent {
    const { role, teamAt, tools } = this.#turn;
    const { directory } = tools.host;
    const meant = dead.flatMap((wrote) => {
      const as = directory.meant(wrote, teamAt);
      return as === undefined ? [] : [{ wrote, as }];
    });
    const read = new Map(meant.map(({ wrote, as }) => [wrote, as]));
    const sendTo = [...new Set(message.sendTo.map((address) => read.get(address) ?? address))];
    const { causeBy, sentFrom } = message;
    const routed = meant.length === 0 ? { to, dead } : directory.route({ sendTo, causeBy, sentFrom }, role.name, teamAt);
    // A conversation that nobody takes would end without an answer.
    assertNotDead({ directory, failsOnDead: tools.host.failsOnDead || causeBy === HANDOFF }, role.name, routed.dead);
    return {
      ...{ message, to: routed.to },
      ...(routed.dead.length === 0 ? {} : { dead: routed.dead }),
      ...(meant.length === 0 ? {} : { meant }),
    };
  }

  delayed(said: readonly Sent[]): readonly Sent[] {
    const delays = this.#delays;
    if (delays === undefined) return said;
    const { state } = this.#turn.tools.log;
    return said.map((sent) => delayedBy(sent, dueOf(state, delays.get(sent) ?? 0, this.#turn.role.name)));
  }

  #make<P>(content: string, fields: MessageFields<P>, routed: Routed, parents: readonly string[]): Message<P> {
    const { tools, role, started } = this.#turn;
    if (this.isClosed) throw new ContextClosedError(started.act, "a message");
    const message = messageOf(tools.host, role, this.#made, content, fields, routed, parents, this.#turn.now);
    this.#made += 1;
    if (message.files !== undefined) tools.log.files.made(message);
    this.#issued.set(message, { message });
    return message;
  }

  #parents(): readonly string[] {
    const { news } = this.#activation;
    if (this.#answered?.news !== news) {
      const [first] = news;
      // All recipients share the list of this one message. A growing list would reserve more memory.
      const ids = first !== undefined && news.length === 1 ? parentsOfAnswer(first.id) : Object.freeze(news.map(({ id }) => id));
      this.#answered = { news, ids };
    }
    return this.#answered.ids;
  }
}

const noFields = Object.freeze({});
