// Debates. In the first one each side takes a weighted mean of the opinions it hears, and all end in one opinion. In the second one each side draws its
// answer from its belief and counts the answers of the others: the mean belief in the right answer stays what it was, so talk alone does not help.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { figure, figuresText } from "troupe/research";

const seed = process.env["SEED"] ?? randomUUID();

/** The trust of each of two in both. */
const trust = [
  [1 / 2, 1 / 2],
  [1 / 4, 3 / 4],
];
const averaging = (place: number) =>
  defineRole({
    name: `a${place}`,
    watch: [],
    state: z.object({ opinion: z.number().default(place) }),
    steps(state, messages, out) {
      const heard = messages.filter(({ content }) => content !== "begin");
      const weighted = heard.reduce(
        (sum, { content, sentFrom }) => sum + Number(content) * (trust[place]?.[Number(sentFrom.slice(1))] ?? 0),
        0,
      );
      const opinion = heard.length === 0 ? state.opinion : weighted;
      out.say(`${opinion}`, { sendTo: ["a0", "a1"] });
      return { opinion };
    },
  });
const pair = new Environment({ seed });
pair.addRoles([averaging(0), averaging(1)]);
pair.publishMessage(createMessage("begin", { sendTo: ["a0", "a1"] }));
await pair.run({ rounds: 60 });

const SIDES = 5;
const ROUNDS = 6;
const names = Array.from({ length: SIDES }, (_, place) => `d${place}`);
const debater = (name: string) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ counts: z.array(z.number()).default([2, 1, 1]) }), // the first answer is the right one
    steps({ counts }, messages, out) {
      const heard = counts.map((count, answer) => count + messages.filter(({ content }) => content === `${answer}`).length);
      let left = out.random() * heard.reduce((sum, count) => sum + count, 0);
      const answer = heard.findIndex((count) => (left -= count) < 0);
      out.say(`${answer}`, { sendTo: names.filter((other) => other !== name) });
      return { counts: heard };
    },
  });

async function debate(rep: number): Promise<number> {
  const hall = new Environment({ seed: `${seed}/${rep}` });
  hall.addRoles(names.map(debater));
  hall.publishMessage(createMessage("begin", { sendTo: names }));
  await hall.run({ rounds: ROUNDS });
  const beliefs = names.map((name) => z.array(z.number()).parse(hall.getRole(name)?.state["counts"]));
  return beliefs.reduce((sum, [right = 0, ...wrong]) => sum + right / wrong.reduce((all, count) => all + count, right), 0) / SIDES;
}

const believed = await Promise.all(Array.from({ length: 400 }, (_, rep) => debate(rep)));

export const figures = [
  figure({
    name: "debate: opinion in which two averaging sides end",
    source: "DeGroot 1974",
    expected: 2 / 3,
    found: Number(pair.getRole("a0")?.state["opinion"]),
  }),
  figure({
    name: "debate: mean belief in the right answer after 6 rounds",
    source: "Choi, Zhu and Li 2025",
    expected: 0.5,
    found: believed,
  }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
