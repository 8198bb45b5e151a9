import { once } from "node:events";
import { toParent } from "../../src/cli/worker-parent.ts";

/** A worker that has something to tell when its parent is gone. */
export async function main(): Promise<void> {
  let drains = 0;
  const parent = toParent(() => (drains += 1));
  const gone = once(process, "disconnect");
  process.send?.("runs");
  await gone;
  parent.ready("identity");
  parent.drained();
  process.stdout.write(`goes on after ${drains} drain`);
}
