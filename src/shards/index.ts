/** Populations over worker threads. Published as `troupe/shards`. */

export { assertPopulationFits, populationNeed } from "./need.ts";
export { runShards } from "./run-shards.ts";
export { environmentOf, shardedWorld } from "./sharded-world.ts";
export type { ShardedWorld, World } from "./world.ts";
