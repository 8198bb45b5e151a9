import { interruptionBy } from "../../kernel/abort.ts";
import { ControlError, TimeoutError } from "../../kernel/errors.ts";
import { type CancellationScope, TimeLimit } from "../../kernel/cancellation.ts";
import { HandedOut } from "../../kernel/handed-out.ts";
import type { Awaitable } from "../../role/action.ts";
import type { Definition } from "../hired-roles.ts";
import { mailboxOf } from "../record/delivery.ts";
import type { RoleState } from "../record/role-state.ts";
import { isSuspicious } from "../record/run-state.ts";
import type { FailedWork } from "../run-failure.ts";
import { ActivationSteps } from "../steps/steps.ts";
import { Activation } from "./activation.ts";
import { type ActivationOutcome, type StartedAct, commit, NO_STEPS, recordStart, type TurnResult, type TurnTools } from "./commit.ts";
import { stepTurn } from "./step-turn.ts";

/** A first attempt that was made elsewhere, and failed. */
export interface FailedAttempt {
  readonly error: unknown;
}

/** Runs one turn of a role: it observes, thinks, acts, and one event commits its changes. */
export function takeTurn(tools: TurnTools, definition: Definition, role: RoleState, failed?: FailedAttempt): Awaitable<TurnResult> {
  if (failed !== undefined) {
    const outcome = { kind: "failed", error: failed.error } as const;
    const result = commit(tools, definition.spec, role, begin(tools, role), outcome);
    if (result.kind !== "retried") return result;
  }
  for (;;) {
    const isTraced = tools.leavesTraces || isSuspicious(tools.log.state);
    const result = isTraced ? tracedAttempt(tools, definition, role) : attempt(tools, definition, role, begin(tools, role));
    if (result instanceof Promise) return retryAfter(tools, definition, role, result);
    if (result.kind !== "retried" || tools.mode === "replay") return result;
  }
}

function retryAfter(tools: TurnTools, definition: Definition, role: RoleState, attempted: Promise<TurnResult>): Promise<TurnResult> {
  return attempted.then((end) => (end.kind !== "retried" || tools.mode === "replay" ? end : takeTurn(tools, definition, role)));
}

function attempt(tools: TurnTools, definition: Definition, role: RoleState, started: StartedAct): Awaitable<TurnResult> {
  if (definition.spec.mode === "step") return stepTurn(tools, definition.spec, role, started);
  return new RoleTurn(tools, definition, role, started).run();
}

/** Records the start durably, so that the record shows the activation if it kills the process. */
async function tracedAttempt(tools: TurnTools, definition: Definition, role: RoleState): Promise<TurnResult> {
  const { log } = tools;
  if (role.open === undefined) recordStart(tools, role, begin(tools, role));
  else log.record({ type: "act.resumed", act: role.open.act });
  await log.durable();
  return attempt(tools, definition, role, begin(tools, role));
}

function begin({ clock, past, log }: TurnTools, role: RoleState): StartedAct {
  const { open, waiting } = role;
  const now = clock.now();
  if (open !== undefined) return { act: open.act, take: open.take, at: open.at, teamAt: open.teamAt, beganAt: now };
  const act = role.nextAct;
  const take = Math.min(role.retry.retake ?? waiting, waiting);
  return { act, take, at: past?.startOf?.(act) ?? now, teamAt: log.state.teamChanges, beganAt: now };
}

type Phase = "running" | "over";

/**
 * One attempt at an activation of a role that observes, thinks and acts. It owns its scope, its time limit and its steps.
 *
 * RoleTurn.T1 (`#close`) changes made before the body returns take effect. Work started but not awaited is waited for, within the time limit;
 * if it fails, the activation fails ({@link HandedOut}).
 * RoleTurn.T2 (`scope`, `steps`) an activation without a step makes no `ActivationSteps`, and a synchronous one no promise, scope or timer.
 * RoleTurn.T3 (`#commit`) delay ticks, edge faults and mailbox room are computed synchronously, just before the end is recorded, because
 * other roles may act while pending work is awaited.
 */
export class RoleTurn {
  readonly definition: Definition;
  readonly role: RoleState;
  readonly tools: TurnTools;
  readonly started: StartedAct;
  readonly #activation: Activation;
  #phase: Phase = "running";
  #scope: CancellationScope | undefined;
  #limit: TimeLimit | undefined;
  #steps: ActivationSteps | undefined;
  #handed: HandedOut | undefined;

  constructor(tools: TurnTools, definition: Definition, role: RoleState, started: StartedAct) {
    this.tools = tools;
    this.definition = definition;
    this.role = role;
    this.started = started;
    this.#activation = new Activation(this);
  }

  get scope(): CancellationScope {
    if (this.#scope === undefined) {
      this.#scope = this.tools.scopes.begin();
      if (this.#phase === "over") this.#scope.close();
    }
    return this.#scope;
  }

  get steps(): ActivationSteps {
    return (this.#steps ??= new ActivationSteps(this, this.#phase === "over"));
  }

  /** Gives the role the promise of some work. */
  hand<T>(what: string, work: Promise<T>): Promise<T> {
    return (this.#handed ??= new HandedOut()).hand(what, work);
  }

  get now(): number {
    return this.#steps === undefined ? this.started.at : this.#steps.now;
  }

  get teamAt(): number {
    return this.#steps === undefined ? this.started.teamAt : this.#steps.teamAt;
  }

  get outsideAt(): number {
    return this.#steps?.outsideAt ?? 0;
  }

  /** Runs the body and commits its outcome, synchronously unless the body waits. */
  run(): Awaitable<TurnResult> {
    let body: void | Promise<void>;
    try {
      body = this.#activation.run();
    } catch (error) {
      return this.#close(this.#interruption() ?? { kind: "failed", error });
    }
    return body === undefined ? this.#close(this.#interruption()) : this.#await(body);
  }

  #await(body: Promise<void>): Promise<TurnResult> {
    this.tools.host.waits(this.role, this.started);
    const { state } = this.tools.log;
    // While the activation waits, no message may be dropped or overtake the ones it has taken, so its start must be recorded.
    const mayChange = state.isPrioritized || mailboxOf(state, this.role).overflow === "drop-oldest";
    if (state.delivery === "turn" && mayChange) this.recordStart();
    this.#timeLimit();
    return this.scope.until(body).then(
      () => this.#close(),
      (error: unknown) => this.#close({ kind: "failed", error }),
    );
  }

  #close(failure?: ActivationOutcome): Awaitable<TurnResult> {
    this.#activation.close();
    let outcome = failure;
    try {
      outcome ??= { kind: "done", changes: this.#activation.changes() };
    } catch (error) {
      // A state that does not fit its schema, or that is no JSON, fails the activation.
      outcome = { kind: "failed", error };
    }
    const end = outcome;
    if (this.#steps === undefined) return this.#commit(end);
    this.#timeLimit();
    if (end.kind === "done") this.#handed?.close({ lost: (what) => this.warnOfLost(what) });
    return this.#rest(this.#steps).then(() => this.#commit(end));
  }

  async #rest(steps: ActivationSteps): Promise<void> {
    await steps.close();
    const handed = this.#handed;
    if (handed === undefined) return;
    if (!handed.isSettled) await this.scope.until(handed.settled()).catch(() => {});
    for (const what of handed.refused)
      this.tools.host.warn(this.role.name, `${what} was called after activation ${this.started.act} had ended and was ignored. Await it.`);
  }

  /** Warns of work that failed when no code awaited it. */
  warnOfLost(what: string): void {
    const when = `in activation ${this.started.act}, after the code that started it had returned`;
    this.tools.host.warn(this.role.name, `${what} failed ${when}. Await it, or handle its failure.`);
  }

  #interruption(): ActivationOutcome | undefined {
    const ended = this.tools.host.scope.ended ?? this.#scope?.ended;
    return ended && { kind: "failed", error: interruptionBy(ended.reason) };
  }

  #commit(outcome: ActivationOutcome): TurnResult {
    this.#phase = "over";
    this.#limit?.stop();
    this.#scope?.close();
    let end = outcome;
    try {
      if (end.kind === "done") end = { kind: "done", changes: this.#activation.routed(end.changes) };
    } catch (error) {
      end = { kind: "failed", error };
    }
    end = this.#finalOutcome(end);
    const hasSteps = this.#steps !== undefined || this.role.open !== undefined;
    const result = commit(this.tools, this.definition.spec, this.role, this.started, end, hasSteps ? this.steps : NO_STEPS);
    if (end.kind === "done") this.#activation.settle();
    return result;
  }

  #finalOutcome(outcome: ActivationOutcome): ActivationOutcome {
    const control = this.tools.mode === "replay" ? this.#unaskedInReplay(outcome) : undefined;
    if (control !== undefined) return { kind: "failed", error: control };
    const late = this.#scope?.ended?.reason;
    const reason = late instanceof TimeoutError ? late : this.#steps?.control;
    if (reason !== undefined) return { kind: "failed", error: reason, work: this.#workOf(reason) };
    const unawaitedFailure = outcome.kind === "done" ? this.#handed?.failure(this.role.name) : outcome.error;
    if (outcome.kind === "done" && unawaitedFailure === undefined) return outcome;
    return { kind: "failed", error: unawaitedFailure, work: this.#workOf(unawaitedFailure) };
  }

  #unaskedInReplay(outcome: ActivationOutcome): ControlError | undefined {
    if (this.#steps === undefined && this.role.open === undefined) return undefined;
    const error = outcome.kind === "failed" ? outcome.error : undefined;
    return error instanceof ControlError ? undefined : this.tools.past?.notAsked?.(this.started.act, this.steps.unasked, error);
  }

  #workOf(error: unknown): FailedWork {
    return { action: this.#activation.failedActionOf(error), step: this.#steps?.failedStep };
  }

  recordStart(): void {
    recordStart(this.tools, this.role, this.started);
  }

  /** Stops the time limit while a step waits, for example for a person. */
  holdTime(isWaiting: boolean): void {
    this.#timeLimit().hold(isWaiting);
  }

  /** The limit counts from the start of the attempt, even if its timer starts later. */
  #timeLimit(): TimeLimit {
    if (this.#limit !== undefined) return this.#limit;
    const { clock } = this.tools;
    const { timeout } = this.definition.spec.role;
    const name = `the activation ${this.started.act}`;
    const hint = " A step inside a step must use the step port passed to its effect.";
    const fire = (): void => this.scope.end(this.#steps?.control ?? new TimeoutError(name, timeout, hint));
    this.#limit = new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.started.beganAt)), fire);
    return this.#limit;
  }
}
