import type { BudgetHold, BudgetPool, AccountOptions, BudgetAccount } from "../../kernel/budget.ts";
import { interruptionBy } from "../../kernel/abort.ts";
import { BudgetError, UsageError } from "../../kernel/errors.ts";
import type { Cancellation, CancellationScope } from "../../kernel/cancellation.ts";
import type { Funds } from "../../model/budget-pool.ts";
import type { MicroUsd } from "../../model/money.ts";
import type { RunState } from "../record/run-state.ts";

interface Waiter {
  readonly hold: number;
  readonly ending: Cancellation;
  /** Called when it fits. */
  readonly enter: () => void;
  readonly reject: (error: Error) => void;
  /** Somebody to whom a step of the run lent the budget: what he is refused does not end the run. */
  readonly isLent?: true;
  /** A pool above refused it: it waits for what is open here, and is told then. */
  readonly refused?: BudgetError;
}

/** Starts a try. @param taken what pools above the run hold for it; undefined where none does */
export type StartTry = (taken: BudgetHold | undefined) => void;

/**
 * Lets a try start only when its hold fits into what is left of the run's budget and of every pool above it. It owns the line of those
 * that wait, and what is lent to steps; spend and open holds of the run are the ledger's.
 *
 * B1 spent + held never exceeds the budget: a hold is recorded, or counted as coming or lent, in the same turn in which it was found to fit.
 * B2 a try that does not fit waits while another is open. B3 only when none is open and none fits, or a pool above has refused one, is the
 * budget reached; from then on nothing that may cost is let in, for the run is about to end and would pay for a call that it cuts off. What is
 * open is waited for first. B4 what a step lends counts until the step's end tells its cost, in the same turn. The line is bounded by the
 * calls that roles can have in flight.
 */
export class BudgetGate implements Lender {
  readonly #state: RunState;
  readonly #funds: Funds | undefined;
  #line: Waiter[] = [];
  /** Fits here, and waits for the pools above. */
  #coming = 0;
  #lentSpent = 0;
  #lentHeld = 0;
  /** What the first that found it reached was told, and what all later ones are told: they might have fitted. */
  #reached: BudgetError | undefined;

  constructor(state: RunState, funds?: Funds) {
    this.#state = state;
    this.#funds = funds;
  }

  /**
   * Calls `start`, which records the hold, as soon as it fits.
   *
   * @throws BudgetError
   */
  enter(hold: number, start: StartTry, scope: CancellationScope): Promise<void> {
    if (scope.ended !== undefined) return Promise.reject(scope.ended.reason);
    if (this.#line.length === 0 && this.#fits(hold)) return this.#begin(hold, start, scope);
    const place = new Promise<void>((resolve, reject) => {
      const enter = (): void => {
        try {
          this.#begin(hold, start, scope).then(resolve, reject);
        } catch (error) {
          reject(error as Error);
        }
      };
      this.#wait({ hold, ending: scope, enter, reject });
    });
    return scope.until(place);
  }

  /** To be called when a hold was settled: lets in, in their order, those who fit now. */
  settled(): void {
    const waiting = this.#line;
    this.#line = [];
    for (const waiter of waiting) {
      // Who was aborted has been refused already, and must not hold money for a call that never comes.
      if (waiter.ending.ended !== undefined) continue;
      if (waiter.refused === undefined && this.#fits(waiter.hold)) waiter.enter();
      else if (waiter.isLent === true && !this.#mayFit(waiter.hold)) waiter.reject(this.#reached ?? this.#refusal(waiter.hold));
      else this.#line.push(waiter);
    }
    if (this.#line.length === 0 || this.#isOpen) return;
    const refused = this.#line;
    const reached = this.#reached;
    this.#line = [];
    for (const waiter of refused) {
      const refusal = waiter.refused ?? reached ?? this.#refusal(waiter.hold);
      this.#reached ??= refusal;
      waiter.reject(refusal);
    }
  }

  /** The budget of the run, for what the effect of a step starts. @param paid micro-dollars that earlier tries of the step are recorded with */
  lend(paid: number): LentBudget {
    return new LentBudget(this, paid);
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

  get accounts(): BudgetPool["accounts"] {
    return this.#funds?.accounts;
  }

  /** Takes an amount for somebody to whom the budget is lent. @throws BudgetError, ControlError */
  take(amount: number, ending: Cancellation): Promise<void> {
    if (ending.ended !== undefined) return Promise.reject(interruptionBy(ending.ended.reason));
    return new Promise((resolve, reject) => {
      const unsubscribe = ending.onEnd((reason) => reject(interruptionBy(reason)));
      const over = (then: () => void): void => {
        unsubscribe();
        then();
      };
      const enter = (): void => {
        this.#lentHeld += amount;
        over(resolve);
      };
      this.#wait({ hold: amount, ending, enter, reject: (error) => over(() => reject(error)), isLent: true });
    });
  }

  /** Changes what is lent by so much. */
  lent(change: { readonly spent: number; readonly held: number }): void {
    this.#lentSpent += change.spent;
    this.#lentHeld += change.held;
  }

  /** Counts what was spent elsewhere for the run. */
  charge(amount: number): void {
    this.#funds?.charge(amount);
  }

  #wait(waiter: Waiter): void {
    this.#line.push(waiter);
    this.settled();
  }

  #begin(hold: number, start: StartTry, scope: CancellationScope): Promise<void> {
    if (this.#funds !== undefined && hold > 0) return this.#takeAbove(this.#funds, hold, start, scope);
    start(undefined);
    return Promise.resolve();
  }

  async #takeAbove(funds: Funds, hold: number, start: StartTry, scope: CancellationScope): Promise<void> {
    this.#coming += hold;
    const answer = await funds.reserve(hold, scope).catch((error: unknown) => error as Error);
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
        this.#wait({ hold, ending: scope, enter: () => {}, reject, refused: error });
      }),
    );
  }

  /** Whether something is open that may make room, or, once the budget is reached, that is to end before the run does. */
  get #isOpen(): boolean {
    return this.#state.ledger.held + this.#lentHeld > 0 || (this.#reached === undefined && this.#coming > 0);
  }

  get #spent(): number {
    return this.#state.ledger.spent + this.#lentSpent;
  }

  #fits(hold: number): boolean {
    if (hold > 0 && this.#reached !== undefined) return false;
    const { budget, ledger } = this.#state;
    return budget === undefined || ledger.fits((hold + this.#coming + this.#lentSpent + this.#lentHeld) as MicroUsd, budget as MicroUsd);
  }

  /** Whether it could fit if what is open cost nothing. */
  #mayFit(hold: number): boolean {
    return this.#reached === undefined && this.#spent + hold <= (this.#state.budget ?? Infinity);
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

/** Whose budget is lent. */
export interface Lender extends Pick<BudgetPool, "id" | "rank" | "accounts"> {
  /** Whether the budget, or a pool above it, bounds what is spent. */
  readonly isBinding: boolean;
  /** Takes an amount as soon as it fits. @throws BudgetError, ControlError */
  take(amount: number, ending: Cancellation): Promise<void>;
  /** Told how what is lent has changed. Lets nobody in. */
  lent(change: { readonly spent: number; readonly held: number }): void;
  /** To be called when there may be room. */
  settled(): void;
  /** Counts what was spent elsewhere with the pools above. */
  charge(amount: number): void;
}

/**
 * The budget of a run as the effect of one step has it, for a run or an agent that it starts. It owns what was spent of it and is held since
 * the step began; the step's own cost tells both when it ends (`close`).
 *
 * LentBudget.L1 what is spent here is part of the cost of the step, once: what a spender had spent before counts only as far as earlier
 * tries of the step do not tell it (`open`). LentBudget.L2 after `close` nothing is taken, and what is settled late changes nothing.
 */
export class LentBudget implements BudgetPool {
  readonly id: string;
  readonly rank: number;
  readonly isBinding: boolean;
  readonly accounts: BudgetPool["accounts"];
  readonly #lender: Lender;
  readonly #known = new Map<string, number>();
  /** Recorded with the step, and not yet found in the record of a spender. */
  #paid: number;
  #spent = 0;
  #held = 0;
  #isClosed = false;

  constructor(lender: Lender, paid: number) {
    this.id = lender.id;
    this.rank = lender.rank;
    this.isBinding = lender.isBinding;
    this.accounts = lender.accounts;
    this.#lender = lender;
    this.#paid = paid;
  }

  open(account: string, { spent }: AccountOptions): Promise<BudgetAccount> {
    const news = Math.max(0, spent - (this.#known.get(account) ?? 0));
    this.#known.set(account, Math.max(spent, this.#known.get(account) ?? 0));
    const paid = Math.min(this.#paid, news);
    this.#paid -= paid;
    if (news > paid && !this.#isClosed) {
      this.#change(news - paid, 0);
      this.#lender.charge(news - paid);
    }
    return Promise.resolve(this.#account(account));
  }

  /** Ends it. @returns micro-dollars that were spent, with those that may have been */
  close(): number {
    const all = this.#spent + this.#held;
    this.#isClosed = true;
    // Nobody may be let in before the step has told its cost.
    this.#lender.lent({ spent: -this.#spent, held: -this.#held });
    return all;
  }

  #account(name: string): BudgetAccount {
    const open = new Map<BudgetHold, number>();
    return {
      reserve: async (amount, ending) => {
        if (this.#isClosed) throw stepOver(this.id);
        await this.#lender.take(amount, ending);
        if (this.#isClosed) {
          this.#change(0, -amount);
          throw stepOver(this.id);
        }
        this.#held += amount;
        const hold: BudgetHold = {
          settle: (cost) => {
            if (!open.delete(hold) || this.#isClosed) return;
            this.#known.set(name, (this.#known.get(name) ?? 0) + cost);
            this.#change(cost, -amount);
          },
        };
        open.set(hold, amount);
        return hold;
      },
      // The accounts above are charged beside this one.
      charge: (amount) => this.#isClosed || this.#change(amount, 0),
      close: () => {
        for (const [hold, amount] of open) hold.settle(amount);
      },
    };
  }

  #change(spent: number, held: number): void {
    if (!this.#isClosed) this.#spent += spent;
    if (!this.#isClosed) this.#held += held;
    this.#lender.lent({ spent, held });
    this.#lender.settled();
  }
}

function stepOver(run: string): UsageError {
  return new UsageError(
    "STEP_OVER",
    `Expected the budget of a step to be used while its effect runs, but the step of ${run} is over. Await what the effect starts before it returns.`,
  );
}
