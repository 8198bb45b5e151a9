// Measures the cost of runs that owners on many machines share: the same appends, hops and runs in Postgres and in a SQLite file, in turns.
// Build first (`npm run build`), then `node bench/postgres.mjs --url postgres://user@host/database`. It makes a schema of its own and
// removes it. `--json` is for a program to read.
//
// An append waits for the answer of the server, and the server for its disk, so one run alone is bound by their delay; 64 runs share
// statements and commits. Figures of different machines do not compare; the ratios of one run do. Not measured: a server on another machine,
// a standby that commits must wait for, and a disk that others use.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { defineAction, defineRole, memoryJournal, ROUTE_TO_SELF, Team } from "../dist/src/index.js";
import { postgres } from "../dist/src/adapters/postgres.js";
import { sqlite } from "../dist/src/adapters/sqlite.js";
import { scriptedModel } from "../dist/src/testing/index.js";

const { values } = parseArgs({ options: { url: { type: "string" }, json: { type: "boolean", default: false } } });
if (values.url === undefined) throw new Error("Expected --url with the address of a Postgres database. Give it one that may be written.");

const stretches = 5;
const schema = `bench_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
const admin = new pg.Client({ connectionString: values.url });
await admin.connect();

const words = "what a role has to say to itself, in about as many words as roles in a company use ".repeat(3).trim();
const ask = defineRole({
  name: "Ann",
  actions: [defineAction({ name: "Ask", sendTo: () => [ROUTE_TO_SELF], run: (ctx) => ctx.ask(words) })],
  watch: ["UserRequirement", "Ask"],
});

/** Runs that hop with a model step, so many at once. @returns seconds */
async function hopping(journal, runs, hops, name) {
  const start = process.hrtime.bigint();
  const team = new Team({ roles: [ask], model: scriptedModel(() => words), journal, seed: 1 });
  const results = Array.from({ length: runs }, (_, n) => team.run("go", { id: `${name} ${n}`, rounds: hops }).result);
  for (const { status, error } of await Promise.all(results)) if (status === "failed") throw new Error("a run failed", { cause: error });
  return Number(process.hrtime.bigint() - start) / 1e9;
}

const recorded = memoryJournal();
await hopping(recorded, 1, 200, "r");
const sample = [];
for await (const event of recorded.read("r 0", 0)) sample.push(event);

/** Appends the recorded events one by one to so many runs at once. @returns seconds */
async function appending(journal, runs, count, name) {
  const owners = await Promise.all(
    Array.from({ length: runs }, async (_, n) => {
      const runId = `${name} ${n}`;
      await journal.create(runId);
      const { epoch } = await journal.claim(runId);
      return { runId, epoch };
    }),
  );
  const start = process.hrtime.bigint();
  await Promise.all(
    owners.map(async ({ runId, epoch }) => {
      for (let seq = 0; seq < count; seq += 1) {
        await journal.append(runId, epoch, seq, [{ ...sample[seq % sample.length], runId, seq }]);
      }
    }),
  );
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  await Promise.all(owners.map(({ runId, epoch }) => journal.release(runId, epoch)));
  return seconds;
}

/** @returns seconds */
async function reading(journal, runId) {
  const start = process.hrtime.bigint();
  for await (const _event of journal.read(runId, 0)) continue;
  return Number(process.hrtime.bigint() - start) / 1e9;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

const journals = { sqlite: sqlite({ path: join(folder, "speed.db") }), postgres: postgres({ url: values.url, schema }) };
const measures = {
  "appends a second, 1 run": (journal, n) => appending(journal, 1, 300, `one ${n}`).then((seconds) => 300 / seconds),
  "appends a second, 64 runs": (journal, n) => appending(journal, 64, 60, `many ${n}`).then((seconds) => (64 * 60) / seconds),
  "hops with a model step a second, 1 run": (journal, n) => hopping(journal, 1, 150, `hop ${n}`).then((seconds) => 150 / seconds),
  "hops with a model step a second, 64 runs": (journal, n) => hopping(journal, 64, 25, `hops ${n}`).then((seconds) => (64 * 25) / seconds),
  "runs of 5 hops a second, 64 at once": (journal, n) => hopping(journal, 64, 5, `runs ${n}`).then((seconds) => 64 / seconds),
};
const figures = {};
for (const [name, measure] of Object.entries(measures)) {
  const seen = { sqlite: [], postgres: [] };
  for (let n = 0; n < stretches; n += 1) {
    for (const [store, journal] of Object.entries(journals)) seen[store].push(await measure(journal, n));
  }
  figures[name] = Object.fromEntries(Object.entries(seen).map(([store, all]) => [store, Math.round(median(all))]));
}

const long = 20_000;
const kept = {};
for (const [store, make] of [
  ["sqlite", () => sqlite({ path: join(folder, "size.db") })],
  ["postgres", () => postgres({ url: values.url, schema: `${schema}_size` })],
]) {
  const journal = make();
  await journal.create("long");
  const { epoch } = await journal.claim("long");
  const before = store === "postgres" ? await walBytes() : 0;
  const sent = sample.filter(({ type }) => type === "act.ended").reduce((sum, { said }) => sum + said.length, 0);
  for (let seq = 0; seq < long; seq += 20) {
    const events = Array.from({ length: 20 }, (_, n) => ({ ...sample[(seq + n) % sample.length], runId: "long", seq: seq + n }));
    await journal.append("long", epoch, seq, events);
  }
  kept[store] = { wal: store === "postgres" ? (await walBytes()) - before : undefined, messages: (sent * long) / sample.length };
  figures["events read a second"] = { ...figures["events read a second"], [store]: Math.round(long / (await reading(journal, "long"))) };
  await journal.release("long", epoch);
  await journal.close();
}
async function walBytes() {
  return Number((await admin.query("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn AS bytes")).rows[0].bytes);
}
const size = await admin.query(
  "SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
  [`${schema}_size`],
);
figures["bytes a message (two steps' events too)"] = {
  sqlite: Math.round(statSync(join(folder, "size.db")).size / kept.sqlite.messages),
  postgres: Math.round(size.rows[0].bytes / kept.postgres.messages),
};
figures["bytes of log a message"] = { sqlite: null, postgres: Math.round(kept.postgres.wal / kept.postgres.messages) };

for (const journal of Object.values(journals)) await journal.close();
await admin.query(`DROP SCHEMA ${schema} CASCADE; DROP SCHEMA ${schema}_size CASCADE`);
await admin.end();
rmSync(folder, { recursive: true, force: true });
if (values.json) console.log(JSON.stringify(figures));
else console.table(figures);
