import { ROUTE_TO_SELF } from "../../message/address.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Pending } from "../record/run-state.ts";

/** The roles of a run by their index, and the cause of the messages of each. */
export interface Senders {
  readonly roles: readonly RoleState[];
  causeOf(index: number): string;
}

/** The recipient of a message that nobody gets. */
const NOBODY = -1;

const FEWEST = 64;

/**
 * The messages of one round, a column for each member. A message object is made when a role reads it, and lives as long as the role keeps it.
 * One that differs from a plain text to one role is kept as an object.
 *
 * Mail.ML1 (`deliver`) the messages of a recipient are in the order of hiring of their senders, and those of one sender in the order sent.
 * Mail.ML2 (`messageAt`) a message has the members that it would have, had it been made when it was sent.
 */
export class Mail {
  /** The mail that the senders of this one had read. */
  before: Mail | undefined;
  /** The number of columns' entries: one for each recipient of a message. */
  count = 0;
  messages = 0;
  #from = new Int32Array(FEWEST);
  #to = new Int32Array(FEWEST);
  #act = new Int32Array(FEWEST);
  #nth = new Int32Array(FEWEST);
  #at = new Float64Array(FEWEST);
  #contents: (string | Sent)[] = [];
  /** At the index of a role the first of its entries in `#order`. */
  #start: Int32Array;
  #order = new Int32Array(FEWEST);
  readonly #senders: Senders;

  constructor(senders: Senders) {
    this.#senders = senders;
    this.#start = new Int32Array(senders.roles.length + 1);
  }

  /** Adds a plain message to one role. @param nth its number in its act; `~nth` if the role sends it to itself */
  add(from: number, to: number, act: number, nth: number, at: number, content: string | Sent): void {
    const { count } = this;
    if (count === this.#from.length) this.#grow();
    this.#from[count] = from;
    this.#to[count] = to;
    this.#act[count] = act;
    this.#nth[count] = nth;
    this.#at[count] = at;
    this.#contents[count] = content;
    this.count = count + 1;
  }

  /** Adds a message that is already made. */
  keep(from: number, sent: Sent, indexOf: (name: string) => number): void {
    this.messages += 1;
    if (sent.to.length === 0) this.add(from, NOBODY, 0, 0, 0, sent);
    for (const name of sent.to) this.add(from, indexOf(name), 0, 0, 0, sent);
  }

  /** Takes back what was added since it had these numbers. */
  cut(count: number, messages: number): void {
    this.#contents.length = count;
    this.count = count;
    this.messages = messages;
  }

  /** Forgets all messages, and reads others next. */
  clear(before: Mail | undefined): void {
    this.cut(0, 0);
    this.before = before;
  }

  /** Sorts the entries by recipient, and returns the most that one role has. */
  deliver(): number {
    const { count } = this;
    const to = this.#to;
    const start = this.#start;
    const order = this.#order;
    const size = start.length - 1;
    start.fill(0);
    for (let entry = 0; entry < count; entry += 1) {
      const index = to[entry] as number;
      if (index !== NOBODY) start[index + 1] = (start[index + 1] as number) + 1;
    }
    let most = 0;
    for (let index = 0; index < size; index += 1) {
      const own = start[index + 1] as number;
      if (own > most) most = own;
      start[index + 1] = (start[index] as number) + own;
    }
    for (let entry = 0; entry < count; entry += 1) {
      const index = to[entry] as number;
      if (index === NOBODY) continue;
      const place = start[index] as number;
      order[place] = entry;
      start[index] = place + 1;
    }
    // Each start is now that of the next role.
    start.copyWithin(1, 0, size);
    start[0] = 0;
    return most;
  }

  /** The number of entries of the last delivery. */
  get delivered(): number {
    return this.#start[this.#start.length - 1] ?? 0;
  }

  countFor(index: number): number {
    return (this.#start[index + 1] ?? 0) - (this.#start[index] ?? 0);
  }

  messagesFor(index: number): Message[] {
    const end = this.#start[index + 1] ?? 0;
    const messages: Message[] = [];
    for (let place = this.#start[index] ?? 0; place < end; place += 1) messages.push(this.#messageAt(this.#order[place] as number));
    return messages;
  }

  get last(): Message | undefined {
    return this.count === 0 ? undefined : this.#messageAt(this.count - 1);
  }

  /** The messages without a recipient, in the order sent. */
  *forNobody(): Generator<Sent> {
    for (let entry = 0; entry < this.count; entry += 1) {
      const content = this.#contents[entry];
      if (typeof content === "object" && content !== this.#contents[entry - 1])
        if (content.to.length === 0 || content.dead !== undefined) yield content;
    }
  }

  /** Returns the messages from an entry on, as they wait for the end of a round. */
  pendingFrom(first: number): Pending[] {
    const pending: Pending[] = [];
    for (let entry = first; entry < this.count; entry += 1) {
      const content = this.#contents[entry] as string | Sent;
      const order = this.#from[entry] as number;
      if (typeof content === "string") {
        const message = this.#messageAt(entry);
        pending.push({ order, sent: { message, to: (this.#senders.roles[this.#to[entry] as number] as RoleState).alone } });
      } else if (content !== this.#contents[entry - 1] || entry === first) pending.push({ order, sent: content });
    }
    return pending;
  }

  #messageAt(entry: number): Message {
    const content = this.#contents[entry] as string | Sent;
    if (typeof content !== "string") return content.message;
    const { roles } = this.#senders;
    const from = this.#from[entry] as number;
    const sender = roles[from] as RoleState;
    const nth = this.#nth[entry] as number;
    const alone = nth < 0 ? TO_SELF : (roles[this.#to[entry] as number] as RoleState).alone;
    const parents = this.before?.idsFor(from) ?? NO_PARENTS;
    return plainMessage(this.#idOf(entry), content, this.#senders.causeOf(from), sender.name, alone, parents, this.#at[entry] as number);
  }

  idsFor(index: number): readonly string[] {
    const end = this.#start[index + 1] ?? 0;
    const ids: string[] = [];
    for (let place = this.#start[index] ?? 0; place < end; place += 1) ids.push(this.#idOf(this.#order[place] as number));
    return ids.length === 0 ? NO_PARENTS : Object.freeze(ids);
  }

  #idOf(entry: number): string {
    const content = this.#contents[entry] as string | Sent;
    if (typeof content !== "string") return content.message.id;
    const { name } = this.#senders.roles[this.#from[entry] as number] as RoleState;
    const nth = this.#nth[entry] as number;
    return messageId(name, this.#act[entry] as number, nth < 0 ? ~nth : nth);
  }

  #grow(): void {
    const room = this.#from.length * 2;
    this.#from = wider(this.#from, room);
    this.#to = wider(this.#to, room);
    this.#act = wider(this.#act, room);
    this.#nth = wider(this.#nth, room);
    this.#order = new Int32Array(room);
    const at = new Float64Array(room);
    at.set(this.#at);
    this.#at = at;
  }
}

function wider(column: Int32Array<ArrayBuffer>, room: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(room);
  wide.set(column);
  return wide;
}

/** The endings of ids by the last bits of the number of the act: those of a round and of the one before are used in turn. */
const endings: { act: number; readonly texts: string[] }[] = Array.from({ length: 4 }, () => ({ act: -1, texts: [] }));

/** Returns the id of message number `nth` of an act. The messages of a round mostly belong to acts of one number, so their ids share an ending. */
export function messageId(name: string, act: number, nth: number): string {
  const known = endings[act & 3] as (typeof endings)[number];
  if (known.act !== act) {
    known.act = act;
    known.texts.length = 0;
  }
  return name + (known.texts[nth] ??= `#${act}.${nth}`);
}

/** The recipients of a message that its sender addressed to itself. */
export const TO_SELF: readonly string[] = Object.freeze([ROUTE_TO_SELF]);

export const NO_PARENTS: readonly string[] = Object.freeze([]);

/** Makes a message of checked members: a literal is frozen nine times as fast as an object that was built step by step. */
export function plainMessage(
  id: string,
  content: string,
  causeBy: string,
  sentFrom: string,
  sendTo: readonly string[],
  parents: readonly string[],
  timestamp: number,
): Message {
  return Object.freeze({ id, content, role: "assistant", causeBy, sentFrom, sendTo, parents, timestamp, metadata: NO_METADATA });
}
