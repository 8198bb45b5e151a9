// Measures how late timers end: milliseconds between the recorded deadline of a sleep and the recorded end of its activation, for 50 timers on
// SQLite and the real clock. Build first (`npm run build`), then `node bench/timers.mjs`.
//
// `live`: one run whose roles sleep, in a process that waits for it. `served`: a server whose runs sleep. `restart`: runs of a server that is
// killed, and started again after their time: what counts begins with the second server.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { defineAction, defineRole, Team } from "../dist/src/index.js";
import { sqlite } from "../dist/src/adapters/sqlite.js";
import { createClient } from "../dist/src/client/index.js";
import { createServer } from "../dist/src/server/index.js";

const TIMERS = 50;
const [, self, path, until] = process.argv;

const sleeper = (nth, wait) =>
  defineRole({
    name: `R${nth}`,
    actions: [defineAction({ name: `Sleep${nth}`, run: (ctx) => ctx.sleep(wait ?? ctx.text).then(() => "awake") })],
  });

/** Prints how late the timers of a journal ended. @param from milliseconds before which nobody could end one */
async function report(what, journal, from = 0) {
  const late = [];
  for (const { runId } of await journal.runs()) {
    const deadlines = new Map();
    for await (const event of journal.read(runId, 0)) {
      if (event.type === "step.started" && event.name === "wait") deadlines.set(event.act, event.deadline);
      if (event.type === "act.ended") late.push(event.time - Math.max(deadlines.get(event.act), from));
    }
  }
  late.sort((a, b) => a - b);
  console.log(`${what}: ${late.length} timers, late by ${late[0]} to ${late.at(-1)} ms, median ${late[late.length >> 1]} ms`);
}

/** A server in this process, and its client. */
function serving(journal) {
  const quiet = { debug() {}, info() {}, warn: console.error, error: console.error };
  const server = createServer({ team: new Team({ journal, roles: [sleeper(0)] }), logger: quiet });
  return { server, client: createClient({ url: "http://localhost", fetch: server.fetch }) };
}

async function start(client, timeOf) {
  for (let nth = 0; nth < TIMERS; nth += 1) await client.start({ idea: new Date(timeOf(nth)).toISOString() });
}

/** Resolves when all runs have a status. */
async function all(client, status) {
  while ((await client.list({ limit: 100 })).runs.filter((run) => run.status === status).length < TIMERS) await delay(200);
}

if (path !== undefined) {
  const { client } = serving(sqlite({ path }));
  await start(client, () => Number(until));
  await all(client, "waiting");
  process.send("all wait");
  await new Promise(() => setInterval(() => {}, 60_000));
}

const folder = mkdtempSync(join(tmpdir(), "timers-"));
const fresh = (name) => sqlite({ path: join(folder, `${name}.db`) });

const live = fresh("live");
await new Team({ journal: live, roles: Array.from({ length: TIMERS }, (_, nth) => sleeper(nth, 500 + 100 * nth)) }).run("go", {
  wait: true,
}).result;
await report("live", live);
await live.close();

const served = fresh("served");
const one = serving(served);
const begin = Date.now() + 15_000;
await start(one.client, (nth) => begin + 100 * nth);
await all(one.client, "finished");
await report("served", served);
await one.server.close();
await served.close();

const time = Date.now() + 30_000;
const child = fork(self, [join(folder, "restart.db"), String(time)]);
await new Promise((resolve) => child.once("message", resolve));
child.kill("SIGKILL");
await delay(Math.max(0, time - Date.now()));
const from = Date.now();
const restart = fresh("restart");
const two = serving(restart);
await two.server.ready();
await all(two.client, "finished");
await report("restart", restart, from);
await two.server.close();
await restart.close();
rmSync(folder, { recursive: true });
