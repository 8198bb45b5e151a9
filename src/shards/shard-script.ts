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
    const text = "Expected the module " + module.slice(0, 200) + " to export a world made by shardedWorld, got none. Export const world = shardedWorld(...).";
    throw Object.assign(new Error(text), { name: "UsageError", code: "WORLD_INVALID" });
  }
  await world.runShard(parentPort, start);
})().catch(broken);
`;
