import { afterAll, describe, expect, it } from "vitest";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import type { Delivery } from "../../src/team/run-driver.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { runDriverContract } from "../../src/testing/index.ts";
import { inSoak } from "../effort.ts";
import { graphileEngine } from "./graphile-engine.ts";
import { hasPostgres, startPostgres } from "./postgres-process.ts";

describe.runIf(hasPostgres)("with a real server", async () => {
  const server = hasPostgres ? await startPostgres() : undefined;
  const url = server?.url ?? "";
  afterAll(() => server?.kill());

  inSoak(runDriverContract)({ describe, it, expect }, { name: "graphileDriver", make: () => graphileEngine(url) });

  it("GraphileSession.S3 delivers a job, knows its workers, and asks them to drain", async () => {
    const { open, close } = graphileEngine(url);
    const driver = open();
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    let seen: (delivery: Delivery) => void = () => undefined;
    const delivered = new Promise<Delivery>((resolve) => (seen = resolve));
    const working = await driver.work(
      async (delivery) => {
        seen(delivery);
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 2 },
    );
    expect((await delivered).idea).toBe("a poem");
    const [worker] = await driver.workers();
    expect(worker?.address).toBe("127.0.0.1");
    await open().drain(worker?.id);
    await working.drain;
    await working.stop();
    expect([await driver.list({ limit: 5 }), await driver.workers()]).toEqual([[], []]);
    await close();
  });
});

describe("a driver on Postgres", () => {
  it("refuses options that it cannot use, before it connects", async () => {
    expect(await codeOf(() => graphileDriver({ url: "mysql://127.0.0.1/x" }))).toBe("POSTGRES_URL_INVALID");
    expect(await codeOf(() => graphileDriver({ url: "postgres://127.0.0.1/x", schema: "Troupe; drop" }))).toBe("OPTION_INVALID");
  });
});
