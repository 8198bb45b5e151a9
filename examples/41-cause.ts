// Who decided the outcome: three workers add one to a number, one of them makes a mistake, and forks of the recorded run find which.
import { createMessage, defineRole, memoryJournal, type RunResult, Team } from "troupe";
import { attribute, policyModel } from "troupe/research";

// #region team
const names = ["Ada", "Ben", "Cem"];
const roles = names.map((name, index) =>
  defineRole({
    name,
    watch: [],
    react: async (rc) => {
      const answer = await rc.ask(`${name}: add one to ${rc.news[0]?.content}`);
      return rc.message(answer, index < 2 ? { sendTo: names[index + 1] ?? "" } : {});
    },
  }),
);

/** A model that adds one, with a mistake in a third of its answers. */
const adder = (seed: string) =>
  policyModel({
    seed,
    answer: ({ messages }, random) => String(Number(String(messages.at(-1)?.content).split(" ").at(-1)) + (random() < 1 / 3 ? 2 : 1)),
  });

const journal = memoryJournal();
const team = (seed: string) => new Team({ roles, journal, model: adder(seed), seed: 1 });
const score = ({ output }: RunResult) => output?.content === "3";
// #endregion

// #region cause
const run = await team("1").run(createMessage("0", { sendTo: "Ada" })).result;
console.log(`The team says ${run.output?.content}.`);

const { effects, byRole } = await attribute({ team, runId: run.runId, score, samples: 20 });
for (const { act, effect, score: share } of effects)
  console.log(`${act}: ${effect.toFixed(2)}, right in ${share.low.toFixed(2)} to ${share.high.toFixed(2)} of repetitions`);
console.log(`It was ${effects[0]?.role}.`, Object.keys(byRole).length);
// #endregion
