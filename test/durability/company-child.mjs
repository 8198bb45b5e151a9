// One process of the software company on a product of size L, that is killed again and again. Its one argument is JSON: { store, root, url,
// killAt? }. It prints what came of the run as one line of JSON. Built code is what it runs, as a user's program does.
import { openai } from "../../dist/src/adapters/openai.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { Team, usd } from "../../dist/src/index.js";
import { chooseSandbox, openWorkspace } from "../../dist/src/workspace/index.js";
import { softwareCompany } from "../../dist/roles/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, root, url, killAt } = JSON.parse(process.argv[2]);

const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
// It may have files of an earlier process.
const workspace = await openWorkspace({ root, force: true });
const sandbox = await chooseSandbox("none");
const model = openai({ model: "m", apiKey: "sk-test-of-the-company-kills-0123", baseURL: url, price: { input: 1, output: 2 } });
const roles = softwareCompany({ workspace, sandbox });
// Nobody is to blame for these deaths, however often they come before an answer.
const team = new Team({ seed: "kills", journal, roles, model, budget: usd(50), poisonAfter: 1_000 });
const { status, error, cost, uncertain, output, messages } = await team.run("Calculate", { id: "r" }).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
await journal.close();
const inFlight = events.flatMap((event) => (event.type === "run.resumed" ? event.uncertain : [])).filter(({ hold }) => hold > 0).length;
const said = messages.map(({ sentFrom, causeBy }) => `${sentFrom}: ${causeBy}`);
const { isDone } = output?.instructContent ?? {};
const told = { status, error: error?.message, cost: cost.known, uncertain, inFlight, said, isDone };
process.stdout.write(`${JSON.stringify(told)}\n`);
