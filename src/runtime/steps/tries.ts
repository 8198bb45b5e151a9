import type { BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import { type EffectCall, localEffects } from "../../kernel/effect.ts";
import { stepErrorFrom } from "../../kernel/errors.ts";
import { type Json, jsonRoundTrip } from "../../kernel/json.ts";
import { masked } from "../../kernel/mask.ts";
import type { AttemptOutcome, Attempts, OpenedTry, StepSpec, StepTry, TriedEffect } from "../../kernel/step.ts";
import { isAnswered } from "../../model/failure.ts";
import type { StepEnded, StepStarted, SettledTry } from "../record/event.ts";
import { maskedError } from "../record/rewritten-event.ts";
import { lostAt, settledBy } from "../record/lost-tries.ts";
import type { StepOutcome, StepRecord } from "../record/role-state.ts";
import type { SourcedAnswer } from "./answer-source.ts";
import type { LentBudget } from "./lent-budget.ts";
import { stepId } from "./step-requests.ts";
import type { TurnTools } from "../turn/commit.ts";
import type { RoleTurn } from "../turn/turn.ts";

export interface AskedStep {
  readonly spec: StepSpec;
  readonly request: Json;
  readonly key: string;
  /** The keys of the enclosing steps. */
  readonly path: string;
  /** The key of the nearest enclosing step. */
  readonly parent: string | undefined;
  /** Index in the order of asking, within the enclosing step or the activation. */
  readonly asked: number;
}

interface StartedTry {
  outcome: AttemptOutcome;
  isSettled: boolean;
  readonly dropsRepeats: number | undefined;
  readonly hold: number;
  /** The hold of the pools above the run. */
  taken?: BudgetHold | undefined;
}

type Beginning = Pick<StepStarted, "reused" | "unpriced" | "dropsRepeats" | "model">;

type TryEnd = Pick<StepEnded, "ok" | "retry" | "value" | "error">;

/**
 * The tries of one step, recorded as pairs of `step.started` and `step.ended`. It owns the started try.
 *
 * Tries.Y1 (`interrupt`, `answer`) every started try ends. An interrupted one ends at its hold, because it may have been paid.
 * Tries.Y2 (`answer`) the answer of an uninterrupted step is its last `step.ended`; all earlier ones have `retry`.
 * Tries.Y3 (`#start`) the numbers of tries continue those of the recorded tries.
 * Tries.Y4 (`#end`) spending of the lent budget, for example by a run that the effect started, is part of the cost of the try that ends the
 * step. The hold of pools above the run is settled once the end of the try is durable, and in full if the journal refuses the event.
 * Tries.Y5 (`key`, `run`) a try has the idempotency key of the previous try, in any process, unless that try was answered.
 * Tries.Y6 (`#end`) a try with known usage settles the lost tries that it repeats.
 */
export class Tries implements Attempts {
  readonly #turn: RoleTurn;
  readonly #tools: TurnTools;
  readonly #step: AskedStep;
  readonly #recorded: number;
  /** Micro-dollars of the recorded tries, with those of failed attempts of the activation. */
  readonly #paid: number;
  #try: number;
  /** The last try that the receiver answered with a failure. */
  #answered: number;
  #started: StartedTry | undefined;
  #lent: LentBudget | undefined;
  /** Milliseconds since 1970, set by the first try. */
  deadline: number | undefined;

  /** @param paid micro-dollars of the step in failed attempts of the activation */
  constructor(turn: RoleTurn, step: AskedStep, recorded: StepRecord | undefined, paid: number) {
    this.#turn = turn;
    this.#tools = turn.tools;
    this.#step = step;
    this.#recorded = recorded?.started.try ?? 0;
    this.#paid = paid + (recorded?.paid ?? 0);
    this.#try = this.#recorded;
    this.#answered = recorded?.answered ?? 0;
    this.deadline = recorded?.started.deadline;
  }

  get current(): StepTry {
    return { ...this.#name, try: this.#try };
  }

  get key(): string {
    return this.#keyAfter(this.#answered);
  }

  get #name(): { readonly act: string; readonly key: string } {
    return { act: this.#turn.started.act, key: this.#step.key };
  }

  get budget(): BudgetPool {
    return this.lend(undefined);
  }

  /** Lends the budget of the run to the effect. @param above the budget lent by the enclosing run */
  lend(above: BudgetPool | undefined): BudgetPool {
    return (this.#lent ??= this.#tools.gate.lend(this.#paid, above));
  }

  async open(hold: number, { unpriced = false, dropsRepeats = false, model }: OpenedTry = {}): Promise<void> {
    const { gate, log } = this.#tools;
    if (this.#started !== undefined) this.#end(this.#started.outcome, { ok: false, retry: true });
    const repeats = lostAt(log.state, this.#name);
    const start = (taken: BudgetHold | undefined): void => {
      const about = { ...(unpriced ? { unpriced } : {}), ...(model === undefined ? {} : { model }) };
      this.#start(hold, { ...about, ...(dropsRepeats ? { dropsRepeats: this.#answered } : {}) }, taken);
    };
    await gate.enter(hold, start, this.#turn.scope, this.#turn.definition.spec.role.budgetShare, repeats);
    if (!log.isDurable) await log.durable();
  }

  async run<T>(effect: () => Promise<T>, o: TriedEffect = {}): Promise<T> {
    const { spec } = this.#step;
    const { answer, cost, usage } = await (isOwners(spec) ? localEffects : this.#tools.effects).run(this.#callOf(o), effect);
    if (spec.metered !== true && (cost !== undefined || usage !== undefined))
      this.settle({ cost: cost ?? 0, basis: "usage", ...(usage === undefined ? {} : { usage }) });
    if (!answer.ok) throw stepErrorFrom(answer.error);
    return answer.value as T;
  }

  settle(outcome: AttemptOutcome): void {
    if (this.#started === undefined || this.#started.isSettled) return;
    if (outcome.error === undefined) Object.assign(this.#started, { outcome, isSettled: true });
    else {
      const error = maskedError(this.#tools.mask, outcome.error);
      this.#end(outcome, { ok: false, retry: true, error });
      if (isAnswered(error.code)) this.#answered = this.#try;
    }
  }

  answer(outcome: StepOutcome): StepOutcome {
    if (this.#try === this.#recorded) this.#start(0);
    this.#end(this.#started?.outcome ?? NOTHING, endOf(outcome), outcome.at, true);
    return outcome;
  }

  /** Records the answer of another run as this step's own, at no cost. `within` records the steps asked inside it. */
  reuse({ outcome, seq, saved }: SourcedAnswer, within: () => void): void {
    this.#start(0, { reused: seq });
    this.#started = undefined;
    within();
    const end = { ...endOf(outcome), cost: 0, basis: "none" as const, saved, at: outcome.at, ...lateIn(outcome) };
    this.#tools.log.record({ type: "step.ended", ...this.current, ...end });
  }

  /** Settles the possible cost of a step that gets no answer. A question to a person stays open. */
  interrupt(): void {
    if (this.#started === undefined || this.#step.spec.kind === "human") return;
    this.#end(this.#started.outcome, { ok: false, retry: true }, undefined, true);
  }

  /** @param answered the last try that the receiver answered */
  #keyAfter(answered: number): string {
    const { act, key } = this.#name;
    return `${stepId(this.#tools.host.runId, act, key)}-${answered}`;
  }

  /** Members for remote ports are computed when read. */
  #callOf({ request, ending = this.#turn.scope }: TriedEffect): EffectCall {
    const answered = this.#answered;
    const key = (): string => this.#keyAfter(answered);
    const { mask, log } = this.#tools;
    const { spec, request: recorded } = this.#step;
    return {
      get key() {
        return key();
      },
      kind: spec.kind,
      name: spec.name,
      get request() {
        return request === undefined ? recorded : masked(mask, jsonRoundTrip<unknown>(request) as Json);
      },
      scope: { conversation: log.state.runId, ...log.state.scope },
      idempotent: spec.idempotent !== false,
      began: this.#try > 1,
      get signal() {
        return ending.signal;
      },
    };
  }

  #start(hold: number, more: Beginning = {}, taken?: BudgetHold): void {
    const { spec, asked, parent, request } = this.#step;
    const { log, clock } = this.#tools;
    this.#try += 1;
    const timed = more.reused === undefined ? spec.deadline : undefined;
    if (timed !== undefined) this.deadline ??= typeof timed === "number" ? clock.now() + timed : timed.getTime();
    const known: AttemptOutcome = { cost: hold, basis: hold > 0 ? "hold" : "none" };
    const outcome: AttemptOutcome = more.unpriced === true ? { cost: undefined, basis: "usage" } : known;
    const started: StartedTry = { outcome, isSettled: false, dropsRepeats: more.dropsRepeats, hold };
    this.#started = started;
    log.record({
      type: "step.started",
      ...this.#name,
      kind: spec.kind,
      name: spec.name,
      asked,
      ...(parent === undefined ? {} : { in: parent }),
      try: this.#try,
      hold,
      request,
      ...(timed === undefined || this.deadline === undefined ? {} : { deadline: this.deadline }),
      ...(spec.idempotent === false ? { idempotent: false as const } : {}),
      ...more,
    });
    started.taken = taken;
  }

  #end(outcome: AttemptOutcome, end: TryEnd, at: number = this.#tools.clock.now(), isLast: boolean = false): void {
    const { log, gate } = this.#tools;
    const started = this.#started;
    const settles = this.#settles(outcome);
    const lent = isLast ? (this.#lent?.close() ?? 0) : 0;
    if (isLast) this.#lent = undefined;
    this.#started = undefined;
    const cost = lent === 0 ? (outcome.cost ?? null) : (outcome.cost ?? 0) + lent;
    const basis = lent !== 0 && outcome.basis === "none" ? "usage" : outcome.basis;
    const more = { ...(outcome.usage && { usage: outcome.usage }), at, ...lateIn(outcome), ...(settles.length > 0 && { settles }) };
    try {
      log.record({ type: "step.ended", ...this.current, ...end, cost, basis, ...more });
      // Without a recorded settlement they stay lost.
      if (settles.length > 0) this.#whenDurable(() => gate.settleLost(settles));
    } finally {
      const paid = outcome.cost ?? 0;
      if (started?.taken !== undefined) this.#giveBack(started.taken, paid, started.hold);
      else if (paid > 0) gate.charge(paid);
    }
    gate.settled();
  }

  /** If the cost of this try is known, settles the lost tries that it repeats. */
  #settles({ basis, cost }: AttemptOutcome): readonly SettledTry[] {
    if (basis !== "usage" || this.#started?.isSettled !== true) return [];
    return settledBy(this.#tools.log.state, { ...this.#name, dropsRepeats: this.#started.dropsRepeats, cost: cost ?? null });
  }

  /** Settles a hold once the record has the cost. Otherwise a process that continues the run would count the whole hold. */
  #giveBack(taken: BudgetHold, cost: number, hold: number): void {
    this.#whenDurable(
      () => taken.settle(cost),
      () => taken.settle(Math.max(cost, hold)),
    );
  }

  #whenDurable(then: () => void, otherwise: () => void = () => {}): void {
    const { log } = this.#tools;
    if (log.isDurable) then();
    else log.durable().then(then, otherwise);
  }
}

function isOwners({ kind, again }: StepSpec): boolean {
  return again === true || kind === "human";
}

const NOTHING: AttemptOutcome = { cost: 0, basis: "none" };

function endOf({ ok, value, error }: StepOutcome): Pick<StepEnded, "ok" | "value" | "error"> {
  if (ok) return { ok, value };
  return error === undefined ? { ok } : { ok, error };
}

function lateIn({ byDeadline }: Pick<StepOutcome, "byDeadline"> | AttemptOutcome): { readonly byDeadline?: true } {
  return byDeadline === true ? { byDeadline } : {};
}
