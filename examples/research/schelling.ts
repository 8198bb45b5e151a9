// Schelling's town: people of two kinds live on a grid, and move to a random free place where fewer than three in ten of their neighbours are of their kind.
// Nobody wants a divided town, and it divides.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { mean, neighboursOf, space, study } from "troupe/research";

const people = Array.from({ length: 230 }, (_, nth) => `${nth % 2 === 0 ? "red" : "blue"}${nth}`); // the first letter is the kind

// #region town
const WANTED = 0.3;
const grid = space({ width: 16, height: 16, torus: true, neighbours: "moore" });
const Cells = z.record(z.string(), z.tuple([z.number(), z.number()]));

const person = defineRole({
  name: "Person",
  watch: [],
  step: (_, { content }, out) => void (Number(content) < WANTED && out.say("I move", { sendTo: "Town" })),
});

/** Moves those who want to, each to a random free cell, and tells everybody the share of neighbours of its kind: 1 without neighbours. */
const town = defineRole({
  name: "Town",
  watch: [],
  state: z.object({ cells: Cells.default({}) }),
  steps(state, messages, out) {
    const moving = messages.map(({ sentFrom }) => sentFrom);
    const free = [...grid.free(Object.fromEntries(Object.entries(state.cells).filter(([who]) => !moving.includes(who))))];
    const moves = moving.map((who) => [who, ...free.splice(Math.floor(out.random() * free.length), 1)] as const);
    const cells = grid.move(state.cells, Object.fromEntries(moves.map(([who, cell = [0, 0]]) => [who, cell])));
    for (const [who, near] of neighboursOf(grid.topology(cells, 1))) {
      const share = near.length === 0 ? 1 : mean(near.map((other) => Number(other[0] === who[0])));
      out.say(`${share}`, { sendTo: who });
    }
    return { cells: Cells.parse(cells) };
  },
});
// #endregion

const { samples, report } = study({ name: "Schelling", source: "Kavak, Segregation Simulation: about 0.75" });
/** All shares that the town tells. Who has no place yet is told 0. */
export const told = await samples(30, async (seed) => {
  const world = new Environment({ seed }).addRole(town);
  for (const name of people) world.addRole(person, { name });
  world.publishMessage(createMessage("0", { sendTo: people }));
  const { messages } = await world.run({ rounds: 1_000 });
  return messages.filter(({ sentFrom }) => sentFrom === "Town").map(({ content }) => Number(content));
});
const first = told.map((shares) => mean(shares.slice(0, people.length)));
const last = told.map((shares) => shares.slice(-people.length));
const unhappy = last.flat().filter((share) => share < WANTED);

export const figures = report([
  { name: "like neighbours at first, (n / 2 - 1) / (n - 1)", source: "hypergeometric distribution", expected: 114 / 229, found: first },
  { name: "people who still want to move", source: "Schelling 1971", expected: 0, found: unhappy.length },
  { name: "like neighbours where 0.3 are wanted", expected: 0.75, tolerance: 0.05, found: last.map(mean) },
]);
