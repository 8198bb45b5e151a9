// Schelling's town: people of two kinds live on a grid, and move to a random free place where fewer than three in ten of their neighbours are of their kind.
// Nobody wants a divided town, and it divides.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { figure, figuresText } from "troupe/research";

const SIDE = 16;
const PEOPLE = 230;
const WANTED = 0.3;
const seed = process.env["SEED"] ?? randomUUID();
const kindOf = (who: number): number => who % 2;

/** The places around a cell; the grid has no edge. */
function around(cell: number): readonly number[] {
  const [row, column] = [Math.floor(cell / SIDE), cell % SIDE];
  const steps = [-1, 0, 1]
    .flatMap((down) => [-1, 0, 1].map((right) => [down, right] as const))
    .filter(([down, right]) => down !== 0 || right !== 0);
  return steps.map(([down, right]) => ((row + down + SIDE) % SIDE) * SIDE + ((column + right + SIDE) % SIDE));
}

/** Returns the share of neighbours of a person's own kind; 1 without neighbours. */
function shareAt(cells: readonly number[], cell: number): number {
  const neighbours = around(cell)
    .map((other) => cells[other] ?? -1)
    .filter((who) => who >= 0);
  return neighbours.length === 0 ? 1 : neighbours.filter((who) => kindOf(who) === kindOf(cells[cell] ?? 0)).length / neighbours.length;
}

const person = defineRole({
  name: "Person",
  watch: [],
  step: (_, message, out) => void (Number(message.content) < WANTED && out.say("I move", { sendTo: "Town" })),
});

/** Keeps the map: moves those who want to, one after another, and tells all of them what their neighbourhood is like now. */
const town = defineRole({
  name: "Town",
  watch: [UserRequirement],
  state: z.object({ cells: z.array(z.number()).default([]), begin: z.number().default(0) }),
  steps(state, messages, out) {
    const cells = state.cells.length > 0 ? [...state.cells] : Array.from({ length: SIDE * SIDE }, () => -1);
    const settle = (who: number): void => {
      const free = cells.flatMap((one, cell) => (one < 0 ? [cell] : []));
      cells[free[Math.floor(out.random() * free.length)] ?? 0] = who;
    };
    const moving = messages.filter(({ sentFrom }) => sentFrom !== "").map(({ sentFrom }) => Number(sentFrom.slice(1)));
    for (const who of moving) cells[cells.indexOf(who)] = -1;
    for (const who of state.cells.length > 0 ? moving : Array.from({ length: PEOPLE }, (_, nth) => nth)) settle(who);
    const shares = Array.from({ length: PEOPLE }, (_, who) => shareAt(cells, cells.indexOf(who)));
    for (const [who, share] of shares.entries()) out.say(`${share}`, { sendTo: `p${who}` });
    const begin = shares.reduce((sum, share) => sum + share, 0) / PEOPLE;
    return { cells, begin: state.cells.length > 0 ? state.begin : begin };
  },
});

async function settled(rep: number): Promise<{ readonly begin: number; readonly end: number; readonly unhappy: number }> {
  const world = new Environment({ seed: `${seed}/${rep}` });
  world.addRole(town);
  for (let who = 0; who < PEOPLE; who += 1) world.addRole(person, { name: `p${who}` });
  world.publishMessage("settle");
  await world.run({ rounds: 1_000 });
  const { cells, begin } = z.object({ cells: z.array(z.number()), begin: z.number() }).parse(world.getRole("Town")?.state);
  const shares = Array.from({ length: PEOPLE }, (_, who) => shareAt(cells, cells.indexOf(who)));
  return { begin, end: shares.reduce((sum, share) => sum + share, 0) / PEOPLE, unhappy: shares.filter((share) => share < WANTED).length };
}

const towns = await Promise.all(Array.from({ length: 30 }, (_, rep) => settled(rep)));

export const figures = [
  figure({
    name: "Schelling: like neighbours at first, (n / 2 - 1) / (n - 1)",
    source: "hypergeometric distribution",
    expected: (PEOPLE / 2 - 1) / (PEOPLE - 1),
    found: towns.map(({ begin }) => begin),
  }),
  figure({
    name: "Schelling: people who still want to move",
    source: "Schelling 1971",
    expected: 0,
    found: Math.max(...towns.map(({ unhappy }) => unhappy)),
  }),
  figure({
    name: "Schelling: like neighbours where 0.3 are wanted",
    source: "Kavak, Segregation Simulation: about 0.75",
    expected: 0.75,
    tolerance: 0.05,
    found: towns.map(({ end }) => end),
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
