// One process of a run whose roles are agents, that is killed again and again. Its one argument is JSON: { store, url, log, resume?, killAt?,
// dieIn? }. Its tools write down in `log` what they do, each as a line that is on disk before the tool goes on. It prints what came of the run
// as one line of JSON. Built code is what it runs, as a user's program does.
import { appendFileSync } from "node:fs";
import { z } from "zod";
import { defineTool } from "../../dist/src/agent/index.js";
import { openai } from "../../dist/src/adapters/openai.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { canonical, defineAction, defineRole, Team, usd } from "../../dist/src/index.js";
import { mortal } from "./mortal-journal.mjs";

const { store, url, log, resume, killAt, dieIn } = JSON.parse(process.argv[2]);

let calls = 0;

/** Does what it does, or dies before it, or right after it: then it has happened, and nobody is told. */
function done(what) {
  calls += 1;
  const dies = calls === dieIn?.call;
  if (dies && dieIn.when === "before") process.kill(process.pid, "SIGKILL");
  appendFileSync(log, `${what}\n`);
  if (dies) process.kill(process.pid, "SIGKILL");
}

const at = z.object({ at: z.string() });
const look = defineTool({
  name: "look",
  description: "Looks something up.",
  parameters: at,
  effect: "read",
  execute: (args) => {
    done(`look ${args.at}`);
    return `seen ${args.at}`;
  },
});
const pay = defineTool({
  name: "pay",
  description: "Pays a bill, each time anew.",
  parameters: at,
  effect: "write",
  permission: "allow",
  idempotent: false,
  execute: (args) => {
    done(`pay ${args.at}`);
    return `paid ${args.at}`;
  },
});

const Pay = defineAction({ name: "Pay", run: () => undefined });
const Tell = defineAction({ name: "Tell", prompt: (ctx) => `Tell: ${ctx.text}` });
const clerk = defineRole({ name: "Clerk", goal: "pay the bills", actions: [Pay], reactMode: "agent", tools: [look, pay] });
const speaker = defineRole({ name: "Speaker", watch: [Pay], actions: [Tell] });

const journal = killAt === undefined ? sqlite({ path: store }) : mortal(sqlite({ path: store }), killAt);
const model = openai({ model: "m", apiKey: "sk-test-of-the-agent-kills-01234", baseURL: url, price: { input: 1, output: 2 } });
// Nobody is to blame for these deaths, however often they come before an answer.
const team = new Team({ seed: "kills", journal, roles: [clerk, speaker], model, budget: usd(5), poisonAfter: 1_000 });
const result = await (resume ? team.resume("r") : team.run("Pay the bills.", { id: "r" })).result;

const events = [];
for await (const event of journal.read("r", 0)) events.push(event);
await journal.close();
const { status, error, cost, uncertain } = result;
const messages = result.messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`);
const inFlight = events.flatMap((event) => (event.type === "run.resumed" ? event.uncertain : [])).filter(({ hold }) => hold > 0).length;
const told = {
  status,
  code: error?.code,
  error: error?.message,
  cost: cost.known,
  uncertain,
  inFlight,
  messages,
  canonical: canonical(events),
};
process.stdout.write(`${JSON.stringify(told)}\n`);
