/*
 * A conversation of many turns: the CPU of a turn by its number. Turn 1,000 should cost what turn 20 does.
 *
 *   npm run build && node bench/talk.mjs
 *
 *   --turns 1000          how many turns
 *   --journal sqlite      memory or sqlite
 *   --door say            say (over HTTP), add (`resume` with a message) or send (`send`, then `resume`)
 *
 * Each figure is the mean of ten turns.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../dist/src/client/index.js";
import { defineAction, defineRole, memoryJournal, Team, UserFeedback, UserRequirement } from "../dist/src/index.js";
import { createServer } from "../dist/src/server/index.js";
import { sqlite } from "../dist/src/adapters/sqlite.js";
import { scriptedModel } from "../dist/src/testing/index.js";

const { values } = parseArgs({
  options: {
    turns: { type: "string", default: "1000" },
    journal: { type: "string", default: "sqlite" },
    door: { type: "string", default: "say" },
  },
});
const MEASURED = 10;
const SHOWN = new Set([20, 100, 300, 1_000, 3_000, 10_000]);

const Cook = defineAction({ name: "Cook", prompt: (ctx) => `Suggest a dish to a guest who says: ${ctx.text}` });
const Pour = defineAction({ name: "Pour", prompt: (ctx) => `Name a drink that goes with: ${ctx.text}` });
const says = [UserRequirement, UserFeedback];
const roles = [
  defineRole({ name: "Chef", reactions: says.map((on) => ({ on, do: Cook })) }),
  defineRole({ name: "Barkeeper", watch: [Cook], actions: [Pour] }),
];
const folder = mkdtempSync(join(tmpdir(), "troupe-talk-"));
const journal = values.journal === "sqlite" ? sqlite({ path: join(folder, "runs.db") }) : memoryJournal({ events: 10_000_000 });
const team = new Team({ roles, model: scriptedModel(() => "Trout with almonds, and a dry Riesling."), journal });
const token = "only-for-this-example";
const server = createServer({
  teams: async () => ({ team }),
  journal,
  tenants: [{ name: "guests", token, rate: { perSecond: 1e6, burst: 1e6 } }],
});
const client = createClient({ url: (await server.listen({ port: 0 })).url, token });

async function turn(n) {
  const words = `Something else, please: ${n}`;
  if (values.door === "say") return client.say("table", words);
  if (n === 1) return team.run(words, { id: "table" }).result;
  if (values.door === "add") return team.resume("table", { add: [words] }).result;
  await team.send("table", words);
  return team.resume("table").result;
}

let before = process.cpuUsage();
for (let n = 1; n <= Number(values.turns); n += 1) {
  if (SHOWN.has(n + MEASURED - 1)) before = process.cpuUsage();
  const { status } = await turn(n);
  if (status !== "finished") throw new Error(`Expected turn ${n} to finish, got ${status}.`);
  if (!SHOWN.has(n)) continue;
  const { user, system } = process.cpuUsage(before);
  console.log(`turn ${n}: ${((user + system) / 1_000 / MEASURED).toFixed(1)} ms`);
}
await server.close();
await journal.close();
rmSync(folder, { recursive: true });
