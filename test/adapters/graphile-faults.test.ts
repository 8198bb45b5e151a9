import pg from "pg";
import { afterAll, describe, expect, it, vi } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { onAbort } from "../../src/kernel/abort.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { errorRecord } from "../../src/kernel/errors.ts";
import type { DeliveryHandler } from "../../src/team/run-driver.ts";
import { door } from "../server/served-team.ts";
import { gatedProxy } from "./gated-proxy.ts";
import { hasPostgres, startPostgres } from "./postgres-process.ts";

const LIMIT = { interval: 10, timeout: 20_000 };

/** A handler that goes on until its delivery is cancelled. @param leave ends it when the test has failed */
function endless(leave: Promise<void>): { readonly handler: DeliveryHandler; readonly runs: string[]; readonly cancelled: string[] } {
  const [runs, cancelled]: [string[], string[]] = [[], []];
  const handler: DeliveryHandler = async ({ runId, signal }) => {
    runs.push(runId);
    const aborted = new Promise<void>((resolve) => void onAbort(signal, resolve));
    await Promise.race([aborted, leave]);
    if (signal.aborted) cancelled.push(runId);
    return { is: "done" };
  };
  return { handler, runs, cancelled };
}

describe.runIf(hasPostgres)("a worker of the queue in Postgres", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const [url, port] = [server?.url ?? "", server?.port ?? 0];
  const client = new pg.Client({ connectionString: url });
  if (server !== undefined) await client.connect();
  afterAll(async () => {
    await client.end();
    await server?.kill();
  });
  const rowsOf = async (schema: string): Promise<unknown> => (await client.query(`SELECT FROM ${schema}_queue._private_jobs`)).rowCount;

  it("GraphileSession.S5 drives no run that was cancelled after its job was fetched and before the worker listens", async () => {
    const proxy = await gatedProxy(port);
    const gate = proxy.hold('LISTEN "early_fleet"');
    const other = graphileDriver({ url, schema: "early" });
    await other.submit({ runId: "early", team: "x", idea: "a novel" });
    const driver = graphileDriver({ url: url.replace(`:${port}`, `:${proxy.port}`), schema: "early" });
    const leave = door();
    const { handler, runs } = endless(leave.passed);
    const starting = driver.work(handler, { teams: ["x"], concurrency: 1 });
    await gate.reached;
    await vi.waitUntil(async () => (await other.list({ limit: 1 }))[0]?.state === "delivered", LIMIT);
    await other.cancel("early");
    gate.open();
    await starting;
    try {
      await vi.waitUntil(async () => (await rowsOf("early")) === 0, LIMIT);
      expect(runs).toEqual([]);
    } finally {
      leave.open();
      await driver.close();
      await other.close();
    }
  });

  it("GraphileSession.S5 aborts a delivery that was cancelled without a word that the worker could match", async () => {
    const driver = graphileDriver({ url, schema: "unheard" });
    const leave = door();
    const { handler, runs, cancelled } = endless(leave.passed);
    const working = await driver.work(handler, { teams: ["x"], concurrency: 2 });
    for (const runId of ["stays", "goes"]) await driver.submit({ runId, team: "x", idea: "a novel" });
    await vi.waitUntil(() => runs.length === 2, LIMIT);
    // A job that is submitted again meanwhile is not cancelled.
    await driver.submit({ runId: "stays", team: "x", idea: "a novel" });
    await client.query("SELECT unheard_queue.remove_job('goes')");
    try {
      await vi.waitUntil(() => cancelled.length > 0, LIMIT);
      expect(cancelled).toEqual(["goes"]);
    } finally {
      leave.open();
      await working.stop();
      await driver.close();
    }
  });

  it("GraphileWork.W5 JobsInHand.H2 reports that it gets no more jobs while a handler still works, and stops with the last", async () => {
    const proxy = await gatedProxy(port);
    const driver = graphileDriver({ url: url.replace(`:${port}`, `:${proxy.port}`), schema: "halted", patience: 300, timeout: 2_000 });
    const gates: Record<string, ReturnType<typeof door>> = { short: door(), later: door(), long: door() };
    const [begun, done]: [string[], string[]] = [[], []];
    const working = await driver.work(
      async ({ runId }) => {
        begun.push(runId);
        await gates[runId]?.passed;
        done.push(runId);
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 3 },
    );
    let code = "";
    working.ended.catch((error: unknown) => ({ code } = errorRecord(error)));
    for (const runId of Object.keys(gates)) await driver.submit({ runId, team: "x", idea: "a poem" });
    await vi.waitUntil(() => begun.length === 3, LIMIT);
    proxy.shut();
    gates["short"]?.open();
    await vi.waitUntil(() => done.length === 1, LIMIT);
    gates["later"]?.open();
    await vi.waitUntil(() => code !== "", LIMIT);
    expect([code, done]).toEqual(["DRIVER_STOPPED", ["short", "later"]]);
    let isStopped = false;
    const stopped = working.stop().then(() => (isStopped = true));
    await nextMacrotask();
    expect(isStopped).toBe(false);
    gates["long"]?.open();
    await stopped;
    expect(done.at(-1)).toBe("long");
    await driver.close();
  });
});
