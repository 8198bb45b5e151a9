import type { Deps } from "../kernel/deps.ts";
import { interruptionBy } from "../kernel/abort.ts";
import { BudgetError, type ControlError, UsageError } from "../kernel/errors.ts";
import { isFirstUse } from "../kernel/id.ts";
import type { Logger } from "../kernel/emit.ts";
import { endingOf, Lifetime, Lifetimes } from "../kernel/lifetime.ts";
import { createMessage, isCauseLeftOpen, isMessage, type Message, parseMessage, type Receipt } from "../message/message.ts";
import type { FailurePolicy } from "../role/failure-policy.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import { BudgetGate } from "./steps/budget-gate.ts";
import type { MessagePublished, Sent } from "./record/event.ts";
import { type Line, ListedRoles } from "./record/ready-roles.ts";
import type { RoleState } from "./record/role-state.ts";
import { isGrave, isSuspicious, type RunState } from "./record/run-state.ts";
import type { ActivationHost } from "./turn/activation-parts.ts";
import { Announcer, type Tell } from "./announcer.ts";
import type { EngineParts } from "./engine-parts.ts";
import type { Hearing } from "./ears.ts";
import type { HiredRoles } from "./hired-roles.ts";
import { assertRoomForAct, assertRoomOutside, deadlock, fullAtBarrier } from "./routing/mail-room.ts";
import type { RunFailure } from "./run-failure.ts";
import { failPoisoned } from "./poison.ts";
import type { RoleMemory } from "./role-memories.ts";
import type { Directory } from "./routing/router.ts";
import type { SchedulerEnd, SchedulerHost, TurnEnd } from "./schedulers/scheduler.ts";
import { takeTurn } from "./turn/turn.ts";
import type { TurnResult, TurnTools } from "./turn/turn-tools.ts";

/** What may end one run of an engine before its work is done, besides its rounds. */
export interface RunBounds {
  readonly checkpoint: (() => boolean) | undefined;
  readonly signal: AbortSignal | undefined;
}

/**
 * Runs roles on a run's state. It owns the gate before the budget and which roles are running. Who is hired is the hired roles', what is told the
 * announcer's; the state is written through the log alone, and when which role runs is the scheduler's.
 *
 * E3 idle is counted: no mail, nobody running. E5 a failing role never orphans its siblings, and the failure is kept for the
 * result. E6 nothing is made to be told when nobody listens. E8 the signal that may stop it keeps none of this while it does not run.
 */
export class Engine implements SchedulerHost, ActivationHost {
  readonly tell: Tell;
  readonly ears: Hearing;
  readonly directory: Directory<RoleState>;
  readonly logger: Logger;
  readonly state: RunState;
  /** Ended when the run is stopped from outside, and when nothing can go on. Each run has its own. */
  life: Lifetime = new Lifetime();
  roundLimit = 0;
  checkpoint: (() => boolean) | undefined;
  readonly resumed: (() => Promise<void> | undefined) | undefined;
  readonly #parts: EngineParts;
  readonly #hired: HiredRoles;
  readonly #definitions: HiredRoles["definitions"];
  readonly #announcer: Announcer;
  /** Turns under way. */
  #running = 0;
  readonly #gate: BudgetGate;
  #tools: TurnTools;
  /** What the process died of was looked for: what is tried next may be it. */
  #hasDied = false;
  #wake: (() => void) | undefined;
  #failure: RunFailure | undefined;
  #control: ControlError | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.tell = parts.tell;
    this.ears = parts.ears;
    this.logger = parts.logger;
    this.state = parts.log.state;
    this.resumed = parts.resumed;
    this.directory = parts.hired.directory;
    this.#hired = parts.hired;
    this.#definitions = parts.hired.definitions;
    this.#announcer = new Announcer(parts);
    this.#gate = new BudgetGate(parts.log.state, parts.funds);
    this.#tools = this.#toolsFor(new Lifetimes(undefined), false);
    this.state.dropping = (role, message) => this.#announcer.dropped(role.name, message);
  }

  /** Made in one place: what was compiled for one make of them is thrown away when another comes. */
  #toolsFor(lifetimes: Lifetimes, leavesTraces: boolean): TurnTools {
    const { log, clock, past, mode, mask, answerer, onFailure } = this.#parts;
    return { log, clock, gate: this.#gate, past, mode, mask, answerer, onFailure, host: this, lifetimes, leavesTraces };
  }

  get runId(): string {
    return this.state.runId;
  }
  get deps(): Deps | undefined {
    return this.#parts.deps;
  }
  get seed(): string {
    return this.state.seed;
  }
  /** As many as allowed; one, where the process dies again and again and nobody knows of whom. */
  get concurrency(): number {
    return isSuspicious(this.state) && isGrave(this.state) ? 1 : (this.state.bounds.concurrency ?? this.#parts.concurrency);
  }
  get messageLimit(): number {
    return this.state.bounds.messageLimit ?? this.#parts.messageLimit;
  }
  get midRound(): boolean {
    return this.state.hasActed || this.state.pending.length > 0;
  }

  get isIdle(): boolean {
    return this.state.ready.size === 0 && this.#running === 0 && !this.midRound;
  }

  /** What stopped the run, if a role's failure or a broken journal did. */
  get failure(): RunFailure | undefined {
    return this.#failure;
  }

  /** What interrupted the run, if something did. */
  get control(): ControlError | undefined {
    return this.#control;
  }

  specOf(name: string): RoleSpec | undefined {
    return this.#hired.specOf(name);
  }

  memoryOf(name: string): RoleMemory | undefined {
    return this.#hired.memoryOf(name);
  }

  /** Publishes from outside: at once between rounds, at the end of the round while one is under way. */
  publish(given: Message): Receipt {
    const message = fromOutside(given);
    const { to, dead } = this.directory.route(message);
    const { scheduler, hasActed, pending } = this.state;
    const waits = scheduler === "rounds" && (this.#running > 0 || hasActed || pending.length > 0);
    const said: MessagePublished = dead.length === 0 ? { type: "message", message, to } : { type: "message", message, to, dead };
    if (to.length > 0) assertRoomOutside(this.state, to);
    this.#parts.opening?.tell();
    const sent = this.#parts.log.record(waits ? { ...said, atBarrier: true } : said, isFirstUse(message.id));
    if (sent.to.length === 0 || sent.dead !== undefined) this.#announcer.saidOutside(sent);
    this.#wake?.();
    return { message: sent.message, recipients: sent.to };
  }

  /** Runs until nothing is left to do, a limit is reached, or something interrupts. */
  async run(roundLimit: number, { checkpoint, signal }: RunBounds): Promise<SchedulerEnd> {
    this.#failure = undefined;
    this.#control = undefined;
    if (this.life.ended !== undefined) this.life = new Lifetime();
    this.checkpoint = checkpoint && ((): boolean => this.#stopsAt(checkpoint));
    this.roundLimit = roundLimit;
    // Until its end is durable, an activation that has passed could be taken for the one that the process dies of later.
    const leavesTraces = this.#hasDied || isSuspicious(this.state);
    this.#tools = this.#toolsFor(new Lifetimes(this.life), leavesTraces);
    const letGo = this.#follow(signal);
    try {
      this.#parts.opening?.tell();
      const loading = this.#hired.load();
      if (loading !== undefined) await loading;
      return await this.#parts.scheduler.run(this);
    } catch (error) {
      this.#failure ??= { error };
      return "interrupted";
    } finally {
      letGo?.();
      this.#tools.lifetimes.close();
      if (this.life.ended !== undefined) this.#control ??= interruptionBy(this.life.ended.reason);
    }
  }

  ready(): Line {
    const { ready, round, hasActed, roles, blocked } = this.state;
    // There may be a million of them, and mostly they heard one message.
    if (ready.isInHireOrder && !hasActed && blocked.size === 0 && this.#hired.size >= roles.size) return ready;
    const mayRun = ready.those((role) => role.ranIn !== round && this.#mayAct(role));
    if (mayRun.length === 0 && blocked.size > 0 && !this.midRound) throw deadlock(this.state);
    return new ListedRoles(mayRun.sort((a, b) => a.index - b.index));
  }

  line(): Line {
    const { ready, roles, blocked } = this.state;
    if (this.#hired.size >= roles.size && blocked.size === 0) return ready;
    // Where the team was forced to differ, mail may lie for one that is gone.
    const mayRun = ready.those((role) => this.#mayAct(role));
    if (mayRun.length === 0 && blocked.size > 0 && this.#running === 0) throw deadlock(this.state);
    return new ListedRoles(mayRun);
  }

  mayAct(role: RoleState): boolean {
    return this.state.blocked.size === 0 || this.#mayAct(role);
  }

  #mayAct({ index }: RoleState): boolean {
    return this.#definitions[index] !== undefined && !this.state.blocked.has(index);
  }

  onMail(wake: () => void): void {
    this.#wake = wake;
  }

  /** Ends with what stops it from outside. That may live far longer, and would keep all of this: the returned function lets go of it. */
  #follow(signal: AbortSignal | undefined): (() => void) | undefined {
    const outer = signal && endingOf(signal);
    if (outer?.ended !== undefined) this.life.end(outer.ended.reason);
    return outer?.onEnd((reason) => this.life.end(reason));
  }

  /** Ends the activations that the process died of again and again; see {@link failPoisoned}. */
  failPoisoned(limit: number): RunFailure | undefined {
    const { log, onFailure } = this.#parts;
    this.#hasDied = isSuspicious(this.state);
    const policyOf = (name: string): FailurePolicy => this.#hired.specOf(name)?.role.onFailure ?? onFailure;
    return failPoisoned(log, { limit, policyOf, gaveUp: (name, error) => this.#announcer.gaveUp(name, error) });
  }

  turn(role: RoleState): TurnEnd | Promise<TurnEnd> {
    const { name } = role;
    let end: TurnEnd;
    this.#running += 1;
    try {
      const hired = this.#definitions[role.index];
      if (hired === undefined) throw new UsageError("ROLE_UNKNOWN", `Expected a hired role, got ${name}.`);
      if (this.ears.hearsNotices) this.tell("role.active")?.({ type: "role.active", role: name, news: role.waiting });
      const result = takeTurn(this.#tools, hired, role);
      if (!("kind" in result)) return this.#turnedLater(name, result);
      end = this.#ended(name, result);
    } catch (error) {
      end = this.#broke(error);
    }
    this.#running -= 1;
    if (this.ears.hearsNotices) this.#tellIdle(name);
    return end;
  }

  async #turnedLater(name: string, taken: Promise<TurnResult>): Promise<TurnEnd> {
    let end: TurnEnd;
    try {
      end = this.#ended(name, await taken);
    } catch (error) {
      end = this.#broke(error);
    }
    this.#running -= 1;
    this.#tellIdle(name);
    return end;
  }

  #tellIdle(name: string): void {
    this.tell("role.idle")?.({ type: "role.idle", role: name });
  }

  /** The journal takes nothing any more. */
  #broke(error: unknown): TurnEnd {
    this.#failure ??= { error };
    this.life.end(interruptionBy(error));
    return "stopped";
  }

  warn(role: string | undefined, text: string): void {
    this.#announcer.warn(role, text);
  }

  assertRoom(speaker: RoleState, said: readonly Sent[], take: number): void {
    assertRoomForAct(this.state, speaker, said, take);
  }

  /** @throws QueueFullError `MAILBOX_FULL` where what was said in the round has no room: nothing of it is delivered then. */
  endRound(): void {
    const full = fullAtBarrier(this.state);
    if (full !== undefined) throw full;
    this.#parts.log.record({ type: "round.ended", round: this.state.round });
  }

  /** Where the question itself fails, that is the end of it. */
  #stopsAt(checkpoint: () => boolean): boolean {
    try {
      return checkpoint();
    } catch (error) {
      this.#failure ??= { error };
      return true;
    }
  }

  #ended(name: string, result: TurnResult): TurnEnd {
    switch (result.kind) {
      case "ended":
        for (let place = 0; place < result.event.said.length; place += 1) {
          const sent = result.event.said[place] as Sent;
          if (sent.to.length === 0 || sent.dead !== undefined) this.#announcer.said(sent);
        }
        return "done";
      case "retried":
        return "done";
      case "skipped":
        this.#announcer.gaveUp(name, result.error);
        return "done";
      case "stopped":
        // In a replay that is part of the record, which may go on after it.
        if (this.#parts.mode === "live") this.#failure ??= { error: result.error, role: name, action: result.action, step: result.step };
        return "stopped";
      case "suspended":
        this.#control ??= result.control;
        if (result.control instanceof BudgetError) this.life.end(result.control);
        return "suspended";
    }
  }
}

/**
 * A message as it enters a run. From here on its cause is told: who passes it on later says the same, whether the run has it from its
 * maker or from a record.
 *
 * @throws UsageError `MESSAGE_INVALID`
 */
function fromOutside(given: Message): Message {
  const message = isMessage(given) && Object.isFrozen(given) ? given : parseMessage(given);
  return isCauseLeftOpen(message) ? createMessage(message.content, message) : message;
}
