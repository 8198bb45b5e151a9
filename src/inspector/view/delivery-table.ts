import type { RoleState } from "../../runtime/record/role-state.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import type { DeliveryFact } from "./run-facts.ts";

type Delivery = { -readonly [Key in keyof DeliveryFact]: DeliveryFact[Key] };

type NewDelivery = Pick<DeliveryFact, "sent" | "role" | "id" | "from" | "due" | "fault">;

/**
 * The deliveries of messages to their recipients, in the order in which they were sent. It owns the deliveries and where each of them is: sent, delayed,
 * delivered, taken, consumed or dropped.
 *
 * DeliveryTable.W1 (`settle`) a delivery arrives with the event that puts its message into the mailbox of the runtime's state.
 * DeliveryTable.W2 (`between`) a range has every delivery that touches it.
 * DeliveryTable.W3 (`retire`, `#arrive`) a delivery to a retired role ends: its message is a dead letter of the runtime's state.
 */
export class DeliveryTable {
  readonly #deliveries: Delivery[] = [];
  /** Ways in mailboxes, by role and by the id of the message. */
  readonly #inMailbox = new Map<string, Map<string, Delivery>>();
  /** Ways whose messages wait for the end of the round or for a tick. */
  #waiting: Delivery[] = [];
  /** Ways whose messages the present event delivers. */
  #coming: Delivery[] = [];

  get size(): number {
    return this.#deliveries.length;
  }

  at(index: number): DeliveryFact | undefined {
    return this.#deliveries[index];
  }

  /** Adds a delivery and returns its index. @param isNow the present event delivers its message, if the mailbox has room */
  add(delivery: NewDelivery, isNow: boolean): number {
    const added: Delivery = { ...delivery, index: this.#deliveries.length, isDouble: false, isDead: false, isLost: false };
    this.#deliveries.push(added);
    (isNow ? this.#coming : this.#waiting).push(added);
    return added.index;
  }

  addLost(delivery: NewDelivery): number {
    return (
      this.#deliveries.push({
        ...delivery,
        index: this.#deliveries.length,
        isDouble: false,
        isDead: false,
        isLost: true,
        dropped: delivery.from,
      }) - 1
    );
  }

  /** The present event delivers what waits for the end of the round, and what is due at a tick. */
  deliver(tick: number): void {
    const isDue = ({ due = tick }: Delivery): boolean => due <= tick;
    this.#coming.push(...this.#waiting.filter(isDue));
    this.#waiting = this.#waiting.filter((delivery) => !isDue(delivery));
  }

  open(role: string, id: string, activation: number, seq: number): DeliveryFact | undefined {
    const delivery = this.#inMailbox.get(role)?.get(id);
    if (delivery !== undefined && delivery.opened === undefined) Object.assign(delivery, { opener: activation, opened: seq });
    return delivery;
  }

  consume(role: string, id: string, activation: number, seq: number): void {
    const delivery = this.open(role, id, activation, seq);
    if (delivery === undefined) return;
    this.#inMailbox.get(role)?.delete(id);
    Object.assign(delivery, { consumer: activation, consumed: seq });
  }

  /** Records what an event delivered and dropped, after the state has applied it. */
  settle({ justDropped, roles }: RunState, seq: number): void {
    for (const delivery of this.#coming) {
      this.#arrive(delivery, seq, roles.get(delivery.role)?.isHired === true);
    }
    this.#coming = [];
    for (const { role, message } of justDropped) {
      const delivery = this.#inMailbox.get(role.name)?.get(message.id);
      if (delivery === undefined) continue;
      delivery.dropped = seq;
      this.#inMailbox.get(role.name)?.delete(message.id);
    }
  }

  /** A role was retired: what its mailbox still holds stays, and all else that was on the way to it is dead. */
  retire({ name, mailbox }: RoleState, seq: number): void {
    const inMailbox = this.#inMailbox.get(name);
    for (const [id, delivery] of inMailbox ?? []) {
      if (mailbox.has(id)) continue;
      inMailbox?.delete(id);
      Object.assign(delivery, { dropped: seq, isDead: true });
    }
    for (const delivery of this.#coming) if (delivery.role === name) Object.assign(delivery, { dropped: seq, isDead: true });
    this.#coming = this.#coming.filter(({ role }) => role !== name);
  }

  /** The deliveries that touch the events `from` to `until`, both included, in the order sent. */
  *between(from: number, until: number): Generator<DeliveryFact, void> {
    for (const delivery of this.#deliveries) {
      if (delivery.from > until) return;
      if (lastOf(delivery) >= from) yield delivery;
    }
  }

  #arrive(delivery: Delivery, seq: number, isHired: boolean): void {
    if (!isHired) return void Object.assign(delivery, { dropped: seq, isDead: true });
    delivery.delivered = seq;
    const mailbox = this.#inMailbox.get(delivery.role) ?? new Map<string, Delivery>();
    this.#inMailbox.set(delivery.role, mailbox);
    if (mailbox.has(delivery.id)) delivery.isDouble = true;
    else mailbox.set(delivery.id, delivery);
  }
}

/** The last event of a delivery; infinite while the message is on its way. */
export function lastOf({ delivered, opened, consumed, dropped }: DeliveryFact): number {
  return consumed ?? dropped ?? opened ?? delivered ?? Infinity;
}
