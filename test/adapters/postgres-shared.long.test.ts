// @module-tag fleet
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { beforeAll, describe, expect, it } from "vitest";
import { postgresBudget } from "../../src/adapters/postgres-budget.ts";
import { postgresLimits } from "../../src/adapters/postgres-limits.ts";
import { postgresStore } from "../../src/adapters/postgres-store.ts";
import { cancellationOf } from "../../src/kernel/cancellation.ts";
import { sleep, systemClock } from "../../src/kernel/clock.ts";
import type { MessageToStore } from "../../src/memory/message-store.ts";
import { createMessage } from "../../src/message/message.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import { errorOf } from "../workspace/scratch.ts";
import { type CuttingProxy, cuttingProxy } from "./cutting-proxy.ts";
import { hasPostgres, type PostgresProcess, startPostgres } from "./postgres-process.ts";
import { startProgram } from "./program-process.ts";
import { RECORD, type SharedTask } from "./postgres-shared-child.ts";
import { figure } from "../long.ts";

/*
 * Three processes share a budget or limits, and are killed again and again, and so is the server.
 */

const signal = new AbortController().signal;
const never = cancellationOf(signal);
const between = (from: number, to: number): number => from + Math.random() * (to - from);

/** Runs a task until it ends by itself; it is killed some times before. @param killed called with the time of each kill */
async function killedOften(
  program: string,
  task: SharedTask,
  o: { readonly kills: number; readonly life: () => number; readonly killed?: (pid: number) => void },
): Promise<string[]> {
  const lines: string[] = [];
  for (let kills = o.kills; ; kills -= 1) {
    const worker = startProgram(program, task);
    if (kills > 0) {
      const isOver = await Promise.race([worker.ended.then(() => true), sleep(systemClock, o.life()).then(() => false)]);
      if (!isOver) {
        worker.kill("SIGKILL");
        o.killed?.(worker.pid);
      }
    }
    const end = await worker.ended;
    lines.push(...worker.lines);
    if (end === 0) return lines;
    if (end !== "SIGKILL") throw new Error(`A worker ended with ${end}: ${worker.trouble()}`);
  }
}

async function queried<R>(server: PostgresProcess, text: string): Promise<readonly R[]> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(text);
  await client.end();
  return rows as R[];
}

describe.runIf(hasPostgres)("what processes share in Postgres", () => {
  it("DatabaseLimits.D1 PostgresPool.G5 a place and a settlement outlive a restart of the server", async () => {
    const server = await startPostgres();
    const pool = postgresBudget({ url: server.url, name: "b", amount: 100 as MicroUsd });
    const made = postgresLimits({ url: server.url, name: "l", concurrency: 1 });
    const request = { tokens: 1, clock: systemClock, signal };
    const account = await pool.open("run", { spent: 0 });
    const hold = await account.reserve(60, never);
    const lease = await made.acquire(request);
    const next = made.acquire(request);
    await server.kill();
    hold.settle(10);
    lease.release();
    const more = account.reserve(80, never);
    await server.restart();
    (await more).settle(80);
    (await next).release();
    await account.close(true);
    expect(await pool.amounts()).toEqual({ amount: 100, spent: 90, held: 0 });
    await Promise.all([pool.close(), made.close()]);
  });

  it("PostgresPool.G1 PostgresPool.G3 PostgresPool.G4 a dollar over three workers is never overspent", async () => {
    const server = await startPostgres();
    const program = await sourceProgram(fileURLToPath(new URL("postgres-shared-child.ts", import.meta.url)));
    await queried(server, RECORD);
    const [name, amount] = ["tenant", 1_000_000];
    let kills = 0;
    const workers = ["a", "b", "c"].map((worker) =>
      killedOften(
        program,
        { kind: "spend", url: server.url, name, amount, runs: [0, 1, 2, 3].map((n) => `${worker}${n}`) },
        { kills: 8, life: () => between(500, 1_500), killed: () => (kills += 1) },
      ),
    );
    const all = Promise.all(workers);
    for (let n = 0; n < 3; n += 1) {
      await sleep(systemClock, between(1_500, 2_500));
      await server.kill();
      await sleep(systemClock, between(0, 500));
      await server.restart();
    }
    await all;
    const [spends] = await queried<{ cost: string }>(server, "SELECT sum(cost) AS cost FROM spends");
    const records = await queried<{ run: string; spent: string }>(
      server,
      "SELECT run, sum(coalesce(cost, hold)) AS spent FROM steps GROUP BY run",
    );
    const budget = postgresBudget({ url: server.url, name });
    for (const { run, spent } of records) await (await budget.open(run, { spent: Number(spent) })).close(false);
    const known = await budget.amounts();
    await budget.close();
    const recorded = records.reduce((sum, { spent }) => sum + Number(spent), 0);
    figure(`budget: ${kills} kills, spent ${Number(spends?.cost)}, recorded ${recorded}, known ${JSON.stringify(known)}`);
    expect(kills).toBeGreaterThan(10);
    expect(Number(spends?.cost)).toBeLessThanOrEqual(amount);
    // Every call of a run is in its record, so the pool knows the sum of the records and nothing else.
    expect(known).toEqual({ amount, spent: recorded, held: 0 });
  });

  it.each(["SIGKILL", "SIGSTOP"] as const)(
    "PostgresPool.G3 PersistentConnection.C2 admits or refuses what waited for a dead or stopped process: %s",
    { timeout: 900_000 },
    async (end) => {
      const server = await startPostgres();
      const budget = postgresBudget({ url: server.url, name: "b", amount: 100 as MicroUsd });
      const program = HOLDER.replaceAll("URL", JSON.stringify(server.url));
      const source = await sourceProgram(fileURLToPath(new URL("postgres-shared-child.ts", import.meta.url)));
      const child = startProgram(source.replace(/\nawait main[^\n]*\n$/, "\n") + program, {});
      await child.said(1);
      const account = await budget.open("mine", { spent: 0 });
      const waiting = errorOf(() => account.reserve(50, never));
      const fitting = account.reserve(30, never);
      child.kill(end);
      (await fitting).settle(30);
      expect((await waiting).code).toBe("BUDGET");
      expect(await budget.amounts()).toEqual({ amount: 100, spent: 90, held: 0 });
      await budget.close();
    },
  );

  it("DatabaseLimits.D1 DatabaseLimits.D2 DatabaseLimits.D3 ten by the second, four at once", async () => {
    const server = await startPostgres();
    const program = await sourceProgram(fileURLToPath(new URL("postgres-shared-child.ts", import.meta.url)));
    const task: SharedTask = { kind: "call", url: server.url, name: "p", limits: { requestsPerSecond: 10, concurrency: 4 }, calls: 40 };
    const deaths = new Map<number, number>();
    const killed = (pid: number): void => void deaths.set(pid, Number(process.hrtime.bigint()) / 1e6);
    const workers = ["a", "b", "c"].map(() => killedOften(program, task, { kills: 2, life: () => between(1_500, 3_000), killed }));
    const told = (await Promise.all(workers)).flat().map((line) => line.split(" "));
    const begins = told.filter(([what]) => what === "begin").map(([, , at]) => Number(at));
    for (const from of begins) expect(begins.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(10);
    const changes = told.map(([what, pid, at]) => ({ pid: Number(pid), at: Number(at), more: what === "begin" ? 1 : -1 }));
    for (const [pid, at] of deaths) {
      const left = changes.filter((one) => one.pid === pid).reduce((sum, { more }) => sum + more, 0);
      if (left > 0) changes.push({ pid, at, more: -left });
    }
    let [inFlight, most] = [0, 0];
    for (const { more } of changes.toSorted((a, b) => a.at - b.at || a.more - b.more)) most = Math.max(most, (inFlight += more));
    const took = Math.max(...begins) - Math.min(...begins);
    figure(`limits: ${deaths.size} kills, ${begins.length} calls in ${Math.round(took)} ms, ${most} at once`);
    expect(most).toBeLessThanOrEqual(4);
    expect(begins.length).toBeGreaterThanOrEqual(120);
  });
});

/** The connection is cut at the answer to each request of a piece of work, the first, the second, and so on. */
const CUTS = Array.from({ length: 9 }, (_, n) => n);

describe.runIf(hasPostgres)("a connection that is cut after the server has done what it was asked", () => {
  let server: PostgresProcess;
  let proxy: CuttingProxy;
  let url: string;
  beforeAll(async () => {
    server = await startPostgres();
    proxy = await cuttingProxy(server.port);
    url = `postgres://troupe@127.0.0.1:${proxy.port}/postgres`;
  });

  /** Does work whose answer `n` is lost, if it has so many. */
  async function cut<T>(n: number, work: () => Promise<T>): Promise<T> {
    void proxy.cutNextAnswer(n);
    return work();
  }

  it.each(CUTS)("PostgresStore.S1 messages are stored and removed once: cut at answer %d", async (n) => {
    const store = postgresStore({ url, schema: `m${n}`, connections: 1 });
    await store.state("Ada");
    const entry = (id: string): MessageToStore => ({
      runId: "r",
      addedAt: 1,
      message: createMessage(`words of ${id}`, { id, timestamp: 1 }),
    });
    expect((await cut(n, () => store.add("Ada", [entry("a"), entry("b")]))).map(({ isNew }) => isNew)).toEqual([true, true]);
    expect((await cut(n, () => store.add("Ada", [entry("b"), entry("c")]))).map(({ isNew }) => isNew)).toEqual([false, true]);
    const places = await store.places("Ada");
    expect(places).toHaveLength(3);
    expect(await cut(n, () => store.remove("Ada", places.slice(1)))).toBe(2);
    expect(await store.state("Ada")).toEqual({ last: 3, removals: 2 });
    await store.close();
  });

  it.each(CUTS)("PostgresAccount.A1 money is reserved, settled and charged once: cut at answer %d", async (n) => {
    const budget = postgresBudget({ url, name: `b${n}`, amount: 100 as MicroUsd, connections: 1 });
    const account = await cut(n, () => budget.open("run", { spent: 10 }));
    const hold = await cut(n, () => account.reserve(20, never));
    hold.settle(15);
    await cut(n, () => account.reserve(30, never));
    account.charge(5);
    await cut(n, () => account.close(false));
    expect(await budget.amounts()).toEqual({ amount: 100, spent: 60, held: 0 });
    await cut(n, async () => (await budget.open("run", { spent: 60 })).close(true));
    expect(await budget.amounts()).toEqual({ amount: 100, spent: 60, held: 0 });
    await budget.close();
  });

  it.each(CUTS)("DatabaseLimits.D1 a place is taken and given back once: cut at answer %d", async (n) => {
    const limits = postgresLimits({ url, name: `l${n}`, concurrency: 1, connections: 1 });
    const request = { tokens: 1, clock: systemClock, signal };
    for (let round = 0; round < 3; round += 1) {
      const lease = await cut(n, () => limits.acquire(request));
      const next = limits.acquire(request);
      await cut(n, async () => lease.release());
      (await next).release();
    }
    await limits.close();
    expect(await queried(server, `SELECT id FROM troupe.limit_uses WHERE limits = 'l${n}' AND in_flight`)).toEqual([]);
  });
});

/** Holds 60 of 100, and is killed. */
const HOLDER = `
const pool = postgresBudget({ url: URL, name: "b", amount: 100 });
const account = await pool.open("other", { spent: 0 });
await account.reserve(60, never);
process.stdout.write("held\\n");
setInterval(() => undefined, 1_000);
`;
