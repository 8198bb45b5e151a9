import type { ShardedWorld } from "../../src/shards/index.ts";

export const world: ShardedWorld<{ readonly size: number; readonly talk: number; readonly faults: boolean }>;
