// @module-tag fleet
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { postgresBudget } from "../../src/adapters/postgres-budget.ts";
import { postgres } from "../../src/adapters/postgres.ts";
import { apply } from "../../src/runtime/record/apply.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { hasPostgres, startPostgres } from "../adapters/postgres-process.ts";
import { type Child, start } from "../cli/child.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const TEAMS = fileURLToPath(new URL("shared-teams.mjs", import.meta.url));
const DOLLAR = 1_000_000;
/** Of a call, in micro-dollars: the provider keeps the limit on tokens that a call asks for, by default 16,384. */
const MOST_COST = 16_000;
const KILLS = 6;

/** Waits in real time: the fleet is other processes. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** A provider that decides what each call costs, and keeps that with the time at which the call began. */
async function startBilling(): Promise<{ readonly url: string; readonly calls: { began: number; cost: number }[]; close(): void }> {
  const calls: { began: number; cost: number }[] = [];
  const server = createServer((request, response) => {
    let began = "";
    request.setEncoding("utf8").on("data", (text: string) => (began += text));
    request.on("end", () => {
      const [at, line] = began.split(" ").map(Number);
      // The same request costs the same: so a call that was cut off counts as it was billed.
      const cost = Math.ceil((MOST_COST * (1 + (((line ?? 0) * 0.37) % 1))) / 2);
      calls.push({ began: at ?? 0, cost });
      setTimeout(() => response.end(String(cost)), 50 + Math.random() * 200);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}/`, calls, close };
}

describe.runIf(hasPostgres)("a fleet whose runs share a budget and limits", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  const provider = await startBilling();
  const workers: Child[] = [];
  afterAll(async () => {
    for (const { process } of workers) process.kill("SIGKILL");
    provider.close();
    await server?.kill();
  });

  /** The process that works now. */
  function pidOf({ said }: Child): number | undefined {
    const pid = [...said.stdout.matchAll(/"pid":(\d+)/g)].at(-1)?.[1];
    return pid === undefined ? undefined : Number(pid);
  }

  function kill(worker: Child | undefined): number {
    const pid = worker && pidOf(worker);
    try {
      return pid !== undefined && process.kill(pid, "SIGKILL") ? 1 : 0;
    } catch {
      // It was killed before, and its successor has not said its id.
      return 0;
    }
  }

  it(`PostgresPool.G1 PostgresPool.G4 DatabaseLimits.D1 3 workers spend a dollar and call ten times a second through ${KILLS} kills`, async () => {
    const [driver, journal, budget] = [graphileDriver({ url }), postgres({ url }), postgresBudget({ url, name: "acme" })];
    const env = { TROUPE_JOURNAL: url, FLEET_PROVIDER: provider.url };
    for (let n = 0; n < 12; n += 1) await driver.submit({ runId: `run-${n}`, team: "press", idea: "a book" });
    for (let n = 0; n < 3; n += 1) workers.push(start(["worker", TEAMS, "--json", "--concurrency", "4"], { cwd: scratchFolder(), env }));
    let [kills, isAgain] = [0, false];
    for (let turn = 0; (await driver.list({ limit: 1 })).length > 0; turn += 1) {
      await pause(700);
      if (provider.calls.length === 0 || kills >= KILLS) continue;
      kills += kill(workers[turn % workers.length]);
      if (isAgain || kills < KILLS / 2) continue;
      isAgain = true;
      await server?.kill();
      await server?.restart();
    }
    for (const worker of workers) worker.process.kill("SIGTERM");
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    let recorded = 0;
    const ends: unknown[] = [];
    for (const { runId } of await journal.runs()) {
      const state = new RunState(runId);
      for await (const event of journal.read(runId, 0)) {
        apply(state, event);
        if (event.type === "run.ended") ends.push(event.status);
      }
      recorded += state.ledger.spent + state.ledger.held;
    }
    const known = await budget.amounts();
    const begins = provider.calls.map(({ began }) => began).toSorted((a, b) => a - b);
    const billed = provider.calls.reduce((sum, { cost }) => sum + cost, 0);
    process.stderr.write(
      `\n${begins.length} calls in ${Math.round((begins.at(-1) ?? 0) - (begins[0] ?? 0))} ms, ${kills} kills of workers; billed ${billed}, recorded ${recorded}, known ${JSON.stringify(known)}\n`,
    );
    expect(kills).toBe(KILLS);
    expect(new Set(ends)).toEqual(new Set(["budget"]));
    expect(ends.length).toBe(12);
    expect(billed).toBeLessThanOrEqual(recorded);
    expect(known).toEqual({ amount: DOLLAR, spent: recorded, held: 0 });
    expect(recorded).toBeLessThanOrEqual(DOLLAR);
    expect(recorded).toBeGreaterThan(DOLLAR - MOST_COST);
    for (const from of begins) expect(begins.filter((at) => at >= from && at < from + 1_000).length).toBeLessThanOrEqual(10);
    await Promise.all([driver.close(), journal.close(), budget.close()]);
  });
});
