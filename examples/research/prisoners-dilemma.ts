// Axelrod's tournament: each strategy plays 200 rounds of the prisoner's dilemma against each other one, all at the same time. Then two players
// answer like for like and slip now and then: their mean score does not depend on how seldom.
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import { figure, figuresText } from "troupe/research";

const seed = process.env["SEED"] ?? randomUUID();
const points: Record<string, number> = { CC: 3, CD: 0, DC: 5, DD: 1 };

/** A strategy: its next move, by the moves of the other one so far. */
const strategies: Record<string, (theirs: string) => string> = {
  Cooperates: () => "C",
  Defects: () => "D",
  LikeForLike: (theirs) => theirs.at(-1) ?? "C",
  Suspicious: (theirs) => theirs.at(-1) ?? "D",
  Unforgiving: (theirs) => (theirs.includes("D") ? "D" : "C"),
};

const player = (name: string, moves: number, choose: (theirs: string, random: () => number) => string) =>
  defineRole({
    name,
    watch: [],
    state: z.object({
      score: z.number().default(0),
      mine: z.record(z.string(), z.string()).default({}),
      theirs: z.record(z.string(), z.string()).default({}),
    }),
    step(state, { content, sentFrom, instructContent }, out) {
      const other = content === "play" ? String(instructContent) : sentFrom;
      const [mine = "", theirs = ""] = [state.mine[other], state.theirs[other]];
      const heard = content === "play" ? theirs : theirs + content;
      const next = heard.length < moves ? choose(heard, () => out.random()) : "";
      if (next !== "") out.say(next, { sendTo: other });
      const score = state.score + (content === "play" ? 0 : (points[(mine.at(-1) ?? "") + content] ?? 0));
      return { score, mine: { ...state.mine, [other]: next }, theirs: { ...state.theirs, [other]: heard } };
    },
  });

async function scores(players: readonly ReturnType<typeof player>[], rep: number): Promise<readonly number[]> {
  const table = new Environment({ seed: `${seed}/${rep}` });
  table.addRoles(players);
  for (const { name } of players)
    for (const other of players)
      if (other.name !== name) table.publishMessage(createMessage("play", { sendTo: name, instructContent: other.name }));
  await table.run({ rounds: 1_000 });
  return players.map(({ name }) => Number(table.getRole(name)?.state["score"]));
}

const found = await scores(
  Object.entries(strategies).map(([name, choose]) => player(name, 200, choose)),
  0,
);
const expected = [1797, 1608, 1899, 1505, 1602];

const SLIP = 0.05;
/** Like for like from a random first move; one move in twenty is a slip. */
const trembling = (theirs: string, random: () => number): string => {
  const meant = theirs.at(-1) ?? (random() < 0.5 ? "C" : "D");
  return random() < SLIP ? (meant === "C" ? "D" : "C") : meant;
};
const noisy = await Promise.all(
  Array.from(
    { length: 200 },
    async (_, rep) => ((await scores([player("One", 50, trembling), player("Other", 50, trembling)], rep))[0] ?? 0) / 50,
  ),
);

export const figures = [
  ...Object.keys(strategies).map((name, place) =>
    figure({
      name: `dilemma: score of ${name}`,
      source: "Axelrod 1980, by hand",
      expected: expected[place] ?? 0,
      found: found[place] ?? 0,
    }),
  ),
  figure({ name: "dilemma: points a round of noisy like for like", source: "Molander 1985", expected: 2.25, found: noisy }),
];
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
