import { ROUTE_TO_SELF } from "../../message/address.ts";
import { type Message, NO_METADATA } from "../../message/message.ts";
import type { Sent } from "../record/event.ts";
import type { RoleState } from "../record/role-state.ts";
import type { Pending } from "../record/run-state.ts";

/** The roles of a run by their index, with what their messages have in common. */
export interface Senders {
  readonly roles: readonly RoleState[];
  readonly names: readonly string[];
  /** One for each role, or one for all. */
  readonly causes: readonly string[];
}

/** The recipient of a message that nobody gets. */
const NOBODY = -1;
/** The act of a message that is kept as an object. */
const KEPT = -1;

const FEWEST = 64;
/** The members of an entry of what was sent: recipient, sender, act and number in the act. */
const SENT = 4;
/** The members of an entry of what was delivered: sender, act and number in the act. */
const READ = 3;

/** Roles with indexes that differ in the last bits alone act one after the other, and share a reading of the clock. */
export const TIME_BITS = 4;

/** The messages of a round, in columns: one entry for each recipient. One that differs from a plain text to one role is kept as an object. */
export class SentMail {
  count = 0;
  messages = 0;
  /** The times at which the senders acted. */
  times: Float64Array;
  #entries = new Int32Array(FEWEST * SENT);
  readonly #contents: (string | Sent)[] = [];
  readonly #senders: Senders;

  constructor(senders: Senders) {
    this.#senders = senders;
    this.times = timesOf(senders);
  }

  /** Adds a plain message to one role. @param nth its number in its act; `~nth` if the role sends it to itself */
  add(from: number, to: number, act: number, nth: number, content: string | Sent): void {
    const { count } = this;
    const entry = count * SENT;
    if (entry === this.#entries.length) this.#entries = wider(this.#entries);
    const entries = this.#entries;
    entries[entry] = to;
    entries[entry + 1] = from;
    entries[entry + 2] = act;
    entries[entry + 3] = nth;
    this.#contents[count] = content;
    this.count = count + 1;
  }

  /** Adds a message that is already made. */
  keep(from: number, sent: Sent, to: readonly RoleState[]): void {
    this.messages += 1;
    if (to.length === 0) this.add(from, NOBODY, KEPT, 0, sent);
    for (const { index } of to) this.add(from, index, KEPT, 0, sent);
  }

  /** Takes back what was added since it had these numbers. */
  cut(count: number, messages: number): void {
    this.count = count;
    this.messages = messages;
  }

  /** Puts all entries into `mail`, sorted by recipient. @param before the mail that the senders had read @returns the most that one role has */
  deliver(mail: Mail, before: Mail): number {
    return mail.take(this.#entries, this.#contents, this.count, before);
  }

  /** Begins another round, whose messages `mail` does not have. */
  clear(mail: Mail): void {
    const { times } = this;
    this.times = mail.times;
    mail.times = times;
    this.cut(0, 0);
  }

  /** The messages without a recipient, in the order sent. */
  *forNobody(): Generator<Sent> {
    for (let entry = 0; entry < this.count; entry += 1) {
      const content = this.#contents[entry];
      if (typeof content === "object" && (entry === 0 || content !== this.#contents[entry - 1]))
        if (content.to.length === 0 || content.dead !== undefined) yield content;
    }
  }

  /** Returns the messages from an entry on, as they wait for the end of a round. @param read the mail that the senders had read */
  pendingFrom(first: number, read: Mail): Pending[] {
    const pending: Pending[] = [];
    for (let entry = first; entry < this.count; entry += 1) {
      const content = this.#contents[entry] as string | Sent;
      const order = this.#entries[entry * SENT + 1] as number;
      if (typeof content === "string") {
        const { alone } = this.#senders.roles[this.#entries[entry * SENT] as number] as RoleState;
        pending.push({ order, sent: { message: this.messageAt(entry, read), to: alone } });
      } else if (entry === first || content !== this.#contents[entry - 1]) pending.push({ order, sent: content });
    }
    return pending;
  }

  messageAt(entry: number, read: Mail): Message {
    const content = this.#contents[entry] as string | Sent;
    if (typeof content !== "string") return content.message;
    const at = entry * SENT;
    const [to, from, act, nth] = this.#entries.subarray(at, at + SENT) as unknown as [number, number, number, number];
    return messageOf(this.#senders, content, to, from, act, nth, read, this.times);
  }
}

/**
 * The messages that were delivered at the end of a round, by recipient. A message object is made when a role reads it, and lives as long as the
 * role keeps it.
 *
 * Mail.ML1 (`take`) the messages of a recipient are in the order of hiring of their senders, and those of one sender in the order sent.
 * Mail.ML2 (`messageOf`) a message has the members that it would have, had it been made when it was sent.
 */
export class Mail {
  times: Float64Array;
  #before: Mail | undefined;
  /** At the index of a role the first of its entries. */
  readonly #start: Int32Array;
  #entries = new Int32Array(FEWEST * READ);
  readonly #contents: (string | Sent)[] = [];
  readonly #senders: Senders;

  constructor(senders: Senders) {
    this.#senders = senders;
    this.#start = new Int32Array(senders.roles.length + 1);
    this.times = timesOf(senders);
  }

  take(sent: Int32Array, contents: readonly (string | Sent)[], count: number, before: Mail): number {
    const start = this.#start;
    const size = start.length - 1;
    start.fill(0);
    for (let at = 0; at < count * SENT; at += SENT) {
      const index = sent[at] as number;
      if (index !== NOBODY) start[index + 1] = (start[index + 1] as number) + 1;
    }
    let most = 0;
    for (let index = 0; index < size; index += 1) {
      const own = start[index + 1] as number;
      if (own > most) most = own;
      start[index + 1] = (start[index] as number) + own;
    }
    if (this.#entries.length < count * READ) this.#entries = new Int32Array(sent.length * (READ / SENT));
    const entries = this.#entries;
    const own = this.#contents;
    while (own.length < count) own.push("");
    for (let entry = 0; entry < count; entry += 1) {
      const at = entry * SENT;
      const index = sent[at] as number;
      if (index === NOBODY) continue;
      const place = start[index] as number;
      start[index] = place + 1;
      entries[place * READ] = sent[at + 1] as number;
      entries[place * READ + 1] = sent[at + 2] as number;
      entries[place * READ + 2] = sent[at + 3] as number;
      own[place] = contents[entry] as string | Sent;
    }
    // Each start is now that of the next role.
    start.copyWithin(1, 0, size);
    start[0] = 0;
    this.#before = before;
    return most;
  }

  get count(): number {
    return this.#start[this.#start.length - 1] ?? 0;
  }

  countFor(index: number): number {
    return (this.#start[index + 1] as number) - (this.#start[index] as number);
  }

  messagesFor(index: number): Message[] {
    const first = this.#start[index] as number;
    const end = this.#start[index + 1] as number;
    // A literal takes less time than a list that grows.
    if (end === first + 1) return [this.#messageAt(first, index)];
    if (end === first + 2) return [this.#messageAt(first, index), this.#messageAt(first + 1, index)];
    const messages: Message[] = [];
    for (let place = first; place < end; place += 1) messages.push(this.#messageAt(place, index));
    return messages;
  }

  #messageAt(place: number, to: number): Message {
    const content = this.#contents[place] as string | Sent;
    if (typeof content !== "string") return content.message;
    const entries = this.#entries;
    const at = place * READ;
    const [from, act, nth] = [entries[at] as number, entries[at + 1] as number, entries[at + 2] as number];
    return messageOf(this.#senders, content, to, from, act, nth, this.#before, this.times);
  }

  /** Returns the ids of the messages for a role. */
  idsFor(index: number): readonly string[] {
    const first = this.#start[index] as number;
    const end = this.#start[index + 1] as number;
    if (end === first) return NO_PARENTS;
    if (end === first + 1) return Object.freeze([this.#idOf(first)]);
    if (end === first + 2) return Object.freeze([this.#idOf(first), this.#idOf(first + 1)]);
    const ids: string[] = [];
    for (let place = first; place < end; place += 1) ids.push(this.#idOf(place));
    return Object.freeze(ids);
  }

  #idOf(place: number): string {
    const entries = this.#entries;
    const at = place * READ;
    const act = entries[at + 1] as number;
    if (act === KEPT) return (this.#contents[place] as Sent).message.id;
    return messageId(this.#senders.names[entries[at] as number] as string, act, entries[at + 2] as number);
  }
}

function timesOf({ roles }: Senders): Float64Array {
  return new Float64Array((roles.length >> TIME_BITS) + 1);
}

function wider(column: Int32Array): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(Math.ceil((column.length * 3) / 2 / SENT) * SENT);
  wide.set(column);
  return wide;
}

function messageOf(
  { roles, names, causes }: Senders,
  content: string,
  to: number,
  from: number,
  act: number,
  nth: number,
  read: Mail | undefined,
  times: Float64Array,
): Message {
  const name = names[from] as string;
  const alone = nth < 0 ? TO_SELF : (roles[to] as RoleState).alone;
  const parents = read === undefined ? NO_PARENTS : read.idsFor(from);
  const cause = (causes.length === 1 ? causes[0] : causes[from]) as string;
  return plainMessage(messageId(name, act, nth), content, cause, name, alone, parents, times[from >> TIME_BITS] as number);
}

/** The endings of ids by the last bits of the number of the act: those of a round and of the one before are used in turn. */
const endings: { act: number; readonly texts: string[] }[] = Array.from({ length: 4 }, () => ({ act: -1, texts: [] }));

/** The id of a message. The messages of a round share an ending. @param nth `~nth` for a message of a role to itself */
export function messageId(name: string, act: number, nth: number): string {
  const number = nth < 0 ? ~nth : nth;
  const known = endings[act & 3] as (typeof endings)[number];
  if (known.act !== act) {
    known.act = act;
    known.texts.length = 0;
  }
  return name + (known.texts[number] ??= `#${act}.${number}`);
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
