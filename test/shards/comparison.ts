import { canonical, type RunEvent } from "../../src/index.ts";
import { environmentOf, runShards } from "../../src/shards/index.ts";
import { world } from "./town-world.mjs";

export const town: string = new URL("town-world.mjs", import.meta.url).href;
export const faulty: string = new URL("faulty-world.mjs", import.meta.url).href;

const EVENTS = ["run.started", "message", "act.ended", "round.ended", "clock.advanced"] as const;

/** The behaviour of a run as text: all states, and the canonical log. */
export interface Behaviour {
  readonly states: string;
  readonly log: string;
  readonly activations: number;
}

export interface Town {
  readonly size: number;
  readonly talk: number;
  readonly faults: boolean;
  readonly seed: string;
}

const ROUNDS = 60;

/** Runs a town in one environment. */
export async function inOne({ seed, ...params }: Town): Promise<Behaviour> {
  const events: RunEvent[] = [];
  const environment = environmentOf(world, {
    params,
    seed,
    prepare: (made) => {
      for (const type of EVENTS) made.on(type, (event) => events.push(event));
    },
  });
  await environment.run({ rounds: ROUNDS });
  const states = environment.roleNames.map((name) => [name, environment.getRole(name)?.state]);
  return { states: JSON.stringify(states), log: canonical(events), activations: environment.state.activations };
}

/** Runs a town over shards. */
export async function inShards({ seed, ...params }: Town, shards: number): Promise<Behaviour> {
  const result = await runShards({ module: town, params, seed, shards, rounds: ROUNDS, record: true });
  return { states: JSON.stringify([...result.states]), log: canonical(result.events), activations: result.activations };
}
