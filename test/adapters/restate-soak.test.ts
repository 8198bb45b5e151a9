import { afterAll, describe, expect, it } from "vitest";
import { restateDriver } from "../../src/adapters/restate.ts";
import type { RunDriver } from "../../src/team/run-driver.ts";
import { runDriverContract, type RunEngine } from "../../src/testing/index.ts";
import { startDoomed } from "./doomed-process.ts";
import { hasRestate, type RestateProcess, startRestate } from "./restate-process.ts";

describe.runIf(hasRestate)("with a real server of Restate", () => {
  const servers: RestateProcess[] = [];
  afterAll(() => Promise.all(servers.map((server) => server.kill())));

  async function engine(): Promise<RunEngine> {
    const server = await startRestate();
    servers.push(server);
    const { ingress, admin } = server;
    const opened: RunDriver[] = [];
    return {
      open() {
        const driver = restateDriver({ ingress, admin });
        opened.push(driver);
        return driver;
      },
      doomed: (team) => startDoomed(new URL("restate-child.ts", import.meta.url), { ingress, admin, team }),
      async close() {
        for (const driver of opened) await driver.close();
        await server.kill();
      },
    };
  }

  runDriverContract({ describe, it, expect }, { name: "restateDriver", make: engine });
});
