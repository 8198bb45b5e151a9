import { nextMacrotask } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import { namedStream, type Random, type RandomStream, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { Engine } from "../engine.ts";
import type { RoleState } from "../record/role-state.ts";
import { type RunState, roundsOf } from "../record/run-state.ts";
import { everyone } from "./policies.ts";
import { ChoiceRun } from "./choices.ts";
import { inHireOrder, nobody, none, type Ready, readyAmong } from "./ready.ts";
import type { Scheduler, SchedulerView } from "./scheduler.ts";

/** `waiting`: suspended until a signal or a time ends its wait. */
export type TurnEnd = "done" | "stopped" | "suspended" | "waiting";

export type DriveEnd = "idle" | "rounds" | "checkpoint" | "interrupted";

export interface Driver {
  run(host: Engine): Promise<DriveEnd>;
}

const TURNS_PER_PAUSE = 128;

export function driverOf(scheduler: Scheduler): Driver {
  if (scheduler.delivers === "choice") return { run: (host) => new ChoiceRun(scheduler, host).run() };
  return { run: (host) => new ScheduledRun(scheduler, host).run() };
}

interface Batch {
  readonly roles: readonly RoleState[];
  started: number;
}

/**
 * One drive of a run. It owns the set of turns under way, and the reason of its end.
 *
 * ScheduledRun.S1 (`#aside`) a role has at most one turn under way.
 * ScheduledRun.S2 (`run`) the run is idle when no role may act, no message is delayed and no turn is under way; all three are counters.
 * ScheduledRun.S3 (`#turned`) if messages are delivered by the `round`, a failing role does not stop the other roles of its round from acting.
 * ScheduledRun.S4 (`#startNext`) a synchronous turn creates no promise.
 * ScheduledRun.S5 (`#jump`, `isDue`) the clock jumps to the tick of the next delayed message only when no other work is left.
 * ScheduledRun.S6 (`#ready`, `#nextInOrder`, `#sweep`, `#drawn`) a choice follows from the state. So a run stopped between two activations resumes with the same
 * choices if the scheduler chooses one role, or all of `ready` in their order, or sweeps. After any other choice of several roles the scheduler
 * chooses again, with the random numbers of that moment.
 * ScheduledRun.S7 (`#wakeUp`) a role that waits for a signal or a time ends no drive and no round; it acts again as soon as its wait is over.
 */
class ScheduledRun {
  readonly #scheduler: Scheduler;
  readonly #host: Engine;
  readonly #byRounds: boolean;
  readonly #hasRounds: boolean;
  readonly #isSwept: boolean;
  readonly #isSerial: boolean;
  readonly #isAll: boolean;
  /** True for a sweep in the order of hiring. */
  readonly #isInOrder: boolean;
  #swept = -1;
  #sweptTo = -1;
  /** The round after which the lane asked whether to continue. */
  #asked = -1;
  readonly #aside = new Set<RoleState>();
  /** Those of them that wait for a signal or a time. */
  readonly #waiting = new Set<RoleState>();
  #running = 0;
  #turns = 0;
  #end: DriveEnd | undefined;
  #isInterrupted = false;
  #wake: () => void = () => {};
  #stream: Random | undefined;
  readonly #random = (): number => (this.#stream ??= randomStream(this.#host.state.seed, ...this.#choice))();

  #streams: RandomStream | undefined;
  readonly #named = (name: string): RandomStream => (this.#streams ??= namedStream(this.#host.state.seed, ...this.#choice)).split(name);

  constructor(scheduler: Scheduler, host: Engine) {
    this.#scheduler = scheduler;
    this.#host = host;
    this.#byRounds = scheduler.delivers === "round";
    this.#hasRounds = this.#byRounds || scheduler.clock === "rounds";
    this.#isSwept = scheduler.turns === "sweep";
    this.#isSerial = this.#isSwept || scheduler.turns === "serial";
    this.#isAll = scheduler.select === everyone && !this.#isSwept;
    this.#isInOrder = scheduler.select === everyone && this.#isSwept;
  }

  async run(): Promise<DriveEnd> {
    try {
      return await this.#drive();
    } catch (error) {
      // A turn must not outlive its drive.
      while (this.#running > 0) await this.#change();
      throw error;
    }
  }

  async #drive(): Promise<DriveEnd> {
    const host = this.#host;
    host.onMail(() => this.#wake());
    // A message that begins a turn is read before the condition is checked.
    let mayStop = roundsOf(host.state) > 0 && !host.midRound && host.state.turn !== "begins";
    for (;;) {
      const paused = host.resumed?.();
      if (paused !== undefined) await paused;
      if (host.scope.ended !== undefined) this.#end ??= "interrupted";
      else if (mayStop && host.checkpoint?.() === true) this.#end ??= "checkpoint";
      mayStop = false;
      const woken = this.#waiting.size > 0 ? this.#wakeUp() : none;
      if (this.#end === undefined && host.state.delayed.size > 0 && isDue(host.state)) host.advance(host.state.tick);
      if (this.#isAll && !host.state.hasHistory && this.#mayLane() && host.lane.fits) {
        const { role, end } = await host.lane.run(() => this.#mayContinue());
        if (role !== undefined && end !== undefined) this.#turned(role, end);
        mayStop = !host.midRound && this.#asked !== host.state.round;
        continue;
      }
      const ready = this.#end === undefined ? this.#ready(woken) : nobody;
      if (ready.count > 0 && host.roundsLeft() <= 0) this.#end = "rounds";
      else if (host.lastTick !== undefined && ready.count > 0 && host.state.clock !== "time" && host.state.tick >= host.lastTick())
        this.#end = "checkpoint";
      const roles = this.#end !== undefined ? none : this.#isAll ? (ready.roles ?? ready.list()) : this.#chosen(ready);
      if (roles === undefined) continue;
      const batch = { roles, started: 0 };
      for (let wait = this.#startNext(batch); wait !== undefined; wait = this.#startNext(batch)) await wait;
      if (this.#running > 0 && (this.#hasRounds || batch.roles.length === 0)) await this.#change();
      else if (batch.roles.length > 0) continue;
      else if (this.#end !== undefined) return this.#end;
      else if (this.#isInterrupted) return "interrupted";
      else if (ready.count === 0 && !host.midRound && host.state.delayed.size === 0) return this.#waiting.size > 0 ? "interrupted" : "idle";
      else if (host.roundsLeft() <= 0) return "rounds";
      else {
        // A stop or a message that results from a promise of this round takes effect before the round ends.
        await Promise.resolve();
        if (host.scope.ended !== undefined) continue;
        if (ready.count === 0 && !host.midRound) this.#jump();
        else this.#endRound(ready.count);
        await Promise.resolve();
        mayStop = host.state.stage === 0;
      }
    }
  }

  #mayLane(): boolean {
    return this.#byRounds && this.#end === undefined && this.#running + this.#aside.size === 0 && this.#hasTime;
  }

  async #mayContinue(): Promise<boolean> {
    await Promise.resolve();
    const host = this.#host;
    const paused = host.resumed?.();
    if (paused !== undefined) await paused;
    if (host.scope.ended !== undefined) return false;
    this.#asked = host.state.round;
    if (host.checkpoint?.() === true) this.#end ??= "checkpoint";
    return this.#end === undefined && this.#hasTime;
  }

  get #hasTime(): boolean {
    const { state, roundsLeft, lastTick } = this.#host;
    return roundsLeft() > 0 && (lastTick === undefined || state.tick < lastTick());
  }

  #jump(): void {
    const { state, roundsLeft, lastTick } = this.#host;
    const due = state.delayed.first ?? state.tick;
    if (lastTick !== undefined && due > lastTick()) return void (this.#end = "checkpoint");
    this.#host.advance(this.#hasRounds ? Math.min(Math.ceil(due), state.round + roundsLeft()) : due);
  }

  #ready(woken: readonly RoleState[]): Ready {
    const { state, directory } = this.#host;
    // All chosen roles act before others are chosen.
    if (this.#isSerial && this.#running > 0) return nobody;
    if (this.#hasRounds && this.#running > 0) return readyAmong(woken);
    if (this.#isInOrder) return readyAmong(this.#nextInOrder());
    if (this.#hasRounds || !this.#isSerial || this.#aside.size > 0 || !directory.isComplete) {
      const roles = this.#listed();
      return { count: roles.length, roles, list: () => roles, at: (index) => roles[index] };
    }
    return { count: state.ready.size, list: () => this.#listed(), at: (index) => state.ready.at(index) };
  }

  #listed(): RoleState[] {
    const { state } = this.#host;
    // Roles whose mail came in this round are behind those that had mail when it began.
    let early = state.roundStart === undefined || this.#isSwept ? Infinity : state.roundStart.ready - state.acted;
    const ready: RoleState[] = [];
    for (const role of state.ready) {
      early -= 1;
      if (early < 0) break;
      if (this.#mayBegin(role)) ready.push(role);
    }
    return this.#hasRounds && ready.length > 1 ? inHireOrder(ready) : ready;
  }

  #mayBegin(role: RoleState): boolean {
    return !this.#aside.has(role) && !(this.#hasRounds && role.ranIn === this.#host.state.round) && this.#host.mayAct(role);
  }

  /** Returns the roles that act next; undefined if the clock moved instead, which may make other roles ready. */
  #chosen(ready: Ready): readonly RoleState[] | undefined {
    if (ready.count === 0) return none;
    if (this.#isInOrder) return this.#begun(ready.list());
    if (this.#isSwept) return this.#sweep();
    return this.#scheduler.wait === undefined ? this.#selected(ready, this.#view(ready)) : this.#drawn(ready);
  }

  /** Returns the role after the one that acted last in this round, so that a pass looks at no role without mail. */
  #nextInOrder(): readonly RoleState[] {
    const { round, acted, roundStart, lastActed, ready } = this.#host.state;
    if (this.#swept !== round) this.#sweptTo = acted === 0 ? -1 : lastActed;
    let role = ready.after(this.#sweptTo);
    while (role !== undefined && !this.#mayBegin(role)) role = ready.after(role.index);
    return role === undefined || role.index >= (roundStart?.roles ?? Infinity) ? none : [role];
  }

  #begun(roles: readonly RoleState[]): readonly RoleState[] {
    this.#swept = this.#host.state.round;
    this.#sweptTo = roles[0]?.index ?? this.#sweptTo;
    return roles;
  }

  #sweep(): readonly RoleState[] {
    const { round, acted, roundStart, lastActed, roles } = this.#host.state;
    if (this.#swept === round) return [];
    this.#swept = round;
    const all = readyAmong([...roles.values()].slice(0, roundStart?.roles));
    const order = this.#selected(all, this.#view(all));
    return acted === 0 ? order : order.slice(order.findIndex(({ index }) => index === lastActed) + 1);
  }

  #drawn(ready: Ready): readonly RoleState[] | undefined {
    const { state, lastTick } = this.#host;
    const { next, tick } = state;
    const known = next === undefined ? undefined : state.roles.get(next);
    if (known !== undefined && state.ready.has(known) && this.#mayBegin(known)) return [known];
    const view = this.#view(ready);
    const pause = this.#scheduler.wait?.(view);
    const isTime = typeof pause === "number" && pause >= 0 && tick + pause <= Number.MAX_SAFE_INTEGER;
    if (!isTime) throw badPause(this.#scheduler.name, pause);
    const due = state.delayed.first ?? Infinity;
    if (lastTick !== undefined && Math.min(due, tick + pause) > lastTick()) {
      this.#end = "checkpoint";
      return undefined;
    }
    if (due <= tick + pause) {
      this.#host.advance(due);
      return undefined;
    }
    const chosen = this.#selected(ready, view);
    if (chosen.length !== 1) throw badChoice(this.#scheduler.name, ready.count, undefined);
    this.#host.advance(tick + pause, chosen[0]?.name);
    return chosen;
  }

  #view(among: Ready): SchedulerView {
    const { round, stage, tick, acted, choices } = this.#host.state;
    this.#stream = undefined;
    this.#streams = undefined;
    return {
      get ready() {
        return Object.freeze(among.list());
      },
      ...{ count: among.count, inFlight: none, choices, round, stage, tick, acted },
      ...{ running: this.#running, random: this.#random, stream: this.#named },
    };
  }

  /** The owner of the random numbers of this choice, derived from the state, so that a resumed run draws the same. */
  get #choice(): readonly (string | number)[] {
    const { activations, round, tick } = this.#host.state;
    if (this.#isSwept) return ["scheduler", "round", round];
    return this.#scheduler.clock === "time" ? ["scheduler", activations, tick] : ["scheduler", activations];
  }

  /** @throws UsageError `SCHEDULER_CHOICE` for a value that is not an unchosen index of the list */
  #selected(ready: Ready, view: SchedulerView): readonly RoleState[] {
    const chosen: RoleState[] = [];
    const taken = new Set<number>();
    for (const index of this.#scheduler.select(view)) {
      const role = typeof index === "number" && Number.isInteger(index) ? ready.at(index) : undefined;
      if (typeof index !== "number" || role === undefined || taken.has(index)) throw badChoice(this.#scheduler.name, ready.count, index);
      taken.add(index);
      chosen.push(role);
    }
    return chosen;
  }

  /** Starts as many turns as possible. Returns a promise to await before more can start; undefined if none is left. */
  #startNext(batch: Batch): Promise<void> | undefined {
    const { state, scope } = this.#host;
    while (batch.started < batch.roles.length && this.#end === undefined) {
      const paused = this.#host.resumed?.();
      if (paused !== undefined) return paused;
      if (this.#running > 0 && (this.#isSerial || this.#running >= this.#host.concurrency)) return this.#change();
      if (scope.ended !== undefined) this.#end = "interrupted";
      else if (!this.#hasRounds && batch.started + this.#running > 0 && this.#host.roundsLeft() <= 0) this.#end = "rounds";
      if (this.#end !== undefined) return undefined;
      // Without rounds messages may become due after every activation.
      if (state.delayed.size > 0 && isDue(state)) this.#host.advance(state.tick);
      const role = batch.roles[batch.started] as RoleState;
      batch.started += 1;
      // A turn that ended since the choice may have changed whether this role may act.
      if (!state.ready.has(role) || !this.#mayBegin(role)) continue;
      const turn = this.#host.turn(role);
      if (typeof turn === "object") {
        const ended = this.#follow(role, turn);
        if (this.#isAlone(role)) return ended;
      } else {
        this.#turned(role, turn);
        this.#turns += 1;
        if (this.#turns % TURNS_PER_PAUSE === 0) return nextMacrotask();
      }
    }
    return undefined;
  }

  /** True for a step role, if the next role to act reads its messages. */
  #isAlone(role: RoleState): boolean {
    return !this.#byRounds && this.#host.isPlain(role);
  }

  #follow(role: RoleState, turn: Promise<TurnEnd>): Promise<void> {
    this.#running += 1;
    this.#aside.add(role);
    return turn.then(async (end) => {
      this.#turns += 1;
      if (this.#turns % TURNS_PER_PAUSE === 0) await nextMacrotask();
      this.#running -= 1;
      this.#aside.delete(role);
      this.#turned(role, end);
      this.#wake();
    });
  }

  #turned(role: RoleState, end: TurnEnd): void {
    if (end === "done") {
      if (!this.#hasRounds && this.#host.checkpoint?.() === true) this.#end ??= "checkpoint";
      return;
    }
    this.#aside.add(role);
    if (end === "waiting") return void this.#waiting.add(role);
    if (end === "stopped" && !this.#byRounds) this.#end ??= "interrupted";
    else this.#isInterrupted = true;
  }

  /** Returns the roles whose waits are over. They may act again, also beside the others of a round. */
  #wakeUp(): readonly RoleState[] {
    const woken = [...this.#waiting].filter((role) => this.#host.isWoken(role));
    for (const role of woken) {
      this.#waiting.delete(role);
      this.#aside.delete(role);
    }
    return woken;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (this.#waiting.size === 0) return;
      const cancel = this.#host.whenDue(this.#waiting, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** @throws UsageError `SCHEDULER_CHOICE` if there are no rounds and the run could never continue */
  #endRound(ready: number): void {
    if (!this.#hasRounds) throw badChoice(this.#scheduler.name, ready, undefined);
    this.#host.endRound(this.#scheduler.stages ?? 1);
  }
}

function isDue({ delayed, tick }: RunState): boolean {
  return delayed.first !== undefined && delayed.first <= tick;
}

function badPause(name: string, pause: unknown): UsageError {
  return new UsageError(
    "SCHEDULER_CHOICE",
    `Expected the scheduler ${name} to wait a time of 0 or more, got ${valueText(pause)}. Return such a number from wait.`,
  );
}

function badChoice(name: string, ready: number, index: unknown): UsageError {
  const came = index === undefined ? "no role while none is running" : `${valueText(index)} (an index may be chosen once)`;
  return new UsageError(
    "SCHEDULER_CHOICE",
    `Expected the scheduler ${name} to choose among the indexes 0 to ${ready - 1} of ready, got ${came}. Return indexes of ready from select.`,
  );
}
