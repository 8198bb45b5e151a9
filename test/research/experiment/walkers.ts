import { createMessage, defineRole, Environment } from "../../../src/index.ts";
import type { CellSetting } from "../../../src/research/experiment/experiment.ts";

const walker = defineRole({
  name: "Walker",
  react: (rc) => rc.message(rc.random() < 0.5 ? "left" : "right", { sendTo: "<self>" }),
});

/** A role that walks left or right in each round, for ever, once it is told to. */
export function emptyRoad({ seed, concurrency }: Pick<CellSetting<never>, "seed" | "concurrency">): Environment {
  return new Environment({ seed, concurrency }).addRole(walker);
}

/** The same, and it was told. */
export function road(setting: Pick<CellSetting<never>, "seed" | "concurrency">): Environment {
  const made = emptyRoad(setting);
  made.publishMessage(createMessage("go", { sendTo: ["Walker"] }));
  return made;
}
