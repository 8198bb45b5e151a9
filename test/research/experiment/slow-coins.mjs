// An experiment whose runs take some milliseconds each: a hundred roles give coins to each other.
import { createMessage, defineRole, Environment } from "../../../dist/src/index.js";
import { experiment } from "../../../dist/src/research/index.js";

const person = defineRole({
  name: "Person",
  observe: (rc) => rc.inbox,
  react: (rc) => [rc.message("tick", { sendTo: "<self>" }), rc.message("a coin", { sendTo: `p${Math.floor(rc.random() * 100)}` })],
});

export const coins = experiment({
  name: "coins",
  params: { length: [5, 10, 15, 20], kind: ["a", "b"] },
  reps: 30,
  rounds: ({ length }) => length,
  world: ({ seed, concurrency }) => {
    const market = new Environment({ seed, concurrency });
    for (let place = 0; place < 100; place += 1) market.addRole(person, { name: `p${place}` });
    return market;
  },
  begin: (market) => market.publishMessage(createMessage("begin", { sendTo: market.roleNames })),
  collect: { said: ({ delivered }) => delivered },
  measure: ({ result }) => ({ last: result.messages.at(-1)?.id ?? "" }),
});
