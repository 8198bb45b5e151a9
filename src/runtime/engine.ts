import type { RunBounds } from "./run-result.ts";
import { interruptionBy } from "../kernel/abort.ts";
import { BudgetError, type ControlError, MovedError, UsageError } from "../kernel/errors.ts";
import type { Logger } from "../kernel/emit.ts";
import { cancellationOf, CancellationScope, CancellationScopes } from "../kernel/cancellation.ts";
import type { Message, Receipt } from "../message/message.ts";
import type { Funds } from "../model/funds.ts";
import { presentMeter } from "../model/meter.ts";
import type { Deps, RunContext } from "../kernel/deps.ts";
import type { Guard } from "../tool/guard.ts";
import type { HiredRoles, Opening } from "./hired-roles.ts";
import type { EdgeDecisions } from "./edges/edge-policy.ts";
import type { Announcer, Tell } from "./observers.ts";
import type { ChoiceMade, MessagePublished } from "./record/event.ts";
import { questionsOf } from "./record/questions.ts";
import type { RoleState } from "./record/role-state.ts";
import { isWaitOver, isWait, signalIn, waitsOf } from "./record/signals.ts";
import { hasMail, isGrave, isSuspicious, roleOf, type RunState } from "./record/run-state.ts";
import { Lane, type LaneTools } from "./lane/lane.ts";
import { failPoisoned } from "./poisoned.ts";
import type { RoleMemory } from "./role-memories.ts";
import type { Directory } from "./routing/directory.ts";
import { fromOutside } from "./routing/from-outside.ts";
import { assertRoomAt, assertRoomOutside } from "./record/delivery.ts";
import type { RunFailure } from "./run-failure.ts";
import type { Driver, DriveEnd, TurnEnd } from "./schedulers/drive.ts";
import { BudgetGate } from "./steps/budget-gate.ts";
import { type StartedAct, recordStart, type TurnResult, type TurnTools } from "./turn/commit.ts";
import { TeamChanges } from "./team-changes.ts";
import { type FailedAttempt, takeTurn } from "./turn/turn.ts";

export interface EngineParts extends Omit<TurnTools, "gate" | "host" | "scopes" | "leavesTraces" | "edges" | "outer" | "pools"> {
  readonly edges: (() => EdgeDecisions | undefined | Promise<EdgeDecisions>) | undefined;
  readonly driver: Driver;
  readonly concurrency: number;
  readonly hired: HiredRoles;
  /** Records the start of the run, if its journal does not have it. */
  readonly opening: Opening | undefined;
  readonly logger: Logger;
  readonly announcer: Announcer;
  /** Accounts with pools that bound the run besides its own budget. */
  readonly funds: Funds | undefined;
  readonly messageLimit: number;
  readonly deps: Deps | undefined;
  readonly context: RunContext | undefined;
  readonly guards: readonly Guard[] | undefined;
  readonly failsOnDead: boolean;
  readonly resumed: (() => Promise<void> | undefined) | undefined;
}

interface BrokenTurn {
  readonly kind: "broken";
  readonly error: unknown;
}

/**
 * Runs roles on a run's state. It owns the budget gate and the turns under way. It changes the state only through the log; the driver chooses
 * the role that acts next.
 *
 * Engine.E1 (`isIdle`) a run is idle when no role has mail, no message is delayed and no turn is under way; all three are counters.
 * Engine.E2 (`#ended`) a failing role never stops others from acting, and its failure is part of the result.
 * Engine.E3 (`#follow`) the stop signal refers to the engine only while the run is under way.
 */
export class Engine {
  readonly state: RunState;
  readonly directory: Directory;
  readonly logger: Logger;
  readonly deps: Deps | undefined;
  readonly context: RunContext | undefined;
  readonly guards: readonly Guard[] | undefined;
  readonly failsOnDead: boolean;
  readonly messageLimit: number;
  readonly tell: Tell;
  readonly observed: Announcer["types"];
  readonly resumed: EngineParts["resumed"];
  /** Ends when the run is stopped from outside, and when no role can continue. Each run has its own. */
  scope: CancellationScope = new CancellationScope();
  /** Called when the run is resumed and after every round; if messages are delivered by the `turn`, after every activation too. */
  checkpoint: (() => boolean) | undefined;
  roundsLeft: () => number = () => 0;
  lastTick: (() => number) | undefined;
  readonly #parts: EngineParts;
  readonly team: TeamChanges;
  readonly #gate: BudgetGate;
  #lane: Lane | undefined;
  #tools: LaneTools;
  #running = 0;
  /** True once the process has died during an activation: the next activation may be the cause. */
  #hasDied = false;
  /** Roles with a turn that did not end at once, with the current attempt, if known. */
  readonly #acting = new Map<RoleState, StartedAct | undefined>();
  #wake: (() => void) | undefined;
  /** The cause of the last stop. */
  failure: RunFailure | undefined;
  control: ControlError | undefined;

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.state = parts.log.state;
    this.directory = parts.hired.directory;
    this.logger = parts.logger;
    this.deps = parts.deps;
    this.context = parts.context;
    this.guards = parts.guards;
    this.failsOnDead = parts.failsOnDead;
    this.messageLimit = parts.messageLimit;
    this.tell = parts.announcer.telling;
    this.observed = parts.announcer.types;
    this.resumed = parts.resumed;
    this.team = new TeamChanges(parts, {
      takenBy: (role) => this.#takenBy(role),
      publish: (message) => this.publish(message),
      wake: () => this.#wake?.(),
    });
    this.#gate = new BudgetGate(parts.log.state, parts.funds);
    this.#tools = this.#toolsFor(new CancellationScopes(undefined), false);
  }

  #toolsFor(scopes: CancellationScopes, leavesTraces: boolean): LaneTools {
    const meter = presentMeter();
    this.#parts.answerer.worksWithin(meter?.policy);
    const pools = [...this.#gate.accounts.map(({ pool }) => pool), ...(meter?.pools ?? [])];
    return { ...this.#parts, edges: undefined, scopes, leavesTraces, gate: this.#gate, host: this, outer: meter?.port, pools };
  }

  get runId(): string {
    return this.state.runId;
  }

  get seed(): string {
    return this.state.seed;
  }

  /** Limit on concurrent activations: 1 while the process dies repeatedly and the faulty activation is unknown. */
  get concurrency(): number {
    return isGrave(this.state) ? 1 : (this.state.bounds.concurrency ?? this.#parts.concurrency);
  }

  get midRound(): boolean {
    const { acted, stage, pending } = this.state;
    return acted > 0 || stage > 0 || pending.length > 0;
  }

  get isIdle(): boolean {
    return !hasMail(this.state) && this.#running === 0 && !this.midRound;
  }

  get hasWork(): boolean {
    return this.midRound || this.state.delayed.size > 0 || [...this.state.ready].some((role) => this.mayAct(role));
  }

  memoryOf(name: string): RoleMemory | undefined {
    return this.#parts.hired.memoryOf(name);
  }

  /** Publishes a message from outside: at once between rounds, else at the end of the round under way. */
  publish(given: Message): Receipt {
    const message = fromOutside(given, { state: this.state, directory: this.directory, hired: this.#parts.hired });
    const { to, dead } = this.directory.route(message);
    // No role reads a signal, so it waits for no end of a round.
    const waits = this.state.delivery === "round" && (this.#running > 0 || this.midRound) && signalIn(message) === undefined;
    const published: MessagePublished = dead.length === 0 ? { type: "message", message, to } : { type: "message", message, to, dead };
    if (to.length > 0) assertRoomOutside(this.state, to);
    this.#parts.opening?.record();
    if (message.priority !== undefined && !this.state.isPrioritized) this.recordStarts();
    const sent = this.#parts.log.record(waits ? { ...published, atBarrier: true } : published);
    this.#parts.announcer.saidOutside(sent, this.directory);
    this.#wake?.();
    return { message: sent.message, recipients: sent.to };
  }

  #takenBy(role: RoleState): number {
    if (!this.#acting.has(role)) return 0;
    const started = this.#acting.get(role);
    const taken = role.open?.take ?? (started?.act === role.nextAct ? started.take : role.retry.retake);
    return Math.min(taken ?? 0, role.waiting);
  }

  /** Runs until no work is left, a limit is reached, or an interruption comes. */
  async run({ roundsLeft, lastTick, checkpoint, signal }: RunBounds): Promise<DriveEnd> {
    this.failure = undefined;
    this.control = undefined;
    if (this.scope.ended !== undefined) this.scope = new CancellationScope();
    this.checkpoint = checkpoint && ((): boolean => this.#stopsAt(checkpoint));
    this.roundsLeft = roundsLeft;
    this.lastTick = lastTick;
    // Until its end is durable, an activation that passed could be mistaken for the one that kills the process later.
    this.#tools = this.#toolsFor(new CancellationScopes(this.scope), this.#hasDied || isSuspicious(this.state));
    const unfollow = this.#follow(signal);
    try {
      this.#parts.opening?.record();
      if (this.#parts.mode === "live") this.team.announceNewest();
      const loading = this.#parts.hired.load();
      if (loading !== undefined) await loading;
      if (this.#parts.edges !== undefined) this.#tools = { ...this.#tools, edges: await this.#parts.edges() };
      const end = await this.#parts.driver.run(this);
      if (end !== "interrupted" && isWait(this.control)) this.control = undefined;
      return end;
    } catch (error) {
      this.failure ??= { error };
      return "interrupted";
    } finally {
      unfollow?.();
      this.#tools.scopes.close();
      this.#parts.announcer.countWarnings();
      if (this.scope.ended !== undefined && (this.control === undefined || isWait(this.control)))
        this.control = interruptionBy(this.scope.ended.reason);
    }
  }

  mayAct({ index }: RoleState): boolean {
    return this.#parts.hired.definitions[index] !== undefined;
  }

  get lane(): Lane {
    return (this.#lane ??= new Lane(this.#tools)).with(this.#tools);
  }

  isPlain({ index }: RoleState): boolean {
    return this.#parts.hired.definitions[index]?.spec.mode === "step";
  }

  get openRoles(): readonly RoleState[] {
    return [...this.state.open].map((name) => roleOf(this.state, name));
  }

  /** True for a role that may continue: a signal or the clock has ended a wait of it, or the person whom it asks has given it back. */
  isWoken(role: RoleState): boolean {
    const { clock } = this.#parts;
    if (questionsOf(this.state, role, true).length > 0) return this.mayAct(role);
    return this.mayAct(role) && waitsOf(role).some((wait) => isWaitOver(this.state, wait, clock.now()));
  }

  /** Calls `wake` when the first wait of these roles is due. The returned function cancels it. */
  whenDue(roles: Iterable<RoleState>, wake: () => void): () => void {
    const { clock } = this.#parts;
    const due = [...roles].reduce((first, role) => Math.min(first, ...waitsOf(role).map(({ deadline = Infinity }) => deadline)), Infinity);
    return due === Infinity ? () => {} : clock.timer(Math.max(0, due - clock.now()), wake);
  }

  /** Calls `wake` whenever a message comes from outside. */
  onMail(wake: () => void): void {
    this.#wake = wake;
  }

  /** Runs one activation with its retries, synchronously unless it waits. It never throws or rejects. */
  turn(role: RoleState, failed?: FailedAttempt): TurnEnd | Promise<TurnEnd> {
    const { name, index } = role;
    this.#running += 1;
    let result: TurnResult | Promise<TurnResult>;
    try {
      const definition = this.#parts.hired.definitions[index];
      if (definition === undefined) throw new UsageError("ROLE_UNKNOWN", `Expected a hired role, got ${name}.`);
      if (this.observed.has("role.active")) this.tell("role.active")?.({ type: "role.active", role: name, news: role.waiting });
      result = takeTurn(this.#tools, definition, role, failed);
    } catch (error) {
      return this.#turned(name, { kind: "broken", error });
    }
    return result instanceof Promise ? this.#turnedAfter(role, result) : this.#turned(name, result);
  }

  /** Registers an attempt that does not end at once. */
  waits(role: RoleState, started: StartedAct): void {
    this.#acting.set(role, started);
  }

  /** Records the starts of the attempts under way: from now on messages may overtake those that they have taken. */
  recordStarts(): void {
    if (this.state.delivery !== "turn") return;
    for (const [role, started] of this.#acting) if (started?.act === role.nextAct) recordStart(this.#tools, role, started);
  }

  #turnedAfter(role: RoleState, turn: Promise<TurnResult>): Promise<TurnEnd> {
    if (!this.#acting.has(role)) this.#acting.set(role, undefined);
    const turned = (result: TurnResult | BrokenTurn): TurnEnd => {
      this.#acting.delete(role);
      return this.#turned(role.name, result);
    };
    return turn.then(turned, (error: unknown) => turned({ kind: "broken", error }));
  }

  #turned(name: string, result: TurnResult | BrokenTurn): TurnEnd {
    let end: TurnEnd;
    try {
      end = this.#ended(name, result);
    } catch (error) {
      end = this.#ended(name, { kind: "broken", error });
    }
    this.#running -= 1;
    if (this.observed.has("role.idle")) this.tell("role.idle")?.({ type: "role.idle", role: name });
    return end;
  }

  #ended(name: string, result: TurnResult | BrokenTurn): TurnEnd {
    switch (result.kind) {
      case "ended":
        for (const sent of result.said)
          if (sent.to.length === 0 || sent.dead !== undefined || sent.faults !== undefined)
            this.#parts.announcer.said(sent, this.directory);
        return "done";
      case "retried":
        return "done";
      case "skipped":
        this.#parts.announcer.gaveUp(name, result.error);
        return "done";
      case "stopped":
        // In a replay a failure is part of the record, which may continue after the failure.
        if (this.#parts.mode === "live") this.failure ??= { error: result.error, role: name, action: result.action, step: result.step };
        return "stopped";
      case "suspended":
        if (this.control === undefined || isWait(this.control)) this.control = result.control;
        if (result.control instanceof BudgetError) this.scope.end(result.control);
        return isWait(result.control) ? "waiting" : "suspended";
      case "broken":
        if (result.error instanceof MovedError) this.control = result.error;
        else this.failure ??= { error: result.error };
        this.scope.end(interruptionBy(result.error));
        return "stopped";
    }
  }

  /** Logs a warning, about `role` if given, and sends it to observers. */
  warn(role: string | undefined, text: string): void {
    this.#parts.announcer.warn(role, text);
  }

  /**
   * Delivers the messages of the present stage, and ends the round with the last of `stages`.
   *
   * @throws QueueFullError `MAILBOX_FULL` if a message has no room: then no message is delivered
   */
  endRound(stages: number): void {
    const { round, stage } = this.state;
    const isLast = stage + 1 >= stages;
    assertRoomAt(this.state, isLast ? round + 1 : round);
    this.#parts.log.record({ type: "round.ended", round, ...(isLast ? {} : { stage }) });
  }

  /**
   * Moves the clock to a tick, and delivers the messages that are due.
   *
   * @param role the role that acts at this tick, if the scheduler drew it
   * @throws QueueFullError `MAILBOX_FULL` if a message has no room: then no message is delivered
   */
  advance(tick: number, role?: string): void {
    assertRoomAt(this.state, tick);
    this.#parts.log.record({ type: "clock.advanced", tick, ...(role === undefined ? {} : { role }) });
  }

  /** Records a choice of a scheduler that delivers by choice. */
  choose(choice: Omit<ChoiceMade, "type">): void {
    this.#parts.log.record({ type: "choice.made", ...choice });
  }

  /** Ends the activations that repeatedly killed the process. */
  failPoisoned(limit: number): RunFailure | undefined {
    this.#hasDied = isSuspicious(this.state);
    return failPoisoned(this.#parts, limit);
  }

  #follow(signal: AbortSignal | undefined): (() => void) | undefined {
    const outer = signal && cancellationOf(signal);
    if (outer?.ended !== undefined) this.scope.end(outer.ended.reason);
    return outer?.onEnd((reason) => this.scope.end(reason));
  }

  #stopsAt(checkpoint: () => boolean): boolean {
    try {
      return checkpoint();
    } catch (error) {
      this.failure ??= { error };
      return true;
    }
  }
}
