/* The models as loops over objects in JavaScript, without messages, names or a record. */
import { gini, neighboursOf, wattsStrogatz } from "../../dist/src/research/index.js";

const random = Math.random;

function money(n) {
  const coins = Array.from({ length: n }, () => 1);
  const step = () => {
    const got = Array.from({ length: n }, () => 0);
    for (let one = 0; one < n; one += 1)
      if (coins[one] > 0) {
        coins[one] -= 1;
        got[Math.floor(random() * n)] += 1;
      }
    for (let one = 0; one < n; one += 1) coins[one] += got[one];
  };
  return { step, check: () => gini(coins) };
}

function near(n) {
  const graph = wattsStrogatz(n, { degree: 6, rewiring: 0.1, seed: 1 });
  const index = new Map(graph.nodes.map((node, at) => [node, at]));
  const lists = neighboursOf(graph);
  return graph.nodes.map((node) => lists.get(node).map((other) => index.get(other)));
}

function virus(n) {
  const lists = near(n);
  let state = Array.from({ length: n }, (_, one) => (one < n / 50 ? "I" : "S"));
  const step = () => {
    const next = state.slice();
    for (let one = 0; one < n; one += 1) {
      if (state[one] !== "I") continue;
      for (const other of lists[one]) if (state[other] === "S" && random() < 0.2) next[other] = "I";
      if (random() < 0.1) next[one] = "R";
    }
    state = next;
  };
  return { step, check: () => state.filter((one) => one !== "S").length / n };
}

function opinion(n) {
  const lists = near(n);
  let held = Array.from({ length: n }, () => random());
  const step = () => {
    held = held.map((own, one) => (own + lists[one].reduce((sum, other) => sum + held[other], 0) / lists[one].length) / 2);
  };
  return { step, check: () => Math.max(...held) };
}

const models = { money, ticks: money, virus, opinion };

export async function run(model, n, steps, measured) {
  const { step, check } = models[model](n);
  const told = await measured(async () => {
    for (let count = 0; count < steps; count += 1) step();
  });
  return { ...told, agents: n, check };
}
