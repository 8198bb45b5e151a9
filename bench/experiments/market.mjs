// The world of both programs: everybody who has a coin gives one to somebody in each round.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../dist/src/index.js";

export const ROUNDS = 100;

export function marketOf({ people, start, seed }) {
  const person = defineRole({
    name: "Person",
    state: z.object({ coins: z.number().default(start) }),
    steps({ coins }, messages, out) {
      const had = coins + messages.filter(({ content }) => content === "a coin").length;
      out.say("next", { sendTo: "<self>" });
      if (had > 0) out.say("a coin", { sendTo: `p${Math.floor(out.random() * people)}` });
      return { coins: Math.max(0, had - 1) };
    },
  });
  const market = new Environment({ seed, memory: false });
  for (let place = 0; place < people; place += 1) market.addRole(person, { name: `p${place}` });
  return market;
}

export const begin = (market) => market.publishMessage(createMessage("begin", { sendTo: market.roleNames }));

export function gini(market) {
  const wealth = market.roleNames.map((name) => Number(market.getRole(name)?.state.coins)).sort((a, b) => a - b);
  const total = wealth.reduce((sum, coins) => sum + coins, 0);
  const weighted = wealth.reduce((sum, coins, index) => sum + (index + 1) * coins, 0);
  return (2 * weighted) / (wealth.length * total) - (wealth.length + 1) / wealth.length;
}
