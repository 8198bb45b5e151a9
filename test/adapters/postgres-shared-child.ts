import { Pool } from "pg";
import { postgres } from "../../src/adapters/postgres.ts";
import { postgresBudget } from "../../src/adapters/postgres-budget.ts";
import { postgresLimits } from "../../src/adapters/postgres-limits.ts";
import type { BudgetAccount } from "../../src/kernel/budget.ts";
import { cancellationOf } from "../../src/kernel/cancellation.ts";
import { sleep, systemClock } from "../../src/kernel/clock.ts";
import { errorRecord } from "../../src/kernel/errors.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import { defineRole } from "../../src/role/role.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** What a process of its own does with a budget or limits that others use too. It may be killed at any time, and started again. */
export type SharedTask =
  | { readonly kind: "spend"; readonly url: string; readonly name: string; readonly amount: number; readonly runs: readonly string[] }
  | {
      readonly kind: "call";
      readonly url: string;
      readonly name: string;
      readonly limits: { readonly requestsPerSecond?: number; readonly concurrency?: number };
      readonly calls: number;
    }
  | { readonly kind: "team"; readonly url: string; readonly name: string; readonly amount: number; readonly runs: readonly string[] };

/** Tables of the runs: the record of each (`steps`), and what their calls have really cost (`spends`). */
export const RECORD = `CREATE TABLE steps (run text, id text PRIMARY KEY, hold bigint, cost bigint);
  CREATE TABLE spends (run text, cost bigint)`;

const signal = new AbortController().signal;
const never = cancellationOf(signal);

export async function main(task: SharedTask): Promise<void> {
  if (task.kind === "call") await callOften(task);
  else if (task.kind === "team") await runAll(task);
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

/** Runs of a team, each with calls that are paid, until the budget refuses one. Each call tells what it costs before it answers. */
async function runAll({ url, name, amount, runs }: SharedTask & { readonly kind: "team" }): Promise<void> {
  const table = new Pool({ connectionString: url, max: 4 });
  table.on("error", () => undefined);
  const journal = postgres({ url });
  const budget = postgresBudget({ url, name, amount: amount as MicroUsd });
  const model = scriptedModel(
    async ({ messages }) => {
      // The same request costs the same: so a call that was cut off counts as it was billed.
      const line = Number(/Write line (\d+)/.exec(JSON.stringify(messages))?.[1]);
      const outputTokens = (line * 1_237) % 2_000;
      await patient(() => table.query("INSERT INTO spends VALUES ($1, $2)", [name, outputTokens]));
      await sleep(systemClock, 10 + Math.random() * 40);
      return { content: "A line.", usage: { inputTokens: 0, outputTokens } };
    },
    { price: { input: 0, output: 1 }, maxOutputTokens: 2_000 },
  );
  const poet = defineRole({
    name: "Poe",
    react: async (rc) => {
      for (let n = 0; n < 1_000; n += 1) await rc.ask(`Write line ${n}.`);
    },
  });
  const team = new Team({ name: "press", roles: [poet], model, journal, budget, poisonAfter: 1_000 });
  const ends = await Promise.all(runs.map((id) => team.run("go", { id }).result));
  for (const { status, error } of ends) if (status !== "budget") throw new Error(`A run ended as ${status}`, { cause: error });
  await budget.close();
  await journal.close();
  await table.end();
}
