import type { BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import { type ErrorRecord, StepError } from "../../kernel/errors.ts";
import type { Json } from "../../kernel/json.ts";
import type { Attempts, AttemptOutcome, StepSpec, StepTry } from "../../kernel/step.ts";
import type { CancellationScope } from "../../kernel/cancellation.ts";
import type { Mask } from "../../kernel/mask.ts";
import type { BudgetGate, LentBudget } from "./budget-gate.ts";
import type { StepEnded, StepStarted } from "../record/event.ts";
import { maskedError } from "../record/masking.ts";
import type { SourcedAnswer } from "./answer-source.ts";
import type { RunLog } from "../record/run-log.ts";
import type { StepOutcome } from "../record/role-state.ts";

interface TriesParts {
  readonly act: string;
  readonly key: string;
  readonly spec: StepSpec;
  readonly request: Json;
  readonly asked: number;
  readonly parent: string | undefined;
  /** The number of recorded tries of this step. */
  readonly tried: number;
  /** Their cost in micro-dollars. */
  readonly paid: number;
  readonly log: RunLog;
  readonly gate: BudgetGate;
  readonly scope: CancellationScope;
  readonly now: () => number;
  readonly mask: Mask;
}

type TryState =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly hold: number; readonly isUnpriced: boolean }
  | { readonly kind: "settled"; readonly outcome: AttemptOutcome };

/**
 * The tries of one step, recorded as pairs of `step.started` and `step.ended`. It owns the open try.
 *
 * Tries.Y1 (`interrupt`, `#answer`) every started try is ended, also when the step is interrupted: then at its hold, because it may have
 * been paid.
 * Tries.Y2 (`#answer`) exactly the last `step.ended` of a step that was not interrupted is its answer; all before have `retry`.
 * Tries.Y3 (`#start`) tries of one step are numbered on from the recorded ones.
 * Tries.Y4 (`#end`) spending of the lent budget, for example by a run that the effect started, is part of the cost of the try that ends the
 * step. The hold of pools above the run is settled with the try, also where the journal takes no more events.
 */
export class Tries implements Attempts {
  readonly #parts: TriesParts;
  #try: number;
  #state: TryState = { kind: "none" };
  /** The hold of the pools above the run for the open try. */
  #taken: BudgetHold | undefined;
  #lent: LentBudget | undefined;

  constructor(parts: TriesParts) {
    this.#parts = parts;
    this.#try = parts.tried;
  }

  get current(): StepTry {
    const { act, key } = this.#parts;
    return { act, key, try: this.#try };
  }

  async open(hold: number, { unpriced = false }: { readonly unpriced?: boolean } = {}): Promise<void> {
    if (this.#state.kind === "open") this.settle(untold(this.#state));
    if (this.#state.kind === "settled") this.#end(this.#state.outcome, { ok: false, retry: true });
    const start = (taken: BudgetHold | undefined): void => {
      this.#start(hold, unpriced ? { unpriced: true } : {});
      this.#taken = taken;
    };
    await this.#parts.gate.enter(hold, start, this.#parts.scope);
    if (!this.#parts.log.isDurable) await this.#parts.log.durable();
  }

  /** The budget of the run, lent to the effect. */
  get budget(): BudgetPool {
    return (this.#lent ??= this.#parts.gate.lend(this.#parts.paid));
  }

  settle(outcome: AttemptOutcome): void {
    if (this.#state.kind !== "open") return;
    if (outcome.error === undefined) this.#state = { kind: "settled", outcome };
    else this.#end(outcome, { ok: false, retry: true, error: maskedError(this.#parts.mask, outcome.error) });
  }

  succeed(value: Json): StepOutcome {
    return this.#answer({ ok: true, value, error: undefined, at: this.#parts.now() });
  }

  fail(error: ErrorRecord): StepOutcome {
    return this.#answer({ ok: false, value: null, error, at: this.#parts.now() });
  }

  /** Records the answer of another run as this step's own, at no cost. `within` records the steps asked inside it. */
  reuse({ outcome, seq, saved }: SourcedAnswer, within: () => void): void {
    const { act, key, log } = this.#parts;
    this.#start(0, { reused: seq });
    this.#state = { kind: "none" };
    within();
    log.record({ type: "step.ended", act, key, try: this.#try, ...endOf(outcome), cost: 0, basis: "none", saved, at: outcome.at });
  }

  /** Settles the possible cost of the step, which stays without an answer. */
  interrupt(): void {
    if (this.#state.kind === "none" || this.#isQuestion()) return;
    this.#end(this.#outcomeNow(), { ok: false, retry: true }, { lent: this.#closeLent() });
  }

  #isQuestion(): boolean {
    return this.#parts.spec.kind === "human";
  }

  #answer(outcome: StepOutcome): StepOutcome {
    if (this.#try === this.#parts.tried) this.#start(0);
    this.#end(this.#outcomeNow(), endOf(outcome), { at: outcome.at, lent: this.#closeLent() });
    return outcome;
  }

  /** Closes the lent budget, and returns the micro-dollars spent of it. */
  #closeLent(): number {
    const spent = this.#lent?.close() ?? 0;
    this.#lent = undefined;
    return spent;
  }

  #outcomeNow(): AttemptOutcome {
    if (this.#state.kind === "settled") return this.#state.outcome;
    return this.#state.kind === "open" ? untold(this.#state) : { cost: 0, basis: "none" };
  }

  #start(hold: number, more: Pick<StepStarted, "reused" | "unpriced"> = {}): void {
    const { act, key, spec, asked, parent, request, log } = this.#parts;
    this.#try += 1;
    this.#state = { kind: "open", hold, isUnpriced: more.unpriced === true };
    const place = parent === undefined ? { asked } : { asked, in: parent };
    log.record({
      type: "step.started",
      act,
      key,
      kind: spec.kind,
      name: spec.name,
      ...place,
      try: this.#try,
      hold,
      request,
      ...(spec.idempotent === false ? { idempotent: false as const } : {}),
      ...more,
    });
  }

  #end(
    outcome: AttemptOutcome,
    end: TryEnd,
    { at = this.#parts.now(), lent = 0 }: { readonly at?: number; readonly lent?: number } = {},
  ): void {
    const { act, key, log, gate } = this.#parts;
    const taken = this.#taken;
    this.#state = { kind: "none" };
    this.#taken = undefined;
    const { cost, basis, usage } = lent === 0 ? outcome : withLent(outcome, lent);
    const told = usage === undefined ? {} : { usage };
    try {
      log.record({ type: "step.ended", act, key, try: this.#try, ...end, cost: cost ?? null, basis, ...told, at });
    } finally {
      if (taken !== undefined) taken.settle(outcome.cost ?? 0);
      else if (outcome.cost !== undefined && outcome.cost > 0) gate.charge(outcome.cost);
    }
    gate.settled();
  }
}

/** Returns the possible cost of a try whose end is unknown. */
function untold({ hold, isUnpriced }: Extract<TryState, { readonly kind: "open" }>): AttemptOutcome {
  return isUnpriced ? { cost: undefined, basis: "usage" } : { cost: hold, basis: hold > 0 ? "hold" : "none" };
}

type TryEnd = Pick<StepEnded, "ok" | "retry" | "value" | "error">;

function withLent(outcome: AttemptOutcome, lent: number): AttemptOutcome {
  return { ...outcome, cost: (outcome.cost ?? 0) + lent, basis: outcome.basis === "none" ? "usage" : outcome.basis };
}

/** Returns the recorded form of an answer. */
function endOf({ ok, value, error }: StepOutcome): Pick<StepEnded, "ok" | "value" | "error"> {
  if (ok) return { ok, value };
  return error === undefined ? { ok } : { ok, error };
}

const UNCERTAIN = "STEP_UNCERTAIN";

/** True for the failure of an activation because it is unknown whether one of its effects has happened. */
export function isUncertain(error: unknown): boolean {
  return error instanceof StepError && error.code === UNCERTAIN;
}

/** The effect may have happened before a crash, and must not happen twice: a person has to check. */
export function uncertain(name: string): StepError {
  return new StepError(
    UNCERTAIN,
    `Expected to know whether "${name}" had happened when the run stopped, but nobody does, and it must not happen twice. Look, then resume the run: it is tried again.`,
  );
}
