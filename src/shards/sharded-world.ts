import { having, takes } from "../kernel/argument.ts";
import type { Json } from "../kernel/json.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { freshSeed } from "../kernel/random.ts";
import type { Environment } from "../runtime/environment.ts";
import { runShard } from "./shard.ts";
import { environmentIn, listedWorld, type ShardedWorld, type World } from "./world.ts";

/**
 * Returns a world that {@link runShards} can run over worker threads, and {@link environmentOf} in one environment. Its module exports it
 * as `world`: each shard imports the module, and makes the world from the same parameters.
 *
 * @param make a function of its parameters alone: no clock, no randomness, no data of the process
 * @throws UsageError `ARGUMENT_INVALID` where `make` is no function
 * @example
 * import { defineRole } from "troupe";
 * import { shardedWorld } from "troupe/shards";
 * import { z } from "zod";
 *
 * const walker = defineRole({
 *   name: "Walker",
 *   watch: ["UserRequirement", "Walker"],
 *   state: z.object({ steps: z.number().default(0) }),
 *   step: ({ steps }) => ({ steps: steps + 1 }),
 * });
 *
 * export const world = shardedWorld(({ size }: { size: number }) => ({
 *   roles: Array.from({ length: size }, (_, index) => ({ role: walker, name: `w${index}` })),
 *   messages: ["go"],
 * }));
 */
export function shardedWorld<P extends Json>(make: (params: P) => World): ShardedWorld<P> {
  takes("shardedWorld", "make", { make }, having("a function", "make"));
  const world: ShardedWorld<P> = {
    make,
    runShard: async (port, start) => runShard(port, start, listedWorld(world, start.params as P)),
  };
  return Object.freeze(world);
}

/** Options of {@link environmentOf}. */
export interface WorldOptions<P extends Json> {
  readonly params: P;
  /** Default: a random one. */
  readonly seed?: string | number;
  /** Called before the first message is published: what listens from here on hears every event. */
  readonly prepare?: (environment: Environment) => void;
}

const worldOptions: Known<WorldOptions<Json>> = { params: kinds.checked, seed: kinds.seed, prepare: kinds.function };

/**
 * Returns one environment with the roles of a world, in which its first messages are published. {@link runShards} comes to the same states
 * with the same seed.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_UNKNOWN`, `WORLD_INVALID`; `SHARDS_SCHEDULER` for a scheduler other than `rounds`;
 * `POPULATION_TOO_LARGE`; and as `addRole` of an environment
 */
export function environmentOf<P extends Json>(world: ShardedWorld<P>, options: WorldOptions<P>): Environment {
  takes("environmentOf", "world", world, having("a world made by shardedWorld", "make", "runShard"));
  checkGivenOptions("environmentOf", options, worldOptions);
  const { params, seed, prepare } = options;
  return environmentIn(listedWorld(world, params), String(seed ?? freshSeed()), undefined, prepare);
}
