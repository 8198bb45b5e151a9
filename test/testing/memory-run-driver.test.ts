import { describe, expect, it } from "vitest";
import { memoryRunDriver, runDriverContract, simulatedClock } from "../../src/testing/index.ts";
import type { RunEngine } from "../../src/testing/contracts/run-driver.ts";
import type { Handled } from "../../src/team/run-driver.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";

function engine(): RunEngine {
  const driver = memoryRunDriver({ pause: 5 });
  let isClosed = false;
  return {
    open: () => driver,
    async doomed(team) {
      let took = (_runId: string): void => undefined;
      const taken = new Promise<string>((resolve) => (took = resolve));
      const working = await driver.work(
        ({ runId }) => {
          took(runId);
          return new Promise<Handled>(() => undefined);
        },
        { teams: [team], concurrency: 1 },
      );
      return { took: taken, kill: async () => driver.lose(working) };
    },
    async close() {
      if (!isClosed) await driver.close();
      isClosed = true;
    },
  };
}

runDriverContract({ describe, it, expect }, { name: "memoryRunDriver", make: engine });

describe("a driver in memory", () => {
  it("waits for the time of a job on its clock", async () => {
    const clock = simulatedClock();
    const driver = memoryRunDriver({ clock });
    const times: number[] = [];
    const handler = async (): Promise<Handled> => {
      times.push(clock.now());
      return times.length === 1 ? { is: "again", after: 3_600_000 } : { is: "done" };
    };
    await driver.work(handler, { teams: ["x"], concurrency: 1 });
    await driver.submit({ runId: "a", team: "x" });
    await clock.advance(3_599_999);
    expect(times).toEqual([0]);
    expect(await driver.list({ limit: 5 })).toEqual([{ runId: "a", team: "x", state: "waiting", attempts: 1, due: 3_600_000 }]);
    await clock.advance(1);
    expect(times).toEqual([0, 3_600_000]);
    await driver.close();
  });

  it("refuses options that it cannot use", async () => {
    const driver = memoryRunDriver();
    expect(await codeOf(() => memoryRunDriver({ pause: -1 }))).toBe("OPTION_INVALID");
    expect(await codeOf(() => driver.work(async () => ({ is: "done" }), { teams: [], concurrency: 1 }))).toBe("OPTION_INVALID");
    expect(await codeOf(() => driver.work(async () => ({ is: "done" }), { teams: ["x"], concurrency: 0 }))).toBe("OPTION_INVALID");
  });
});
