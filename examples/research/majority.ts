// A jury votes on questions. Each juror is right with the same probability, on its own. The majority is right more often: Condorcet's jury theorem.
import { z } from "zod";
import { defineRole, Environment, UserRequirement } from "troupe";
import { study } from "troupe/research";

const COMPETENCE = 0.6;
const QUESTIONS = 1_000;

const juror = defineRole({
  name: "Juror",
  watch: ["Question"],
  step: (_, __, out) => void out.say(out.random() < COMPETENCE ? "right" : "wrong", { sendTo: "Chair" }),
});

/** Asks one question after another, and tells the verdict of the votes that came together. */
const chair = defineRole({
  name: "Chair",
  watch: [UserRequirement],
  state: z.object({ asked: z.number().default(0) }),
  steps({ asked }, messages, out) {
    const right = messages.filter(({ content }) => content === "right").length;
    if (asked > 0) out.say(2 * right > messages.length ? "right" : "wrong", { causeBy: "Verdict" });
    if (asked < QUESTIONS) out.say(`question ${asked}`, { causeBy: "Question" });
    return { asked: asked + 1 };
  },
});

async function verdicts(jurors: number, seed: string): Promise<readonly number[]> {
  const court = new Environment({ seed }).addRole(chair);
  for (let place = 0; place < jurors; place += 1) court.addRole(juror, { name: `j${place}` });
  court.publishMessage("begin");
  const { outputs } = await court.run({ rounds: 3 * QUESTIONS });
  return outputs.map(({ content }) => Number(content === "right"));
}

/** Returns the probability that more than half of `n` are right. */
function majorityOf(n: number): number {
  let choose = 1;
  let sum = 0;
  for (let k = 0; k <= n; k += 1) {
    if (2 * k > n) sum += choose * COMPETENCE ** k * (1 - COMPETENCE) ** (n - k);
    choose *= (n - k) / (k + 1);
  }
  return sum;
}

const { seed, report } = study({ name: "jury", source: "Condorcet 1785; Grofman, Owen and Feld 1983" });
const sizes = [1, 11, 25];
const found = await Promise.all(sizes.map((size) => verdicts(size, `${seed}/${size}`)));

export const figures = report(
  sizes.map((size, place) => ({ name: `a majority of ${size} is right, binomial`, expected: majorityOf(size), found: found[place] ?? [] })),
);
