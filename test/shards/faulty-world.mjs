/* Worlds of two roles that do not end as they should. */
import { defineRole } from "troupe";
import { shardedWorld } from "troupe/shards";

const faults = {
  exit: () => process.exit(3),
  hang: () => {
    for (;;);
  },
  throw: () => {
    throw new Error("no more");
  },
};

export const world = shardedWorld(({ fault, options = {} }) => {
  const good = defineRole({
    name: "Good",
    watch: ["UserRequirement"],
    step: (_state, _message, out) => void out.say("go", { sendTo: "Bad" }),
  });
  const bad = defineRole({ name: "Bad", step: () => faults[fault]() });
  return { roles: [{ role: good }, { role: bad }], messages: ["go"], options };
});
