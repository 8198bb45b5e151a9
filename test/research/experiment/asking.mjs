// An experiment whose runs ask a model twice. The process of some of them dies then: of every try, or of the first one, which a file tells.
import { existsSync, writeFileSync } from "node:fs";
import { createMessage, defineRole, Environment } from "../../../dist/src/index.js";
import { experiment, policyModel } from "../../../dist/src/research/index.js";

const model = policyModel({
  id: "priced",
  price: { input: 1, output: 2 },
  answer: () => ({ content: "Yes.", usage: { inputTokens: 100, outputTokens: 100 } }),
});

function die(kind) {
  const mark = process.env.ASKING_MARK;
  if (kind === "never" || (kind === "once" && existsSync(mark))) return;
  writeFileSync(mark, "");
  process.kill(process.pid, "SIGKILL");
}

export const asking = experiment({
  name: "asking",
  params: { dies: ["never", "once", "always"] },
  world: ({ params, seed }) =>
    new Environment({ model, seed }).addRole(
      defineRole({
        name: "Asker",
        watch: [],
        async react(rc) {
          await rc.ask("First?");
          await rc.ask("Second?");
          die(params.dies);
        },
      }),
    ),
  begin: (world) => world.publishMessage(createMessage("go", { sendTo: "Asker" })),
});
