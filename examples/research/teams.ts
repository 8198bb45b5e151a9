// Chain, star and mesh: teams of ten roles answer the same questions, and each asks its model ten times. In the mesh all tell all, in the star all tell
// the hub, and in the chain each hears the answers before its own and gives the likelier one, so that the first answers decide all others. The model is no
// live one: it is a seeded noisy oracle, right with probability 0.7, so that theory knows how often each team is right.
import { randomUUID } from "node:crypto";
import { createMessage, defineRole, Environment, type Message } from "troupe";
import { figure, figuresText, noisyOracle } from "troupe/research";

const ROLES = 10;
const ACCURACY = 0.7;
const QUESTIONS = 250;
const seed = process.env["SEED"] ?? randomUUID();
const model = noisyOracle({ seed, accuracy: ACCURACY, right: () => "yes", wrong: () => ["no"] });
const names = Array.from({ length: ROLES }, (_, place) => `r${place}`);
type Shape = "chain" | "star" | "mesh";

const leadOf = (answers: readonly string[]): number => answers.reduce((sum, answer) => sum + (answer === "yes" ? 1 : -1), 0);
const heardIn = (news: readonly Message[]): readonly string[] =>
  news.filter(({ causeBy }) => causeBy === "Answer").flatMap(({ content }) => content.split(","));

const memberOf = (shape: Shape, place: number, question: number) =>
  defineRole({
    name: `r${place}`,
    watch: [],
    react: async (rc) => {
      const [heard, coin] = [heardIn(rc.news), rc.random() < 0.5 ? 1 : -1];
      const wordOf = (lead: number): string => ((lead === 0 ? coin : lead) > 0 ? "yes" : "no");
      if (shape !== "chain" && heard.length > 0) return rc.message(wordOf(leadOf(heard)), { causeBy: "Verdict" });
      const own = await rc.ask(`Question ${question}, for ${rc.name}: yes or no?`);
      if (shape !== "chain") return rc.message(own, { causeBy: "Answer", sendTo: shape === "star" ? "r0" : names });
      const lead = leadOf(heard);
      const answer = wordOf(Math.abs(lead) >= 2 ? lead : lead + leadOf([own]));
      if (place === ROLES - 1) return rc.message(answer, { causeBy: "Verdict" });
      return rc.message([...heard, answer].join(), { causeBy: "Answer", sendTo: `r${place + 1}` });
    },
  });

/** Returns 1 for a right verdict, the number of calls of the model, and the messages between roles. */
async function ask(shape: Shape, question: number): Promise<{ readonly right: number; readonly calls: number; readonly sent: number }> {
  const team = new Environment({ seed: `${seed}/${question}`, model });
  team.addRoles(names.map((_, place) => memberOf(shape, place, question)));
  let calls = 0;
  team.on("step.ended", () => void (calls += 1));
  team.publishMessage(createMessage("answer it", { sendTo: shape === "chain" ? "r0" : names }));
  const { outputs, messages } = await team.run();
  const answers = messages.filter(({ causeBy }) => causeBy === "Answer");
  const sent = answers.reduce((sum, { sentFrom, sendTo }) => sum + sendTo.filter((to) => to !== sentFrom).length, 0);
  return { right: Number(outputs[0]?.content === "yes"), calls, sent };
}

const [p, q] = [ACCURACY, ACCURACY * (1 - ACCURACY)];
/** The probability that most of ten are right, a draw being decided by a coin, which is that of most of nine. */
const most = [5, 6, 7, 8, 9].reduce((sum, k) => sum + ([126, 84, 36, 9, 1][k - 5] ?? 0) * p ** k * (1 - p) ** (9 - k), 0);
/** The probability of a right cascade after ten, and half of that of none. */
const cascade = (p * (1 + p) * (1 - q ** (ROLES / 2))) / (2 * (1 - q)) + q ** (ROLES / 2) / 2;
const theory = {
  chain: [cascade, ROLES - 1, "Bikhchandani, Hirshleifer and Welch 1992"],
  star: [most, ROLES - 1, "Condorcet 1785"],
  mesh: [most, ROLES * (ROLES - 1), "Condorcet 1785"],
} as const;

const studied = (["chain", "star", "mesh"] as const).map(async (shape) => {
  const found = await Promise.all(Array.from({ length: QUESTIONS }, (_, question) => ask(shape, question)));
  const [accuracy, messages, source] = theory[shape];
  return [
    figure({ name: `teams: right answers of the ${shape}, ten calls`, source, expected: accuracy, found: found.map(({ right }) => right) }),
    figure({
      name: `teams: calls of the ${shape}`,
      source: "the equal budget",
      expected: ROLES,
      found: Math.max(...found.map(({ calls }) => calls)),
    }),
    figure({
      name: `teams: messages of the ${shape}`,
      source: "its edges",
      expected: messages,
      found: Math.max(...found.map(({ sent }) => sent)),
    }),
  ];
});

export const figures = (await Promise.all(studied)).flat();
console.log(figuresText(figures));
if (figures.some(({ holds }) => !holds)) process.exitCode = 1;
