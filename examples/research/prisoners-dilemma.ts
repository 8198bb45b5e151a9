// Axelrod's tournament: each strategy plays 200 rounds of the prisoner's dilemma against each other one, all at the same time.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { study } from "troupe/research";

const ROUNDS = 200;
/** The points of a move against another: C cooperates, D defects. */
const points: Readonly<Record<string, number>> = { CC: 3, CD: 0, DC: 5, DD: 1 };

/** A strategy: its next move, by the moves of the other one so far. */
const strategies: Readonly<Record<string, (theirs: string) => string>> = {
  Cooperates: () => "C",
  Defects: () => "D",
  LikeForLike: (theirs) => theirs.at(-1) ?? "C",
  Suspicious: (theirs) => theirs.at(-1) ?? "D",
  Unforgiving: (theirs) => (theirs.includes("D") ? "D" : "C"),
};
const names = Object.keys(strategies);

const player = ([name, choose]: readonly [string, (theirs: string) => string]) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ score: z.number().default(0), theirs: z.record(z.string(), z.string()).default({}) }),
    step({ score, theirs }, { content, sentFrom }, out) {
      if (content === "play") {
        for (const other of names) if (other !== name) out.say(choose(""), { sendTo: other });
        return undefined;
      }
      const before = theirs[sentFrom] ?? "";
      const heard = before + content;
      if (heard.length < ROUNDS) out.say(choose(heard), { sendTo: sentFrom });
      return { score: score + (points[choose(before) + content] ?? 0), theirs: { ...theirs, [sentFrom]: heard } };
    },
  });

const table = new Environment({ seed: 1 }).addRoles(Object.entries(strategies).map(player));
table.publishMessage(createMessage("play", { sendTo: names }));
await table.run({ rounds: 2 * ROUNDS });
const scores = names.map((name) => Number(table.getRole(name)?.state["score"]));
const byHand = [1797, 1608, 1899, 1505, 1602];

export const figures = study({ name: "dilemma", source: "Axelrod 1980, by hand" }).report(
  names.map((name, place) => ({ name: `score of ${name}`, expected: byHand[place] ?? 0, found: scores[place] ?? 0 })),
);
