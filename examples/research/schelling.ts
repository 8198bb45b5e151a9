// Schelling's town: people of two kinds live on a grid, and move to a random free place where fewer than three in ten of their neighbours are of their kind.
// Nobody wants a divided town, and it divides.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { mean, study } from "troupe/research";

const SIDE = 16;
const WANTED = 0.3;
const people = Array.from({ length: 230 }, (_, nth) => `${nth % 2 === 0 ? "red" : "blue"}${nth}`); // the first letter is the kind

/** Returns the share of a person's neighbours, in the eight cells around, that are of its kind; 1 without neighbours. The grid has no edge. */
function shareOf(who: string, cells: readonly string[]): number {
  const home = cells.indexOf(who);
  const near = (place: number): readonly number[] => [place + SIDE - 1, place, place + 1].map((one) => one % SIDE);
  const block = near(Math.floor(home / SIDE)).flatMap((row) => near(home % SIDE).map((column) => cells[row * SIDE + column] ?? ""));
  const neighbours = block.filter((other) => other !== "" && other !== who);
  return neighbours.length === 0 ? 1 : mean(neighbours.map((other) => Number(other[0] === who[0])));
}

const person = defineRole({
  name: "Person",
  watch: [],
  step: (_, { content }, out) => void (Number(content) < WANTED && out.say("I move", { sendTo: "Town" })),
});

/** Moves those who want to, one after another, and tells everybody its share of like neighbours. */
const town = defineRole({
  name: "Town",
  watch: [],
  state: z.object({ cells: z.array(z.string()).default(Array.from({ length: SIDE * SIDE }, () => "")) }),
  steps(state, messages, out) {
    const moving = messages.map(({ sentFrom }) => sentFrom);
    const cells = state.cells.map((who) => (moving.includes(who) ? "" : who));
    for (const who of moving) {
      const free = [...cells.keys()].filter((cell) => cells[cell] === "");
      cells[free[Math.floor(out.random() * free.length)] ?? 0] = who;
    }
    for (const who of people) out.say(`${shareOf(who, cells)}`, { sendTo: who });
    return { cells };
  },
});

const { samples, report } = study({ name: "Schelling", source: "Kavak, Segregation Simulation: about 0.75" });
/** All shares that the town tells. Who has no place yet is told 0. */
const told = await samples(30, async (seed) => {
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
