import { frozenMessage, type Message } from "../message/message.ts";
import type { Sent } from "../runtime/record/event.ts";
import type { Delayed } from "../runtime/record/delayed.ts";
import { OUTSIDE, type Pending, roleOf, type RunState } from "../runtime/record/run-state.ts";
import { rangeOf } from "./protocol.ts";

/** A message to another shard: the index of its sender, and the message with its recipients there. */
export type Packed = readonly [order: number, sent: Sent];

/**
 * Packs the messages that roles of this shard have sent to others in the present round. The state keeps them, and delivers them to no role. It
 * owns the list of the messages that were delayed in the round.
 *
 * Packer.PK1 (`pack`) every recipient of a message is in the packet of its shard, or in this one, and messages of one sender keep their order.
 * Packer.PK2 (`delayed`) the cost of a round depends on its own messages alone, however many wait for later ticks.
 */
export class Packer {
  readonly #state: RunState;
  readonly #ends: readonly number[];
  readonly #own: number;
  #delayed: Delayed[] = [];
  sent = 0;

  constructor(state: RunState, shard: number, shards: number) {
    this.#state = state;
    this.#own = shard;
    this.#ends = Array.from({ length: shards }, (_, index) => rangeOf(state.roles.size, index, shards).to);
  }

  /** Notes a message that begins to wait for a tick. Each shard makes the single arrivals of a faulty one itself. */
  delayed(one: Delayed): void {
    if (one.part !== true) this.#delayed.push(one);
  }

  /** @returns the packet of each shard; an empty string for none */
  pack(): readonly string[] {
    const packets: Packed[][] = this.#ends.map(() => []);
    const later = this.#delayed;
    this.#delayed = [];
    for (const one of later) this.#share(one, packets);
    for (const one of this.#state.pending) this.#share(one, packets);
    return packets.map((packet) => (packet.length === 0 ? "" : JSON.stringify(packet)));
  }

  #share({ order, sent }: Pending, packets: readonly Packed[][]): void {
    if (order === OUTSIDE || sent.dropped === true || this.#shardAt(order) !== this.#own) return;
    this.sent += 1;
    const { dead: _dead, to, faults, ...rest } = sent;
    const byShard = new Map<number, string[]>();
    for (const name of to) {
      const shard = this.#shardAt(roleOf(this.#state, name).index);
      const names = byShard.get(shard);
      if (names === undefined) byShard.set(shard, [name]);
      else names.push(name);
    }
    for (const [shard, names] of byShard) {
      if (shard === this.#own) continue;
      // The recipient of a delayed or copied message keeps it itself.
      const struck = faults?.filter((fault) => names.includes(fault.to));
      packets[shard]?.push([order, { ...rest, to: names, ...(struck === undefined || struck.length === 0 ? {} : { faults: struck }) }]);
    }
  }

  #shardAt(index: number): number {
    let shard = 0;
    while (index >= (this.#ends[shard] ?? Infinity)) shard += 1;
    return shard;
  }
}

export function unpack(packet: string): readonly Packed[] {
  if (packet === "") return [];
  const read = JSON.parse(packet) as readonly (readonly [number, Sent & { message: Message }])[];
  return read.map(([order, sent]) => [order, { ...sent, message: frozenMessage(sent.message) }]);
}
