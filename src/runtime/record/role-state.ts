import { isList } from "../../kernel/value-kind.ts";
import type { Json } from "../../kernel/json.ts";
import { Memory } from "../../memory/memory.ts";
import type { ReadableMemory } from "../../memory/message-memory.ts";
import type { Plan } from "../../role/plan.ts";
import type { RoleSummary } from "../../memory/summary-levels.ts";
import type { Message } from "../../message/message.ts";
import { MessageQueue } from "../../message/message-queue.ts";
import type { Joins } from "../../role/reaction.ts";
import type { HiredRole } from "./event.ts";
import { actName } from "./act-name.ts";
import { Life, nothing, Trouble, troubleOf } from "./role-life.ts";
import type { OpenActivation, StepOutcome } from "./run-state.ts";

/** What a role is hired as, whatever its name: all who are hired by one definition share it. */
export type HiredAs = Omit<HiredRole, "name">;

const noNews: readonly Message[] = Object.freeze([]);

/**
 * What one role holds in one run. It owns its mailbox, memories, plan, custom state and where its activation stands; what it is hired as
 * it shares with all who are hired so. What belongs to it is written by `apply` alone.
 *
 * RS1 a part is made when it is first written, or looked at where it can be written in place: until then a role is its name, its place and
 * what it is hired as. RS2 a part that is not made yet reads like one that is empty; writing that it is empty makes nothing. RS3 what it is
 * hired as at first gives the state and the limit of memory it begins with, however it is hired again. RS4 as long as a role `hearsOnlyNews`,
 * nothing that waits for it is remembered, and what it says next is not either: nobody looks that up.
 */
export class RoleState {
  readonly name: string;
  /** Place in the order of hiring. */
  readonly index: number;
  /** Activations that have ended. */
  n = 0;
  /** The last round in which it ended an activation, where there are rounds. */
  ranIn = -1;
  /** Who stands before and behind it in the line of those with mail, while it has some: written by that line alone. */
  readyBefore: RoleState | undefined;
  readyBehind: RoleState | undefined;
  readonly #hired: HiredAs;
  /** What waits: the one message itself, because most mail is read before more comes, or all of it in line. */
  #mail: Message | MessageQueue | undefined;
  /** What it remembers. What it remembered first is held as it came, because many hear no more than one message, and answer it once. */
  #memory: Message | readonly Message[] | Memory | undefined;
  /** Whether what it hears may be remembered already: somebody else had its memory, or it heard what it said, or what had been heard before. */
  #mayKnow: boolean;
  /** Where it is not what it was hired with. */
  #custom: { readonly [key: string]: Json } | undefined;
  // No private accessor or method: each instance would carry their brand.
  #life: Life | undefined;

  constructor(name: string, index: number, hired: HiredAs) {
    this.name = name;
    this.index = index;
    this.#hired = hired;
    this.#mayKnow = hired.memoryLimit !== undefined;
  }

  /** An activation is over for good: its attempts are forgotten, but not who is still to be tried alone. Tells whether it was open. */
  passOn(): boolean {
    this.n += 1;
    const life = this.#life;
    if (life === undefined) return false;
    const wasOpen = life.open !== undefined;
    life.open = undefined;
    const isolated = Math.max(0, (life.trouble?.isolated ?? 0) - 1);
    life.trouble = isolated === 0 ? undefined : Object.assign(new Trouble(), { isolated, retake: 1 });
    return wasOpen;
  }

  /** Whether it has done no more than hear, speak and change its state: nothing of it is open, and nothing has failed. */
  get isPlain(): boolean {
    return this.#life === undefined;
  }

  /** Names its next activation, or the next attempt at it. */
  get nextAct(): string {
    return actName(this.name, this.n, this.#life === undefined ? 1 : this.failures + 1);
  }

  get fingerprint(): string {
    return (this.#life?.hiredAgain ?? this.#hired).fingerprint;
  }

  get traits(): HiredRole["traits"] {
    return (this.#life?.hiredAgain ?? this.#hired).traits;
  }

  /** It goes on as another. What it holds stays. */
  hireAgain(as: HiredAs): void {
    (this.#life ??= new Life()).hiredAgain = as;
  }

  /** All that waits, in line. */
  get mailbox(): MessageQueue {
    const mail = this.#mail;
    if (mail instanceof MessageQueue) return mail;
    const line = new MessageQueue();
    if (mail !== undefined) line.push(mail);
    this.#mail = line;
    return line;
  }

  /** How many messages wait. */
  get waiting(): number {
    const mail = this.#mail;
    if (mail === undefined) return 0;
    return mail instanceof MessageQueue ? mail.size : 1;
  }

  /**
   * Puts a message in line. False, and nothing changes, when its id waits already.
   *
   * @param isNew it is known that this role has neither said nor heard it: then it does not wait either
   */
  hear(message: Message, isNew: boolean): boolean {
    if (!isNew) this.#mayKnow = true;
    if (this.#mail !== undefined) {
      if (!isNew) return this.mailbox.push(message);
      this.mailbox.append(message);
      return true;
    }
    this.#mail = message;
    return true;
  }

  /** The first messages that wait, without taking them; fewer when fewer wait, and all of them by default. */
  news(most?: number): readonly Message[] {
    const mail = this.#mail;
    if (mail === undefined || most === 0) return noNews;
    return mail instanceof MessageQueue ? mail.peek(most ?? mail.size) : [mail];
  }

  /** The one message that waits, where no other does and it {@link isPlain}: what most turns take. */
  get onlyNews(): Message | undefined {
    const mail = this.#mail;
    return this.#life === undefined && !(mail instanceof MessageQueue) ? mail : undefined;
  }

  /** Takes away those that have waited longest. Gives how many are left; fewer than none, and nothing is taken, where there are too few. */
  takeAway(count: number): number {
    const mail = this.#mail;
    if (!(mail instanceof MessageQueue)) {
      const left = (mail === undefined ? 0 : 1) - count;
      if (left === 0) this.#mail = undefined;
      return left;
    }
    const left = mail.size - count;
    if (left === 0) this.#mail = undefined;
    else for (let taken = 0; taken < count && left > 0; taken += 1) mail.pop();
    return left;
  }

  /** How its mailbox is bounded, where that is not as the run's are. */
  get room(): HiredRole["mailbox"] {
    return (this.#life?.hiredAgain ?? this.#hired).mailbox;
  }

  /** Takes out the message at a place in line, 0 being the one that has waited longest. O(1) for that one. */
  dropFrom(place: number): Message | undefined {
    if (place === 0) return this.takeNext();
    const all = this.mailbox.popAll();
    const [dropped] = all.splice(place, 1);
    for (const message of all) this.mailbox.append(message);
    return dropped;
  }

  /** Takes the message that has waited longest. */
  takeNext(): Message | undefined {
    const mail = this.#mail;
    if (mail instanceof MessageQueue) return mail.pop();
    this.#mail = undefined;
    return mail;
  }

  /** Whoever has it may write into it. */
  get memory(): Memory {
    this.#mayKnow = true;
    return (this.#memory = memoryWith(this.#memory, this.#hired));
  }

  /** The same for who only reads it. */
  get heldMemory(): ReadableMemory {
    return (this.#memory = memoryWith(this.#memory, this.#hired));
  }

  /** RS4. */
  get hearsOnlyNews(): boolean {
    return !this.#mayKnow;
  }

  /** Its memory, or who will have one, where nothing was remembered or looked for so far. */
  get recalled(): Memory | this {
    const held = this.#memory;
    return held === undefined ? this : (this.#memory = memoryWith(held, this.#hired));
  }

  /** Adds messages to its memory that it heard or said, in a list that nobody changes any more. Which of them it may know already is not asked where it knows none. */
  remember(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const held = this.#memory;
    if (held === undefined && (messages.length === 1 || !this.#mayKnow)) {
      this.#memory = messages.length === 1 ? messages[0] : messages;
      return;
    }
    const memory = held instanceof Memory ? held : (this.#memory = memoryWith(held, this.#hired));
    for (let place = 0; place < messages.length; place += 1) {
      if (this.#mayKnow) memory.add(messages[place] as Message);
      else memory.append(messages[place] as Message);
    }
  }

  get workingMemory(): Memory {
    return ((this.#life ??= new Life()).workingMemory ??= new Memory());
  }

  get custom(): { readonly [key: string]: Json } {
    return this.#custom ?? this.#hired.state;
  }

  set custom(custom: { readonly [key: string]: Json }) {
    this.#custom = custom;
  }

  get plan(): Plan {
    return this.#life === undefined ? nothing.plan : this.#life.plan;
  }

  set plan(plan: Plan) {
    (this.#life ??= new Life()).plan = plan;
  }

  get joins(): Joins {
    return this.#life === undefined ? nothing.joins : this.#life.joins;
  }

  set joins(joins: Joins) {
    (this.#life ??= new Life()).joins = joins;
  }

  get summary(): RoleSummary {
    return this.#life === undefined ? nothing.summary : this.#life.summary;
  }

  set summary(summary: RoleSummary) {
    (this.#life ??= new Life()).summary = summary;
  }

  get open(): OpenActivation | undefined {
    return this.#life?.open;
  }

  set open(open: OpenActivation | undefined) {
    if (this.#life !== undefined || open !== undefined) (this.#life ??= new Life()).open = open;
  }

  /** Attempts of the present activation that have failed. */
  get failures(): number {
    return this.#life?.trouble?.failures ?? 0;
  }

  set failures(failures: number) {
    if (failures !== this.failures) troubleOf((this.#life ??= new Life())).failures = failures;
  }

  /** Those of them with the messages it has now: what a policy counts. */
  get strikes(): number {
    return this.#life?.trouble?.strikes ?? 0;
  }

  set strikes(strikes: number) {
    if (strikes !== this.strikes) troubleOf((this.#life ??= new Life())).strikes = strikes;
  }

  /** Messages that are still to be tried alone, because one of them is at fault. */
  get isolated(): number {
    return this.#life?.trouble?.isolated ?? 0;
  }

  set isolated(isolated: number) {
    if (isolated !== this.isolated) troubleOf((this.#life ??= new Life())).isolated = isolated;
  }

  /** Good answers of the failed attempt, for the next one. */
  get carry(): ReadonlyMap<string, StepOutcome> {
    return this.#life?.trouble?.carry ?? nothing.carry;
  }

  set carry(carry: ReadonlyMap<string, StepOutcome>) {
    if (carry !== this.carry) troubleOf((this.#life ??= new Life())).carry = carry;
  }

  /** Micro-dollars that the steps of the failed attempts cost, by key. */
  get paid(): ReadonlyMap<string, number> {
    return this.#life?.trouble?.paid ?? nothing.paid;
  }

  set paid(paid: ReadonlyMap<string, number>) {
    if (paid !== this.paid) troubleOf((this.#life ??= new Life())).paid = paid;
  }

  /** How many messages the failed attempt had: the next one has the same. */
  get retake(): number | undefined {
    return this.#life?.trouble?.retake;
  }

  set retake(retake: number | undefined) {
    if (retake !== this.retake) troubleOf((this.#life ??= new Life())).retake = retake;
  }
}

/** The memory that is held, or one with what is held instead. */
function memoryWith(held: Message | readonly Message[] | Memory | undefined, { memoryLimit }: HiredAs): Memory {
  if (held instanceof Memory) return held;
  const memory = memoryLimit === undefined ? new Memory() : new Memory({ limit: memoryLimit });
  if (held === undefined) return memory;
  for (const message of isList(held) ? held : [held]) memory.append(message);
  return memory;
}
