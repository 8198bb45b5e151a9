// An experiment without a model: a hundred roles give coins to each other. Wealth starts equal and ends unequal; the Gini coefficient measures
// how unequal. Twenty seeds give its mean and standard error. One seed gives the same number on every machine and at every concurrency.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";

// #region coins
const PEOPLE = 100;
const ROUNDS = 30;
const name = (place: number): string => `p${place}`;

/** In each round a person takes the coins that came, and gives one to a random person. */
const person = defineRole({
  name: "Person",
  state: z.object({ coins: z.number().default(10) }),
  observe: (rc) => rc.inbox,
  react: (rc) => {
    const received = rc.news.filter((message) => message.metadata["coins"] === 1).length;
    rc.state.coins += received;
    const tick = rc.message("tick", { sendTo: "<self>" });
    if (rc.state.coins === 0) return tick;
    rc.state.coins -= 1;
    return [tick, rc.message("a coin", { sendTo: name(Math.floor(rc.random() * PEOPLE)), metadata: { coins: 1 } })];
  },
});

export async function giniOf(seed: number, concurrency: number): Promise<number> {
  const market = new Environment({ seed, concurrency, memory: false }); // only the states are needed
  for (let place = 0; place < PEOPLE; place += 1) market.addRole(person, { name: name(place) });
  market.publishMessage(createMessage("begin", { sendTo: market.roleNames }));
  await market.run({ rounds: ROUNDS });
  return gini(market.roleNames.map((who) => Number(market.getRole(who)?.state["coins"] ?? 0)));
}

function gini(wealth: readonly number[]): number {
  const sorted = wealth.toSorted((a, b) => a - b);
  const total = sorted.reduce((sum, coins) => sum + coins, 0);
  const weighted = sorted.reduce((sum, coins, index) => sum + (index + 1) * coins, 0);
  return (2 * weighted) / (sorted.length * total) - (sorted.length + 1) / sorted.length;
}

const seeds = Array.from({ length: 20 }, (_, seed) => seed);
const one = await Promise.all(seeds.map((seed) => giniOf(seed, 1)));
const sixteen = await Promise.all(seeds.map((seed) => giniOf(seed, 16)));

const mean = one.reduce((sum, value) => sum + value, 0) / one.length;
const variance = one.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (one.length - 1);
console.log(
  `Gini after ${ROUNDS} rounds: ${mean.toFixed(4)} ± ${Math.sqrt(variance / one.length).toFixed(4)} (standard error, ${seeds.length} seeds)`,
);
console.log(`equal at concurrency 1 and 16: ${one.every((value, index) => value === sixteen[index])}`);
// #endregion
