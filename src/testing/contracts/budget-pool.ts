import type { BudgetAccount, BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import { AbortedError, TroupeError } from "../../kernel/errors.ts";
import { type Cancellation, cancellationOf } from "../../kernel/cancellation.ts";
import { checkContract, type ContractKit, turns } from "./contract-kit.ts";

export type MakeBudgetPool = (amount: number) => BudgetPool | Promise<BudgetPool>;

/**
 * The contract of every {@link BudgetPool}.
 *
 * BudgetPool.B1 spending and holds stay within the amount. BudgetPool.B2 a reservation waits while open holds of any account could make
 * room, else it is refused with `BUDGET`. BudgetPool.B3 a caller that is ended while it waits holds nothing. BudgetPool.B4 an account is
 * charged once with the spending in its record. BudgetPool.B5 open holds of a closed account count as spent. BudgetPool.B6 a hold settles
 * once, at its cost, which may exceed it. BudgetPool.B7 a lost hold counts as spent until it is settled. BudgetPool.B8 a call that repeats
 * lost ones takes their room where it would be refused otherwise.
 */
export function budgetPoolContract(kit: ContractKit, name: string, make: MakeBudgetPool): void {
  checkContract("budgetPoolContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a budget pool`, () => {
    const checks: PoolChecks = { expect: kit.expect, check: (title, body) => kit.it(title, async () => body(await make(100))) };
    waitingChecks(checks);
    accountChecks(checks);
    lostChecks(checks);
  });
}

/** Each check gets a pool of 100 micro-dollars. */
interface PoolChecks {
  check(title: string, body: (pool: BudgetPool) => Promise<void>): void;
  readonly expect: ContractKit["expect"];
}

const opened = (pool: BudgetPool, spender: string, spent = 0): Promise<BudgetAccount> => pool.open(spender, { spent });

const never: Cancellation = cancellationOf(new AbortController().signal);

interface AskedHold {
  state: "waits" | "held" | "refused" | "ended";
  readonly done: Promise<BudgetHold | undefined>;
}

function ask(account: BudgetAccount, amount: number, ending: Cancellation = never, repeats: readonly BudgetHold[] = []): AskedHold {
  const asked: { -readonly [K in keyof AskedHold]: AskedHold[K] } = { state: "waits", done: Promise.resolve(undefined) };
  asked.done = account.reserve(amount, ending, repeats).then(
    (hold) => {
      asked.state = "held";
      return hold;
    },
    (error: unknown) => {
      asked.state = TroupeError.isInstance(error) && error.code === "BUDGET" ? "refused" : "ended";
      return undefined;
    },
  );
  return asked;
}

async function outcomes(...asked: readonly AskedHold[]): Promise<readonly string[]> {
  for (const one of asked) await one.done;
  return asked.map(({ state }) => state);
}

async function held(asked: AskedHold): Promise<BudgetHold> {
  const hold = await asked.done;
  if (hold === undefined) throw new Error(`Expected a hold, but the reservation was ${asked.state}.`);
  return hold;
}

function waitingChecks({ check, expect }: PoolChecks): void {
  check("BudgetPool.B1 BudgetPool.B2 what does not fit waits for the hold of another, and comes in when enough was left", async (pool) => {
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    const first = await held(ask(ann, 60));
    const second = ask(ben, 60);
    await turns();
    expect(second.state).toBe("waits");
    first.settle(40);
    expect(await outcomes(second)).toEqual(["held"]);
  });

  check("BudgetPool.B2 what could not fit if all that is open cost nothing is refused at once, though others are open", async (pool) => {
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    (await held(ask(ann, 30))).settle(30);
    await held(ask(ann, 10));
    const refused = ask(ben, 71);
    expect(await outcomes(refused)).toEqual(["refused"]);
  });

  check("BudgetPool.B2 who waits is refused as soon as nothing open could make room", async (pool) => {
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    const [one, two] = [await held(ask(ann, 40)), await held(ask(ann, 40))];
    const waiting = ask(ben, 70);
    one.settle(40);
    expect(await outcomes(waiting)).toEqual(["refused"]);
    two.settle(0);
  });

  check("BudgetPool.B3 who is ended while waiting leaves the line, and holds nothing", async (pool) => {
    const ann = await opened(pool, "Ann");
    const first = await held(ask(ann, 60));
    const stop = new AbortController();
    const gone = ask(ann, 60, cancellationOf(stop.signal));
    await turns();
    stop.abort(new AbortedError());
    expect(await outcomes(gone)).toEqual(["ended"]);
    first.settle(0);
    await held(ask(ann, 100));
  });
}

function accountChecks({ check, expect }: PoolChecks): void {
  check("BudgetPool.B4 the spending in a record is charged once, however often its account is opened", async (pool) => {
    const first = await opened(pool, "Ann", 30);
    (await held(ask(first, 20))).settle(20);
    await first.close(false);
    const again = await opened(pool, "Ann", 50);
    const tooMuch = ask(again, 51);
    expect(await outcomes(tooMuch)).toEqual(["refused"]);
    await held(ask(again, 50));
  });

  check("BudgetPool.B4 what was spent elsewhere counts at once, also when it does not fit", async (pool) => {
    const ann = await opened(pool, "Ann");
    ann.charge(90);
    const [some, all] = [ask(ann, 20), ask(ann, 10)];
    expect(await outcomes(some, all)).toEqual(["refused", "held"]);
  });

  check("BudgetPool.B5 an account that is closed leaves nothing held: what was open counts as spent", async (pool) => {
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    await held(ask(ann, 60));
    const waiting = ask(ben, 50);
    const fitting = ask(ben, 40);
    await fitting.done;
    await ann.close(false);
    await waiting.done;
    expect([waiting.state, fitting.state]).toEqual(["refused", "held"]);
  });

  check("BudgetPool.B6 a hold settles once, at more than was held if it cost more", async (pool) => {
    const ann = await opened(pool, "Ann");
    const hold = await held(ask(ann, 10));
    hold.settle(70);
    hold.settle(70);
    const [more, rest] = [ask(ann, 31), ask(ann, 30)];
    expect(await outcomes(more, rest)).toEqual(["refused", "held"]);
  });
}

function lostChecks({ check, expect }: PoolChecks): void {
  check("BudgetPool.B7 a lost hold counts as spent until it is settled, once, at its cost", async (pool) => {
    const ann = await pool.open("Ann", { spent: 10, lost: [60] });
    const late = ann.lose(20);
    const tooMuch = ask(ann, 11);
    expect(await outcomes(tooMuch)).toEqual(["refused"]);
    for (const hold of [...ann.lost, late]) {
      hold.settle(5);
      hold.settle(5);
    }
    await ann.close(false);
    const again = await opened(pool, "Ann", 20);
    const [more, rest] = [ask(again, 81), ask(again, 80)];
    expect(await outcomes(more, rest)).toEqual(["refused", "held"]);
  });

  check("BudgetPool.B7 an account that is opened again has the lost holds of its record, and no others", async (pool) => {
    const first = await pool.open("Ann", { spent: 0, lost: [30] });
    await held(ask(first, 40));
    await first.close(false);
    const again = await pool.open("Ann", { spent: 0, lost: [30, 20] });
    const [more, rest] = [ask(again, 51), ask(again, 50)];
    expect(await outcomes(more, rest)).toEqual(["refused", "held"]);
  });

  check("BudgetPool.B8 a call that repeats a lost one takes its room where none is left, and both are settled", async (pool) => {
    const ann = await pool.open("Ann", { spent: 10, lost: [80] });
    const other = ask(ann, 80);
    expect(await outcomes(other)).toEqual(["refused"]);
    const again = await held(ask(ann, 80, never, ann.lost));
    for (const hold of [...ann.lost, again]) hold.settle(20);
    const [more, rest] = [ask(ann, 51), ask(ann, 50)];
    expect(await outcomes(more, rest)).toEqual(["refused", "held"]);
  });

  check(
    "BudgetPool.B8 a reservation waits for lost calls that are about to be repeated, and is refused when they are not",
    async (pool) => {
      const ann = await pool.open("Ann", { spent: 0, lost: [80] });
      const ben = await opened(pool, "Ben");
      const [fitting, waiting] = [ask(ben, 60), ask(ben, 90)];
      await turns();
      expect([fitting.state, waiting.state]).toEqual(["waits", "waits"]);
      const again = await held(ask(ann, 80, never, ann.lost));
      for (const hold of [...ann.lost, again]) hold.settle(10);
      expect(await outcomes(fitting, waiting)).toEqual(["held", "refused"]);
      (await held(fitting)).settle(60);
      const cal = await pool.open("Cal", { spent: 0, lost: [20] });
      const last = ask(ben, 10);
      await turns();
      expect(last.state).toBe("waits");
      await cal.close(false);
      expect(await outcomes(last)).toEqual(["refused"]);
    },
  );
}
