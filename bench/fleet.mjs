// Measures the runs that one machine does: one process with a SQLite file, one process with Postgres, and 1, 2 and 3 workers (`troupe worker`) that take
// the same runs from a queue in that database. Build first (`npm run build`), then
// `node bench/fleet.mjs --url postgres://user@host/database`. It makes schemas of its own and removes them. `--json` is for a program to read.
//
// A run has 5 hops, each with one model step whose answer comes at once, so a figure is the cost of the record and of the queue and no model's
// time. Each round measures every set-up once, in turns; a figure is the median of the rounds, and the ratios of one run of this program
// compare, its figures with those of another machine do not. The load of the machine is told beside them. The seconds of CPU are of the
// processes of Node and, where the server is on this machine, of all processes named postgres. Not measured: a server on another machine, a
// standby that commits must wait for, and a disk that others use.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { graphileDriver } from "../dist/src/adapters/graphile.js";
import { postgres } from "../dist/src/adapters/postgres.js";
import { sqlite } from "../dist/src/adapters/sqlite.js";
import { benched } from "./fleet-teams.mjs";

const { values } = parseArgs({
  options: {
    url: { type: "string" },
    rounds: { type: "string", default: "3" },
    runs: { type: "string", default: "300" },
    json: { type: "boolean", default: false },
  },
});
if (values.url === undefined) throw new Error("Expected --url with the address of a Postgres database. Give it one that may be written.");

const [rounds, runs] = [Number(values.rounds), Number(values.runs)];
const CONCURRENCY = 64;
const HOPS = 5;
const MAIN = fileURLToPath(new URL("../dist/src/cli/main.js", import.meta.url));
const TEAMS = fileURLToPath(new URL("./fleet-teams.mjs", import.meta.url));
const TICK = 1 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
const admin = new pg.Client({ connectionString: values.url });
await admin.connect();
const schemas = [];
let turn = 0;

function newSchema() {
  turn += 1;
  schemas.push(`bench_${process.pid}_${turn}`);
  return schemas.at(-1);
}

/** Seconds of CPU that processes have used. */
function cpuOf(pids) {
  return pids.reduce((sum, pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
      return sum + (Number(fields[11]) + Number(fields[12])) * TICK;
    } catch {
      return sum;
    }
  }, 0);
}

/** The processes of the server, if it is on this machine. One that ended takes its time along, so none may end while it is measured. */
async function serverPids() {
  const { rows } = await admin.query("SELECT pid FROM pg_stat_activity");
  return rows.map(({ pid }) => pid).filter((pid) => nameOf(pid) === "postgres");
}

function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "";
  }
}

/** Measures work by its wall clock and by the CPU of processes. @param pids the processes of Node, while they live */
async function measured(pids, work) {
  const before = { at: process.hrtime.bigint(), node: cpuOf(pids), log: await logged() };
  await work();
  const seconds = Number(process.hrtime.bigint() - before.at) / 1e9;
  const server = cpuOf(await serverPids());
  const after = await logged();
  const [log, flushes] = [after.bytes - before.log.bytes, after.flushes - before.log.flushes];
  return { seconds, node: cpuOf(pids) - before.node, server, log, flushes };
}

/** Bytes and flushes of the server's log. A server that counts its flushes elsewhere has NaN. */
async function logged() {
  const [{ bytes }] = (await admin.query("SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 AS bytes")).rows;
  const flushes = await admin.query("SELECT wal_sync::float8 AS flushes FROM pg_stat_wal").then(
    ({ rows }) => rows[0].flushes,
    () => NaN,
  );
  return { bytes, flushes };
}

const ids = Array.from({ length: runs }, (_, n) => `run-${n}`);

/** One process, 64 runs at once. */
async function alone(journal) {
  const mine = benched({ journal });
  await mine.run("go", { id: "warm" }).result;
  const result = await measured([process.pid], async () => {
    const left = [...ids];
    const slot = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        const { status, error } = await mine.run("go", { id }).result;
        if (status === "failed") throw new Error("a run failed", { cause: error });
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, slot));
  });
  await journal.close();
  return result;
}

/** So many workers. They begin before the queue is filled, so their start is not measured; submitting is. */
async function fleet(workers) {
  const schema = newSchema();
  const [driver, journal] = [graphileDriver({ url: values.url, schema }), postgres({ url: values.url, schema })];
  const children = Array.from({ length: workers }, () =>
    spawn(
      process.execPath,
      [MAIN, "worker", TEAMS, "--schema", schema, "--concurrency", String(CONCURRENCY), "--log-level", "warn", "--json"],
      {
        env: { ...process.env, TROUPE_JOURNAL: values.url },
        stdio: ["ignore", "pipe", "inherit"],
      },
    ),
  );
  const pids = await Promise.all(children.map(workingPid));
  const mine = benched({ journal, driver });
  const end = async () => {
    for (;;) {
      const { rows } = await admin.query(`SELECT FROM ${schema}_queue._private_jobs LIMIT 1`);
      if (rows.length === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  await Promise.all(Array.from({ length: 2 * workers }, (_, n) => mine.submit("go", { id: `warm-${n}` })));
  await end();
  const result = await measured(pids, async () => {
    await Promise.all(ids.map((id) => mine.submit("go", { id })));
    await end();
  });
  await Promise.all(
    children.map((child) => {
      child.kill("SIGTERM");
      return new Promise((resolve) => child.once("close", resolve));
    }),
  );
  const finished = (await journal.runs()).length;
  if (finished < runs) throw new Error(`Expected ${runs} runs, got ${finished}.`);
  await driver.close();
  await journal.close();
  return result;
}

/** The process that works: the child of the command. */
async function workingPid(child) {
  let said = "";
  for await (const text of child.stdout.setEncoding("utf8")) {
    said += text;
    const pid = /"pid":(\d+)/.exec(said)?.[1];
    if (pid !== undefined) {
      child.stdout.resume();
      return Number(pid);
    }
  }
  throw new Error("a worker ended before it was ready");
}

async function serverAround(work) {
  const before = cpuOf(await serverPids());
  const result = await work();
  return { ...result, server: result.server - before };
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

const setups = {
  "SQLite, one process": (n) => alone(sqlite({ path: join(folder, `${n}.db`) })),
  "Postgres, one process": () => alone(postgres({ url: values.url, schema: newSchema() })),
  "Postgres, 1 worker": () => fleet(1),
  "Postgres, 2 workers": () => fleet(2),
  "Postgres, 3 workers": () => fleet(3),
};
const seen = Object.fromEntries(Object.keys(setups).map((name) => [name, []]));
const loads = [];
for (let n = 0; n < rounds; n += 1) {
  for (const [name, setup] of Object.entries(setups)) {
    loads.push(loadavg()[0]);
    seen[name].push(await serverAround(() => setup(n)));
  }
}

/* Bytes of the file and of the tables: what one message costs with all events around it. */
const lastSchema = schemas.at(-1);
const { rows: sizes } = await admin.query(
  "SELECT sum(pg_total_relation_size(c.oid))::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'",
  [lastSchema],
);
const file = readdirSync(folder)
  .filter((name) => name.startsWith("0.db"))
  .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);

const figures = Object.fromEntries(
  Object.entries(seen).map(([name, all]) => {
    const perSecond = median(all.map(({ seconds }) => runs / seconds));
    const share = (of) => Number(((1000 * median(all.map(of))) / runs).toFixed(1));
    return [
      name,
      {
        "runs/s": Math.round(perSecond),
        "hops/s": Math.round(perSecond * HOPS),
        "of SQLite": Number(median(all.map(({ seconds }, n) => seen["SQLite, one process"][n].seconds / seconds)).toFixed(2)),
        "CPU ms/run, node": share(({ node }) => node),
        "CPU ms/run, postgres": name.startsWith("SQLite") ? null : share(({ server }) => server),
        "flushes/run": name.startsWith("SQLite") ? null : Number((median(all.map(({ flushes }) => flushes)) / runs).toFixed(1)),
        "log bytes/message": name.startsWith("SQLite") ? null : Math.round(median(all.map(({ log }) => log)) / runs / HOPS),
      },
    ];
  }),
);
const about = {
  cores: cpus().length,
  load: `${Math.min(...loads).toFixed(0)} to ${Math.max(...loads).toFixed(0)}`,
  runs,
  rounds,
  "bytes a message": { sqlite: Math.round(file / runs / HOPS), postgres: Math.round(sizes[0].bytes / runs / HOPS) },
};
for (const schema of schemas) await admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP SCHEMA IF EXISTS ${schema}_queue CASCADE`);
await admin.end();
rmSync(folder, { recursive: true, force: true });
if (values.json) console.log(JSON.stringify({ about, figures }));
else {
  console.table(figures);
  console.log(about);
}
