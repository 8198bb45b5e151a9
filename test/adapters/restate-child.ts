import { writeSync } from "node:fs";
import { restateDriver } from "../../src/adapters/restate.ts";

/** A worker that takes one job, tells its run, and never ends it. */
export interface Task {
  readonly ingress: string;
  readonly admin: string;
  readonly team: string;
}

export async function main({ ingress, admin, team }: Task): Promise<void> {
  const driver = restateDriver({ ingress, admin });
  await driver.work(
    ({ runId }) => {
      writeSync(1, `${runId}\n`);
      return new Promise(() => undefined);
    },
    { teams: [team], concurrency: 1 },
  );
}
