// An experiment: who has how much after some rounds in which everybody who has a coin gives one to somebody. Four cells of a grid, repeated
// with common random numbers; then a table, a verification and a picture.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { experiment, experimentTable, gini, mean, plotSvg, runExperiment, verifyExperiment } from "troupe/research";

// #region coins
const names = (people: number) => Array.from({ length: people }, (_, place) => `p${place}`);
const personOf = (name: string, start: number, people: number) =>
  defineRole({
    name,
    state: z.object({ coins: z.number().default(start) }),
    steps({ coins }, messages, out) {
      const had = coins + messages.filter(({ content }) => content === "a coin").length;
      out.say("next", { sendTo: "<self>" });
      if (had > 0) out.say("a coin", { sendTo: `p${Math.floor(out.random() * people)}` });
      return { coins: Math.max(0, had - 1) };
    },
  });

export const coins = experiment({
  name: "coins",
  params: { people: [10, 20], start: [1, 5] },
  reps: 5,
  world: ({ params: { people, start }, seed, concurrency }) =>
    new Environment({ seed, concurrency, memory: false }).addRoles(names(people).map((name) => personOf(name, start, people))),
  begin: (market) => market.publishMessage(createMessage("begin", { sendTo: market.roleNames })),
  collect: { poor: ({ state }, { params: { people } }) => mean(names(people).map((name) => Number(state(name)?.["coins"] === 0))) },
  measure: ({ world }) => ({ gini: gini(world.roleNames.map((name) => Number(world.getRole(name)?.state["coins"]))) }),
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
