import type { BudgetAccount, BudgetHold, BudgetPool, OpenAccount } from "../kernel/budget.ts";
import type { Cancellation } from "../kernel/cancellation.ts";
import { BudgetError, StepError } from "../kernel/errors.ts";
import { type Attempts, attemptsWith, type StepDoor, type StepPort } from "../kernel/step.ts";

/** See {@link BudgetPool.open}. */
export interface Spender {
  readonly name: string;
  readonly spent: number;
  /** Pools that an enclosing run or agent charges for its steps. Default: none. */
  readonly paid?: readonly BudgetPool[] | undefined;
  /** Calls whose end is unknown, with their holds in micro-dollars. */
  readonly lost?: readonly (readonly [name: string, amount: number])[];
}

/**
 * The accounts of one spender with all pools that bind it. It owns the accounts that it opened.
 *
 * Funds.F1 (`reserve`) a hold is taken from every pool, or from none.
 * Funds.F2 (`inOrder`) all spenders ask pools in the same order, so that no two wait for each other.
 * Funds.F3 (`open`) a pool reachable in two ways is asked once.
 * Funds.F4 (`settleLost`) a lost hold is settled once, in each of the pools that keep it.
 */
export class Funds {
  readonly accounts: readonly OpenAccount[];
  readonly #opened: readonly BudgetAccount[];
  /** The index of each lost call in the lists of the accounts. */
  readonly #lost: ReadonlyMap<string, number>;

  private constructor(accounts: readonly OpenAccount[], opened: readonly BudgetAccount[], lost: NonNullable<Spender["lost"]>) {
    this.accounts = accounts;
    this.#opened = opened;
    this.#lost = new Map(lost.map(([name], nth) => [name, nth]));
  }

  static async open(
    pools: readonly (BudgetPool | undefined)[],
    { name, spent, paid = [], lost = [] }: Spender,
  ): Promise<Funds | undefined> {
    const all = new Map<BudgetPool, BudgetAccount | undefined>();
    for (const pool of pools) {
      for (let level = pool; level !== undefined; level = level.parent) {
        if (!all.has(level)) all.set(level, undefined);
        for (const open of level.accounts ?? []) all.set(open.pool, open.account);
      }
    }
    for (const { id } of paid) for (const pool of all.keys()) if (pool.id === id) all.delete(pool);
    if (all.size === 0) return undefined;
    const accounts: OpenAccount[] = [];
    const opened: BudgetAccount[] = [];
    for (const [pool, known] of [...all].toSorted(([a], [b]) => inOrder(a, b))) {
      const account = known ?? (await pool.open(name, { spent, lost: lost.map(([, amount]) => amount) }));
      if (known === undefined) opened.push(account);
      accounts.push({ pool, account });
    }
    return new Funds(accounts, opened, lost);
  }

  get isBinding(): boolean {
    return this.accounts.some(({ pool }) => pool.isBinding !== false);
  }

  get rank(): number {
    return 1 + Math.max(...this.accounts.map(({ pool }) => pool.rank));
  }

  /** @param repeats names of lost calls that the next one repeats @throws BudgetError, ControlError: nothing is taken then */
  async reserve(amount: number, ending: Cancellation, repeats: readonly string[] = []): Promise<BudgetHold> {
    const taken: BudgetHold[] = [];
    const settle = (cost: number): void => {
      for (const hold of taken) hold.settle(cost);
    };
    try {
      for (const { account } of this.accounts) taken.push(await account.reserve(amount, ending, this.#lostOf(account, repeats)));
    } catch (error) {
      settle(0);
      throw error;
    }
    return { settle };
  }

  settleLost(name: string, cost: number): void {
    for (const account of this.#opened) for (const hold of this.#lostOf(account, [name])) hold.settle(cost);
  }

  lose(amount: number): BudgetHold {
    const holds = this.accounts.map(({ account }) => account.lose(amount));
    return {
      settle: (cost) => {
        for (const hold of holds) hold.settle(cost);
      },
    };
  }

  charge(amount: number): void {
    for (const { account } of this.accounts) account.charge(amount);
  }

  #lostOf(account: BudgetAccount, names: readonly string[]): readonly BudgetHold[] {
    if (names.length === 0 || !this.#opened.includes(account)) return [];
    return names.flatMap((name) => account.lost[this.#lost.get(name) ?? -1] ?? []);
  }

  async close(isDone: boolean): Promise<void> {
    await Promise.all(this.#opened.map((account) => account.close(isDone)));
  }
}

function inOrder(a: BudgetPool, b: BudgetPool): number {
  if (a.rank !== b.rank) return b.rank - a.rank;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** A spender without a record, such as a run of an agent alone. Its accounts are opened with the first call. */
export class PoolSpender {
  readonly #pool: BudgetPool;
  readonly #spender: Spender;
  #funds: Promise<Funds | undefined> | undefined;

  /** @param spender its name is unique: its spending is charged once */
  constructor(pool: BudgetPool, spender: Omit<Spender, "spent">) {
    this.#pool = pool;
    this.#spender = { ...spender, spent: 0 };
  }

  attempts(ending: Cancellation): Attempts {
    return poolAttempts(() => (this.#funds ??= Funds.open([this.#pool], this.#spender)), this.#pool, ending);
  }

  /** Steps that this spender pays too: see {@link paidTwice}. An answer from a record is charged at its recorded cost. */
  over(steps: StepPort, ending: Cancellation): StepPort {
    const step: StepPort["step"] = async (spec, effect) => {
      let cost: number | undefined;
      const onRecorded: typeof spec.onRecorded = (given) => {
        cost = given.cost;
        spec.onRecorded?.(given);
      };
      const paid = (door: StepDoor): StepDoor => ({
        ...door,
        attempts: paidTwice(door.attempts, this.attempts(ending)),
        step: this.over(door, ending).step,
      });
      try {
        return await steps.step({ ...spec, onRecorded }, (door) => effect(paid(door)));
      } finally {
        if (cost !== undefined && cost > 0) {
          const attempts = this.attempts(ending);
          await attempts.open(0);
          attempts.settle({ cost, basis: "usage" });
        }
      }
    };
    return { step };
  }

  async close(): Promise<void> {
    // A pool that could not be opened has failed the call that asked.
    const funds = await this.#funds?.catch(() => undefined);
    await funds?.close(true);
  }
}

function poolAttempts(open: () => Promise<Funds | undefined>, budget: BudgetPool, ending: Cancellation): Attempts {
  let funds: Funds | undefined;
  let taken: BudgetHold | undefined;
  return {
    budget,
    async open(hold) {
      funds = await open();
      if (hold > 0) taken = await funds?.reserve(hold, ending);
    },
    settle({ cost = 0 }) {
      if (taken !== undefined) taken.settle(cost);
      else if (cost > 0) funds?.charge(cost);
      taken = undefined;
    },
  };
}

/** The attempts of a step paid from two budgets. A refusal of the second is its recorded StepError `BUDGET`: the enclosing run continues. */
export function paidTwice(attempts: Attempts, own: Attempts): Attempts {
  return attemptsWith(attempts, {
    async open(hold, o) {
      await own.open(hold, o).catch((error: unknown) => {
        throw error instanceof BudgetError ? new StepError(error.code, error.message, { data: error.data }) : error;
      });
      try {
        await attempts.open(hold, o);
      } catch (error) {
        own.settle({ cost: 0, basis: "none" });
        throw error;
      }
    },
    settle(outcome) {
      attempts.settle(outcome);
      own.settle(outcome);
    },
  });
}

export function poolsOf(pool: BudgetPool | undefined): readonly BudgetPool[] {
  return pool === undefined ? [] : [pool, ...(pool.accounts ?? []).map((open) => open.pool), ...poolsOf(pool.parent)];
}
