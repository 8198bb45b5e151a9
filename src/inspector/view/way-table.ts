import type { RoleState } from "../../runtime/record/role-state.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { WayFact } from "./run-facts.ts";

type Way = { -readonly [Key in keyof WayFact]: WayFact[Key] };

type NewWay = Pick<WayFact, "sent" | "role" | "id" | "from" | "due" | "fault">;

/**
 * The ways of messages to their recipients, in the order in which they were sent. It owns the ways and where each of them is: sent, delayed,
 * delivered, taken, consumed or dropped.
 *
 * WayTable.W1 (`settle`) a way is delivered by the event that puts its message into the mailbox of the runtime's state.
 * WayTable.W2 (`between`) a range has every way that touches it.
 * WayTable.W3 (`retire`, `#arrive`) a way to a retired role ends: its message is a dead letter of the runtime's state.
 */
export class WayTable {
  readonly #ways: Way[] = [];
  /** Ways in mailboxes, by role and by the id of the message. */
  readonly #inMailbox = new Map<string, Map<string, Way>>();
  /** Ways whose messages wait for the end of the round or for a tick. */
  #waiting: Way[] = [];
  /** Ways whose messages the present event delivers. */
  #coming: Way[] = [];

  get size(): number {
    return this.#ways.length;
  }

  at(index: number): WayFact | undefined {
    return this.#ways[index];
  }

  /** Adds a way and returns its index. @param isNow the present event delivers its message, if the mailbox has room */
  add(way: NewWay, isNow: boolean): number {
    const added: Way = { ...way, index: this.#ways.length, isDouble: false, isDead: false, isLost: false };
    this.#ways.push(added);
    (isNow ? this.#coming : this.#waiting).push(added);
    return added.index;
  }

  /** Adds a way on which the edges lost the message. Returns its index. */
  addLost(way: NewWay): number {
    return this.#ways.push({ ...way, index: this.#ways.length, isDouble: false, isDead: false, isLost: true, dropped: way.from }) - 1;
  }

  /** The present event delivers what waits for the end of the round, and what is due at a tick. */
  deliver(tick: number): void {
    const isDue = ({ due = tick }: Way): boolean => due <= tick;
    this.#coming.push(...this.#waiting.filter(isDue));
    this.#waiting = this.#waiting.filter((way) => !isDue(way));
  }

  open(role: string, id: string, activation: number, seq: number): WayFact | undefined {
    const way = this.#inMailbox.get(role)?.get(id);
    if (way !== undefined && way.opened === undefined) Object.assign(way, { opener: activation, opened: seq });
    return way;
  }

  consume(role: string, id: string, activation: number, seq: number): void {
    const way = this.open(role, id, activation, seq);
    if (way === undefined) return;
    this.#inMailbox.get(role)?.delete(id);
    Object.assign(way, { consumer: activation, consumed: seq });
  }

  /** Records what an event delivered and dropped, after the state has applied it. */
  settle({ justDropped, roles }: RunState, seq: number): void {
    for (const way of this.#coming) {
      this.#arrive(way, seq, roles.get(way.role)?.isHired === true);
    }
    this.#coming = [];
    for (const { role, message } of justDropped) {
      const way = this.#inMailbox.get(role.name)?.get(message.id);
      if (way === undefined) continue;
      way.dropped = seq;
      this.#inMailbox.get(role.name)?.delete(message.id);
    }
  }

  /** A role was retired: what its mailbox still holds stays, and all else that was on the way to it is dead. */
  retire({ name, mailbox }: RoleState, seq: number): void {
    const inMailbox = this.#inMailbox.get(name);
    for (const [id, way] of inMailbox ?? []) {
      if (mailbox.has(id)) continue;
      inMailbox?.delete(id);
      Object.assign(way, { dropped: seq, isDead: true });
    }
    for (const way of this.#coming) if (way.role === name) Object.assign(way, { dropped: seq, isDead: true });
    this.#coming = this.#coming.filter(({ role }) => role !== name);
  }

  /** The ways that touch the events `from` to `until`, both included, in the order sent. */
  *between(from: number, until: number): Generator<WayFact, void> {
    for (const way of this.#ways) {
      if (way.from > until) return;
      if (lastOf(way) >= from) yield way;
    }
  }

  #arrive(way: Way, seq: number, isHired: boolean): void {
    if (!isHired) return void Object.assign(way, { dropped: seq, isDead: true });
    way.delivered = seq;
    const mailbox = this.#inMailbox.get(way.role) ?? new Map<string, Way>();
    this.#inMailbox.set(way.role, mailbox);
    if (mailbox.has(way.id)) way.isDouble = true;
    else mailbox.set(way.id, way);
  }
}

/** The last event of a way; infinite while the message is on its way. */
export function lastOf({ delivered, opened, consumed, dropped }: WayFact): number {
  return consumed ?? dropped ?? opened ?? delivered ?? Infinity;
}
