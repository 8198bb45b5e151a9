/* Worlds of two roles that do not end as they should. */
import { defineRole } from "troupe";
import { shardedWorld } from "troupe/shards";

const faults = {
  none: () => undefined,
  exit: () => process.exit(3),
  hang: () => {
    for (;;);
  },
  throw: () => {
    throw new Error("no more");
  },
};

export const world = shardedWorld(({ fault, says = ["Bad"], more = [], options = {} }) => {
  const good = defineRole({
    name: "Good",
    watch: ["UserRequirement"],
    step: (_state, _message, out) => {
      for (const sendTo of says) out.say("go", { sendTo });
    },
  });
  const bad = defineRole({ name: "Bad", step: () => faults[fault]() });
  return { roles: [{ role: good }, ...more.map((name) => ({ role: good, name })), { role: bad }], messages: ["go"], options };
});
