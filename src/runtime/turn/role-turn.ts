import { type ControlError, TimeoutError } from "../../kernel/errors.ts";
import { type CancellationScope, TimeLimit } from "../../kernel/cancellation.ts";
import type { Definition } from "../hired-roles.ts";
import { mailboxOf } from "../record/delivery.ts";
import type { RoleState } from "../record/role-state.ts";
import { ActivationSteps } from "../steps/steps.ts";
import { Activation } from "./activation.ts";
import {
  type ActivationOutcome,
  type Begun,
  commit,
  failedWith,
  NO_STEPS,
  recordBegin,
  type StepsSummary,
  type TurnResult,
  type TurnTools,
} from "./commit.ts";

/** The phase of an attempt. */
type Phase = "running" | "over";

/**
 * One attempt at an activation of a role that observes, thinks and acts. It owns the scope of its work, the limit on its time, and its
 * steps. The changes belong to the activation until they are committed.
 *
 * RoleTurn.T1 (`#over`) the changes that the body had made at its end take effect; work that it started and did not await is waited for,
 * and the time limit includes that work.
 * RoleTurn.T2 (`scope`, `steps`) an activation without a step makes no `ActivationSteps`, and one without a wait makes no promise, no scope
 * and no timer.
 */
export class RoleTurn {
  readonly definition: Definition;
  readonly role: RoleState;
  readonly tools: TurnTools;
  readonly begun: Begun;
  readonly #activation: Activation;
  #phase: Phase = "running";
  #scope: CancellationScope | undefined;
  #limit: TimeLimit | undefined;
  #steps: ActivationSteps | undefined;

  constructor(tools: TurnTools, definition: Definition, role: RoleState, begun: Begun) {
    this.tools = tools;
    this.definition = definition;
    this.role = role;
    this.begun = begun;
    this.#activation = new Activation(this);
  }

  /** Cancels the work of this attempt. */
  get scope(): CancellationScope {
    if (this.#scope === undefined) {
      this.#scope = this.tools.scopes.begin();
      if (this.#phase === "over") this.#scope.close();
    }
    return this.#scope;
  }

  get steps(): ActivationSteps {
    return (this.#steps ??= this.#makeSteps());
  }

  /** Milliseconds: the time of the last released answer, or of the beginning. */
  get now(): number {
    return this.#steps === undefined ? this.begun.at : this.#steps.now;
  }

  /** Runs the body and commits its outcome: without waiting where nothing in it waits. */
  run(): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    let body: void | Promise<void>;
    try {
      body = this.#activation.run();
    } catch (error) {
      return this.#over(this.#interruption() ?? failedWith(error));
    }
    return body === undefined ? this.#over(this.#interruption()) : this.#await(body);
  }

  #await(body: Promise<void>): Promise<TurnResult | "retry"> {
    const { state } = this.tools.log;
    // The taken messages must not be dropped while the activation waits, and the record must show that.
    if (state.delivery === "turn" && mailboxOf(state, this.role).overflow === "drop-oldest") recordBegin(this.tools, this.role, this.begun);
    this.#timeLimit();
    return this.scope.until(body).then(
      () => this.#over(),
      (error: unknown) => this.#over(failedWith(error)),
    );
  }

  /** Returns the interruption from outside that came while the body ran without waiting. */
  #interruption(): ActivationOutcome | undefined {
    const ended = this.tools.scopes.ended ?? this.#scope?.ended;
    return ended && failedWith(ended.reason);
  }

  /** @param failure the failure of the body, if it failed */
  #over(failure?: ActivationOutcome): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    this.#activation.close();
    const outcome = failure ?? this.#changes();
    if (this.#steps === undefined) return this.#commit(outcome);
    this.#timeLimit();
    return this.#steps.close().then(() => this.#commit(outcome));
  }

  /** Returns the outcome with the changes. A state that does not fit its schema, or that is no JSON, fails the activation. */
  #changes(): ActivationOutcome {
    try {
      return { kind: "done", changes: this.#activation.changes() };
    } catch (error) {
      return failedWith(error);
    }
  }

  #commit(outcome: ActivationOutcome): TurnResult | "retry" {
    this.#phase = "over";
    this.#limit?.stop();
    this.#scope?.close();
    const judged = this.#judged(outcome);
    const placed = judged.kind === "failed" ? { ...judged, place: this.#placeOf(judged.error) } : judged;
    const result = commit(this.tools, this.definition.spec, this.role, this.begun, placed, this.#stepsSummary());
    if (judged.kind === "done") this.#activation.settle();
    return result;
  }

  /** An interruption from outside overrides the outcome of the body. */
  #judged(outcome: ActivationOutcome): ActivationOutcome {
    const late = this.#scope?.ended?.reason;
    const control = this.tools.mode === "replay" && outcome.kind !== "interrupted" ? this.#notAsked(outcome) : undefined;
    if (control !== undefined) return { kind: "interrupted", control };
    if (late instanceof TimeoutError) return { kind: "failed", error: late };
    return this.#steps?.control === undefined ? outcome : { kind: "interrupted", control: this.#steps.control };
  }

  #notAsked(outcome: ActivationOutcome): ControlError | undefined {
    if (!this.#hasSteps) return undefined;
    return this.tools.past?.notAsked(this.begun.act, this.steps.unasked, outcome.kind === "failed" ? outcome.error : undefined);
  }

  #placeOf(error: unknown): { readonly action?: string | undefined; readonly step?: string | undefined } {
    return { action: this.#activation.actionBehind(error), step: this.#steps?.failedStep };
  }

  #stepsSummary(): StepsSummary {
    if (!this.#hasSteps) return NO_STEPS;
    return { life: this.steps.life, failedStep: this.#steps?.failedStep };
  }

  get #hasSteps(): boolean {
    return this.#steps !== undefined || this.role.open !== undefined;
  }

  #makeSteps(): ActivationSteps {
    const { log, clock, gate, mask, past, mode } = this.tools;
    const { role, begun } = this;
    return new ActivationSteps({
      act: begun.act,
      log,
      gate,
      mask,
      now: () => clock.now(),
      scope: this.scope,
      begin: () => recordBegin(this.tools, role, begun),
      waitsForPerson: (isAsked) => this.#timeLimit().hold(isAsked),
      recorded: role.open?.steps,
      carried: role.retry.carry,
      paid: role.retry.paid,
      past,
      mode,
      runId: log.state.runId,
      role: role.name,
      startedAt: begun.at,
      isOver: this.#phase === "over",
    });
  }

  /** The limit counts from the beginning of the attempt, also when its timer is made later. */
  #timeLimit(): TimeLimit {
    if (this.#limit !== undefined) return this.#limit;
    const { clock } = this.tools;
    const { timeout } = this.definition.spec.role;
    const name = `the activation ${this.begun.act} (steps inside a step go through the door that its effect is given)`;
    const fire = (): void => this.scope.end(this.#steps?.control ?? new TimeoutError(name, timeout));
    this.#limit = new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.begun.beganAt)), fire);
    return this.#limit;
  }
}
