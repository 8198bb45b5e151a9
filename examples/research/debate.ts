// A debate: each side draws its answer from its belief and counts the answers of the others. The mean belief in the right answer stays what it was, so
// talk alone does not help.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { mean, study } from "troupe/research";

const SIDES = 5;
const ROUNDS = 6;
const names = Array.from({ length: SIDES }, (_, place) => `d${place}`);
const Counts = z.array(z.number()).default([2, 1, 1]); // the first answer is the right one
const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

const debater = (name: string) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ counts: Counts }),
    steps({ counts }, messages, out) {
      const heard = counts.map((count, answer) => count + messages.filter(({ content }) => content === `${answer}`).length);
      let left = out.random() * sum(heard);
      const answer = heard.findIndex((count) => (left -= count) < 0);
      out.say(`${answer}`, { sendTo: names.filter((other) => other !== name) });
      return { counts: heard };
    },
  });

async function belief(seed: string): Promise<number> {
  const hall = new Environment({ seed }).addRoles(names.map(debater));
  hall.publishMessage(createMessage("begin", { sendTo: names }));
  await hall.run({ rounds: ROUNDS });
  return mean(
    names.map((name) => {
      const counts = Counts.parse(hall.getRole(name)?.state["counts"]);
      return (counts[0] ?? 0) / sum(counts);
    }),
  );
}

const { samples, report } = study({ name: "debate", source: "Choi, Zhu and Li 2025" });
export const found = await samples(400, belief);

export const figures = report([{ name: `mean belief in the right answer after ${ROUNDS} rounds`, expected: 0.5, found }]);
