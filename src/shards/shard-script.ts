/**
 * The program of the thread of a shard. It is a text, so that it runs wherever the module's own copy of this package stands.
 */
export const SHARD_SCRIPT: string = String.raw`
const { parentPort, workerData } = require("node:worker_threads");
const { module, start } = workerData;
const broken = (error) => {
  const { name = "Error", code = "SHARD_FAILED", message = String(error) } = error ?? {};
  parentPort.postMessage({ kind: "broken", error: { name, code: String(code), message: String(message) } });
};
(async () => {
  const { world } = await import(module);
  if (typeof world?.runShard !== "function") {
    throw Object.assign(new Error("it exports no world made by shardedWorld"), { name: "UsageError", code: "WORLD_INVALID" });
  }
  await world.runShard(parentPort, start);
})().catch(broken);
`;
