// A jury whose model is a policy: an oracle that errs with a known probability, a surrogate that is fitted from recorded answers, and a
// recorded run. No role changes from one to the next, nor for a live model.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChatModel, createMessage, defineAction, defineRole, Environment } from "troupe";
import { experiment, experimentTable, fitSurrogate, noisyOracle, replayCell, runExperiment, surrogateModel } from "troupe/research";
import { sqlite } from "troupe/sqlite";
import { cassetteModel, saveCassette } from "troupe/testing";

// #region jury
const Vote = defineAction({
  name: "Vote",
  prompt: ({ name }) => `${name}, is 9409 a prime number? Answer yes or no.`,
  sendTo: () => ["Foreman"],
});
const foreman = defineRole({
  name: "Foreman",
  watch: [],
  react: (rc) => {
    const noes = rc.news.filter(({ content }) => content === "no").length;
    return rc.message(noes > rc.news.length / 2 ? "no" : "yes", { causeBy: "Verdict", sendTo: "<none>" });
  },
});

const juries = (name: string, modelOf: (seed: string) => ChatModel) =>
  experiment({
    name,
    params: { jurors: [1, 9] },
    reps: 40,
    world({ params: { jurors }, seed, concurrency }) {
      const court = new Environment({ seed, concurrency, model: modelOf(seed) }).addRole(foreman);
      for (let place = 1; place <= jurors; place += 1) court.addRole(defineRole({ name: `Juror ${place}`, actions: [Vote] }));
      return court;
    },
    begin: (court) => court.publishMessage(createMessage("Vote.")),
    measure: ({ result }) => ({ right: result.messages.at(-1)?.content === "no" }),
  });
// #endregion

// #region oracle
const withOracle = juries("oracle", (seed) => noisyOracle({ seed, accuracy: 0.7, right: () => "no", wrong: () => ["yes"] }));
const { rows } = await runExperiment(withOracle);
for (const { jurors, right } of experimentTable(rows, { by: ["jurors"] })) console.log(`${jurors} jurors: right in ${right} of all cases`);
// #endregion

// #region surrogate
const folder = mkdtempSync(join(tmpdir(), "troupe-policies-"));
const out = join(folder, "oracle");
await runExperiment(withOracle, { out });
const records = [];
for (let rep = 0; rep < 6; rep += 1) records.push(await replayCell(withOracle, { cell: 1, rep, out }));
const classOf = (): string => "vote";
const fit = fitSurrogate(
  records.flatMap(({ events }) => events),
  classOf,
);
console.log(fit.classes["vote"]?.map(({ answer, times }) => `${times} times ${answer.content}`).join(", "));
const withSurrogate = juries("surrogate", (seed) => surrogateModel({ fit, classOf, seed }));
console.log(`${(await runExperiment(withSurrogate)).rows.length} runs with a surrogate`);
// #endregion

// #region trace
const kept = records[0]?.journal;
const journal = sqlite({ path: kept?.path ?? "" });
const cassette = await saveCassette(journal, kept?.runId ?? "", join(folder, "jury.cassette.json"));
await journal.close();
const court = new Environment({ seed: 1, model: cassetteModel(cassette) }).addRole(foreman);
for (let place = 1; place <= 9; place += 1) court.addRole(defineRole({ name: `Juror ${place}`, actions: [Vote] }));
court.publishMessage(createMessage("Vote."));
const replayed = (await court.run()).messages.at(-1)?.content;
console.log(`as recorded: ${(replayed === "no") === records[0]?.row["right"]}`);
// #endregion
rmSync(folder, { recursive: true });
