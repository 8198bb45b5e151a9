// A study that asks a model which costs money: each run keeps its record, a budget bounds all runs together, and a team of a fleet runs its parts.
// The model is a policy with a price here; `openai(...)` takes its place.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMessage, defineAction, defineRole, Environment, Team, usd } from "troupe";
import { experiment, policyModel, readExperiment, replayCell, runExperiment } from "troupe/research";

// #region votes
/** In the place of openai({ model: "gpt-5-mini" }). */
const model = policyModel({
  id: "priced",
  price: { input: 1, output: 4 },
  answer: () => ({ content: "no", usage: { inputTokens: 200, outputTokens: 2 } }),
});

const juror = (name: string) =>
  defineRole({
    name,
    watch: [],
    react: async (rc) => rc.message(await rc.ask("Is 9409 a prime number? Answer yes or no."), { sendTo: "<none>" }),
  });

export const votes = experiment({
  name: "votes",
  params: { jurors: [1, 3] },
  reps: 4,
  world: ({ params: { jurors }, seed, concurrency, run }) =>
    new Environment({ seed, concurrency, model, ...run }).addRoles(Array.from({ length: jurors }, (_, n) => juror(`Juror ${n + 1}`))),
  begin: (court) => court.publishMessage(createMessage("Vote.", { sendTo: court.roleNames })),
  measure: ({ result }) => ({ noes: result.messages.filter(({ content }) => content === "no").length }),
});
// #endregion

// #region team
const Vote = defineAction({ name: "Vote", prompt: () => "Is 9409 a prime number? Answer yes or no." });

export const panels = experiment({
  name: "panels",
  params: { jurors: [1, 3] },
  world: ({ params: { jurors }, seed, run }) => {
    const roles = Array.from({ length: jurors }, (_, n) => defineRole({ name: `Juror ${n + 1}`, actions: [Vote] }));
    const team = new Team({ roles, model, seed, journal: run.journal });
    return { run: (o) => team.run("Vote.", { ...o, id: run.id }) };
  },
});
// #endregion

// #region run
const folder = mkdtempSync(join(tmpdir(), "troupe-study-"));
const out = join(folder, "votes");
const { spent, uncertain } = await runExperiment(votes, { out, budget: usd(0.5), limits: { requestsPerMinute: 500 } });
console.log(`${spent.calls} calls, ${uncertain} uncertain`);
const more = await runExperiment(votes, { out, budget: usd(0.5), reps: 6 });
console.log(`${more.kept} of ${more.rows.length} runs were there`);
const { isRecorded, changed } = await replayCell(votes, { cell: 1, rep: 2, out });
console.log(`read from its record: ${isRecorded}, equal: ${changed?.length === 0}`);
// #endregion
console.log(`${(await runExperiment(panels, { out: join(folder, "panels") })).spent.calls} calls of teams`);
console.log(`${(await readExperiment(out)).manifest.used?.asked[0]?.id} is in the manifest`);

// #region fleet
const RunPart = defineAction({
  name: "RunPart",
  async run({ text }) {
    // Give module too, so that the runs have processes of their own: see "Over processes, and after a kill".
    const { rows } = await runExperiment(votes, { part: text, out: join(folder, `part-${text.replace("/", "-of-")}`) });
    return `${rows.length} runs`;
  },
});
export const parts = new Team({ name: "parts", roles: [defineRole({ name: "Lab", actions: [RunPart] })] });
// #endregion
const ends = await Promise.all(["1/2", "2/2"].map((part) => parts.run(part).result));
console.log(ends.map(({ output }) => output?.content).join(", "));
rmSync(folder, { recursive: true });
