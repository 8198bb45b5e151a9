// An experiment: who has how much after some rounds in which everyone who has a coin gives one to a random person. Four cells of a grid, repeated
// with common random numbers; then a table, a verification and a picture.
import { z } from "zod";
import { defineRole, Environment, type RunProgress } from "troupe";
import { experiment, experimentTable, gini, mean, plotSvg, runExperiment, verifyExperiment } from "troupe/research";

// #region coins
const names = (people: number) => Array.from({ length: people }, (_, index) => `p${index}`);
const owned = ({ state, inbox }: RunProgress, name: string) => Number(state(name)?.["coins"]) + inbox(name).length;
const personOf = (name: string, start: number, people: number) =>
  defineRole({
    name,
    state: z.object({ coins: z.number().default(start) }),
    acts: "each round",
    steps({ coins }, { length: given }, out) {
      if (coins + given > 0) out.say("a coin", { sendTo: `p${Math.floor(out.random() * people)}` });
      return { coins: Math.max(0, coins + given - 1) };
    },
  });

export const coins = experiment({
  name: "coins",
  params: { people: [10, 20], start: [1, 5] },
  reps: 5,
  world: ({ params: { people, start }, seed, concurrency }) =>
    new Environment({ seed, concurrency, memory: false }).addRoles(names(people).map((name) => personOf(name, start, people))),
  rounds: 100,
  collect: { poor: (progress, { params: { people } }) => mean(names(people).map((name) => Number(owned(progress, name) === 0))) },
  measure: ({ world, params: { people } }) => ({ gini: gini(names(people).map((name) => owned(world.progress, name))) }),
});
// #endregion

// #region run
const { rows, series, failed } = await runExperiment(coins);
console.table(experimentTable(rows, { by: ["people", "start"] }));
// #endregion

// #region plot
export const picture = () => plotSvg(series, { kind: "line", x: "round", y: "poor", series: "start" });
// #endregion

// #region verify
const { isEqual, ways } = await verifyExperiment(coins, { runs: 2 });
console.log(`${rows.length} runs, ${failed} failed; equal at ${ways.join(", ")}: ${isEqual}`);
// #endregion
