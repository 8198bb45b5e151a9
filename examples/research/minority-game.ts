// The minority game: an odd number of agents choose one of two sides again and again, and the smaller side wins. Each has two strategies, which name a
// side for every one of P states of the world, and plays the one that would have won more often. Few states make crowds; about N / 3 make order.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { figure, figuresText } from "troupe/research";

const AGENTS = 31;
const seed = process.env["SEED"] ?? randomUUID();
const told = z.object({ state: z.number(), won: z.number(), before: z.number() });

const agent = (name: string, states: number) =>
  defineRole({
    name,
    watch: ["Call"],
    state: z.object({ sides: z.array(z.array(z.number())).default([]), scores: z.array(z.number()).default([0, 0]) }),
    step({ sides, scores }, { instructContent }, out) {
      const { state, won, before } = told.parse(instructContent);
      const draw = (): readonly number[] => Array.from({ length: states }, () => (out.random() < 0.5 ? -1 : 1));
      const known = sides.length > 0 ? sides : [draw(), draw()];
      // A score is the attendance that a strategy would have escaped.
      const [first = 0, second = 0] = scores.map((score, nth) => score + won * (known[nth]?.[before] ?? 0));
      const best = first === second ? (out.random() < 0.5 ? 0 : 1) : first > second ? 0 : 1;
      out.say(`${known[best]?.[state] ?? 1}`, { sendTo: "Bar" });
      return sides.length > 0 ? { sides, scores: [first, second] } : { sides: known, scores: [first, second] };
    },
  });

const bar = (states: number, rounds: number) =>
  defineRole({
    name: "Bar",
    watch: [UserRequirement],
    state: z.object({ state: z.number().default(0), played: z.number().default(-1), squares: z.number().default(0) }),
    steps({ state, played, squares }, messages, out) {
      const attendance = played < 0 ? 0 : messages.reduce((sum, { content }) => sum + Number(content), 0);
      const next = Math.floor(out.random() * states);
      if (played < rounds) out.say("choose", { causeBy: "Call", instructContent: { state: next, won: -attendance, before: state } });
      return { state: next, played: played + 1, squares: squares + (played > rounds / 2 ? attendance ** 2 : 0) };
    },
  });

/** Returns the variance of the attendance for each agent, in the second half of the rounds. */
async function volatility(states: number, rep: number): Promise<number> {
  const rounds = 300;
  const town = new Environment({ seed: `${seed}/${states}/${rep}` });
  town.addRole(bar(states, rounds));
  town.addRoles(Array.from({ length: AGENTS }, (_, place) => agent(`m${place}`, states)));
  town.publishMessage("begin");
  await town.run({ rounds: 3 * rounds });
  return Number(town.getRole("Bar")?.state["squares"]) / (rounds / 2) / AGENTS;
}

const sampled = async (states: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: 10 }, (_, rep) => volatility(states, rep)));
const [crowded, ordered] = [await sampled(2), await sampled(16)];
const source = "Savit, Manuca and Riolo 1999";

export const figures = [
  figure({
    name: "minority game: variance for each agent, 2 states: more than by chance",
    source,
    relation: "at least",
    expected: 1,
    found: crowded,
    tolerance: 0,
  }),
  figure({
    name: "minority game: variance for each agent, 16 states: less than by chance",
    source,
    relation: "at most",
    expected: 1,
    found: ordered,
    tolerance: 0,
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
