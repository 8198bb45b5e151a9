import { arrivedId, eachRecipient } from "../../runtime/edges/arrivals.ts";
import type { Arrival, ChoiceMade, RunEvent, Sent, StepEnded, StepStarted } from "../../runtime/record/event.ts";
import type { RunState } from "../../runtime/record/run-state.ts";
import { ABSENT, fileChange, forkChange } from "../../workspace/recorded-files.ts";
import {
  type ActivationFact,
  type DeliveryFact,
  type DeliveryFault,
  type FileFact,
  NOTHING_SPENT,
  type SentFact,
  type Spent,
  type StepFact,
  type TickFact,
  addSpent,
} from "./run-facts.ts";
import type { RoleState } from "../../runtime/record/role-state.ts";

type Open<T> = { -readonly [Key in keyof T]: T[Key] extends readonly (infer Member)[] ? Member[] : T[Key] };

type ActEvent = Extract<RunEvent, { readonly type: "act.started" | "act.ended" | "act.failed" }>;

/**
 * The tables of a run's activations, steps, messages and files, which it owns. It takes each event between two states of the fold.
 *
 * RunRecord.I1 (`taken`) the messages that an activation took are the first of its mailbox in the runtime's own state: nothing is inferred.
 * RunRecord.I2 (`add`) an event changes entries of the tables and appends to them; no entry is removed, so an index stays valid.
 */
export class RunRecord {
  readonly activations: Open<ActivationFact>[] = [];
  readonly steps: Open<StepFact>[] = [];
  readonly sent: Open<SentFact>[] = [];
  readonly files: FileFact[] = [];
  readonly ticks: TickFact[] = [];
  readonly deliveries: DeliveryTable = new DeliveryTable();
  readonly #byAct = new Map<string, number>();
  readonly #byMessage = new Map<string, number>();
  readonly #openSteps = new Map<string, number>();

  activationNamed(act: string): ActivationFact | undefined {
    return this.activations[this.#byAct.get(act) ?? -1];
  }

  sentWithId(id: string): SentFact | undefined {
    return this.sent[this.#byMessage.get(id) ?? -1];
  }

  add(event: RunEvent, before: RunState): (after: RunState) => void {
    switch (event.type) {
      case "message":
        this.#send(event, event.seq, 0, undefined, event.atBarrier === true || before.delivery === "choice");
        break;
      case "act.started":
        this.#begin(event, before);
        break;
      case "act.ended":
      case "act.failed":
        this.#end(event, before);
        break;
      case "step.started":
        this.#stepStarted(event);
        break;
      case "step.ended":
        this.#stepEnded(event);
        break;
      case "round.ended":
        this.deliveries.deliver(event.stage === undefined ? event.round + 1 : -1);
        break;
      case "choice.made":
        this.#chosen(event, before);
        break;
      case "clock.advanced":
        this.deliveries.deliver(event.tick);
        break;
      default:
    }
    const leaver = event.type === "role.retired" || (event.type === "choice.made" && event.fate === "crashed") ? event.role : "";
    const open = before.roles.get(leaver)?.open?.act;
    const { tick } = before;
    return (after) => {
      if (after.tick !== tick && after.clock !== "activations") this.ticks.push({ seq: event.seq, tick: after.tick });
      this.#retired(after, leaver, event, open);
      this.deliveries.settle(after, event.seq);
    };
  }

  #send(given: Sent, seq: number, nth: number, by: number | undefined, isAtBarrier: boolean): void {
    const { message, dead = [], dropped, due } = given;
    const index = this.sent.length;
    const isRemoved = dropped === true;
    const deliveries: number[] = [];
    const policies = given.faults && new Map(given.faults.map((fault) => [fault.to, fault.by]));
    this.#byMessage.set(message.id, index);
    const visit = (role: string, arrives: readonly Arrival[]): void => {
      for (const arrival of arrives) {
        const id = arrivedId(message.id, arrival);
        const when = arrival.due ?? due;
        const delivery = { sent: index, role, id, from: seq, due: when, fault: faultOf(policies?.get(role), arrival) };
        deliveries.push(this.deliveries.add(delivery, when === undefined && !isAtBarrier));
        this.#byMessage.set(id, index);
      }
      const lost = { sent: index, role, id: message.id, from: seq, due: undefined, fault: faultOf(policies?.get(role), {}) };
      if (arrives.length === 0) deliveries.push(this.deliveries.addLost(lost));
    };
    if (!isRemoved) eachRecipient(given, visit);
    this.sent.push({ index, seq, nth, by, message, deliveries, dead: [...dead], isRemoved });
  }

  #chosen(event: ChoiceMade & { readonly seq: number }, { faults }: RunState): void {
    const copyOf = event.fate === "copied" ? this.#byMessage.get(event.id ?? "") : undefined;
    const sent = this.sent[copyOf ?? -1];
    const copyId = sent && arrivedId(sent.message.id, { copy: faults.copied + 1 });
    const copied = this.deliveries.choose(event, event.seq, copyId);
    if (sent === undefined || copyId === undefined || copied === undefined) return;
    sent.deliveries = [...sent.deliveries, copied];
    this.#byMessage.set(copyId, sent.index);
  }

  #begin(event: ActEvent, before: RunState): Open<ActivationFact> {
    const index = this.activations.length;
    const { act, role, seq, time } = event;
    const activation: Open<ActivationFact> = {
      index,
      act,
      role,
      n: "n" in event ? event.n : (before.roles.get(role)?.n ?? 0),
      attempt: Number(act.slice(act.lastIndexOf("~") + 1)),
      from: seq,
      until: undefined,
      end: "open",
      began: event.at ?? time,
      ended: undefined,
      took: this.#taken(before, event, index),
      said: [],
      steps: [],
      ...NOTHING_SPENT,
      retries: 0,
      error: undefined,
    };
    this.activations.push(activation);
    this.#byAct.set(act, index);
    return activation;
  }

  #taken(before: RunState, { role, take, seq }: ActEvent & { readonly seq: number }, activation: number): number[] {
    const taken: number[] = [];
    for (const { id } of before.roles.get(role)?.news(take) ?? []) {
      const delivery = this.deliveries.open(role, id, activation, seq);
      if (delivery !== undefined) taken.push(delivery.sent);
    }
    return taken;
  }

  #end(event: Extract<ActEvent, { readonly type: "act.ended" | "act.failed" }>, before: RunState): void {
    const open = before.roles.get(event.role)?.open;
    const known = open === undefined ? undefined : this.activations[this.#byAct.get(event.act) ?? -1];
    const activation = known ?? this.#begin(event, before);
    activation.until = event.seq;
    activation.ended = event.time;
    const isConsumed = event.type === "act.ended" || event.then === "dead";
    if (isConsumed) {
      const consumed = before.roles.get(event.role)?.news(event.take) ?? [];
      for (const { id } of consumed) this.deliveries.consume(event.role, id, activation.index, event.seq);
    }
    if (event.type === "act.failed") {
      activation.end = event.then;
      activation.error = event.error;
      return;
    }
    activation.end = "ended";
    for (const [nth, sent] of event.said.entries()) {
      this.#send(sent, event.seq, nth, activation.index, before.delivery !== "turn");
      activation.said.push(this.sent.length - 1);
    }
  }

  #retired({ roles }: RunState, name: string, { seq, time }: Pick<RunEvent, "seq" | "time">, open: string | undefined): void {
    const role = roles.get(name);
    if (role === undefined) return;
    this.deliveries.retire(role, seq);
    const activation = open === undefined || role.open !== undefined ? undefined : this.activationNamed(open);
    if (activation !== undefined) Object.assign(activation, { end: "retired", until: seq, ended: time });
  }

  #stepStarted(event: StepStarted & { readonly seq: number }): void {
    const activation = this.activations[this.#byAct.get(event.act) ?? -1];
    if (activation === undefined) return;
    const address = `${event.act} ${event.key}`;
    const known = this.steps[this.#openSteps.get(address) ?? -1];
    const step: Open<StepFact> = known ?? {
      index: this.steps.length,
      activation: activation.index,
      key: event.key,
      kind: event.kind,
      name: event.name,
      seqs: [],
      tries: 0,
      ok: undefined,
      ...NOTHING_SPENT,
      isReused: event.reused !== undefined,
    };
    if (known === undefined) {
      this.steps.push(step);
      activation.steps.push(step.index);
      this.#openSteps.set(address, step.index);
      this.#noteFile(event, step.index);
    } else activation.retries += 1;
    step.seqs.push(event.seq);
    step.tries += 1;
  }

  #noteFile(event: StepStarted & { readonly seq: number }, step: number): void {
    const inFork = forkChange(event);
    const change = inFork?.change ?? fileChange(event);
    if (change === undefined) return;
    const { path, content } = change;
    const at = { seq: event.seq, step, path, fork: inFork?.fork };
    if (content === ABSENT) this.files.push({ ...at, content: undefined });
    else this.files.push(typeof content === "string" ? { ...at, content } : { ...at, content: "", base64: content.base64 });
  }

  #stepEnded(event: StepEnded & { readonly seq: number }): void {
    const address = `${event.act} ${event.key}`;
    const step = this.steps[this.#openSteps.get(address) ?? -1];
    const activation = this.activations[step?.activation ?? -1];
    if (step === undefined || activation === undefined) return;
    step.seqs.push(event.seq);
    const spent = spentIn(event);
    addSpent(step, spent);
    addSpent(activation, spent);
    if (event.retry === true) return;
    step.ok = event.ok;
    this.#openSteps.delete(address);
  }
}

function faultOf(by: readonly string[] | undefined, { copy, reads }: Arrival): DeliveryFault | undefined {
  return by && { by, ...(copy === undefined ? {} : { copy }), ...(reads === undefined ? {} : { reads }) };
}

export function spentIn({ cost, basis, usage }: StepEnded): Spent {
  const { inputTokens, outputTokens } = (usage ?? {}) as { readonly inputTokens?: unknown; readonly outputTokens?: unknown };
  return {
    cost: cost ?? 0,
    unpriced: cost === null && basis !== "none" ? 1 : 0,
    inputTokens: Number(inputTokens ?? 0),
    outputTokens: Number(outputTokens ?? 0),
  };
}

type Delivery = { -readonly [Key in keyof DeliveryFact]: DeliveryFact[Key] };

type NewDelivery = Pick<DeliveryFact, "sent" | "role" | "id" | "from" | "due" | "fault">;

/**
 * The deliveries of messages to their recipients, in the order in which they were sent. It owns them, and where each of them is.
 *
 * DeliveryTable.W1 (`settle`) a delivery arrives with the event that puts its message into the mailbox of the runtime's state.
 * DeliveryTable.W2 (`between`) a range has every delivery that touches it.
 * DeliveryTable.W3 (`retire`, `#arrive`) a delivery to a retired role ends: its message is a dead letter of the runtime's state.
 */
export class DeliveryTable {
  readonly #deliveries: Delivery[] = [];
  readonly #inMailbox = new Map<string, Map<string, Delivery>>();
  #waiting: Delivery[] = [];
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
    const index = this.#deliveries.length;
    this.#deliveries.push({ ...delivery, index, isDouble: false, isDead: false, isLost: true, dropped: delivery.from });
    return index;
  }

  deliver(tick: number): void {
    const isDue = ({ due = tick }: Delivery): boolean => due <= tick;
    this.#coming.push(...this.#waiting.filter(isDue));
    this.#waiting = this.#waiting.filter((delivery) => !isDue(delivery));
  }

  choose({ fate, role, id }: ChoiceMade, seq: number, copyId: string | undefined): number | undefined {
    const index = this.#waiting.findIndex((delivery) => delivery.role === role && delivery.id === id);
    const delivery = this.#waiting[index];
    if (delivery === undefined) return undefined;
    if (copyId !== undefined) return this.add({ ...delivery, id: copyId, from: seq }, false);
    this.#waiting.splice(index, 1);
    if (fate === "delivered") this.#coming.push(delivery);
    else Object.assign(delivery, { dropped: seq, isLost: true });
    return undefined;
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

  settle({ justDropped, roles }: RunState, seq: number): void {
    for (const delivery of this.#coming) {
      this.#arrive(delivery, seq, roles.get(delivery.role));
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

  *between(from: number, until: number): Generator<DeliveryFact, void> {
    for (const delivery of this.#deliveries) {
      if (delivery.from > until) return;
      if (lastOf(delivery) >= from) yield delivery;
    }
  }

  #arrive(delivery: Delivery, seq: number, role: RoleState | undefined): void {
    if (role?.isHired !== true || role.isCrashed) return void Object.assign(delivery, { dropped: seq, isDead: true });
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
