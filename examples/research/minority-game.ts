// The minority game: an odd number of agents choose one of two sides again and again, and the smaller side wins. Each has two strategies, which name a
// side for every one of P states of the world, and plays the one that would have won more often. Few states make crowds; about N / 3 make order.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const AGENTS = 31;
const ROUNDS = 300;
const Told = z.object({ state: z.number(), won: z.number(), before: z.number() });

const agent = (states: number) =>
  defineRole({
    name: "Agent",
    watch: ["Call"],
    state: z.object({ sides: z.array(z.array(z.number())).default([]), scores: z.array(z.number()).default([0, 0]) }),
    step(known, { instructContent }, out) {
      const { state, won, before } = Told.parse(instructContent);
      const side = (): number => (out.random() < 0.5 ? -1 : 1);
      const sides = known.sides.length > 0 ? known.sides : [Array.from({ length: states }, side), Array.from({ length: states }, side)];
      // A score is the attendance that a strategy would have escaped.
      const scores = known.scores.map((score, nth) => score + won * (sides[nth]?.[before] ?? 0));
      const lead = Math.sign((scores[0] ?? 0) - (scores[1] ?? 0)) || side();
      out.say(`${sides[lead > 0 ? 0 : 1]?.[state]}`, { sendTo: "Bar" });
      return { sides, scores };
    },
  });

/** Calls the agents, and adds the squares of the attendance in the second half of the rounds. */
const bar = (states: number) =>
  defineRole({
    name: "Bar",
    watch: [UserRequirement],
    state: z.object({ state: z.number().default(0), played: z.number().default(-1), squares: z.number().default(0) }),
    steps({ state, played, squares }, messages, out) {
      const attendance = played < 0 ? 0 : messages.reduce((sum, { content }) => sum + Number(content), 0);
      const next = Math.floor(out.random() * states);
      if (played < ROUNDS) out.say("choose", { causeBy: "Call", instructContent: { state: next, won: -attendance, before: state } });
      return { state: next, played: played + 1, squares: squares + (played > ROUNDS / 2 ? attendance ** 2 : 0) };
    },
  });

/** Returns the variance of the attendance for each agent. */
async function volatility(states: number, seed: string): Promise<number> {
  const town = new Environment({ seed }).addRole(bar(states));
  for (let place = 0; place < AGENTS; place += 1) town.addRole(agent(states), { name: `m${place}` });
  town.publishMessage("begin");
  await town.run({ rounds: 3 * ROUNDS });
  return Number(town.getRole("Bar")?.state["squares"]) / (ROUNDS / 2) / AGENTS;
}

const { samples, report } = study({ name: "minority game", source: "Savit, Manuca and Riolo 1999" });
const crowded = await samples(10, (seed) => volatility(2, seed));
const ordered = await samples(10, (seed) => volatility(16, seed));

export const figures = report([
  { name: "variance for each agent, 2 states: more than by chance", relation: "at least", expected: 1, found: crowded },
  { name: "variance for each agent, 16 states: less than by chance", relation: "at most", expected: 1, found: ordered },
]);
