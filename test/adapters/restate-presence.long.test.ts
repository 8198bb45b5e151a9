// @module-tag fleet
import { afterAll, describe, expect, it } from "vitest";
import { restateDriver } from "../../src/adapters/restate.ts";
import { freePort } from "../kernel/free-port.ts";
import { type Door, door } from "../server/served-team.ts";
import { startDoomed } from "./run-engines.ts";
import { hasRestate, startRestate } from "./restate-process.ts";

describe.runIf(hasRestate)("the workers of a fleet on Restate", async () => {
  const server = hasRestate ? await startRestate() : undefined;
  const { ingress = "", admin = "" } = server ?? {};
  afterAll(() => server?.kill());

  it("are listed also while they cannot be asked, with the jobs that they have, until the server finds them gone", async () => {
    const driver = restateDriver({ ingress, admin });
    const blind = restateDriver({ ingress: `http://127.0.0.1:${await freePort()}`, admin });
    const [gate, begun]: readonly [Door, Door] = [door(), door()];
    const before = Date.now();
    const working = await driver.work(
      async () => {
        begun.open();
        await gate.passed;
        return { is: "done" };
      },
      { teams: ["x"], concurrency: 2 },
    );
    const doomed = await startDoomed({ team: "y", restate: { ingress, admin } });
    await driver.submit({ runId: "b", team: "y", idea: "a poem" });
    await driver.submit({ runId: "a", team: "x", idea: "a poem" });
    await Promise.all([begun.passed, doomed.took]);
    const told = await driver.workers();
    const shown = (workers: typeof told): unknown => workers.map(({ id, address, jobs }) => ({ id, address, jobs }));
    expect(told.map(({ address, jobs }) => [address, jobs])).toEqual([
      ["127.0.0.1", 1],
      ["127.0.0.1", 1],
    ]);
    const unasked = await blind.workers();
    expect(shown(unasked)).toEqual(shown(told));
    for (const { since } of unasked) {
      expect(since).toBeGreaterThanOrEqual(before - 1_000);
      expect(since).toBeLessThanOrEqual(Date.now() + 1_000);
    }
    await doomed.kill();
    expect((await driver.workers()).map(({ id }) => id)).toEqual([told[0]?.id]);
    gate.open();
    await working.stop();
    expect(await blind.workers()).toMatchObject([{ id: told[1]?.id }]);
    await Promise.all([driver.close(), blind.close()]);
  });
});
