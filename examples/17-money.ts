// Many runs, one account: pools bound what teams, runs and agents spend together, and their calls share limits.
import { budgetPool, defineRole, modelLimits, Team, usd } from "troupe";
import { scriptedModel } from "troupe/testing";

// #region shared
const model = scriptedModel(() => ({ content: "A line.", usage: { inputTokens: 100, outputTokens: 5_000 } }), {
  price: { input: 0, output: 1 },
  maxOutputTokens: 10_000,
});
const poet = defineRole({ name: "Poe", react: async (rc) => rc.message(await rc.ask("Write a line.")) });

const account = budgetPool(usd(0.05), { name: "account" });
const limits = modelLimits({ concurrency: 2, requestsPerMinute: 500 });

const poets = new Team({ roles: [poet], model, budget: budgetPool(usd(0.03), { parent: account }), limits });
const others = new Team({ roles: [poet], model, budget: account, limits });

const runs = Array.from({ length: 10 }, (_, n) => poets.run(`line ${n}`, { budget: usd(0.01) }));
const ended = await Promise.all(runs.map(({ result }) => result));
const paid = ended.filter(({ status }) => status === "finished").length;
console.log(`${paid} of ${ended.length} runs had the money; ${account.spent} of ${account.amount} micro-dollars are spent`);
// 5 of 10 runs had the money; 25000 of 50000 micro-dollars are spent
// #endregion

// #region inner
const editor = defineRole({
  name: "Eda",
  react: async (rc) => {
    const line = await rc.step("have a line written", {}, async ({ budget, signal, key }) => {
      const written = await others.run("a line", { id: key, budget, signal }).result;
      return written.output?.content ?? written.status;
    });
    return rc.message(`Printed: ${line}`);
  },
});

const press = new Team({ roles: [editor], budget: usd(0.02) });
const printed = await press.run("print a line").result;
console.log(`${printed.output?.content} It cost ${printed.cost.known} micro-dollars.`); // Printed: A line. It cost 5000 micro-dollars.
// #endregion
