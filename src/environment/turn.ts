import { ControlError, TimeoutError } from "../kernel/errors.ts";
import type { Lifetime } from "../kernel/lifetime.ts";
import { isThenable } from "../kernel/thenable.ts";
import { TimeLimit } from "../kernel/time-limit.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { ActEnded, LastLife } from "../run/event.ts";
import type { RoleState } from "../run/role-state.ts";
import { isSuspicious } from "../run/run-state.ts";
import { ActivationSteps } from "../run/steps.ts";
import { Activation } from "./activation.ts";
import type { ActivationHost, ActivationParts } from "./activation-parts.ts";
import type { Answerer } from "./answerer.ts";
import { failedTurn } from "./failed-turn.ts";
import type { Definition } from "./hired-roles.ts";
import { StepActivation } from "./step-activation.ts";
import { isPlainStep, stepTurn } from "./step-turn.ts";
import type { TurnResult, TurnTools } from "./turn-tools.ts";

type Outcome =
  | { readonly kind: "done"; readonly event: ActEnded }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "control"; readonly control: ControlError };

/**
 * One role's turn: an activation, and its retries as the failure policy says; a replay takes them one by one. It is over at once where
 * nothing in it waits. Throws or rejects only when the journal is broken.
 */
export function takeTurn(tools: TurnTools, hired: Definition, role: RoleState): TurnResult | Promise<TurnResult> {
  const { spec } = hired;
  for (;;) {
    const isPlain = spec.mode === "step" && isPlainStep(tools, role);
    const result = isPlain ? stepTurn(tools, spec, role) : new Attempt(tools, hired, role).run();
    if (isThenable(result)) return goOn(tools, hired, role, result);
    if (result !== "retry") return result;
    if (tools.mode === "replay") return { kind: "retried" };
  }
}

async function goOn(tools: TurnTools, hired: Definition, role: RoleState, first: Promise<TurnResult | "retry">): Promise<TurnResult> {
  let result = await first;
  while (result === "retry" && tools.mode !== "replay") result = await new Attempt(tools, hired, role).run();
  return result === "retry" ? { kind: "retried" } : result;
}

/**
 * One attempt at an activation. It owns the limit on its time; what the activation changed is the activation's until it is
 * recorded, and the run's after.
 *
 * TU1 what takes effect is what the body had done when it ended; what it started and did not await is only waited for, and the limit
 * holds for that too. TU2 an attempt has the messages of the failed one before it. TU3 what the body does not use is not made: no door
 * without a step, and where nothing waits no promise, no span and no timer.
 */
class Attempt implements ActivationParts {
  readonly spec: RoleSpec;
  readonly hired: Definition;
  readonly state: RoleState;
  readonly act: string;
  readonly take: number;
  readonly host: ActivationHost;
  readonly answerer: Answerer;
  readonly #tools: TurnTools;
  readonly #beganAt: number;
  readonly #startedAt: number;
  readonly #activation: Activation | StepActivation;
  #lifetime: Lifetime | undefined;
  #limit: TimeLimit | undefined;
  #steps: ActivationSteps | undefined;
  #isOver = false;

  constructor(tools: TurnTools, hired: Definition, role: RoleState) {
    this.#tools = tools;
    this.spec = hired.spec;
    this.hired = hired;
    this.state = role;
    this.host = tools.host;
    this.answerer = tools.answerer;
    const { open } = role;
    this.act = open?.act ?? role.nextAct;
    this.take = open?.take ?? role.retake ?? role.waiting;
    this.#beganAt = tools.clock.now();
    this.#startedAt = open?.at ?? tools.past.startOf(this.act) ?? this.#beganAt;
    this.#activation =
      hired.spec.mode === "step"
        ? new StepActivation(tools.host, hired.spec, role, this.act, this.take, this.#startedAt)
        : new Activation(this);
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
    return this.#steps === undefined ? this.#startedAt : this.#steps.now;
  }

  run(): TurnResult | "retry" | Promise<TurnResult | "retry"> {
    return this.#tools.leavesTraces || isSuspicious(this.#tools.log.state) ? this.#afterTrace() : this.#live();
  }

  async #afterTrace(): Promise<TurnResult | "retry"> {
    await this.#leaveTrace(this.#startedAt);
    return this.#live();
  }

  /** All is over: what came of it is recorded. */
  #end(lived: Outcome): TurnResult | "retry" {
    const outcome = this.#judged(lived);
    if (outcome.kind === "control") return { kind: "suspended", control: outcome.control };
    if (outcome.kind === "failed") return this.#fail(outcome.error);
    const { log } = this.#tools;
    log.state.acting = this.state;
    const event = log.record(this.#hasSteps ? this.#withLife(outcome.event) : outcome.event);
    this.#activation.settle();
    return { kind: "ended", event };
  }

  /** When it began stands in the record already, where it began to be recorded with its first step. */
  #withLife({ at, ...event }: ActEnded): ActEnded {
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
      begin: () => this.#begin(this.#startedAt),
      waitsForPerson: (isAsked) => this.#timeLimit().hold(isAsked),
      recorded: this.state.open?.steps,
      carried: this.state.carry,
      past,
      mode,
      runId: log.state.runId,
      role: this.state.name,
      startedAt: this.#startedAt,
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
    this.#limit = new TimeLimit(clock, Math.max(0, timeout - (clock.now() - this.#beganAt)), fire);
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
    return this.state.open === undefined ? { at: this.#startedAt } : {};
  }

  #begin(at: number): void {
    if (this.state.open !== undefined) return;
    const { name, n, failures } = this.state;
    this.#tools.log.record({ type: "act.started", act: this.act, role: name, n, attempt: failures + 1, take: this.take, at });
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
    let lived: Outcome;
    try {
      const living = this.#activation.live();
      if (isThenable(living)) return this.#liveOn(living);
      this.#activation.close();
      lived = this.#interrupted() ?? this.#done();
    } catch (error) {
      this.#activation.close();
      lived = this.#interrupted() ?? failedWith(error);
    }
    return this.#steps === undefined ? this.#end(lived) : this.#closeSteps(this.#steps, lived);
  }

  async #liveOn(living: Promise<void>): Promise<TurnResult | "retry"> {
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
      return { kind: "done", event: this.#activation.ended(this.#tools.log.state.round, this.#startedAt) };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  #fail(error: unknown): TurnResult | "retry" {
    const { act, take, spec, state } = this;
    const failed = { act, take, ...this.#beginning(), life: this.#life(), stepFailed: this.#steps?.failed ?? false };
    return failedTurn(this.#tools, spec, state, failed, error);
  }
}

const nothingToTell: LastLife = {};

function failedWith(error: unknown): Outcome {
  return error instanceof ControlError ? { kind: "control", control: error } : { kind: "failed", error };
}
