/*
 * The entry `troupe/shards`: populations over worker threads.
 */

export { assertPopulationFits, type PopulationNeed, populationNeed, type PopulationSize } from "./need.ts";
export { runShards, type ShardsOptions, type ShardsResult } from "./run-shards.ts";
export { environmentOf, shardedWorld, type WorldOptions } from "./sharded-world.ts";
export type { ShardedWorld, World, WorldRole } from "./world.ts";
