import { writeSync } from "node:fs";
import { graphileDriver } from "../../src/adapters/graphile.ts";

/** A worker that takes one job, tells its run, and never ends it. */
export interface Task {
  readonly url: string;
  readonly schema: string;
  readonly team: string;
}

export async function main({ url, schema, team }: Task): Promise<void> {
  const driver = graphileDriver({ url, schema });
  await driver.work(
    ({ runId }) => {
      writeSync(1, `${runId}\n`);
      return new Promise(() => undefined);
    },
    { teams: [team], concurrency: 1 },
  );
}
