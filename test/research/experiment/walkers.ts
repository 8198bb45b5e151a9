import { createMessage, defineRole, Environment } from "../../../src/index.ts";
import type { CellSetting } from "../../../src/research/experiment/experiment-options.ts";

const walker = defineRole({
  name: "Walker",
  react: (rc) => rc.message(rc.random() < 0.5 ? "left" : "right", { sendTo: "<self>" }),
});

/** A role that walks left or right in each round, for ever. */
export function road({ seed, concurrency }: Pick<CellSetting<never>, "seed" | "concurrency">): Environment {
  const made = new Environment({ seed, concurrency }).addRole(walker);
  made.publishMessage(createMessage("go", { sendTo: ["Walker"] }));
  return made;
}
