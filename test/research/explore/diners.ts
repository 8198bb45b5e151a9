import { z } from "zod";
import { createMessage, defineAction, defineRole, Environment } from "../../../src/index.ts";
import type { MakeWorld } from "./worlds.ts";

const ACTIONS = ["GRAB_LEFT", "GRAB_RIGHT", "RELEASE", "WAIT"] as const;
type Act = (typeof ACTIONS)[number];

const Seat = z.object({ isEating: z.boolean() });
const Table = z.object({
  forks: z.array(z.number()).default([]),
  seats: z.array(Seat).default([]),
  acts: z.record(z.string(), z.string()).default({}),
  time: z.number().default(0),
  isDead: z.boolean().default(false),
});
type Forks = readonly number[];

const FREE = -1;

/**
 * The table of DPBench (Hasan and BusiReddyGari 2026), whose philosophers act all at once: each is asked for one of four actions, and the lowest
 * number wins a fork. A deadlock is a table at which all are hungry and hold one fork each.
 */
export function randomDiners(count: number, most: number): MakeWorld {
  const Choose = defineAction({
    name: "Choose",
    output: z.object({ action: z.enum(ACTIONS) }),
    prompt: () => "Choose.",
    sendTo: () => ["Table"],
  });
  const names = Array.from({ length: count }, (_, index) => `P${index}`);
  const table = defineRole({
    name: "Table",
    watch: [],
    state: Table,
    step(state, { content, sentFrom, instructContent }, out) {
      const ask = (): void => void out.say("choose", { sendTo: names, causeBy: "Ask" });
      if (content === "begin") {
        ask();
        return { ...state, forks: names.map(() => FREE), seats: names.map(() => ({ isEating: false })) };
      }
      const acts = { ...state.acts, [sentFrom]: String((instructContent as { readonly action: Act }).action) };
      if (Object.keys(acts).length < count) return { ...state, acts };
      const { forks, seats } = after(
        state.forks,
        state.seats,
        names.map((name) => acts[name] as Act),
      );
      const isDead = seats.every(({ isEating }, index) => !isEating && heldBy(forks, index) === 1);
      if (!isDead && state.time + 1 < most) ask();
      return { forks, seats, acts: {}, time: state.time + 1, isDead };
    },
  });
  const philosopher = (name: string) => defineRole({ name, reactions: [{ on: "Ask", do: Choose }] });
  return (given) => {
    const world = new Environment(given).addRoles([table, ...names.map(philosopher)]);
    world.publishMessage(createMessage("begin", { sendTo: "Table", id: "first" }));
    return world;
  };
}

function heldBy(forks: Forks, index: number): number {
  return [index, (index + 1) % forks.length].filter((fork) => forks[fork] === index).length;
}

function after(before: Forks, seats: readonly { readonly isEating: boolean }[], acts: readonly Act[]) {
  const forks = [...before];
  const wanted = new Map<number, number>();
  for (const [index, act] of acts.entries()) {
    const fork = act === "GRAB_LEFT" ? index : act === "GRAB_RIGHT" ? (index + 1) % forks.length : undefined;
    if (fork !== undefined && forks[fork] === FREE && !wanted.has(fork)) wanted.set(fork, index);
    if (act === "RELEASE") for (const own of [index, (index + 1) % forks.length]) if (forks[own] === index) forks[own] = FREE;
  }
  for (const [fork, index] of wanted) forks[fork] = index;
  const next = seats.map(({ isEating }, index) => {
    if (isEating) for (const own of [index, (index + 1) % forks.length]) forks[own] = FREE;
    return { isEating: !isEating && heldBy(forks, index) === 2 };
  });
  return { forks, seats: next };
}
