import type { SettledTry } from "../record/event.ts";
import type { BudgetHold, BudgetPool, OpenAccount } from "../../kernel/budget.ts";
import { interruptionBy } from "../../kernel/abort.ts";
import { BudgetError, StepError } from "../../kernel/errors.ts";
import type { Cancellation, CancellationScope } from "../../kernel/cancellation.ts";
import type { Funds } from "../../model/funds.ts";
import { formatUsd, type MicroUsd } from "../../model/money.ts";
import { holdKey } from "../record/apply-steps.ts";
import type { LostTry } from "../record/lost-tries.ts";
import type { RunState } from "../record/run-state.ts";
import { type BudgetLender, LentBudget, type LentChange } from "./lent-budget.ts";

interface GateWaiter {
  readonly hold: number;
  readonly ending: Cancellation;
  /** Called when its hold fits. @param isInRoom it fits only by using the amount kept for the lost calls that it repeats */
  readonly enter: (isInRoom: boolean) => void;
  readonly reject: (error: Error) => void;
  /** True for an amount of lent budget: its refusal does not end the run. */
  readonly isLent?: true;
  /** Micro-dollars that are kept for the lost calls which it repeats. */
  readonly room: number;
  /** The share of the budget within which it must stay: its refusal does not end the run. */
  readonly share?: number | undefined;
  /** The refusal of a pool above: the waiter stays until the open holds are settled, and is rejected then. */
  readonly refused?: BudgetError;
}

/** Starts a try. @param taken the hold of the pools above the run */
export type StartTry = (taken: BudgetHold | undefined) => void;

/**
 * Lets a try start only when its hold fits into the rest of the run's budget and of every pool above it. It owns the queue of waiting
 * tries, and the amounts lent to steps; spending and open holds of the run are the ledger's.
 *
 * BudgetGate.B1 (`#fits`) spent + held never exceeds the budget: a hold is recorded, or counted as coming or lent, in the same turn as
 * the check that it fits.
 * BudgetGate.B2 (`settled`) a try that does not fit waits while another is open.
 * BudgetGate.B3 (`settled`) the budget is reached when no try is open and none fits, or when a pool above refused one. Then no try that may
 * cost starts, because the end of the run would interrupt it. Open tries end first.
 * BudgetGate.B4 (`lent`) spending of a lent budget counts until the step's end records its cost, in the same turn.
 * BudgetGate.B5 (`#most`) a try with a share of the budget starts only within it; if it can no longer fit, only that try is refused.
 * BudgetGate.B6 (`#settledLast`) a try that repeats lost ones uses their holds if it would be refused otherwise: only then spent + held may
 * exceed the budget, by at most those holds, until it ends.
 */
export class BudgetGate implements BudgetLender {
  readonly #state: RunState;
  readonly #funds: Funds | undefined;
  #queue: GateWaiter[] = [];
  /** Micro-dollars that fit here and wait for the pools above. */
  #coming = 0;
  #lentSpent = 0;
  #lentHeld = 0;
  #lentUnasked = 0;
  /** Micro-dollars kept for the lost calls that waiting tries repeat. */
  #waitingRoom = 0;
  /** The first refusal, which later tries get too, because alone they might have fitted. */
  #reached: BudgetError | undefined;

  constructor(state: RunState, funds?: Funds) {
    this.#state = state;
    this.#funds = funds;
  }

  /**
   * Calls `start`, which records the hold, as soon as it fits.
   *
   * @param share of the budget, within which it must stay. Default: all
   * @param repeats the lost tries that it repeats
   * @throws BudgetError; StepError `BUDGET_SHARE` if only the share is spent
   */
  enter(hold: number, start: StartTry, scope: CancellationScope, share?: number, repeats: readonly LostTry[] = []): Promise<void> {
    if (scope.ended !== undefined) return Promise.reject(scope.ended.reason);
    if (this.#queue.length === 0 && this.#fits(hold, share)) return this.#begin(hold, start, scope, repeats);
    const entered = new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        try {
          this.#begin(hold, start, scope, repeats).then(resolve, reject);
        } catch (error) {
          reject(error as Error);
        }
      };
      this.#wait({ hold, ending: scope, enter, reject, share, room: repeats.reduce((sum, one) => sum + one.hold, 0) });
    });
    return scope.until(entered);
  }

  /** Must be called when a hold was settled: starts the waiting tries that fit now, in their order. */
  settled(): void {
    const waiting = this.#queue;
    this.#queue = [];
    this.#waitingRoom = waiting.reduce((sum, { room }) => sum + room, 0);
    for (const waiter of waiting) {
      // An aborted waiter is already rejected, and must not hold money for a call that never comes.
      if (waiter.ending.ended !== undefined) continue;
      if (waiter.refused === undefined && this.#fits(waiter.hold, waiter.share)) waiter.enter(false);
      else if (waiter.share !== undefined && this.#reached === undefined && !this.#mayFit(waiter))
        waiter.reject(this.#shareSpent(waiter.hold, waiter.share));
      else if (waiter.isLent === true && !this.#mayFit(waiter)) waiter.reject(this.#reached ?? this.#refusal(waiter.hold));
      else this.#queue.push(waiter);
    }
    if (this.#queue.length === 0 || this.#isOpen) return;
    this.#settledLast();
  }

  /** Starts a try that repeats lost ones, or refuses all waiting tries. */
  #settledLast(): void {
    const refused = this.#queue;
    const last = refused.find((waiter) => waiter.refused === undefined && this.#fitsBeside(waiter));
    if (last !== undefined) {
      this.#queue = refused.filter((waiter) => waiter !== last);
      return last.enter(true);
    }
    const reached = this.#reached;
    this.#queue = [];
    for (const waiter of refused) {
      const refusal = waiter.refused ?? reached ?? this.#refusal(waiter.hold);
      this.#reached ??= refusal;
      waiter.reject(refusal);
    }
  }

  /** Lends the run's budget to an effect. @param paid micro-dollars of earlier tries of the step @param parent lent by the enclosing run */
  lend(paid: number, parent?: BudgetPool): LentBudget {
    return new LentBudget(this, paid, parent);
  }

  get id(): string {
    return `run ${this.#state.runId}`;
  }

  get rank(): number {
    return this.#funds?.rank ?? 0;
  }

  get isBinding(): boolean {
    return this.#state.budget !== undefined || this.#funds?.isBinding === true;
  }

  get accounts(): readonly OpenAccount[] {
    return this.#funds?.accounts ?? [];
  }

  settleLost(settles: readonly SettledTry[]): void {
    for (const one of settles) this.#funds?.settleLost(holdKey(one), one.cost ?? 0);
  }

  lose(amount: number): BudgetHold {
    return this.#funds?.lose(amount) ?? { settle: () => undefined };
  }

  take(amount: number, ending: Cancellation, room: number): Promise<number> {
    if (ending.ended !== undefined) return Promise.reject(interruptionBy(ending.ended.reason));
    return new Promise((resolve, reject) => {
      const unsubscribe = ending.onEnd((reason) => reject(interruptionBy(reason)));
      const over = (then: () => void): void => {
        unsubscribe();
        then();
      };
      const enter = (isInRoom: boolean): void => {
        const more = isInRoom ? Math.max(0, amount - room) : amount;
        this.#lentHeld += more;
        over(() => resolve(more));
      };
      this.#wait({ hold: amount, room, ending, enter, reject: (error) => over(() => reject(error)), isLent: true });
    });
  }

  lent({ spent = 0, held = 0, unasked = 0 }: LentChange): void {
    this.#lentSpent += spent;
    this.#lentHeld += held;
    this.#lentUnasked += unasked;
  }

  charge(amount: number): void {
    this.#funds?.charge(amount);
  }

  #wait(waiter: GateWaiter): void {
    this.#queue.push(waiter);
    this.settled();
  }

  #begin(hold: number, start: StartTry, scope: CancellationScope, repeats: readonly LostTry[]): Promise<void> {
    if (this.#funds !== undefined && hold > 0) return this.#takeAbove(this.#funds, { hold, repeats }, start, scope);
    start(undefined);
    return Promise.resolve();
  }

  async #takeAbove(
    funds: Funds,
    { hold, repeats }: { readonly hold: number; readonly repeats: readonly LostTry[] },
    start: StartTry,
    scope: CancellationScope,
  ): Promise<void> {
    this.#coming += hold;
    const answer = await funds.reserve(hold, scope, repeats.map(holdKey)).catch((error: unknown) => error as Error);
    this.#coming -= hold;
    if (!("settle" in answer)) return this.#refusedAbove(hold, answer, scope);
    const refusal = scope.ended?.reason ?? this.#reached;
    if (refusal === undefined) return startWith(answer, start);
    answer.settle(0);
    return this.#refusedAbove(hold, refusal, scope);
  }

  async #refusedAbove(hold: number, error: Error, scope: CancellationScope): Promise<void> {
    if (!(error instanceof BudgetError)) {
      this.settled();
      throw error;
    }
    this.#reached ??= error;
    await scope.until(
      new Promise<void>((_resolve, reject) => {
        this.#wait({ hold, room: 0, ending: scope, enter: () => {}, reject, refused: error });
      }),
    );
  }

  /** True when an open hold may make room or, once the budget is reached, must be settled before the run ends. */
  get #isOpen(): boolean {
    return this.#state.ledger.held + this.#lentHeld + this.#lentUnasked > 0 || (this.#reached === undefined && this.#coming > 0);
  }

  get #spent(): number {
    return this.#state.ledger.spent + this.#lentSpent;
  }

  #fits(hold: number, share?: number): boolean {
    if (hold > 0 && this.#reached !== undefined) return false;
    const most = this.#most(hold, share);
    const { ledger } = this.#state;
    return most === undefined || ledger.fits((hold + this.#coming + this.#lentSpent + this.#lentHeld) as MicroUsd, most as MicroUsd);
  }

  /** True if the holds of the lost calls that a try repeats suffice for it, or make room for it. */
  #fitsBeside({ hold, room, share }: GateWaiter): boolean {
    const most = this.#most(hold, share) ?? Infinity;
    if (room === 0 || this.#reached !== undefined) return false;
    return this.#spent - room + hold <= most || (room >= hold && this.#state.ledger.settled + hold <= most);
  }

  /** Micro-dollars kept for lost calls that are repeated now, wait to be, or may be about to be. */
  get #repeatable(): number {
    const { ledger } = this.#state;
    return this.#lentUnasked + this.#waitingRoom + (ledger.held > 0 ? ledger.spent - ledger.settled : 0);
  }

  /** True if a hold could fit if all open holds, and all lost calls that are or may be repeated, cost nothing. */
  #mayFit({ hold, share }: GateWaiter): boolean {
    return this.#reached === undefined && this.#spent - this.#repeatable + hold <= (this.#most(hold, share) ?? Infinity);
  }

  /** Micro-dollars within which a hold must stay. A try that costs nothing may always start. */
  #most(hold: number, share = 1): number | undefined {
    const { budget } = this.#state;
    return budget === undefined || hold === 0 ? undefined : Math.floor(budget * share);
  }

  #shareSpent(needed: number, share: number): StepError {
    const { budget = 0 } = this.#state;
    const left = Math.max(0, Math.floor(budget * share) - this.#spent);
    return new StepError(
      "BUDGET_SHARE",
      `The next model call may cost up to ${formatUsd(needed)}, but ${formatUsd(left)} is left of the share of the budget that this role may spend, ${formatUsd(Math.floor(budget * share))} of ${formatUsd(budget)}. Raise the budget to continue.`,
      { data: { needed, left, share, budget } },
    );
  }

  #refusal(needed: number): BudgetError {
    const budget = this.#state.budget ?? 0;
    return new BudgetError({ needed, left: budget - this.#spent, budget });
  }
}

/** A try that cannot be recorded costs nothing. */
function startWith(taken: BudgetHold, start: StartTry): void {
  try {
    start(taken);
  } catch (error) {
    taken.settle(0);
    throw error;
  }
}
