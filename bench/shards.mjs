/*
 * The time of a population over worker threads.
 *
 *   npm run build && node bench/shards.mjs
 *
 * `--sizes 100000` these populations, `--shards 1,2,4` these numbers of threads, `--work 0,2000` these turns of a loop for each message,
 * `--rounds 10` so many rounds. The time of a round is a difference of two runs, so that the start of the threads is in neither. Every run must
 * come to the same states.
 */
import { createHash } from "node:crypto";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { runShards } from "../dist/src/shards/index.js";

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "100000" },
    shards: { type: "string", default: "1,2,4" },
    work: { type: "string", default: "0,2000" },
    rounds: { type: "string", default: "10" },
  },
});
const numbers = (text) => text.split(",").map(Number);
const module = new URL("population/shard-world.mjs", import.meta.url).href;
const few = 2;

async function timed(size, work, shards, rounds) {
  const from = performance.now();
  const { states, messages } = await runShards({ module, params: { size, work }, shards, seed: 1, rounds });
  const digest = createHash("sha256")
    .update(JSON.stringify([...states]))
    .digest("hex");
  return { ms: performance.now() - from, messages, digest };
}

process.stdout.write(`Node ${process.version}, ${cpus().length} processors, load ${loadavg()[0].toFixed(1)} before.\n\n`);
process.stdout.write("| roles | turns of the loop | threads | us of time a message | times one thread |\n|--:|--:|--:|--:|--:|\n");
for (const size of numbers(values.sizes)) {
  for (const work of numbers(values.work)) {
    let [digest, single] = [undefined, undefined];
    for (const shards of numbers(values.shards)) {
      const short = await timed(size, work, shards, few);
      const long = await timed(size, work, shards, few + Number(values.rounds));
      if (digest !== undefined && digest !== long.digest) throw new Error(`Expected equal states, got others with ${shards} shards.`);
      digest = long.digest;
      const us = ((long.ms - short.ms) * 1_000) / (long.messages - short.messages);
      single ??= us;
      const cells = [size.toLocaleString("en-US"), work, shards, us.toFixed(2), (us / single).toFixed(2)];
      process.stdout.write(`| ${cells.join(" | ")} |\n`);
    }
  }
}
process.stdout.write(`\nLoad ${loadavg()[0].toFixed(1)} after.\n`);
