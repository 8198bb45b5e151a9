import type { ErrorRecord } from "../kernel/errors.ts";
import type { Json } from "../kernel/json.ts";
import type { Attempts, AttemptOutcome, StepSpec } from "../kernel/step.ts";
import type { Lifetime } from "../kernel/lifetime.ts";
import type { Mask } from "../kernel/mask.ts";
import type { BudgetGate } from "./budget-gate.ts";
import type { StepEnded } from "./event.ts";
import { maskedError } from "./masking.ts";
import type { PastAnswer } from "./past.ts";
import type { RunLog } from "./run-log.ts";
import type { StepOutcome } from "./run-state.ts";

interface TriesParts {
  readonly act: string;
  readonly key: string;
  readonly spec: StepSpec;
  readonly request: Json;
  readonly asked: number;
  readonly parent: string | undefined;
  /** Tries that the record has of this step already. */
  readonly tried: number;
  readonly log: RunLog;
  readonly gate: BudgetGate;
  readonly lifetime: Lifetime;
  readonly now: () => number;
  readonly mask: Mask;
}

type TryState =
  | { readonly kind: "none" }
  | { readonly kind: "open"; readonly hold: number }
  | { readonly kind: "settled"; readonly outcome: AttemptOutcome };

/**
 * The tries of one step, written down as pairs of `step.started` and `step.ended`. It owns which try is open.
 *
 * Y1 every started try is ended, also when the step is interrupted: then at its hold, because it may have been paid.
 * Y2 exactly the last `step.ended` of a step that was not interrupted is its answer; all before say `retry`. Y3 tries of one step are
 * numbered on from what the record has of it.
 */
export class Tries implements Attempts {
  readonly #parts: TriesParts;
  #try: number;
  #state: TryState = { kind: "none" };

  constructor(parts: TriesParts) {
    this.#parts = parts;
    this.#try = parts.tried;
  }

  async open(hold: number): Promise<void> {
    if (this.#state.kind === "open") this.settle({ cost: this.#state.hold, basis: "hold" });
    if (this.#state.kind === "settled") this.#end(this.#state.outcome, { ok: false, retry: true });
    await this.#parts.gate.enter(hold, () => this.#start(hold), this.#parts.lifetime);
    if (!this.#parts.log.isDurable) await this.#parts.log.durable();
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

  /** The answer of another run, written down as this step's own, at no cost. `within` writes down what was asked inside. */
  reuse({ outcome, seq, saved }: PastAnswer, within: () => void): void {
    const { act, key, log } = this.#parts;
    this.#start(0, { reused: seq });
    this.#state = { kind: "none" };
    within();
    log.record({ type: "step.ended", act, key, try: this.#try, ...endOf(outcome), cost: 0, basis: "none", saved, at: outcome.at });
  }

  /** The step stays without an answer; what it may have cost is settled. */
  interrupt(): void {
    if (this.#state.kind === "none" || this.#isQuestion()) return;
    this.#end(this.#outcomeNow(), { ok: false, retry: true });
  }

  #isQuestion(): boolean {
    return this.#parts.spec.kind === "human";
  }

  #answer(outcome: StepOutcome): StepOutcome {
    if (this.#try === this.#parts.tried) this.#start(0);
    this.#end(this.#outcomeNow(), endOf(outcome), outcome.at);
    return outcome;
  }

  #outcomeNow(): AttemptOutcome {
    if (this.#state.kind === "settled") return this.#state.outcome;
    return {
      cost: this.#state.kind === "open" ? this.#state.hold : 0,
      basis: this.#state.kind === "open" && this.#state.hold > 0 ? "hold" : "none",
    };
  }

  #start(hold: number, origin: { readonly reused?: number } = {}): void {
    const { act, key, spec, asked, parent, request, log } = this.#parts;
    this.#try += 1;
    this.#state = { kind: "open", hold };
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
      ...origin,
    });
  }

  #end(outcome: AttemptOutcome, end: Pick<StepEnded, "ok" | "retry" | "value" | "error">, at: number = this.#parts.now()): void {
    const { act, key, log, gate } = this.#parts;
    this.#state = { kind: "none" };
    const usage = outcome.usage === undefined ? {} : { usage: outcome.usage };
    log.record({ type: "step.ended", act, key, try: this.#try, ...end, cost: outcome.cost ?? null, basis: outcome.basis, ...usage, at });
    gate.settled();
  }
}

/** An answer as its event tells it. */
function endOf({ ok, value, error }: StepOutcome): Pick<StepEnded, "ok" | "value" | "error"> {
  if (ok) return { ok, value };
  return error === undefined ? { ok } : { ok, error };
}
