import { fileURLToPath } from "node:url";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import type { FleetDriver } from "../../src/team/run-driver.ts";
import type { DoomedWorker, RunEngine } from "../../src/testing/contracts/run-driver.ts";
import { sourceProgram } from "../kernel/source-program.ts";
import type { Task } from "./driver-child.ts";
import { startProgram } from "./program-process.ts";

let program: Promise<string> | undefined;

/** Starts a worker in a process of its own, which takes one job and never ends it. */
export async function startDoomed(task: Task): Promise<DoomedWorker> {
  program ??= sourceProgram(fileURLToPath(new URL("driver-child.ts", import.meta.url)));
  const child = startProgram(await program, task);
  const took = child.said(1);
  took.catch(() => undefined);
  return {
    took,
    async kill() {
      child.kill("SIGKILL");
      await child.ended;
    },
  };
}

export interface FleetEngine extends RunEngine {
  open(): FleetDriver;
}

/** An engine whose drivers are those of a test. @param end ends what the engine needs */
export function engineOf(
  open: () => FleetDriver,
  doomed: (team: string) => Task,
  end: () => Promise<void> = async () => undefined,
): FleetEngine {
  const opened: FleetDriver[] = [];
  return {
    open() {
      const driver = open();
      opened.push(driver);
      return driver;
    },
    doomed: (team) => startDoomed(doomed(team)),
    async close() {
      for (const driver of opened) await driver.close();
      await end();
    },
  };
}

let made = 0;

/** A queue in a schema of its own. */
export function graphileEngine(url: string): FleetEngine {
  const graphile = { url, schema: `engine_${(made += 1)}` };
  return engineOf(
    () => graphileDriver(graphile),
    (team) => ({ team, graphile }),
  );
}
