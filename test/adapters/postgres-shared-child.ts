import { Pool } from "pg";
import { postgresBudget } from "../../src/adapters/postgres-budget.ts";
import { postgresLimits } from "../../src/adapters/postgres-limits.ts";
import type { BudgetAccount } from "../../src/kernel/budget.ts";
import { cancellationOf } from "../../src/kernel/cancellation.ts";
import { sleep, systemClock } from "../../src/kernel/clock.ts";
import { errorRecord } from "../../src/kernel/errors.ts";
import type { MicroUsd } from "../../src/model/money.ts";

/** The task of a separate process with a budget or limits that others use too. It may be killed at any time, and started again. */
export type SharedTask =
  | { readonly kind: "spend"; readonly url: string; readonly name: string; readonly amount: number; readonly runs: readonly string[] }
  | {
      readonly kind: "call";
      readonly url: string;
      readonly name: string;
      readonly limits: { readonly requestsPerSecond?: number; readonly concurrency?: number };
      readonly calls: number;
    };

/** Tables of the runs: the record of each (`steps`), and what their calls have really cost (`spends`). */
export const RECORD = `CREATE TABLE steps (run text, id text PRIMARY KEY, hold bigint, cost bigint);
  CREATE TABLE spends (run text, cost bigint)`;

const signal = new AbortController().signal;
const never = cancellationOf(signal);

export async function main(task: SharedTask): Promise<void> {
  if (task.kind === "call") await callOften(task);
  else await spendAll(task);
}

async function spendAll({ url, name, amount, runs }: SharedTask & { readonly kind: "spend" }): Promise<void> {
  const table = new Pool({ connectionString: url, max: 4 });
  table.on("error", () => undefined);
  const budget = postgresBudget({ url, name, amount: amount as MicroUsd });
  const work = runs.map(async (run) => {
    const { rows } = await patient(() =>
      table.query<{ spent: string | null }>("SELECT sum(coalesce(cost, hold)) AS spent FROM steps WHERE run = $1", [run]),
    );
    const account = await budget.open(run, { spent: Number(rows[0]?.spent ?? 0) });
    for (let n = 0; await spend(table, account, run, n); n += 1);
    await account.close(false);
  });
  await Promise.all(work);
  await budget.close();
  await table.end();
}

/** One call, recorded as a run records it. False when the budget refuses it. */
async function spend(table: Pool, account: BudgetAccount, run: string, n: number): Promise<boolean> {
  const id = `${run} ${process.pid} ${n}`;
  const asked = 500 + Math.floor(Math.random() * 1_500);
  const cost = Math.floor(Math.random() * (asked + 1));
  try {
    const hold = await account.reserve(asked, never);
    await patient(() => table.query("INSERT INTO steps VALUES ($1, $2, $3, NULL) ON CONFLICT DO NOTHING", [run, id, asked]));
    await table.query("INSERT INTO spends VALUES ($1, $2)", [run, cost]).catch(() => undefined);
    await sleep(systemClock, 10 + Math.random() * 40);
    await patient(() => table.query("UPDATE steps SET cost = $2 WHERE id = $1", [id, cost]));
    hold.settle(cost);
    return true;
  } catch (error) {
    if (errorRecord(error).code === "BUDGET") return false;
    throw error;
  }
}

async function patient<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch {
      await sleep(systemClock, 50);
    }
  }
}

/** Tells the time of each begin and end, by the clock that all processes of a machine share. */
async function callOften({ url, name, limits, calls }: SharedTask & { readonly kind: "call" }): Promise<void> {
  const shared = postgresLimits({ url, name, ...limits });
  const tell = (what: string): void => void process.stdout.write(`${what} ${process.pid} ${Number(process.hrtime.bigint()) / 1e6}\n`);
  const work = Array.from({ length: calls }, async () => {
    const lease = await shared.acquire({ tokens: 1, clock: systemClock, signal });
    tell("begin");
    await sleep(systemClock, 50 + Math.random() * 150);
    tell("end");
    lease.release();
  });
  await Promise.all(work);
  await shared.close();
}
