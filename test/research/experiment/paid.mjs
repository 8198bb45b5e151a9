// An experiment whose runs ask a paid model at PAID_URL: two roles pass on a number, and each asks in every round. Each question is asked once.
import { createMessage, defineRole, Environment } from "../../../dist/src/index.js";
import { openai } from "../../../dist/src/adapters/openai.js";
import { experiment } from "../../../dist/src/research/index.js";

const STEPS = 10;
const names = ["Ann", "Ben"];
const model = openai({
  model: "m-small",
  baseURL: process.env.PAID_URL,
  apiKey: "none",
  price: { input: 100, output: 1000 },
  maxOutputTokens: 8,
});

export const paid = experiment({
  name: "paid",
  params: { topic: ["tea", "rain", "chess"] },
  reps: 4,
  world: ({ params, rep, seed, concurrency, run }) =>
    new Environment({ seed, concurrency, model, ...run }).addRoles(
      names.map((name, place) =>
        defineRole({
          name,
          watch: [],
          async react(rc) {
            const n = Number(rc.news[0].content);
            const answer = await rc.ask(`${params.topic}, repetition ${rep}: question ${n} of ${name}?`);
            return n < STEPS ? rc.message(String(n + 1), { sendTo: names[1 - place], metadata: { answer } }) : undefined;
          },
        }),
      ),
    ),
  begin: (world) => {
    for (const name of names) world.publishMessage(createMessage("1", { sendTo: name }));
  },
  collect: { asked: ({ calls }) => calls, delivered: ({ delivered }) => delivered },
  measure: ({ result }) => ({ yes: result.messages.filter(({ metadata }) => metadata.answer === "yes").length }),
});
