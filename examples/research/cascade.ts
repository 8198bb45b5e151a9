// Chain, star and mesh of ten roles with ten calls of a model: in the mesh all tell all, in the star all tell the hub, and in the chain each hears the answers
// before its own and gives the likelier one, so that the first decide all others. The model is a noisy oracle, right with probability 0.7, as theory wants.
import { createMessage, defineRole, Environment } from "troupe";
import { noisyOracle, study, type StudyFigure } from "troupe/research";

const [ROLES, ACCURACY, QUESTIONS] = [10, 0.7, 250];
const { seed, samples, report } = study({ name: "cascade" });
const model = noisyOracle({ seed, accuracy: ACCURACY, right: () => "yes", wrong: () => ["no"] });
const names = Array.from({ length: ROLES }, (_, place) => `r${place}`);
type Shape = "chain" | "star" | "mesh";
const leadOf = (answers: readonly string[]): number => answers.reduce((sum, answer) => sum + (answer === "yes" ? 1 : -1), 0);

const memberOf = (shape: Shape, place: number, question: number) =>
  defineRole({
    name: `r${place}`,
    react: async (rc) => {
      const heard = rc.news.filter(({ causeBy }) => causeBy === "Answer").flatMap(({ content }) => content.split(","));
      const wordOf = (lead: number): string => ((lead === 0 ? rc.random() - 0.5 : lead) > 0 ? "yes" : "no");
      if (shape !== "chain" && heard.length > 0) return rc.message(wordOf(leadOf(heard)), { causeBy: "Verdict" });
      const own = await rc.ask(`Question ${question}, for ${rc.name}: yes or no?`);
      if (shape !== "chain") return rc.message(own, { causeBy: "Answer", sendTo: shape === "star" ? "r0" : names });
      const answer = wordOf(Math.abs(leadOf(heard)) >= 2 ? leadOf(heard) : leadOf([...heard, own]));
      if (place === ROLES - 1) return rc.message(answer, { causeBy: "Verdict" });
      return rc.message([...heard, answer].join(), { causeBy: "Answer", sendTo: `r${place + 1}` });
    },
  });

async function ask(shape: Shape, own: string, question: number) {
  const team = new Environment({ seed: own, model });
  team.addRoles(names.map((_, place) => memberOf(shape, place, question)));
  let calls = 0;
  team.on("step.ended", () => void (calls += 1));
  team.publishMessage(createMessage("answer it", { sendTo: shape === "chain" ? "r0" : names }));
  const { outputs, messages } = await team.run();
  const sent = messages.flatMap(({ causeBy, sentFrom, sendTo }) => (causeBy === "Answer" ? sendTo.filter((to) => to !== sentFrom) : []));
  return { right: Number(outputs[0]?.content === "yes"), calls, sent: sent.length };
}

const [p, q, last] = [ACCURACY, ACCURACY * (1 - ACCURACY), ROLES - 1];
// That most of ten are right, a coin deciding a draw, is as probable as most of nine. A cascade is right after ten, or there is none and a coin decides.
const most = [126, 84, 36, 9, 1].reduce((sum, ways, more) => sum + ways * p ** (5 + more) * (1 - p) ** (4 - more), 0);
const cascade = (p * (1 + p) * (1 - q ** (ROLES / 2))) / (2 * (1 - q)) + q ** (ROLES / 2) / 2;
const theory = [
  ["chain", cascade, last, "Bikhchandani, Hirshleifer and Welch 1992"],
  ["star", most, last, "Condorcet 1785"],
  ["mesh", most, ROLES * last, "Condorcet 1785"],
] as const;
const compared: StudyFigure[] = [];
for (const [shape, expected, messages, source] of theory) {
  const found = await samples(QUESTIONS, (own, question) => ask(shape, own, question));
  const highest = (count: "calls" | "sent"): number => Math.max(...found.map((one) => one[count]));
  compared.push(
    { name: `right answers of the ${shape}, ten calls`, source, expected, found: found.map(({ right }) => right) },
    { name: `calls of the ${shape}`, source: "the equal budget", expected: ROLES, found: highest("calls") },
    { name: `messages of the ${shape}`, source: "its edges", expected: messages, found: highest("sent") },
  );
}
export const figures = report(compared);
