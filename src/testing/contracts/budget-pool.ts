import type { BudgetAccount, BudgetHold, BudgetPool } from "../../kernel/budget.ts";
import { AbortedError, TroupeError } from "../../kernel/errors.ts";
import { type Cancellation, cancellationOf } from "../../kernel/cancellation.ts";
import { checkContract, type ContractKit, turns } from "./contract-kit.ts";

/** Makes a pool with so many micro-dollars, with a new name each time. */
export type MakeBudgetPool = (amount: number) => BudgetPool | Promise<BudgetPool>;

/**
 * The contract of every {@link BudgetPool}.
 *
 * BudgetPool.B1 no reservation takes spending and holds above the amount. BudgetPool.B2 a reservation that does not fit waits while open
 * holds of any account could make room, and is refused with code `BUDGET` otherwise. BudgetPool.B3 a caller that is ended while it waits
 * holds nothing. BudgetPool.B4 an account is charged once with the spending in its record. BudgetPool.B5 a closed account holds nothing:
 * open holds count as spent. BudgetPool.B6 a hold settles once, at its cost, which may exceed the hold. BudgetPool.B7 a lost hold counts as spent until
 * it is settled, once; an account that is opened again has only those of its record. BudgetPool.B8 a call that repeats lost ones takes their
 * room where it would be refused otherwise.
 */
export function budgetPoolContract(kit: ContractKit, name: string, make: MakeBudgetPool): void {
  checkContract("budgetPoolContract", kit, name, make);
  kit.describe(`${name} keeps the contract of a budget pool`, () => {
    waitingChecks(kit, make);
    accountChecks(kit, make);
    lostChecks(kit, make);
  });
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

async function held(asked: AskedHold): Promise<BudgetHold> {
  const hold = await asked.done;
  if (hold === undefined) throw new Error(`Expected a hold, but the reservation was ${asked.state}.`);
  return hold;
}

function waitingChecks({ it, expect }: ContractKit, make: MakeBudgetPool): void {
  it("BudgetPool.B1 BudgetPool.B2 what does not fit waits for the hold of another, and comes in when enough was left", async () => {
    const pool = await make(100);
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    const first = await held(ask(ann, 60));
    const second = ask(ben, 60);
    await turns();
    expect(second.state).toBe("waits");
    first.settle(40);
    await second.done;
    expect(second.state).toBe("held");
  });

  it("BudgetPool.B2 what could not fit if all that is open cost nothing is refused at once, though others are open", async () => {
    const pool = await make(100);
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    (await held(ask(ann, 30))).settle(30);
    await held(ask(ann, 10));
    const refused = ask(ben, 71);
    await refused.done;
    expect(refused.state).toBe("refused");
  });

  it("BudgetPool.B2 who waits is refused as soon as nothing open could make room", async () => {
    const pool = await make(100);
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    const [one, two] = [await held(ask(ann, 40)), await held(ask(ann, 40))];
    const waiting = ask(ben, 70);
    one.settle(40);
    await waiting.done;
    expect(waiting.state).toBe("refused");
    two.settle(0);
  });

  it("BudgetPool.B3 who is ended while waiting leaves the line, and holds nothing", async () => {
    const pool = await make(100);
    const ann = await opened(pool, "Ann");
    const first = await held(ask(ann, 60));
    const stop = new AbortController();
    const gone = ask(ann, 60, cancellationOf(stop.signal));
    await turns();
    stop.abort(new AbortedError());
    await gone.done;
    expect(gone.state).toBe("ended");
    first.settle(0);
    await held(ask(ann, 100));
  });
}

function accountChecks({ it, expect }: ContractKit, make: MakeBudgetPool): void {
  it("BudgetPool.B4 what a record tells is charged once, however often its account is opened", async () => {
    const pool = await make(100);
    const first = await opened(pool, "Ann", 30);
    (await held(ask(first, 20))).settle(20);
    await first.close(false);
    const again = await opened(pool, "Ann", 50);
    const tooMuch = ask(again, 51);
    await tooMuch.done;
    expect(tooMuch.state).toBe("refused");
    await held(ask(again, 50));
  });

  it("BudgetPool.B4 what was spent elsewhere counts at once, also when it does not fit", async () => {
    const pool = await make(100);
    const ann = await opened(pool, "Ann");
    ann.charge(90);
    const [some, all] = [ask(ann, 20), ask(ann, 10)];
    await Promise.all([some.done, all.done]);
    expect([some.state, all.state]).toEqual(["refused", "held"]);
  });

  it("BudgetPool.B5 an account that is closed leaves nothing held: what was open counts as spent", async () => {
    const pool = await make(100);
    const [ann, ben] = [await opened(pool, "Ann"), await opened(pool, "Ben")];
    await held(ask(ann, 60));
    const waiting = ask(ben, 50);
    const fitting = ask(ben, 40);
    await fitting.done;
    await ann.close(false);
    await waiting.done;
    expect([waiting.state, fitting.state]).toEqual(["refused", "held"]);
  });

  it("BudgetPool.B6 a hold settles once, at more than was held if it cost more", async () => {
    const pool = await make(100);
    const ann = await opened(pool, "Ann");
    const hold = await held(ask(ann, 10));
    hold.settle(70);
    hold.settle(70);
    const [more, rest] = [ask(ann, 31), ask(ann, 30)];
    await Promise.all([more.done, rest.done]);
    expect([more.state, rest.state]).toEqual(["refused", "held"]);
  });
}

function lostChecks({ it, expect }: ContractKit, make: MakeBudgetPool): void {
  it("BudgetPool.B7 a lost hold counts as spent until it is settled, once, at its cost", async () => {
    const pool = await make(100);
    const ann = await pool.open("Ann", { spent: 10, lost: [60] });
    const late = ann.lose(20);
    const tooMuch = ask(ann, 11);
    await tooMuch.done;
    expect(tooMuch.state).toBe("refused");
    for (const hold of [...ann.lost, late]) {
      hold.settle(5);
      hold.settle(5);
    }
    await ann.close(false);
    const again = await opened(pool, "Ann", 20);
    const [more, rest] = [ask(again, 81), ask(again, 80)];
    await Promise.all([more.done, rest.done]);
    expect([more.state, rest.state]).toEqual(["refused", "held"]);
  });

  it("BudgetPool.B7 an account that is opened again has the lost holds of its record, and no others", async () => {
    const pool = await make(100);
    const first = await pool.open("Ann", { spent: 0, lost: [30] });
    await held(ask(first, 40));
    await first.close(false);
    const again = await pool.open("Ann", { spent: 0, lost: [30, 20] });
    const [more, rest] = [ask(again, 51), ask(again, 50)];
    await Promise.all([more.done, rest.done]);
    expect([more.state, rest.state]).toEqual(["refused", "held"]);
  });

  it("BudgetPool.B8 a call that repeats a lost one takes its room where none is left, and both are settled", async () => {
    const pool = await make(100);
    const ann = await pool.open("Ann", { spent: 10, lost: [80] });
    const other = ask(ann, 80);
    await other.done;
    expect(other.state).toBe("refused");
    const again = await held(ask(ann, 80, never, ann.lost));
    for (const hold of [...ann.lost, again]) hold.settle(20);
    const [more, rest] = [ask(ann, 51), ask(ann, 50)];
    await Promise.all([more.done, rest.done]);
    expect([more.state, rest.state]).toEqual(["refused", "held"]);
  });

  it("BudgetPool.B8 a reservation waits for lost calls that are about to be repeated, and is refused when they are not", async () => {
    const pool = await make(100);
    const ann = await pool.open("Ann", { spent: 0, lost: [80] });
    const ben = await opened(pool, "Ben");
    const [fitting, waiting] = [ask(ben, 60), ask(ben, 90)];
    await turns();
    expect([fitting.state, waiting.state]).toEqual(["waits", "waits"]);
    const again = await held(ask(ann, 80, never, ann.lost));
    for (const hold of [...ann.lost, again]) hold.settle(10);
    await Promise.all([fitting.done, waiting.done]);
    expect([fitting.state, waiting.state]).toEqual(["held", "refused"]);
    (await held(fitting)).settle(60);
    const cal = await pool.open("Cal", { spent: 0, lost: [20] });
    const last = ask(ben, 10);
    await turns();
    expect(last.state).toBe("waits");
    await cal.close(false);
    await last.done;
    expect(last.state).toBe("refused");
  });
}
