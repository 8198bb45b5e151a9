// One process of a run of a workflow that is killed again and again. Its one argument is JSON: { store, url, killAt? }. It prints what came
// of the run as one line of JSON. Built code is what it runs, as a user's program does.
import { canonical, Team, usd } from "../../dist/src/index.js";
import { openai } from "../../dist/src/adapters/openai.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { openWorkflow } from "../../dist/roles/index.js";
import { memoryWorkspace, refusedSandbox } from "../../dist/src/workspace/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, url, killAt } = JSON.parse(process.argv[2]);
const script = `export const meta = { name: "Wanda", description: "finds and checks" };
const found = await pipeline(["a", "b", "c"], (item) => agent("find " + item), (said) => agent("check " + said + Math.random()));
log(new Date().toISOString());
return await agent("sum up " + found.join());`;

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs here", "Choose a sandbox.") };
const { name, roles } = await openWorkflow(script, ports);
const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
const model = openai({ model: "m", apiKey: "sk-test-of-the-kills-0123456789", baseURL: url, price: { input: 1, output: 2 } });
// Nobody is to blame for these deaths, however often they come before an answer.
const team = new Team({ name, roles, seed: "kills", journal, model, budget: usd(5), poisonAfter: 1_000 });
const { status, error, cost, uncertain, output } = await team.run("go", { id: "r" }).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
const again = await team.replay("r").result;
await journal.close();
const inFlight = events.flatMap((event) => (event.type === "run.resumed" ? event.uncertain : [])).filter(({ hold }) => hold > 0).length;
const isSame = again.error === undefined && again.output?.content === output?.content;
const told = {
  status,
  error: error?.message,
  cost: cost.known,
  uncertain,
  inFlight,
  content: output?.content,
  isSame,
  canonical: canonical(events),
};
process.stdout.write(`${JSON.stringify(told)}\n`);
