import { graphileDriver } from "../../src/adapters/graphile.ts";
import type { FleetDriver } from "../../src/team/run-driver.ts";
import type { RunEngine } from "../../src/testing/contracts/run-driver.ts";
import { startDoomed } from "./doomed-process.ts";

export interface GraphileEngine extends RunEngine {
  open(): FleetDriver;
}

let made = 0;

/** A queue in a schema of its own. */
export function graphileEngine(url: string): GraphileEngine {
  made += 1;
  const schema = `engine_${made}`;
  const opened: FleetDriver[] = [];
  return {
    open() {
      const driver = graphileDriver({ url, schema });
      opened.push(driver);
      return driver;
    },
    doomed: (team) => startDoomed(new URL("graphile-child.ts", import.meta.url), { url, schema, team }),
    async close() {
      for (const driver of opened) await driver.close();
    },
  };
}
