import { experiment } from "../../dist/src/research/index.js";
import { begin, gini, marketOf, ROUNDS } from "./market.mjs";

export const coins = experiment({
  name: "coins",
  params: { people: [200, 400], start: [1, 5] },
  reps: 20,
  rounds: ROUNDS,
  world: ({ params, seed }) => marketOf({ ...params, seed }),
  begin,
  measure: ({ world }) => ({ gini: gini(world) }),
});
