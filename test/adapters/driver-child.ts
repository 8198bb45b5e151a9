import { writeSync } from "node:fs";
import { graphileDriver } from "../../src/adapters/graphile.ts";
import { restateDriver, type RestateOptions } from "../../src/adapters/restate.ts";
import type { PostgresOptions } from "../../src/adapters/postgres.ts";

/** A worker that takes one job, tells its run, and never ends it. */
export type Task = { readonly team: string } & ({ readonly graphile: PostgresOptions } | { readonly restate: RestateOptions });

export async function main({ team, ...engine }: Task): Promise<void> {
  const driver = "graphile" in engine ? graphileDriver(engine.graphile) : restateDriver(engine.restate);
  await driver.work(
    ({ runId }) => {
      writeSync(1, `${runId}\n`);
      return new Promise(() => undefined);
    },
    { teams: [team], concurrency: 1 },
  );
}
