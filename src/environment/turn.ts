import type { Clock } from "../kernel/clock.ts";
import { ControlError, TimeoutError } from "../kernel/errors.ts";
import type { Lifetime, Lifetimes } from "../kernel/lifetime.ts";
import type { Mask } from "../kernel/mask.ts";
import type { StepDoor } from "../kernel/step.ts";
import { TimeLimit } from "../kernel/time-limit.ts";
import { afterFailure, type FailurePolicy } from "../role/failure-policy.ts";
import type { RoleSpec } from "../role/role-spec.ts";
import type { BudgetGate } from "../run/budget-gate.ts";
import type { ActEnded } from "../run/event.ts";
import type { Past } from "../run/past.ts";
import type { RunLog } from "../run/run-log.ts";
import { actName, isSuspicious, type RoleState } from "../run/run-state.ts";
import { ActivationSteps, isUncertain } from "../run/steps.ts";
import { Activation, type ActivationHost } from "./activation.ts";
import type { Answerer } from "./answerer.ts";
import { failureRecord } from "./run-failure.ts";
import { notAsked } from "./replay.ts";

/** What every turn of an environment is made with. */
export interface TurnTools {
  readonly log: RunLog;
  readonly clock: Clock;
  readonly gate: BudgetGate;
  readonly past: Past;
  readonly mode: StepDoor["mode"];
  readonly mask: Mask;
  readonly answerer: Answerer;
  readonly onFailure: FailurePolicy;
  readonly host: ActivationHost;
  readonly lifetimes: Lifetimes;
  /** Every activation is durable before its body runs: the process had died, and may die of the next one. */
  readonly leavesTraces: boolean;
}

/** How a turn ended. */
export type TurnResult =
  | { readonly kind: "ended"; readonly event: ActEnded }
  | { readonly kind: "retried" }
  | { readonly kind: "skipped"; readonly error: unknown }
  | { readonly kind: "stopped"; readonly error: unknown }
  | { readonly kind: "suspended"; readonly control: ControlError };

type Outcome =
  | { readonly kind: "done"; readonly event: ActEnded }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "control"; readonly control: ControlError };

/** One role's turn: an activation, and its retries as the failure policy says; a replay takes them one by one. Rejects only when the journal is broken. */
export async function takeTurn(tools: TurnTools, spec: RoleSpec, role: RoleState): Promise<TurnResult> {
  for (;;) {
    const result = await new Attempt(tools, spec, role).run();
    if (result !== "retry") return result;
    if (tools.mode === "replay") return { kind: "retried" };
  }
}

/**
 * One attempt at an activation. It owns the limit on its time; what the activation changed is the activation's until it is
 * recorded, and the run's after.
 *
 * TU1 what takes effect is what the body had done when it ended; what it started and did not await is only waited for, and the limit
 * holds for that too. TU2 an attempt has the messages of the failed one before it.
 */
class Attempt {
  readonly #tools: TurnTools;
  readonly #spec: RoleSpec;
  readonly #role: RoleState;
  readonly #act: string;
  readonly #attempt: number;
  readonly #take: number;
  readonly #startedAt: number;
  readonly #lifetime: Lifetime;
  readonly #limit: TimeLimit;
  readonly #steps: ActivationSteps;
  readonly #activation: Activation;

  constructor(tools: TurnTools, spec: RoleSpec, role: RoleState) {
    this.#tools = tools;
    this.#spec = spec;
    this.#role = role;
    this.#attempt = role.failures + 1;
    this.#act = role.open?.act ?? actName(role.name, role.n, this.#attempt);
    this.#take = role.open?.take ?? role.retake ?? role.mailbox.size;
    const { log, clock, gate, mask, past, mode } = tools;
    this.#startedAt = role.open?.at ?? past.startOf(this.#act) ?? clock.now();
    this.#lifetime = tools.lifetimes.begin();
    const lifetime = this.#lifetime;
    const what = `the activation ${this.#act} (steps inside a step go through the door that its effect is given)`;
    this.#limit = new TimeLimit(clock, spec.role.timeout, () =>
      lifetime.end(this.#steps.control ?? new TimeoutError(what, spec.role.timeout)),
    );
    this.#steps = new ActivationSteps({
      act: this.#act,
      log,
      gate,
      mask,
      now: () => clock.now(),
      lifetime,
      begin: () => this.#begin(this.#startedAt),
      waitsForPerson: (isAsked) => this.#limit.hold(isAsked),
      recorded: role.open?.steps,
      carried: role.carry,
      past,
      mode,
      runId: log.state.runId,
      role: role.name,
      startedAt: this.#startedAt,
    });
    const { act, steps, answerer } = { act: this.#act, steps: this.#steps, answerer: tools.answerer };
    this.#activation = new Activation({ act, spec, state: role, take: this.#take, host: tools.host, steps, answerer, lifetime });
  }

  async run(): Promise<TurnResult | "retry"> {
    try {
      return await this.#run();
    } finally {
      // A journal may break before the body has begun.
      this.#limit.stop();
      this.#lifetime.close();
    }
  }

  async #run(): Promise<TurnResult | "retry"> {
    if (this.#tools.leavesTraces || isSuspicious(this.#tools.log.state)) await this.#leaveTrace(this.#startedAt);
    const outcome = await this.#live();
    if (outcome.kind === "control") return { kind: "suspended", control: outcome.control };
    if (outcome.kind === "failed") return this.#fail(outcome.error);
    const event = this.#tools.log.record({ ...outcome.event, ...this.#beginning(), ...this.#steps.life });
    this.#activation.settle();
    return { kind: "ended", event: event as ActEnded };
  }

  /** When it began, unless that stands in the record already. */
  #beginning(): { readonly at?: number } {
    return this.#role.open === undefined ? { at: this.#startedAt } : {};
  }

  #begin(at: number): void {
    if (this.#role.open !== undefined) return;
    const { name, n } = this.#role;
    this.#tools.log.record({ type: "act.started", act: this.#act, role: name, n, attempt: this.#attempt, take: this.#take, at });
  }

  /** Should the process die of what follows, the record says so. */
  async #leaveTrace(at: number): Promise<void> {
    const { log } = this.#tools;
    if (this.#role.open === undefined) this.#begin(at);
    else log.record({ type: "act.resumed", act: this.#act });
    await log.durable();
  }

  /** Lives the activation, closes its context, and waits for what it started. */
  async #live(): Promise<Outcome> {
    const lived = await this.#lifetime.until(this.#activation.live()).then(
      (): Outcome => this.#done(),
      (error: unknown): Outcome => (error instanceof ControlError ? { kind: "control", control: error } : { kind: "failed", error }),
    );
    this.#activation.close();
    await this.#steps.close();
    this.#limit.stop();
    const late = this.#lifetime.ended?.reason;
    const isReplayed = this.#tools.mode === "replay" && lived.kind !== "control";
    const unasked = isReplayed ? this.#steps.unasked.find(({ started }) => this.#tools.past.mustAsk(started)) : undefined;
    if (unasked !== undefined)
      return { kind: "control", control: notAsked(this.#act, unasked, lived.kind === "failed" ? lived.error : undefined) };
    if (late instanceof TimeoutError) return { kind: "failed", error: late };
    return this.#steps.control === undefined ? lived : { kind: "control", control: this.#steps.control };
  }

  /** The body has ended. State that left its schema, or is no JSON, fails it even now. */
  #done(): Outcome {
    this.#activation.close();
    try {
      return { kind: "done", event: this.#activation.ended(this.#tools.log.state.round) };
    } catch (error) {
      return { kind: "failed", error };
    }
  }

  #fail(error: unknown): TurnResult | "retry" {
    const { log, mask } = this.#tools;
    const policy = afterFailure(this.#spec.role.onFailure ?? this.#tools.onFailure, this.#role.strikes + 1);
    const next = policy === "dead" && this.#take > 1 ? "isolate" : policy;
    // Before it is tried again somebody has to look, and resume the run.
    const then = next !== "dead" && isUncertain(error) ? "stop" : next;
    const { round } = log.state;
    log.record({
      type: "act.failed",
      act: this.#act,
      role: this.#role.name,
      round,
      take: this.#take,
      ...this.#beginning(),
      ...this.#steps.life,
      error: failureRecord(error, mask),
      stepFailed: this.#steps.failed,
      then,
    });
    if (then === "retry" || then === "isolate") return "retry";
    return { kind: then === "dead" ? "skipped" : "stopped", error };
  }
}
