import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { postgresBudget, type PostgresBudget, type PostgresBudgetOptions } from "../../src/adapters/postgres-budget.ts";
import { PostgresDatabase } from "../../src/adapters/postgres-database.ts";
import { postgresLimits, type PostgresLimits, type PostgresLimitsOptions } from "../../src/adapters/postgres-limits.ts";
import { postgresServer } from "../../src/adapters/postgres-server.ts";
import { sharedPart } from "../../src/adapters/postgres-shared-tables.ts";
import { postgresStore } from "../../src/adapters/postgres-store.ts";
import { cancellationOf } from "../../src/kernel/cancellation.ts";
import { type Clock, systemClock } from "../../src/kernel/clock.ts";
import type { MessageToStore, StoredVector } from "../../src/memory/message-store.ts";
import { createMessage } from "../../src/message/message.ts";
import type { ModelLimits } from "../../src/model/limits.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { budgetPoolContract } from "../../src/testing/contracts/budget-pool.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";
import { modelLimitsContract } from "../../src/testing/contracts/model-limits.ts";
import { errorOf } from "../workspace/scratch.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "./postgres-process.ts";

/*
 * Budgets, limits and memories in Postgres on one server. What is shared by processes that are killed is in `postgres-shared.long.test.ts`.
 */

const signal = new AbortController().signal;
const never = cancellationOf(signal);
const request = { tokens: 1, clock: systemClock, signal };

describe("the options of what is shared in Postgres", () => {
  const url = "postgres://ada:s3cret-word@localhost/db";
  it.each([
    [() => postgresBudget({ url, name: "" }), "OPTION_INVALID"],
    [() => postgresBudget({ url, name: "a\u0000b" }), "OPTION_INVALID"],
    [() => postgresBudget({ url, name: "a", amount: 0.5 as MicroUsd }), "OPTION_INVALID"],
    [() => postgresBudget({ url, name: "a", parent: {} as PostgresBudget }), "OPTION_INVALID"],
    [() => postgresBudget({ url, name: "a" }).invest(-1), "OPTION_INVALID"],
    [() => postgresLimits({ url, name: "a\n" }), "OPTION_INVALID"],
    [() => postgresLimits({ url, name: "a", requestsPerSecond: 0 }), "LIMIT_INVALID"],
    [() => postgresLimits({ url, name: "a", perSecond: 1 } as PostgresLimitsOptions), "OPTION_UNKNOWN"],
  ])("%s is refused", async (make, code) => {
    const error = await errorOf(async () => make());
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("s3cret-word");
  });
});

describe.runIf(hasPostgres)("what is shared in Postgres", () => {
  let server: PostgresProcess;
  let table: PostgresDatabase;
  const budgets: PostgresBudget[] = [];
  const limited = new Map<ModelLimits, string>();
  let stores = 0;
  const closing: (() => Promise<void>)[] = [];

  const budget = (o: Omit<PostgresBudgetOptions, "url">): PostgresBudget => {
    const pool = postgresBudget({ url: server.url, connections: 2, ...o });
    budgets.push(pool);
    return pool;
  };
  const newBudget = (amount: number): PostgresBudget => budget({ name: `b${budgets.length}`, amount: amount as MicroUsd });
  const sameBudget = (): PostgresBudget => budget({ name: `b${budgets.length - 1}` });
  const limits = (name: string, o: Omit<PostgresLimitsOptions, "url" | "name">): PostgresLimits => {
    const made = postgresLimits({ url: server.url, connections: 2, name, ...o });
    limited.set(made, name);
    closing.push(() => made.close());
    return made;
  };
  const newLimits = (o: Omit<PostgresLimitsOptions, "url" | "name">): PostgresLimits => limits(`l${limited.size}`, o);
  /** Time for those who wait to be answered. */
  const settled = async (): Promise<void> => {
    for (let n = 0; n < 8; n += 1) await table.rows("SELECT");
  };

  beforeAll(async () => {
    server = await startPostgres();
    table = new PostgresDatabase(sharedPart("LIMITS"), postgresServer("test", { url: server.url }));
  });
  afterAll(async () => {
    await Promise.all([...budgets.map((one) => one.close()), ...closing.map((close) => close())]);
    await table.close();
  });

  budgetPoolContract({ describe, it, expect }, "postgresBudget", newBudget);

  it("PostgresPool.G1 PostgresPool.G2 PostgresAccount.A3 two processes with one name have one budget", async () => {
    const [one, other] = [newBudget(100), sameBudget()];
    const [ann, ben] = [await one.open("Ann", { spent: 0 }), await other.open("Ben", { spent: 0 })];
    const hold = await ann.reserve(80, never);
    const waiting = ben.reserve(70, never);
    hold.settle(20);
    (await waiting).settle(70);
    await ben.close(true);
    expect(await one.amounts()).toEqual({ amount: 100, spent: 90, held: 0 });
    expect((await errorOf(() => ann.reserve(11, never))).code).toBe("BUDGET");
    other.invest(101);
    await other.amounts();
    (await ann.reserve(11, never)).settle(0);
  });

  it("PostgresPool.G4 a run that continues elsewhere is charged with its record, and its former owner takes nothing more", async () => {
    const [one, other] = [newBudget(100), sameBudget()];
    const first = await one.open("run \u0000", { spent: 0 });
    (await first.reserve(20, never)).settle(15);
    const lost = await first.reserve(30, never);
    // Its record counts the call in flight at its hold.
    const second = await other.open("run \u0000", { spent: 45 });
    expect((await errorOf(() => first.reserve(1, never))).code).toBe("ABORTED");
    (await second.reserve(55, never)).settle(50);
    lost.settle(1);
    await second.close(false);
    await first.close(false);
    expect(await one.amounts()).toEqual({ amount: 100, spent: 95, held: 0 });
    await (await one.open("run \u0000", { spent: 95 })).close(true);
    expect(await one.amounts()).toEqual({ amount: 100, spent: 95, held: 0 });
  });

  it("PostgresPool.G3 an account that cannot be opened leaves nothing that lets this process be seen", async () => {
    const waits = new Set<object>();
    const timer: Clock["timer"] = (ms, fire) => {
      const wait = {};
      // The question of a connection that is needed.
      if (ms > 5_000 && ms <= 10_000) waits.add(wait);
      const over = systemClock.timer(ms, () => {
        waits.delete(wait);
        fire();
      });
      return () => {
        waits.delete(wait);
        over();
      };
    };
    const pool = budget({ name: `b${budgets.length}`, amount: 100 as MicroUsd, clock: { now: systemClock.now, timer }, timeout: 60_000 });
    const account = await pool.open("whole", { spent: 0, lost: [1] });
    // Between two questions there is none for a moment.
    await vi.waitFor(() => expect(waits.size).toBe(1), { timeout: 30_000 });
    await account.close(true);
    expect(waits.size).toBe(0);
    expect((await errorOf(() => pool.open("run", { spent: Number.NaN, lost: [1] }))).code).toMatch(/^BUDGET/);
    expect(waits.size).toBe(0);
  });

  it("PostgresPool.G6 lost calls of a dead owner are repeated in their room elsewhere, and others wait for their settlement", async () => {
    const [one, other] = [newBudget(100), sameBudget()];
    await (await one.open("run", { spent: 0 })).reserve(80, never);
    const account = await other.open("run", { spent: 0, lost: [80] });
    expect(await one.amounts()).toEqual({ amount: 100, spent: 80, held: 0 });
    const another = await one.open("another", { spent: 0 });
    const waiting = another.reserve(60, never);
    const again = await account.reserve(80, never, account.lost);
    expect(await one.amounts()).toEqual({ amount: 100, spent: 0, held: 80 });
    for (const hold of [...account.lost, again]) hold.settle(10);
    (await waiting).settle(60);
    await Promise.all([account.close(true), another.close(true)]);
    expect((await one.amounts()).spent).toBe(80);
  });

  it("PostgresAccount.A1 what is settled and charged counts once, and nothing after the account is closed", async () => {
    const pool = newBudget(100);
    const account = await pool.open("run", { spent: 5 });
    const [hold, late] = [await account.reserve(10, never), await account.reserve(20, never)];
    hold.settle(7);
    hold.settle(7);
    account.charge(3);
    await account.close(false);
    late.settle(1);
    account.charge(1);
    expect(await pool.amounts()).toEqual({ amount: 100, spent: 35, held: 0 });
  });

  it("PostgresPool.G2 PostgresPool.G5 a reservation that waits when the budget is closed is refused, and holds nothing", async () => {
    const [one, other] = [newBudget(100), sameBudget()];
    const [ann, ben] = [await one.open("Ann", { spent: 0 }), await other.open("Ben", { spent: 0 })];
    const hold = await ann.reserve(60, never);
    const waiting = errorOf(() => ben.reserve(60, never));
    await settled();
    await other.close();
    expect((await waiting).code).toBe("BUDGET_CLOSED");
    hold.settle(0);
    (await ann.reserve(100, never)).settle(0);
  });

  modelLimitsContract({ describe, it, expect }, "postgresLimits", newLimits, {
    settled,
    // Time passes for the database when what it has recorded is moved into the past.
    async pass(made, ms) {
      await table.rows("UPDATE troupe.limit_uses SET counts_from = counts_from - $2 * interval '1 millisecond' WHERE limits = $1", [
        limited.get(made),
        ms,
      ]);
    },
  });

  it("DatabaseLimits.D1 DatabaseLimits.D4 DatabaseLimits.D5 two processes share a limit; one that gives up takes nothing", async () => {
    const [one, other] = [newLimits({ concurrency: 1 }), limits(`l${limited.size - 1}`, { concurrency: 1 })];
    const lease = await one.acquire(request);
    const stop = new AbortController();
    const gone = other.acquire({ ...request, signal: stop.signal });
    await settled();
    stop.abort();
    expect((await errorOf(() => gone)).code).toBe("ABORTED");
    const firsts = (): Promise<readonly object[]> =>
      table.rows("SELECT FROM troupe.limits WHERE name = $1 AND first IS NOT NULL", [limited.get(one)]);
    while ((await firsts()).length > 0) await settled();
    let got = false;
    const second = other.acquire(request).finally(() => (got = true));
    await settled();
    expect(got).toBe(false);
    lease.release();
    (await second).release();
  });

  it("DatabaseLimits.D2 a place that comes late is given back, and asked for again with more allowance", async () => {
    const made = newLimits({ requestsPerMinute: 10 });
    let now = 0;
    // By this clock each answer takes four seconds. Three are allowed at first.
    const slow = { now: () => (now += 4_000), timer: systemClock.timer };
    await made.acquire({ ...request, clock: slow });
    await made.close();
    const found = await table.rows<{ late: boolean }>(
      "SELECT counts_from > clock_timestamp() + interval '3.5 seconds' AS late FROM troupe.limit_uses WHERE limits = $1",
      [limited.get(made)],
    );
    expect(found).toEqual([{ late: true }]);
  });

  messageStoreContract({ describe, it, expect }, "postgresStore", () =>
    postgresStore({ url: server.url, connections: 2, schema: `m${(stores += 1)}` }),
  );

  it("PostgresStore.S2 a damaged message is counted and healed, and a damaged vector is left out", async () => {
    const store = postgresStore({ url: server.url, schema: "damaged" });
    const entry = (id: string): MessageToStore => ({
      runId: "r",
      addedAt: 1,
      message: createMessage(`words of ${id}`, { id, timestamp: 1 }),
    });
    const [first, second] = await store.add("Ada", [entry("a"), entry("b")]);
    await store.writeVectors(
      "Ada",
      "f",
      [first, second].map((one, n) => ({ place: one?.place ?? 0, vector: Float32Array.of(n, 1) })),
    );
    await table.rows("UPDATE damaged.memory_messages SET body = replace(body, 'words of a', 'words of A')");
    await table.rows("UPDATE damaged.memory_vectors SET vector = set_byte(vector, 0, 1) WHERE place % 2 = 0");
    const reading = (async () => {
      for await (const _page of store.read("Ada", 0));
    })();
    await expect(reading).rejects.toMatchObject({ code: "MEMORY_DAMAGED" });
    const vectors: StoredVector[] = [];
    for await (const page of store.readVectors("Ada", "f", 0)) vectors.push(...page);
    expect(vectors).toEqual([{ place: first?.place, vector: Float32Array.of(0, 1) }]);
    await store.close();
  });

  it("errors have a code and no password, and are interruptions", async () => {
    const url = "postgres://ada:s3cret-word@127.0.0.1:1/db";
    const away = postgresBudget({ url, name: "b", patience: 1 });
    const none = postgresLimits({ url, name: "l", concurrency: 1, patience: 1 });
    const errors = [await errorOf(() => away.open("run", { spent: 0 })), await errorOf(() => none.acquire(request))];
    expect(errors.map(({ code }) => code)).toEqual(["BUDGET_UNREACHABLE", "LIMITS_UNREACHABLE"]);
    for (const { message } of errors) expect(message).not.toContain("s3cret-word");
    const memory = postgresStore({ url, patience: 1 });
    expect((await errorOf(() => memory.state("Ada"))).code).toBe("MEMORY_UNREACHABLE");
    await Promise.all([away.close(), none.close(), memory.close()]);
  });
});
