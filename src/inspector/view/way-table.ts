import { Agenda } from "../../kernel/agenda.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { WayFact } from "./run-facts.ts";

type Way = { -readonly [Key in keyof WayFact]: WayFact[Key] };

type NewWay = Pick<WayFact, "sent" | "role" | "from" | "due" | "fault"> & { readonly id: string };

/** Ways in one block. The latest end of each block is kept, so that a window skips blocks that ended before it. */
const BLOCK = 256;

/**
 * The ways of messages to their recipients, in the order in which they were sent. It owns the ways and where each of them is: sent, delayed,
 * delivered, taken, consumed or dropped.
 *
 * WayTable.W1 (`settle`) a way is delivered by the event that puts its message into the mailbox of the runtime's state.
 * WayTable.W2 (`#reach`) the end of a block is never before the end of one of its ways, and a block with a way that has no end is
 * never passed over, so that `between` misses none.
 * WayTable.W3 (`retire`, `#arrive`) a way to a retired role ends: its message is a dead letter of the runtime's state.
 */
export class WayTable {
  readonly #ways: Way[] = [];
  /** The latest event of each block. */
  readonly #ends: number[] = [];
  /** Ways of each block that have no end yet: they are neither delivered nor dropped. */
  readonly #underWay: number[] = [];
  /** Ways in mailboxes, by role and by the id of the message. */
  readonly #inMailbox = new Map<string, Map<string, Way>>();
  readonly #ids: string[] = [];
  #waiting: number[] = [];
  readonly #delayed = new Agenda<number>();
  /** Delivered by the present event. */
  #coming: number[] = [];

  get size(): number {
    return this.#ways.length;
  }

  at(index: number): WayFact | undefined {
    return this.#ways[index];
  }

  /** Adds a way that has just begun. Returns its index. */
  add({ sent, role, id, from, due, fault }: NewWay): number {
    const index = this.#ways.length;
    this.#ways.push({ index, sent, role, from, due, fault, isDouble: false, isDead: false, isLost: false });
    this.#ids.push(id);
    this.#count(index, 1);
    this.#reach(index, from);
    return index;
  }

  /** Adds a way on which the edges lost the message. Returns its index. */
  addLost(way: NewWay): number {
    const index = this.add(way);
    const lost = this.#ways[index];
    if (lost !== undefined) Object.assign(lost, { dropped: way.from, isLost: true });
    this.#count(index, -1);
    return index;
  }

  /** Their messages are delivered at a tick, at the end of the round, or by the present event. */
  begin(indexes: readonly number[], due: number | undefined, isAtBarrier: boolean): void {
    if (due !== undefined) for (const index of indexes) this.#delayed.add(index, due);
    else (isAtBarrier ? this.#waiting : this.#coming).push(...indexes);
  }

  deliverWaiting(): void {
    this.#coming.push(...this.#waiting);
    this.#waiting = [];
  }

  deliverDue(tick: number): void {
    while ((this.#delayed.first ?? Infinity) <= tick) this.#coming.push(...this.#delayed.takeFirst());
  }

  open(role: string, id: string, activation: number, seq: number): WayFact | undefined {
    const way = this.#inMailbox.get(role)?.get(id);
    if (way !== undefined && way.opened === undefined) this.#opened(way, activation, seq);
    return way;
  }

  consume(role: string, id: string, activation: number, seq: number): void {
    const way = this.#leave(role, id);
    if (way === undefined) return;
    if (way.opened === undefined) this.#opened(way, activation, seq);
    way.consumer = activation;
    way.consumed = seq;
    this.#reach(way.index, seq);
  }

  /** Marks what the event of a number delivered and dropped, after the state has applied it. */
  settle({ justDropped, roles }: RunState, seq: number): void {
    for (const index of this.#coming) {
      const way = this.#ways[index] as Way;
      this.#arrive(way, seq, roles.get(way.role)?.isHired === true);
    }
    this.#coming = [];
    for (const { role, message } of justDropped) {
      const way = this.#leave(role.name, message.id);
      if (way === undefined) continue;
      way.dropped = seq;
      this.#reach(way.index, seq);
    }
  }

  /** A role was retired: what it has left in its mailbox stays, and all else that was on the way to it is dead. */
  retire({ name, mailbox }: RoleState, seq: number): void {
    for (const [id, way] of this.#inMailbox.get(name) ?? []) {
      if (mailbox.has(id)) continue;
      this.#leave(name, id);
      this.#die(way, seq);
    }
  }

  /** The ways that touch the events `from` to `until`, both included, in the order sent. */
  *between(from: number, until: number): Generator<WayFact, void> {
    for (const [block, end] of this.#ends.entries()) {
      if (end < from && this.#underWay[block] === 0) continue;
      for (const way of this.#ways.slice(block * BLOCK, (block + 1) * BLOCK)) {
        if (way.from > until) return;
        if (lastOf(way) >= from) yield way;
      }
    }
  }

  #arrive(way: Way, seq: number, isHired: boolean): void {
    if (!isHired) return this.#die(way, seq);
    const id = this.#ids[way.index] ?? "";
    way.delivered = seq;
    this.#count(way.index, -1);
    this.#reach(way.index, seq);
    const mailbox = this.#inMailbox.get(way.role) ?? new Map<string, Way>();
    this.#inMailbox.set(way.role, mailbox);
    if (mailbox.has(id)) way.isDouble = true;
    else mailbox.set(id, way);
  }

  #die(way: Way, seq: number): void {
    if (way.delivered === undefined) this.#count(way.index, -1);
    way.dropped = seq;
    way.isDead = true;
    this.#reach(way.index, seq);
  }

  #opened(way: Way, activation: number, seq: number): void {
    way.opener = activation;
    way.opened = seq;
    this.#reach(way.index, seq);
  }

  #leave(role: string, id: string): Way | undefined {
    const mailbox = this.#inMailbox.get(role);
    const way = mailbox?.get(id);
    mailbox?.delete(id);
    return way;
  }

  #count(index: number, more: 1 | -1): void {
    const block = Math.floor(index / BLOCK);
    this.#underWay[block] = (this.#underWay[block] ?? 0) + more;
  }

  #reach(index: number, seq: number): void {
    const block = Math.floor(index / BLOCK);
    this.#ends[block] = Math.max(this.#ends[block] ?? 0, seq);
  }
}

/** The last event of a way; infinite while the message is on its way. */
export function lastOf({ delivered, opened, consumed, dropped }: WayFact): number {
  return consumed ?? dropped ?? opened ?? delivered ?? Infinity;
}
