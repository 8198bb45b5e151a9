import pg from "pg";
import { afterAll, describe, expect, it, vi } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import type { Delivery } from "../../src/team/run-driver.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { runDriverContract } from "../../src/testing/index.ts";

import { door } from "../server/served-team.ts";
import { graphileEngine } from "./run-engines.ts";
import { hasPostgres, startPostgres } from "./postgres-process.ts";

describe.runIf(hasPostgres)("with a real server", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  afterAll(() => server?.kill());

  describe("as a driver of runs", { tags: ["fleet", "long"] }, () => {
    runDriverContract({ describe, it, expect }, { name: "graphileDriver", make: () => graphileEngine(url) });
  });

  it("delivers a job to a worker that is listed, knows its workers, and asks them to drain", async () => {
    const { open, close } = graphileEngine(url);
    const driver = open();
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    let listed = 0;
    let seen: (delivery: Delivery) => void = () => undefined;
    const delivered = new Promise<Delivery>((resolve) => (seen = resolve));
    const working = await driver.work(
      async (delivery) => {
        listed = (await driver.workers()).length;
        seen(delivery);
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 2 },
    );
    expect([(await delivered).idea, listed]).toEqual(["a poem", 1]);
    const [worker] = await driver.workers();
    expect(worker?.address).toBe("127.0.0.1");
    await open().drain(worker?.id);
    await working.drain;
    await working.stop();
    expect([await driver.list({ limit: 5 }), await driver.workers()]).toEqual([[], []]);
    await close();
  });

  it("GraphileQueue.Q3 keeps the job of a worker that lives from becoming free by its age", async () => {
    const driver = graphileDriver({ url, schema: "aged" });
    const gate = door();
    const attempts: number[] = [];
    const working = await driver.work(
      async ({ attempt }) => {
        attempts.push(attempt);
        await gate.passed;
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 2 },
    );
    await driver.submit({ runId: "long", team: "x", idea: "a novel" });
    await vi.waitUntil(() => attempts.length > 0, { interval: 5, timeout: 60_000 });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const table = "aged_queue._private_jobs";
    await client.query(`UPDATE ${table} SET locked_at = now() - interval '3 hours 59 minutes'`);
    const isFresh = async (): Promise<boolean> =>
      (await client.query(`SELECT FROM ${table} WHERE locked_at > now() - interval '1 minute'`)).rowCount === 1;
    await vi.waitUntil(isFresh, { interval: 20, timeout: 10_000 });
    gate.open();
    await vi.waitUntil(async () => (await driver.list({ limit: 1 })).length === 0, { interval: 5, timeout: 10_000 });
    expect(attempts).toEqual([1]);
    await working.stop();
    await driver.close();
    await client.end();
  });

  it("DriverWorks.W1 GraphileWork.W4 a driver that is closed while a worker starts refuses the start, and leaves no connection", async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const connections = async (): Promise<unknown> =>
      (await client.query("SELECT FROM pg_stat_activity WHERE application_name ~ 'troupe|graphile' AND pid <> pg_backend_pid()")).rowCount;
    for (const turns of [0, 1, 5, 20, 40, 80, 160]) {
      const driver = graphileDriver({ url, schema: "closed" });
      await driver.list({ limit: 1 });
      const starting = codeOf(() => driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 1 }));
      for (let turn = 0; turn < turns; turn += 1) await nextMacrotask();
      await driver.close();
      const ended = await starting;
      if (turns < 5) expect(ended).toBe("DRIVER_CLOSED");
    }
    await vi.waitFor(async () => expect(await connections()).toBe(0), { interval: 20, timeout: 10_000 });
    await client.end();
  });

  it(
    "GraphileWork.W4 a driver that is closed while the server is stopped refuses the start of its worker",
    { tags: ["fleet", "long"] },
    async () => {
      const mine = await startPostgres();
      const driver = graphileDriver({ url: mine.url, timeout: 2_000 });
      await driver.list({ limit: 1 });
      mine.pause();
      const starting = codeOf(() => driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 1 }));
      await nextMacrotask();
      await driver.close();
      expect(await starting).toBe("DRIVER_CLOSED");
      mine.resume();
      await mine.kill();
    },
  );

  it("GraphileSession.S2 continues when the server dies while jobs end", { tags: ["fleet", "long"] }, async () => {
    const mine = await startPostgres();
    const driver = graphileDriver({ url: mine.url });
    const delivered = new Map<string, number>();
    let [ending, deaths] = [0, 0];
    const working = await driver.work(
      async ({ runId }) => {
        delivered.set(runId, (delivered.get(runId) ?? 0) + 1);
        // Jobs come again, and fetched ones come while the server is away: neither is a reason for another death.
        if (ending === 0 && delivered.size >= 5 * (deaths + 1)) {
          deaths += 1;
          // The jobs beside this one end at the same moment, and find no server.
          const dead = mine.kill();
          ending += 1;
          void dead.then(() => mine.restart()).finally(() => (ending -= 1));
        }
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 3 },
    );
    let hasStopped = false;
    working.ended.catch(() => (hasStopped = true));
    for (let n = 0; n < 20; n += 1) {
      await driver.submit({ runId: `run-${n}`, team: "x", idea: "a poem" });
    }
    await vi.waitUntil(async () => ending === 0 && (await driver.list({ limit: 1 })).length === 0, { interval: 20, timeout: 120_000 });
    expect([delivered.size, hasStopped, deaths > 1]).toEqual([20, false, true]);
    await driver.close();
    await mine.kill();
  });

  it("frees a job that it fetched by an answer which was lost", { tags: ["fleet", "long"] }, async () => {
    const driver = graphileDriver({ url, schema: "lost" });
    const working = await driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 1 });
    const [worker] = await driver.workers();
    await driver.submit({ runId: "lost", team: "y", idea: "a poem" });
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("UPDATE lost_queue._private_jobs SET locked_by = $1, locked_at = now()", [worker?.id]);
    await client.end();
    expect((await driver.list({ limit: 1 }))[0]?.state).toBe("delivered");
    await vi.waitUntil(async () => (await driver.list({ limit: 1 }))[0]?.state === "waiting", { interval: 20, timeout: 60_000 });
    await working.stop();
    await driver.close();
  });
});

describe("a driver on Postgres", () => {
  it("refuses options that it cannot use, before it connects", async () => {
    expect(await codeOf(() => graphileDriver({ url: "mysql://127.0.0.1/x" }))).toBe("POSTGRES_URL_INVALID");
    expect(await codeOf(() => graphileDriver({ url: "postgres://127.0.0.1/x", schema: "Troupe; drop" }))).toBe("OPTION_INVALID");
  });
});
