// One process of a run that is killed again and again. Its one argument is JSON: { store, url, scheduler, killAt? }. It prints what came
// of the run as one line of JSON. Built code is what it runs, as a user's program does.
import { writeFile } from "node:fs/promises";
import { canonical, defineAction, defineRole, Team, usd } from "../../dist/src/index.js";
import { openai } from "../../dist/src/adapters/openai.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { mortal } from "./mortal-journal.mjs";

const { store, url, scheduler, killAt, notes } = JSON.parse(process.argv[2]);

const Split = defineAction({
  name: "Split",
  run: async (ctx) => {
    const plan = await ctx.ask(`Split: ${ctx.text}`);
    for (const part of [1, 2, 3]) ctx.publish(ctx.message(`part ${part} of ${plan}`, { sendTo: [`Worker ${part}`] }));
  },
});

const Work = defineAction({
  name: "Work",
  run: async (ctx) => {
    const [draft, doubt] = await Promise.all([ctx.ask(`Draft: ${ctx.text}`), ctx.ask(`Doubt: ${ctx.text}`)]);
    await ctx.step("note", { draft }, () => writeFile(`${notes}/${ctx.role.name}.txt`, draft).then(() => null), { again: true });
    return `${draft} but ${doubt}`;
  },
});

// Its reply does not depend on how many of its news come together, which is a matter of time without rounds.
const Judge = defineAction({
  name: "Judge",
  run: async (ctx) => {
    for (const { content } of ctx.news) ctx.publish(ctx.message(await ctx.ask(`Judge: ${content}`)));
  },
});

const roles = [
  defineRole({ name: "Splitter", actions: [Split] }),
  ...[1, 2, 3].map((n) => defineRole({ name: `Worker ${n}`, watch: [], actions: [Work] })),
  defineRole({ name: "Judge", watch: [Work], actions: [Judge] }),
];

const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
const model = openai({ model: "m", apiKey: "sk-test-of-the-kills-0123456789", baseURL: url, price: { input: 1, output: 2 } });
// Nobody is to blame for these deaths, however often they come before an answer.
const poisonAfter = 1_000;
const team = new Team({ seed: "kills", scheduler, journal, roles, model, budget: usd(5), poisonAfter });
const result = await team.run("a bridge", { id: "r" }).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
await journal.close();
const { status, error, cost, uncertain } = result;
const messages = result.messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`);
const answered = events.filter((event) => event.type === "step.ended" && event.retry !== true && event.ok).length;
const inFlight = events.flatMap((event) => (event.type === "run.resumed" ? event.uncertain : [])).filter(({ hold }) => hold > 0).length;
const told = { status, error: error?.message, cost: cost.known, uncertain, inFlight, messages, answered, canonical: canonical(events) };
process.stdout.write(`${JSON.stringify(told)}\n`);
