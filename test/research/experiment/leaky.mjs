// An experiment whose second run depends on its first: a variable of the module outlives the run.
import { createMessage, defineRole, Environment } from "../../../dist/src/index.js";
import { experiment } from "../../../dist/src/research/index.js";

let runs = 0;
const teller = defineRole({ name: "Teller", react: (rc) => rc.message(`run ${runs}`, { sendTo: "<none>" }) });

export const leak = experiment({
  name: "leak",
  params: { n: [1, 2] },
  world: ({ seed, concurrency }) => {
    runs += 1;
    return new Environment({ seed, concurrency }).addRole(teller);
  },
  begin: (world) => world.publishMessage(createMessage("go", { sendTo: ["Teller"] })),
});
