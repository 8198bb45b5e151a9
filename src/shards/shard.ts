import type { MessagePort } from "node:worker_threads";
import { errorRecord } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import { type Delayed, assertRoomAt } from "../runtime/record/delivery.ts";
import type { Observed, RunEvent, Sent } from "../runtime/record/event.ts";
import type { Environment } from "../runtime/environment.ts";
import { type DriverHost, driverOf } from "../runtime/schedulers/drive.ts";
import { schedulerOf } from "../runtime/schedulers/scheduler.ts";
import { type FromShard, rangeOf, type ShardStart, type ToShard } from "./protocol.ts";
import { environmentIn, type ListedWorld } from "./world.ts";
import { frozenMessage, type Message } from "../message/message.ts";
import { OUTSIDE, type Pending, roleOf, type RunState } from "../runtime/record/run-state.ts";

/** The events that concern all shards alike: the first shard reports them. */
const COMMON: ReadonlySet<RunEvent["type"]> = new Set(["run.started", "message", "round.ended", "clock.advanced"]);
const KEPT: readonly RunEvent["type"][] = [...COMMON, "act.started", "act.ended", "act.failed", "step.started", "step.ended"];

/**
 * One shard of a run: an environment that knows all roles and runs those of its range. It owns the environment, and exchanges messages with
 * the other shards at the end of each round.
 *
 * Shard.SH1 (`#barrier`) a round ends in all shards or, where a mailbox has no room, in none, and each recipient has the messages of all
 * senders by then: so roles read them in the order of hiring of their senders, as in one environment.
 */
class Shard {
  readonly #port: MessagePort;
  readonly #start: ShardStart;
  readonly #environment: Environment;
  readonly #packer: Packer;
  #events: RunEvent[] = [];
  #isOver = false;

  constructor(port: MessagePort, start: ShardStart, listed: ListedWorld) {
    this.#port = port;
    this.#start = start;
    const { seed, shard, shards, record } = start;
    const driver = { run: (host: DriverHost) => driverOf(schedulerOf("rounds")).run(this.#hosted(host)) };
    const range = { ...rangeOf(listed.roles.length, shard, shards), delayed: (one: Delayed): void => this.#packer.delayed(one) };
    const backing = { driver, shard: range };
    const prepare = (environment: Environment): void => {
      if (record) for (const type of KEPT) environment.on(type, (event) => this.#keep(event));
    };
    this.#environment = environmentIn(listed, seed, backing, prepare, shards);
    this.#packer = new Packer(this.#environment.state, shard, shards);
  }

  async run(): Promise<void> {
    const { state } = this.#environment;
    const { rounds } = this.#start;
    const { failure } = await this.#environment.drive({ roundsLeft: () => rounds - state.round, checkpoint: undefined, signal: undefined });
    const { from, to } = rangeOf(state.roles.size, this.#start.shard, this.#start.shards);
    const states: (readonly [string, Json])[] = [];
    for (const { index, name, custom } of state.roles.values()) if (index >= from && index < to) states.push([name, custom]);
    this.#report({
      kind: "done",
      hasWork: state.ready.size > 0 || state.delayed.size > 0,
      failure: failure === undefined ? undefined : errorRecord(failure.error),
      rounds: state.round,
      activations: state.activations,
      messages: this.#packer.sent + (this.#start.shard === 0 ? state.outside : 0),
      states: JSON.stringify(states),
      events: this.#newEvents(),
    });
  }

  #hosted(host: DriverHost): DriverHost {
    const barrier = (): Promise<void> => this.#barrier(host);
    const scope = (): DriverHost["scope"] => (this.#isOver ? over : host.scope);
    return {
      state: host.state,
      concurrency: host.concurrency,
      roundsLeft: host.roundsLeft,
      lastTick: host.lastTick,
      checkpoint: host.checkpoint,
      resumed: host.resumed,
      // A shard without work waits for the others.
      midRound: true,
      get scope() {
        return scope();
      },
      mayAct: (role) => host.mayAct(role),
      isPlain: (role) => host.isPlain(role),
      turn: (role) => host.turn(role),
      endRound: barrier,
      advance: (tick) => host.advance(tick),
      choose: (choice) => host.choose(choice),
      onMail: (wake) => host.onMail(wake),
    };
  }

  async #barrier(host: DriverHost): Promise<void> {
    const { midRound: isMidRound, state } = host;
    const packets = this.#packer.pack();
    const answer = await this.#ask({ kind: "barrier", isMidRound, due: state.delayed.first, packets, events: this.#newEvents() });
    const isRound = answer.kind === "round";
    if (isRound) for (const packet of answer.packets) this.#receive(packet);
    else if (answer.kind !== "advance") return void (this.#isOver = true);
    const tick = isRound ? state.round + 1 : answer.tick;
    assertRoomAt(state, tick);
    const isReady = (await this.#ask({ kind: "has room", events: "" })).kind === "deliver";
    if (!isReady) return void (this.#isOver = true);
    return isRound ? host.endRound(1) : host.advance(tick);
  }

  async #ask(report: FromShard): Promise<ToShard> {
    const answered = new Promise<ToShard>((resolve) => this.#port.once("message", resolve));
    this.#report(report);
    return answered;
  }

  #receive(packet: string): void {
    for (const [order, sent] of unpack(packet)) this.#environment.log.record({ type: "message", ...sent, atBarrier: true, order });
  }

  #keep(event: Observed & RunEvent): void {
    if (event.type === "message" && event.order !== undefined) return;
    if (this.#start.shard === 0 || !COMMON.has(event.type)) this.#events.push(event);
  }

  #newEvents(): string {
    const events = this.#events;
    this.#events = [];
    return events.length === 0 ? "" : JSON.stringify(events);
  }

  #report(report: FromShard): void {
    this.#port.postMessage(report);
  }
}

const over: DriverHost["scope"] = { ended: { reason: new Error("the run is over") } };

export async function runShard(port: MessagePort, start: ShardStart, world: ListedWorld): Promise<void> {
  await new Shard(port, start, world).run();
}

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
