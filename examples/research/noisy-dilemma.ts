// The prisoner's dilemma with slips: two players answer like for like from a random first move, and one move in twenty is a slip. Their mean score does
// not depend on how seldom they slip.
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { study } from "troupe/research";

// #region dilemma
const ROUNDS = 50;
const SLIP = 0.05;
/** The points of a move against another: C cooperates, D defects. */
const points: Readonly<Record<string, number>> = { CC: 3, CD: 0, DC: 5, DD: 1 };

const player = (name: string, other: string) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ score: z.number().default(0), played: z.number().default(0), mine: z.string().default("") }),
    step({ score, played, mine }, { content }, out) {
      const meant = content === "play" ? (out.random() < 0.5 ? "C" : "D") : content;
      const slipped = meant === "C" ? "D" : "C";
      const next = out.random() < SLIP ? slipped : meant;
      if (played < ROUNDS) out.say(next, { sendTo: other });
      return { score: score + (points[mine + content] ?? 0), played: played + 1, mine: next };
    },
  });

/** Returns the points of one player in a round. */
async function pointsOfOne(seed: string): Promise<number> {
  const table = new Environment({ seed }).addRoles([player("One", "Other"), player("Other", "One")]);
  table.publishMessage(createMessage("play", { sendTo: ["One", "Other"] }));
  await table.run({ rounds: 2 * ROUNDS });
  return Number(table.getRole("One")?.state["score"]) / ROUNDS;
}

const { samples, report } = study({ name: "dilemma", source: "Molander 1985" });
export const found = await samples(200, pointsOfOne);

export const figures = report([{ name: "points a round of noisy like for like", expected: 2.25, found }]);
// #endregion
