import { nextMacrotask } from "../../kernel/clock.ts";
import { UsageError } from "../../kernel/errors.ts";
import type { Cancellation } from "../../kernel/cancellation.ts";
import { namedStream, type Random, type RandomStream, randomStream } from "../../kernel/random.ts";
import { valueText } from "../../kernel/value-text.ts";
import type { RoleState } from "../record/role-state.ts";
import { type RunState, roundsOf } from "../record/run-state.ts";
import type { Scheduler, SchedulerView } from "./scheduler.ts";

/** The end of a turn of a role. */
export type TurnEnd = "done" | "stopped" | "suspended";

/** The reason why a run stopped. `interrupted`: a turn was stopped or suspended, or the run was stopped from outside. */
export type DriveEnd = "idle" | "rounds" | "checkpoint" | "interrupted";

/** The engine, as its driver sees it. */
export interface DriverHost {
  readonly state: RunState;
  /** Limit on concurrent activations. */
  readonly concurrency: number;
  /** The number of rounds at which the run stops. */
  readonly roundLimit: number;
  /** True where some role has ended an activation in the present round, or messages wait for its end. */
  readonly midRound: boolean;
  /** Ended when nothing more may start. */
  readonly scope: Pick<Cancellation, "ended">;
  /**
   * Called when the run is resumed, after every round, and with delivery `turn` after every activation. True stops the run. It never
   * throws.
   */
  readonly checkpoint: (() => boolean) | undefined;
  /** Resolves when activations may start again; undefined unless the run is paused. */
  readonly resumed: (() => Promise<void> | undefined) | undefined;
  /** True for a role that may have a turn: it is hired, and none of its messages waits for room. */
  mayAct(role: RoleState): boolean;
  /** Runs one activation with its retries, without waiting where nothing in it waits. It never throws or rejects. */
  turn(role: RoleState): TurnEnd | Promise<TurnEnd>;
  /** Delivers the messages of the round, where it has shards when these have exchanged their messages. */
  endRound(): void | Promise<void>;
  /** Moves the clock on to a tick, and delivers the messages that are due. */
  advance(tick: number): void;
  /** Calls `wake` whenever a message comes from outside. */
  onMail(wake: () => void): void;
  /** @throws QueueFullError where roles have mail and all of them wait for room in mailboxes */
  assertNoDeadlock(): void;
}

/** Drives a run to its end: a scheduler, or a replay. */
export interface Driver {
  run(host: DriverHost): Promise<DriveEnd>;
}

/** Turns between two pauses in which timers, signals and input are served. */
const TURNS_PER_PAUSE = 128;

/** Returns a driver that follows a scheduler. */
export function driverOf(scheduler: Scheduler): Driver {
  return { run: (host) => new ScheduledRun(scheduler, host).run() };
}

/** The roles of one choice, and how many of them have begun. */
interface Batch {
  readonly roles: readonly RoleState[];
  begun: number;
}

/**
 * One drive of a run. It owns the set of turns under way, and the reason of its end.
 *
 * ScheduledRun.S1 (`#aside`) a role has at most one turn under way.
 * ScheduledRun.S2 (`run`) the run is idle when no role may act, no message is delayed and no turn is under way; all are counted.
 * ScheduledRun.S3 (`#turned`) with delivery `round` a failing role does not keep the others of its round from acting.
 * ScheduledRun.S5 (`#jump`, `#deliverDue`) the clock jumps to the tick of the next delayed message only when nothing else is left to do.
 * ScheduledRun.S4 (`#startNext`) no promise is made for a turn that waits for nothing.
 */
class ScheduledRun {
  readonly #scheduler: Scheduler;
  readonly #host: DriverHost;
  readonly #byRounds: boolean;
  /** Roles with a turn under way, and roles that failed or wait for an answer: these have no further turn in this drive. */
  readonly #aside = new Set<RoleState>();
  #running = 0;
  #turns = 0;
  #end: DriveEnd | undefined;
  #isInterrupted = false;
  #wake: () => void = () => {};
  /** The random numbers of the present choice, made on first use. */
  #stream: Random | undefined;
  readonly #random = (): number => {
    const { seed, activations } = this.#host.state;
    return (this.#stream ??= randomStream(seed, "scheduler", activations))();
  };

  #streams: RandomStream | undefined;
  readonly #named = (name: string): RandomStream => {
    const { seed, activations } = this.#host.state;
    return (this.#streams ??= namedStream(seed, "scheduler", activations)).split(name);
  };

  constructor(scheduler: Scheduler, host: DriverHost) {
    this.#scheduler = scheduler;
    this.#host = host;
    this.#byRounds = scheduler.delivery === "round";
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
    let mayStop = roundsOf(host.state) > 0 && !host.midRound;
    for (;;) {
      const paused = host.resumed?.();
      if (paused !== undefined) await paused;
      if (host.scope.ended !== undefined) this.#end ??= "interrupted";
      else if (mayStop && host.checkpoint?.() === true) this.#end ??= "checkpoint";
      mayStop = false;
      if (this.#end === undefined) this.#deliverDue();
      const ready = this.#end === undefined ? this.#ready() : [];
      if (ready.length > 0 && this.#isAtLimit) this.#end = "rounds";
      const batch = { roles: this.#end === undefined ? this.#chosen(ready) : [], begun: 0 };
      for (let wait = this.#startNext(batch); wait !== undefined; wait = this.#startNext(batch)) await wait;
      if (this.#running > 0 && (this.#byRounds || batch.roles.length === 0)) await this.#change();
      else if (batch.roles.length > 0) continue;
      else if (this.#end !== undefined) return this.#end;
      else if (this.#isInterrupted) return "interrupted";
      else if (ready.length === 0 && !host.midRound && host.state.delayed.length === 0) return this.#idle();
      else if (this.#isAtLimit) return "rounds";
      else {
        // A stop or a message that follows a promise of this round takes effect before the round ends, and before the next one begins.
        await Promise.resolve();
        if (host.scope.ended !== undefined) continue;
        if (ready.length === 0 && !host.midRound) this.#jump();
        else {
          const ended = this.#endRound(ready.length);
          if (ended !== undefined) await ended;
        }
        await Promise.resolve();
        mayStop = true;
      }
    }
  }

  get #isAtLimit(): boolean {
    return roundsOf(this.#host.state) >= this.#host.roundLimit;
  }

  /** Without rounds messages may become due after every activation. */
  #deliverDue(): void {
    const { delayed, tick } = this.#host.state;
    const first = delayed[0];
    if (first !== undefined && first.due <= tick) this.#host.advance(tick);
  }

  #jump(): void {
    const { state, roundLimit } = this.#host;
    const due = state.delayed[0]?.due ?? state.tick;
    this.#host.advance(this.#byRounds ? Math.min(Math.ceil(due), roundLimit) : due);
  }

  #ready(): RoleState[] {
    const { state } = this.#host;
    // With delivery by rounds a batch ends before the next one is chosen.
    if (this.#byRounds && this.#running > 0) return [];
    const ready = state.ready.toArray().filter((role) => this.#mayBegin(role));
    return this.#byRounds ? inHireOrder(ready) : ready;
  }

  #mayBegin(role: RoleState): boolean {
    return !this.#aside.has(role) && !(this.#byRounds && role.ranIn === this.#host.state.round) && this.#host.mayAct(role);
  }

  /** @throws UsageError `SCHEDULER_CHOICE` for a value that is no place in the list, or a place that was chosen before */
  #chosen(ready: readonly RoleState[]): readonly RoleState[] {
    if (ready.length === 0) return ready;
    const { round, acted } = this.#host.state;
    this.#stream = undefined;
    this.#streams = undefined;
    const view: SchedulerView = {
      ready: Object.freeze(ready),
      round,
      acted,
      running: this.#running,
      random: this.#random,
      stream: this.#named,
    };
    const chosen: RoleState[] = [];
    const isTaken = new Uint8Array(ready.length);
    for (const place of this.#scheduler.select(view)) {
      const role = typeof place === "number" ? ready[place] : undefined;
      if (role === undefined || isTaken[place] === 1) throw badChoice(this.#scheduler.name, ready.length, place);
      isTaken[place] = 1;
      chosen.push(role);
    }
    return chosen;
  }

  /** Begins as many turns as possible. Returns a promise to await before more can begin; undefined when none is left to begin. */
  #startNext(batch: Batch): Promise<void> | undefined {
    const { state, scope } = this.#host;
    while (batch.begun < batch.roles.length && this.#end === undefined) {
      const paused = this.#host.resumed?.();
      if (paused !== undefined) return paused;
      if (this.#running > 0 && this.#running >= this.#host.concurrency) return this.#change();
      if (scope.ended !== undefined) this.#end = "interrupted";
      else if (!this.#byRounds && this.#isAtLimit) this.#end = "rounds";
      if (this.#end !== undefined) return undefined;
      this.#deliverDue();
      const role = batch.roles[batch.begun] as RoleState;
      batch.begun += 1;
      // A turn that ended since the choice may have changed that.
      if (!state.ready.has(role) || !this.#mayBegin(role)) continue;
      const turn = this.#host.turn(role);
      if (typeof turn === "object") this.#follow(role, turn);
      else {
        this.#turned(role, turn);
        this.#turns += 1;
        if (this.#turns % TURNS_PER_PAUSE === 0) return nextMacrotask();
      }
    }
    return undefined;
  }

  #follow(role: RoleState, turn: Promise<TurnEnd>): void {
    this.#running += 1;
    this.#aside.add(role);
    void turn.then(async (end) => {
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
      if (!this.#byRounds && this.#host.checkpoint?.() === true) this.#end ??= "checkpoint";
      return;
    }
    this.#aside.add(role);
    if (end === "stopped" && !this.#byRounds) this.#end ??= "interrupted";
    else this.#isInterrupted = true;
  }

  /** Resolves when a turn has ended or a message came from outside. */
  #change(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #idle(): DriveEnd {
    this.#host.assertNoDeadlock();
    return "idle";
  }

  /** @throws UsageError `SCHEDULER_CHOICE` where there are no rounds and the run could never go on */
  #endRound(ready: number): void | Promise<void> {
    if (!this.#byRounds) throw badChoice(this.#scheduler.name, ready, undefined);
    return this.#host.endRound();
  }
}

/**
 * Returns roles in the order of hiring. Numbers are sorted and not roles, because a comparison of roles of a large population waits for
 * memory.
 */
function inHireOrder(roles: RoleState[]): RoleState[] {
  if (roles.every((role, place) => place === 0 || role.index > (roles[place - 1] as RoleState).index)) return roles;
  const { length } = roles;
  const keys = new Float64Array(length);
  for (let place = 0; place < length; place += 1) keys[place] = (roles[place] as RoleState).index * length + place;
  keys.sort();
  const ordered: RoleState[] = [];
  for (const key of keys) ordered.push(roles[key % length] as RoleState);
  return ordered;
}

function badChoice(name: string, ready: number, place: unknown): UsageError {
  const came = place === undefined ? "no role while none is running" : `${valueText(place)} (a place may be chosen once)`;
  return new UsageError(
    "SCHEDULER_CHOICE",
    `Expected the scheduler ${name} to choose among the places 0 to ${ready - 1} of ready, got ${came}.`,
  );
}
