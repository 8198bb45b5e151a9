import { nextMacrotask } from "../../kernel/clock.ts";
import { masked } from "../../kernel/mask.ts";
import type { JsonObject } from "../../kernel/json.ts";
import type { Message } from "../../message/message.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { EngineParts } from "../engine.ts";
import { passRound } from "../record/apply-clock.ts";
import { assertRoomForAct, delay, isOutput } from "../record/delivery.ts";
import type { Sent } from "../record/event.ts";
import { NO_RETRY, type Post, type RoleState } from "../record/role-state.ts";
import { isSuspicious, progress, type RunState } from "../record/run-state.ts";
import { changedState, heldState, simpleState, type StateChange } from "../record/state-change.ts";
import { noteEnd } from "../record/run-summary.ts";
import { beginTurn } from "../record/turn-count.ts";
import type { TurnEnd } from "../schedulers/drive.ts";
import type { TurnTools } from "../turn/commit.ts";
import { changeTo, stepThrough } from "../turn/step-turn.ts";
import { type Desk, KeptOutbox, LaneOutbox, recipientsOf } from "./lane-outbox.ts";
import { Mail, SentMail, type Senders, TIME_BITS } from "./mail.ts";

export type LaneTools = TurnTools & Pick<EngineParts, "hired" | "announcer">;

/** Acts between two macrotasks: some milliseconds. */
const ACTS_PER_PAUSE = 4_096;
/** The lane looks at every role in a round, so it is for rounds in which this share of the roles acts. */
const BUSY_SHARE = 1 / 64;
const IDLE_SHARE = 1 / 512;

interface Left {
  /** The role whose turn did not end well, if that is why the lane was left. */
  readonly role?: RoleState;
  readonly end?: TurnEnd;
}

/**
 * Rounds of step roles whose events nobody keeps or observes: their messages are in columns, and no event is made. It changes the state as the
 * events would have done. What it cannot do it leaves to the turns of `drive.ts`, at any role of a round.
 *
 * Lane.L1 (`#leave`) a state that the lane left is that of a run without the lane, apart from the order of `ready`.
 * Lane.L2 (`#act`) an act takes effect as a whole or not at all.
 * Lane.L3 (`fits`) the lane is for simultaneous rounds without a history, a record, observers, edges or delayed messages.
 * Lane.L4 (`#endRound`) a round ends here only if every mailbox has room for its messages.
 */
export class Lane implements Post, Senders {
  round = 0;
  roles: readonly RoleState[] = [];
  names: readonly string[] = [];
  causes: readonly string[] = [];
  #tools: LaneTools;
  readonly #state: RunState;
  /** The mail that roles read in this round. */
  #mail: Mail;
  #next: SentMail;
  #spare: Mail;
  #desk: Desk;
  /** 1 at the index of a role whose state is known to be frozen. */
  #isHeld = new Uint8Array();
  #someActAlways = false;
  #teamAt = -1;
  /** Number of team changes up to which all roles are known to be step roles. */
  #knownRoles = -1;
  #areSteps = false;
  #mustLeave = false;
  /** The round that reads the mail. */
  #deliveredAt = -1;
  #acts = 0;

  constructor(tools: LaneTools) {
    this.#tools = tools;
    this.#state = tools.log.state;
    this.#mail = new Mail(this);
    this.#next = new SentMail(this);
    this.#spare = new Mail(this);
    this.#desk = this.#newDesk();
  }

  /** Sets the tools of the present drive. */
  with(tools: LaneTools): this {
    this.#tools = tools;
    return this;
  }

  get tick(): number {
    return this.#deliveredAt;
  }

  #newDesk(): Desk {
    const { host, log, mask } = this.#tools;
    const { messageLimit = host.messageLimit } = this.#state.bounds;
    const isClean = (text: string): boolean => mask(text) === text;
    return { host, log, mail: this.#next, messageLimit, isClean, circles: [], teamAt: this.#state.teamChanges };
  }

  countFor(index: number): number {
    return this.#mail.countFor(index);
  }

  messagesFor(index: number): readonly Message[] {
    return this.#mail.messagesFor(index);
  }

  /** True if the next round can run in the lane, and is worth it. */
  get fits(): boolean {
    const { ready, roles } = this.#state;
    return ready.size > 0 && ready.size >= roles.size * BUSY_SHARE && this.#can;
  }

  get #can(): boolean {
    const { log, edges, mode, leavesTraces, host } = this.#tools;
    const { roles, hasHistory, arrival, delayed, isPrioritized } = this.#state;
    if (hasHistory || edges !== undefined || mode !== "live" || leavesTraces || arrival !== "hire" || isPrioritized) return false;
    if (delayed.size > 0 || host.midRound || isSuspicious(this.#state)) return false;
    if (log.isKept || host.observed.has("role.active") || host.observed.has("role.idle")) return false;
    if (this.#knownRoles === roles.size) return this.#areSteps;
    this.#knownRoles = roles.size;
    this.#areSteps = [...roles.values()].every((role) => host.isPlain(role));
    return this.#areSteps;
  }

  /** Runs rounds until `mayContinue` says no after one, or the lane must be left. */
  async run(mayContinue: () => Promise<boolean>): Promise<Left> {
    this.#enter();
    let left: Left | undefined;
    do {
      const before = this.#state.activations;
      left = await this.#runRound();
      const acted = this.#state.activations - before;
      if (left !== undefined || acted === 0) break;
      // A stop or a message that results from a promise of this round takes effect before the round ends.
      const { seq } = this.#state;
      await Promise.resolve();
      if (this.#tools.host.scope.ended !== undefined || seq !== this.#state.seq) break;
      if (!this.#endRound() || acted < this.roles.length * IDLE_SHARE) break;
    } while ((await mayContinue()) && this.#can && this.roles.length === this.#state.roles.size);
    this.#leave();
    return left ?? {};
  }

  #enter(): void {
    const { roles, round, teamChanges } = this.#state;
    if (this.roles.length !== roles.size || this.#deliveredAt !== round || this.#teamAt !== teamChanges) this.#begin();
    this.#desk = this.#newDesk();
    this.#isHeld.fill(0);
    this.#next.cut(0, 0);
    this.#mustLeave = false;
  }

  /** Columns have an entry for each role, and the mail of the last round alone: other mail that waits moves into the mailboxes. */
  #begin(): void {
    for (const role of this.roles) if (role.waiting > role.held) void role.mailbox;
    this.roles = [...this.#state.roles.values()];
    this.names = this.roles.map(({ name }) => name);
    const causes = this.#tools.hired.definitions.map((definition) => definition?.spec.card.name ?? "");
    this.causes = causes.every((cause) => cause === causes[0]) ? causes.slice(0, 1) : causes;
    this.#someActAlways = this.roles.some(({ actsAlways }) => actsAlways);
    this.#teamAt = this.#state.teamChanges;
    this.#isHeld = new Uint8Array(this.roles.length);
    for (const role of this.roles) role.getPostFrom(this);
    this.round += 1;
    this.#mail = new Mail(this);
    this.#next = new SentMail(this);
    this.#spare = new Mail(this);
  }

  async #runRound(): Promise<Left | undefined> {
    const { host, log } = this.#tools;
    const { roles } = this;
    const mail = this.#mail;
    const { times } = this.#next;
    // Without other mail only the columns say who has some, and most roles without mail are not looked at.
    const isAllPosted = !this.#someActAlways && this.#state.unread === mail.count;
    let block = -1;
    for (let index = 0; index < roles.length; index += 1) {
      if (isAllPosted && mail.countFor(index) === 0) continue;
      const role = roles[index] as RoleState;
      if (!role.isReady) continue;
      if (index >> TIME_BITS !== block) {
        block = index >> TIME_BITS;
        times[block] = this.#tools.clock.now();
      }
      const left = this.#act(role, times[block] as number);
      if (left !== undefined) return left;
      this.#acts += 1;
      if (this.#acts % ACTS_PER_PAUSE !== 0) continue;
      const { seq } = this.#state;
      await nextMacrotask();
      if (host.scope.ended !== undefined || this.#state.seq !== seq || log.isKept || host.resumed?.() !== undefined) return {};
    }
    return undefined;
  }

  #act(role: RoleState, at: number): Left | undefined {
    const { host, hired } = this.#tools;
    const next = this.#next;
    const { count, messages } = next;
    const state = this.#state;
    const { seq } = state;
    const { index, waiting } = role;
    const definition = hired.definitions[index];
    if (definition === undefined || role.open !== undefined || role.retry !== NO_RETRY) return this.#turn(role);
    const { spec } = definition;
    const isPlain = spec.role.steps !== undefined && waiting === this.#mail.countFor(index) && role.held === 0;
    const news = !isPlain ? role.news() : waiting === 0 ? noNews : this.#mail.messagesFor(index);
    const out = isPlain ? new LaneOutbox(this.#desk, spec, role, at, news) : new KeptOutbox(this.#desk, spec, role, at);
    let after: JsonObject;
    try {
      after = this.#stateAfter(spec, role, news, out);
      if (out.sent > 0) this.#assertRoom(role, out, count, news.length);
    } catch (error) {
      out.close();
      next.cut(count, messages);
      return host.scope.ended === undefined ? this.#turn(role, error) : {};
    }
    out.close();
    if (host.scope.ended !== undefined) {
      next.cut(count, messages);
      return {};
    }
    this.#take(role, news.length, isPlain);
    role.custom = after;
    if (out.kept !== undefined) this.#keep(role, out.kept);
    // An event from outside may change what the next role finds.
    return state.seq === seq + 1 ? undefined : {};
  }

  #stateAfter(spec: RoleSpec, role: RoleState, news: readonly Message[], out: LaneOutbox | KeptOutbox): JsonObject {
    const { index } = role;
    const isHeld = this.#isHeld;
    if (!(out instanceof LaneOutbox)) {
      const change = this.#clean(stepThrough(spec, role, news, out));
      isHeld[index] = 0;
      return change === undefined ? role.custom : changedState(role.custom, change);
    }
    const before = isHeld[index] === 1 ? role.custom : heldState(role.custom);
    isHeld[index] = 1;
    const given: unknown = spec.role.steps?.(before, news === noNews ? noNews : Object.freeze(news), out);
    if (given === undefined || given === before) return before;
    const simple = typeof given === "object" && given !== null ? simpleState(before, given, this.#desk.isClean) : undefined;
    if (simple !== undefined) return simple;
    const change = this.#clean(changeTo(before, given, role.name));
    if (change === undefined) return before;
    isHeld[index] = 0;
    return changedState(before, change);
  }

  #keep(role: RoleState, out: KeptOutbox): void {
    for (const sent of out.delayed) {
      this.#mustLeave = true;
      delay(this.#state, { order: role.index, sent }, sent.due ?? 0);
    }
    for (const sent of out.said) this.#tell(sent);
  }

  #take(role: RoleState, take: number, isPlain: boolean): void {
    const state = this.#state;
    if (state.turn !== "under way") beginTurn(state);
    if (state.failures.size > 0) noteEnd(state.failures, { type: "act.ended", act: role.nextAct } as Parameters<typeof noteEnd>[1]);
    if (isPlain) role.collected();
    else role.mailbox.take(take);
    state.unread -= take;
    role.n += 1;
    role.ranIn = state.round;
    if (role.n > state.busiest) state.busiest = role.n;
    state.activations += 1;
    state.acted += 1;
    state.lastActed = role.index;
    state.next = undefined;
    progress(state);
    this.#tools.log.pass();
  }

  #assertRoom(role: RoleState, { sent, kept }: LaneOutbox | KeptOutbox, first: number, take: number): void {
    const delayed = kept === undefined ? noneDelayed : kept.delayed;
    if (delayed.length === 0 && sent <= this.#state.smallestMailbox) return;
    const said = this.#next.pendingFrom(first, this.#mail).map((pending) => pending.sent);
    assertRoomForAct(this.#state, role, [...said, ...delayed], take);
  }

  #tell(sent: Sent): void {
    if (sent.message.priority !== undefined) {
      this.#mustLeave = true;
      this.#state.isPrioritized = true;
    }
    if (sent.to.length === 0 || sent.dead !== undefined) this.#tools.announcer.said(sent, this.#tools.host.directory);
  }

  #turn(role: RoleState, error?: unknown): Left | undefined {
    const { host } = this.#tools;
    const others = this.#state.pending;
    this.#state.pending = [];
    this.#isHeld[role.index] = 0;
    const end = host.turn(role, error === undefined ? undefined : { error });
    if (typeof end === "object") throw new Error(`The step role ${role.name} waited.`);
    for (const { order, sent } of this.#state.pending) this.#next.keep(order, sent, recipientsOf(sent, host));
    this.#state.pending = others;
    return end === "done" ? undefined : { role, end };
  }

  #clean(change: StateChange | undefined): StateChange | undefined {
    if (change === undefined) return undefined;
    const { mask } = this.#tools;
    for (const key in change.set) {
      const value = change.set[key];
      const isClean = typeof value === "string" ? mask(value) === value : typeof value !== "object" || value === null;
      if (!isClean || mask(key) !== key) return masked(mask, change);
    }
    return change.within === undefined ? change : masked(mask, change);
  }

  /** Delivers the messages of the round; false if the lane must be left before or after it. */
  #endRound(): boolean {
    const state = this.#state;
    const next = this.#next;
    // Mail that a role left, after a failure, takes room too.
    if (this.#mustLeave || state.unread > 0 || state.pending.length > 0) return false;
    const lastSaid = next.count === 0 ? undefined : next.messageAt(next.count - 1, this.#mail);
    const read = this.#mail;
    // The senders of what was read had read the mail before, whose columns are free now.
    if (next.deliver(this.#spare, read) > state.smallestMailbox) return false;
    passRound(state);
    state.delivered += next.messages;
    for (const { message, to, dead } of next.forNobody()) {
      for (const address of dead ?? []) state.dead.push({ message, reason: { kind: "no such address", address } });
      if (isOutput(message, to)) state.outputs.push(message);
    }
    state.deadBefore = state.dead.length;
    state.unread += this.#spare.count;
    state.lastSaid = lastSaid ?? state.lastSaid;
    this.#tools.log.pass();
    this.round += 1;
    this.#deliveredAt = state.round;
    this.#mail = this.#spare;
    this.#spare = read;
    next.clear(this.#mail);
    return true;
  }

  /** Returns what the columns have to where every turn finds it. Mailboxes are filled when they are looked at. */
  #leave(): void {
    const state = this.#state;
    const pending = this.#next.pendingFrom(0, this.#mail);
    if (pending.length > 0) state.pending = state.pending.length === 0 ? pending : [...pending, ...state.pending];
    this.#next.cut(0, 0);
    this.#desk.circles.length = 0;
    for (const role of this.roles) {
      if (!role.isReady) state.ready.delete(role);
      else state.ready.add(role);
    }
  }
}

const noneDelayed: readonly Sent[] = [];
const noNews: readonly Message[] = Object.freeze([]);
