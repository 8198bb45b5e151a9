/** Which of two prompts is better? Both get the same questions, and are compared question by question. */
import { defineAction, defineRole, Team } from "troupe";
import { compareBySeed, experiment, experimentTable, mean, policyModel, runExperiment } from "troupe/research";

// #region prompts
const prompts = { plain: "Answer yes or no.", careful: "Try small divisors first. Then answer yes or no." };
const numbers = [77, 79, 91, 97, 119, 127, 133, 139, 143, 149, 161, 163, 187, 191, 203, 211];
const primes = [79, 97, 127, 139, 149, 163, 191, 211];

/** In the place of openai({ model: "gpt-5-mini" }): right in half of the cases, or in 9 of 10 if it is careful. */
const modelOf = (seed: string) =>
  policyModel({
    seed,
    answer({ messages }, random) {
      const question = messages.at(-1)?.content ?? "";
      const isRight = random() < (question.includes("divisors") ? 0.9 : 0.5);
      const isPrime = primes.some((prime) => question.includes(`${prime}`));
      return { content: isRight === isPrime ? "yes" : "no" };
    },
  });

export const study = experiment({
  name: "prompts",
  params: { prompt: ["plain", "careful"], number: numbers },
  reps: 2,
  world({ params: { prompt, number }, seed, run }) {
    const Judge = defineAction({ name: "Judge", prompt: (ctx) => `${ctx.text} ${prompts[prompt]}` });
    const team = new Team({ roles: [defineRole({ name: "Juno", actions: [Judge] })], model: modelOf(seed), seed, journal: run.journal });
    return { run: (o) => team.run(`Is ${number} a prime number?`, { ...o, id: run.id }) };
  },
  measure: ({ result, params: { number } }) => ({ right: (result.output?.content === "yes") === primes.includes(number) }),
});
// #endregion

// #region compared
const { rows } = await runExperiment(study); // with a real model: { out: "experiments/prompts", budget: usd(1) }
console.table(experimentTable(rows, { by: ["prompt"], of: ["right"] }));

/** The share of right answers to each question; `seed` names the pair. */
const scores = (prompt: string) =>
  numbers.map((number) => {
    const runs = rows.filter((row) => row["prompt"] === prompt && row["number"] === number);
    return { seed: number, value: mean(runs.map((row) => Number(row["right"]))) };
  });
const { difference, permutation } = await compareBySeed(scores("careful"), scores("plain"));
const { estimate, low, high } = difference;
console.log(
  `careful is right more often by ${estimate.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)}), p = ${permutation.p.toFixed(3)}`,
);
// #endregion
