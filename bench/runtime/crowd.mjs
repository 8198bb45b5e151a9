import { createHash } from "node:crypto";
import { createMessage, Environment } from "../../dist/src/index.js";
import { settled } from "./settled.mjs";

/** So many of one role get ten messages, one after another, each of which it counts in its state; the digest is of all states in the order of hiring. */
export async function tickedCrowd(n, one, causeBy) {
  const env = new Environment({ seed: "bench" });
  for (let place = 0; place < n; place += 1) env.addRole(one, { name: `C${place}` });
  const from = performance.now();
  for (let k = 0; k < 10; k += 1) await settled(env, createMessage("tick", { id: `tick${k}`, causeBy, timestamp: k }));
  const ms = performance.now() - from;
  const hash = createHash("sha256");
  let done = 0;
  for (let place = 0; place < n; place += 1) {
    const { seen, sum } = env.getRole(`C${place}`).state;
    done += seen;
    hash.update(JSON.stringify([seen, sum]));
  }
  return { done: done / 10, ms, digest: hash.digest("hex") };
}
