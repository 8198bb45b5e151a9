import { ControlError, TimeoutError } from "../../kernel/errors.ts";
import { type Lifetime, TimeLimit } from "../../kernel/lifetime.ts";
import type { RoleSpec } from "../../role/role-spec.ts";
import type { LastLife } from "../record/event.ts";
import { mailboxOf } from "../record/mailbox.ts";
import type { RoleState } from "../record/role-state.ts";
import { isSuspicious } from "../record/run-state.ts";
import type { ToldEnd } from "../record/told-end.ts";
import { ActivationSteps } from "../steps/steps.ts";
import type { ActivationHost, ActivationParts } from "./activation-parts.ts";
import type { Answerer } from "../steps/answerer.ts";
import { failedTurn } from "./failed-turn.ts";
import type { Definition } from "../hired-roles.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

/** How the body of an activation ended. */
type Outcome =
  | { readonly kind: "done"; readonly event: ToldEnd }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "control"; readonly control: ControlError };

/** What is attempted: an activation, which knows nothing of time that runs out. */
export interface Acting {
  readonly act: string;
  /** How many messages it takes. */
  readonly take: number;
  /** Milliseconds: when it began, as the run takes it. */
  readonly at: number;
  /** The same by the clock, where that differs because a record tells the other. */
  readonly beganAt?: number | undefined;
  live(): void | Promise<void>;
  close(): void;
  ended(round: number): ToldEnd;
  settle(): void;
  actionBehind?(error: unknown): string | undefined;
}

/**
 * One attempt at an activation in which something waits, or that is looked into. It owns its span, the limit on its time and its steps; what the
 * activation changed is the activation's until it is recorded, and the run's after.
 *
 * TU1 what takes effect is what the body had done when it ended; what it started and did not await is only waited for, and the limit
 * holds for that too. TU2 an attempt has the messages of the failed one before it. TU3 what the body does not use is not made: no door
 * without a step, and where nothing waits no promise, no span and no timer.
 */
export class Attempt implements ActivationParts {
  readonly hired: Definition;
  readonly state: RoleState;
  readonly #tools: TurnTools;
  readonly #activation: Acting;
  #lifetime: Lifetime | undefined;
  #limit: TimeLimit | undefined;
  #steps: ActivationSteps | undefined;
  #isOver: boolean;

  /** @param isOver whether the activation has ended, and nothing can wait in it any more */
  constructor(tools: TurnTools, hired: Definition, role: RoleState, activation: Acting, isOver: boolean) {
    this.#tools = tools;
    this.hired = hired;
    this.state = role;
    this.#activation = activation;
    this.#isOver = isOver;
  }

  get spec(): RoleSpec {
    return this.hired.spec;
  }
  get act(): string {
    return this.#activation.act;
  }
  get host(): ActivationHost {
    return this.#tools.host;
  }
  get answerer(): Answerer {
    return this.#tools.answerer;
  }

  /** Made when somebody waits in it, or asks for its signal. */
  get lifetime(): Lifetime {
    if (this.#lifetime === undefined) {
      this.#lifetime = this.#tools.lifetimes.begin();
      if (this.#isOver) this.#lifetime.close();
    }
    return this.#lifetime;
  }

  get steps(): ActivationSteps {
    return (this.#steps ??= this.#makeSteps());
  }

  get now(): number {
    return this.#steps === undefined ? this.#activation.at : this.#steps.now;
  }

  run(): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    return this.#tools.leavesTraces || isSuspicious(this.#tools.log.state) ? this.#afterTrace() : this.#live();
  }

  async #afterTrace(): Promise<TurnResult | "retry"> {
    await this.#leaveTrace(this.#activation.at);
    return this.#live();
  }

  /** All is over: what came of it is recorded. */
  #end(lived: Outcome): TurnResult | "retry" {
    const outcome = this.#judged(lived);
    if (outcome.kind === "control") return { kind: "suspended", control: outcome.control };
    if (outcome.kind === "failed") return this.#fail(outcome.error);
    const { log } = this.#tools;
    const event = log.recordEnd(this.state, this.#hasSteps ? this.#withLife(outcome.event) : outcome.event);
    this.#activation.settle();
    return { kind: "ended", event };
  }

  /** When it began stands in the record already, where it began to be recorded with its first step. */
  #withLife({ at, ...event }: ToldEnd): ToldEnd {
    return { ...event, ...(this.state.open === undefined && at !== undefined ? { at } : {}), ...this.steps.life };
  }

  #makeSteps(): ActivationSteps {
    const { log, clock, gate, mask, past, mode } = this.#tools;
    return new ActivationSteps({
      act: this.act,
      log,
      gate,
      mask,
      now: () => clock.now(),
      lifetime: this.lifetime,
      begin: () => this.#begin(this.#activation.at),
      waitsForPerson: (isAsked) => this.#timeLimit().hold(isAsked),
      recorded: this.state.open?.steps,
      carried: this.state.carry,
      paid: this.state.paid,
      past,
      mode,
      runId: log.state.runId,
      role: this.state.name,
      startedAt: this.#activation.at,
      isOver: this.#isOver,
    });
  }

  /** Runs from the beginning of the attempt, whenever it is made. */
  #timeLimit(): TimeLimit {
    if (this.#limit !== undefined) return this.#limit;
    const { clock } = this.#tools;
    const { timeout } = this.spec.role;
    const what = `the activation ${this.act} (steps inside a step go through the door that its effect is given)`;
    const fire = (): void => this.lifetime.end(this.#steps?.control ?? new TimeoutError(what, timeout));
    this.#limit = new TimeLimit(clock, Math.max(0, timeout - (clock.now() - (this.#activation.beganAt ?? this.#activation.at))), fire);
    return this.#limit;
  }

  /** What the record of its steps does not tell of this life; without a record and without a step that is nothing. */
  #life(): LastLife {
    return this.#hasSteps ? this.steps.life : nothingToTell;
  }

  get #hasSteps(): boolean {
    return this.#steps !== undefined || this.state.open !== undefined;
  }

  /** When it began, unless that stands in the record already. */
  #beginning(): { readonly at?: number } {
    return this.state.open === undefined ? { at: this.#activation.at } : {};
  }

  #begin(at: number): void {
    if (this.state.open !== undefined) return;
    const { act, take } = this.#activation;
    const { name, n, failures } = this.state;
    this.#tools.log.record({ type: "act.started", act, role: name, n, attempt: failures + 1, take, at });
  }

  /** Should the process die of what follows, the record says so. */
  async #leaveTrace(at: number): Promise<void> {
    const { log } = this.#tools;
    if (this.state.open === undefined) this.#begin(at);
    else log.record({ type: "act.resumed", act: this.act });
    await log.durable();
  }

  /** Lives the activation, closes its context, and waits for what it started. */
  #live(): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    let living: void | Promise<void>;
    try {
      living = this.#activation.live();
    } catch (error) {
      return this.failed(error);
    }
    return living === undefined ? this.lived() : this.liveOn(living);
  }

  /** The body ran at one go, and is done. */
  lived(): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    this.#activation.close();
    return this.#over(this.#interrupted() ?? this.#done());
  }

  /** The body ran at one go, and threw. */
  failed(error: unknown): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    this.#activation.close();
    return this.#over(this.#interrupted() ?? failedWith(error));
  }

  /** The body waits. */
  async liveOn(living: Promise<void>): Promise<TurnResult | "retry"> {
    const { state } = this.#tools.log;
    // What it has taken must not be dropped while it waits, and the record must say so.
    if (state.scheduler !== "rounds" && mailboxOf(state, this.state).overflow === "drop-oldest") this.#begin(this.#activation.at);
    this.#timeLimit();
    const lived = await this.lifetime.until(living).then(
      () => {
        this.#activation.close();
        return this.#done();
      },
      (error: unknown) => {
        this.#activation.close();
        return failedWith(error);
      },
    );
    return this.#over(lived);
  }

  #over(lived: Outcome): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    return this.#steps === undefined ? this.#end(lived) : this.#closeSteps(this.#steps, lived);
  }

  async #closeSteps(steps: ActivationSteps, lived: Outcome): Promise<TurnResult | "retry"> {
    this.#timeLimit();
    await steps.close();
    return this.#end(lived);
  }

  /** What came from outside while the body ran at one go. */
  #interrupted(): Outcome | undefined {
    const ended = this.#tools.lifetimes.ended ?? this.#lifetime?.ended;
    return ended && failedWith(ended.reason);
  }

  #judged(lived: Outcome): Outcome {
    this.#isOver = true;
    this.#limit?.stop();
    this.#lifetime?.close();
    const late = this.#lifetime?.ended?.reason;
    const isReplayed = this.#tools.mode === "replay" && lived.kind !== "control";
    const control = isReplayed && this.#hasSteps ? this.#notAsked(lived.kind === "failed" ? lived.error : undefined) : undefined;
    if (control !== undefined) return { kind: "control", control };
    if (late instanceof TimeoutError) return { kind: "failed", error: late };
    return this.#steps?.control === undefined ? lived : { kind: "control", control: this.#steps.control };
  }

  #notAsked(failure: unknown): ControlError | undefined {
    return this.#tools.past.notAsked(this.act, this.steps.unasked, failure);
  }

  /** The body has ended. State that left its schema, or is no JSON, fails it even now. */
  #done(): Outcome {
    try {
      return { kind: "done", event: this.#activation.ended(this.#tools.log.state.round) };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  #fail(error: unknown): TurnResult | "retry" {
    const { spec, state } = this;
    const { act, take } = this.#activation;
    const failed = { act, take, ...this.#beginning(), life: this.#life(), stepFailed: this.#steps?.failed ?? false };
    const behind = { action: this.#activation.actionBehind?.(error), step: this.#steps?.failedStep };
    return failedTurn(this.#tools, spec, state, failed, error, behind);
  }
}

const nothingToTell: LastLife = {};

function failedWith(error: unknown): Outcome {
  return error instanceof ControlError ? { kind: "control", control: error } : { kind: "failed", error };
}
