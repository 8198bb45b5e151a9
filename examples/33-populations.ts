// A population of step roles: what it needs, and what becomes of a town of people who meet.
import { createMessage, defineRole, Environment } from "troupe";
import { assertPopulationFits, populationNeed } from "troupe/research";
import { z } from "zod";

// #region world
const size = 200;
const walker = defineRole({
  name: "Walker",
  watch: ["Start"],
  state: z.object({ met: z.number().default(0) }),
  step({ met }, _message, out) {
    if (met < 5) out.say("hello", { sendTo: `w${Math.floor(out.random() * size)}` });
    return { met: met + 1 };
  },
});
const town = new Environment({ seed: 1, memory: false });
for (let index = 0; index < size; index += 1) town.addRole(walker, { name: `w${index}` });
town.publishMessage(createMessage("go", { causeBy: "Start" }));
const { status } = await town.run({ rounds: 200 });
console.log(status, Math.max(...town.roleNames.map((name) => Number(town.getRole(name)?.state["met"]))));
// #endregion world

// #region each
const people = 500;
const person = defineRole({
  name: "Person",
  watch: [],
  acts: "each round",
  state: z.object({ coins: z.number().default(1) }),
  steps({ coins }, messages, out) {
    const held = coins + messages.length;
    if (held === 0) return { coins: held };
    out.say("coin", { sendTo: `p${Math.floor(out.random() * people)}` });
    return { coins: held - 1 };
  },
});
const market = new Environment({ seed: 1, memory: false });
for (let index = 0; index < people; index += 1) market.addRole(person, { name: `p${index}` });
console.log((await market.run({ rounds: 50 })).status); // rounds
// #endregion each

// #region need
const { heap, process: whole } = populationNeed({ roles: 1_000_000 });
console.log(heap < 1.4e9, whole < 2e9); // true true
assertPopulationFits({ roles: 50_000 }); // POPULATION_TOO_LARGE names the need, the limit and the flag of Node.js
// #endregion need
