// Measures the cost of a run that survives a kill: an append to a journal in SQLite, and a role's hop on one, beside the same hop without a journal,
// and beside nothing but an INSERT and a COMMIT of the same bytes by the same library. Build first (`npm run build`), then
// `node bench/durability.mjs`, or with `--json` for a program to read, and `--events 100000` for a shorter last part.
//
// They take turns in short stretches, so that a slow moment of the machine or of its disk does not hit one of them alone, and of all
// stretches the middle one counts. Not measured: power loss, disks that lie about having written, several processes on one file. Figures
// of different machines do not compare, and those of a disk that others use hardly do; the ratios of one run do.
//
// A hop without a step waits for nobody: its event is written behind it, and several go into one commit. What waits is an effect, for its
// `step.started`, and its answer, for its `step.ended`: the end of one hop and the start of the next go together, so a hop with a model step
// is two commits. The price of a commit is seen in the appends and in those hops.
//
// Roles of one run write into one place of the file. Runs have each their own, so a commit of many runs writes as many pages as there are
// runs: that, and not the commit itself, is what 64 runs at once pay for. In hops with a model step, many roles are bound by the processor:
// compare them with the same hop without a journal.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { defineAction, defineRole, Environment, memoryJournal, ROUTE_TO_SELF, Team } from "../dist/src/index.js";
import { sqlite } from "../dist/src/adapters/sqlite.js";
import { RunLog } from "../dist/inside/runtime/record/run-log.js";
import { RunState } from "../dist/inside/runtime/record/run-state.js";
import { scriptedModel } from "../dist/src/testing/index.js";

const stretches = 15;
const hopsInAStretch = 150;
const manyRoles = 64;
const foldedHops = 100_000;
const iteratedEvents = Number(process.argv[process.argv.indexOf("--events") + 1]) || 1_000_000;

const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
let files = 0;
const newFile = () => join(folder, `${(files += 1)}.db`);

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

const microseconds = (from) => Number(process.hrtime.bigint() - from) / 1_000;

// --- a hop: a role hears one message and says the next, to itself ---

const words = "what a role has to say to itself, in about as many words as roles in a company use ".repeat(3).trim();
const hop = (name) =>
  defineRole({
    name,
    actions: [defineAction({ name: `Hop of ${name}`, sendTo: () => [ROUTE_TO_SELF], run: () => words })],
    watch: ["UserRequirement", `Hop of ${name}`],
  });
const ask = (name) =>
  defineRole({
    name,
    actions: [defineAction({ name: `Ask of ${name}`, sendTo: () => [ROUTE_TO_SELF], run: (ctx) => ctx.ask(words) })],
    watch: ["UserRequirement", `Ask of ${name}`],
  });

/** Microseconds per hop of roles that hop side by side, so often each. */
async function hopping(makeRole, roles, hops, journal, id) {
  const names = Array.from({ length: roles }, (_, place) => `Role${place}`);
  const members = names.map(makeRole);
  const parts = { model: scriptedModel(() => words), scheduler: "eager", concurrency: roles, seed: 1 };
  const start = process.hrtime.bigint();
  if (journal === undefined) {
    const environment = new Environment(parts);
    environment.addRoles(members);
    environment.publishMessage("go");
    await environment.run({ rounds: hops });
  } else {
    const { status, error } = await new Team({ ...parts, roles: members, journal }).run("go", {
      rounds: hops,
      ...(id === undefined ? {} : { id }),
    }).result;
    if (status !== "rounds") throw error ?? new Error(`expected the limit of rounds, got ${status}`);
  }
  return microseconds(start) / (roles * hops);
}

// --- an event that a role waits for, of one role or of many in one run ---

/** Roles of one run that each record an event and wait until it is durable, as often as asked. */
async function committers(journal, runId, count, { v: _v, runId: _run, seq: _seq, time: _time, ...event }) {
  await journal.create(runId);
  const owned = { journal, epoch: (await journal.claim(runId)).epoch };
  const log = new RunLog({ state: new RunState(runId), clock: { now: () => Date.now() }, mask: (text) => text, owned });
  const roles = Array.from({ length: count }, (_, place) => ({ name: `Role${place}`, n: 0 }));
  const hired = roles.map(({ name }) => ({ name, fingerprint: "", traits: {}, state: {} }));
  log.record({ type: "run.started", team: "t", roles: hired, seed: "1", scheduler: "eager" });
  await log.durable();
  return async (times) => {
    const start = process.hrtime.bigint();
    const commit = async (role) => {
      for (let k = 0; k < times; k++, role.n++) {
        const message = { ...event.said[0].message, id: `${role.name}#${role.n}.0` };
        const said = [{ message, to: [] }];
        log.record({ ...event, act: `${role.name}#${role.n}~1`, role: role.name, take: 0, said, memory: [["+", message.id]] });
        await log.durable();
      }
    };
    await Promise.all(roles.map(commit));
    return microseconds(start) / (times * count);
  };
}

// --- an append that is waited for, of one run or of many at once ---

/** Runs that append one event each, as often as asked. */
async function appenders(journal, prefix, count, event) {
  const runs = [];
  for (let n = 0; n < count; n++) {
    const runId = `${prefix} ${n}`;
    await journal.create(runId);
    runs.push({ runId, epoch: (await journal.claim(runId)).epoch, seq: 0 });
  }
  return async (times) => {
    const start = process.hrtime.bigint();
    const append = async (run) => {
      for (let n = 0; n < times; n++) {
        await journal.append(run.runId, run.epoch, run.seq, [{ ...event, runId: run.runId, seq: run.seq }]);
        run.seq += 1;
      }
    };
    await Promise.all(runs.map(append));
    return microseconds(start) / (times * count);
  };
}

/** Counts the transactions in the log of a journal's file: the last frame of each has the size of the file. */
function commitsIn(file) {
  const log = readFileSync(`${file}-wal`);
  let commits = 0;
  for (let at = 32; at + 4_120 <= log.length; at += 4_120) if (log.readUInt32BE(at + 4) > 0) commits += 1;
  return commits;
}

// --- the same bytes without us ---

function bareDatabase() {
  const db = new Database(newFile());
  db.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (place INTEGER PRIMARY KEY, body TEXT, checksum BLOB)",
  );
  const insert = db.prepare("INSERT INTO events VALUES (?, ?, ?)");
  const checksum = Buffer.alloc(16);
  let place = 0;
  return (body, times) => {
    const start = process.hrtime.bigint();
    for (let n = 0; n < times; n++) {
      db.exec("BEGIN IMMEDIATE");
      insert.run([(place += 1), body, checksum]);
      db.exec("COMMIT");
    }
    return microseconds(start) / times;
  };
}

/** Bytes of a journal's file per message, and one of the events that end a hop. */
async function weigh(makeRole) {
  const file = newFile();
  const journal = sqlite({ path: file });
  await journal.runs();
  const empty = statSync(file).size;
  const hops = 2_000;
  await hopping(makeRole, 1, hops, journal, "r");
  const ended = [];
  for await (const event of journal.read("r", 0)) if (event.type === "act.ended") ended.push(event);
  await journal.close();
  return { bytesPerMessage: (statSync(file).size - empty) / hops, event: ended[1_000] };
}

/** Commits for each hop with a model step, of one role that has the journal for itself. */
async function commitsOfHops() {
  const file = newFile();
  const journal = sqlite({ path: file });
  await journal.runs();
  const before = commitsIn(file);
  await hopping(ask, 1, 50, journal);
  const commits = (commitsIn(file) - before) / 50;
  await journal.close();
  return commits;
}

const weights = { hop: await weigh(hop), ask: await weigh(ask) };
const commitsPerAsk = await commitsOfHops();
const body = JSON.stringify(weights.hop.event);

const bare = bareDatabase();
const onDisk = sqlite({ path: newFile() });
const appendAlone = await appenders(onDisk, "alone", 1, weights.hop.event);
const appendTogether = await appenders(onDisk, "together", manyRoles, weights.hop.event);
const commitAlone = await committers(onDisk, "one role", 1, weights.hop.event);
const commitTogether = await committers(onDisk, "many roles", manyRoles, weights.hop.event);
const NAMES = {
  bare: "bare libsql: INSERT and COMMIT",
  commit: "event that a role waits for",
  commitMany: `the same, ${manyRoles} roles of one run at once`,
  append: "append of one event, waited for",
  appendMany: `the same, ${manyRoles} runs at once`,
  hop: "hop, sqlite",
  hopMany: `hop, sqlite, ${manyRoles} roles at once`,
  hopMemory: "hop, memory",
  hopNone: "hop, no journal",
  ask: "hop with a model step, sqlite",
  askMany: `hop with a model step, sqlite, ${manyRoles} roles at once`,
  askMemory: "hop with a model step, memory",
  askNone: "hop with a model step, no journal",
};
const kinds = {
  [NAMES.bare]: () => bare(body, hopsInAStretch),
  [NAMES.commit]: () => commitAlone(hopsInAStretch),
  [NAMES.commitMany]: () => commitTogether(hopsInAStretch / 5),
  [NAMES.append]: () => appendAlone(hopsInAStretch),
  [NAMES.appendMany]: () => appendTogether(hopsInAStretch / 5),
  [NAMES.hop]: () => hopping(hop, 1, 10 * hopsInAStretch, onDisk),
  [NAMES.hopMany]: () => hopping(hop, manyRoles, hopsInAStretch / 5, onDisk),
  [NAMES.hopMemory]: () => hopping(hop, 1, 10 * hopsInAStretch, memoryJournal()),
  [NAMES.hopNone]: () => hopping(hop, 1, 10 * hopsInAStretch),
  [NAMES.ask]: () => hopping(ask, 1, hopsInAStretch, onDisk),
  [NAMES.askMany]: () => hopping(ask, manyRoles, hopsInAStretch / 10, onDisk),
  [NAMES.askMemory]: () => hopping(ask, 1, hopsInAStretch, memoryJournal()),
  [NAMES.askNone]: () => hopping(ask, 1, hopsInAStretch),
};
const times = Object.fromEntries(Object.keys(kinds).map((name) => [name, []]));
for (let n = 0; n <= stretches; n++) {
  for (const [name, measure] of Object.entries(kinds)) {
    const time = await measure();
    if (n > 0) times[name].push(time);
  }
}
await onDisk.close();
const perHop = Object.fromEntries(Object.entries(times).map(([name, each]) => [name, median(each)]));

// --- reading: in processes of their own, whose memory can be told ---

const built = (path) => JSON.stringify(new URL(`../dist/${path}.js`, import.meta.url).href);
const reader = `
  import { apply } from ${built("inside/runtime/record/apply")};
  import { RunState } from ${built("inside/runtime/record/run-state")};
  import { recordedState } from ${built("inside/runtime/snapshot/snapshot")};
  import { sqlite } from ${built("src/adapters/sqlite")};
  const [file, how] = process.argv.slice(1);
  const start = process.hrtime.bigint();
  const journal = sqlite({ path: file });
  const state = new RunState("r");
  let count = 0;
  if (how === "open") count = (await recordedState(journal, "r", (from) => journal.read("r", from))).state.seq;
  else
    for await (const event of journal.read("r", 0)) {
      count += 1;
      if (how === "fold") apply(state, event);
    }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const { user, system } = process.cpuUsage();
  const body = process.argv[3];
  const parsing = process.hrtime.bigint();
  for (let n = 0; n < count; n++) JSON.parse(body);
  const parseSeconds = Number(process.hrtime.bigint() - parsing) / 1e9;
  const maxRssMB = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ count, seconds, cpuSeconds: (user + system) / 1e6, parseSeconds, maxRssMB }));
`;

function readBack(file, how) {
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", reader, file, how, body], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(child.stderr);
  return JSON.parse(child.stdout);
}

/** A file with one run of so many hops. */
async function hopped(hops) {
  const file = newFile();
  const journal = sqlite({ path: file });
  await hopping(hop, 1, hops, journal, "r");
  await journal.close();
  return file;
}

/** A file with one run of so many events, that are one event over and over. */
async function filled(count, event) {
  const file = newFile();
  const journal = sqlite({ path: file });
  await journal.create("r");
  const { epoch } = await journal.claim("r");
  for (let seq = 0; seq < count; seq += 5_000) {
    const batch = Array.from({ length: Math.min(5_000, count - seq) }, (_, place) => ({ ...event, runId: "r", seq: seq + place }));
    await journal.append("r", epoch, seq, batch);
  }
  await journal.close();
  return file;
}

const hoppedFile = await hopped(foldedHops);
const folded = readBack(hoppedFile, "fold");
const opened = readBack(hoppedFile, "open");
const iterated = readBack(await filled(iteratedEvents, weights.hop.event), "iterate");
rmSync(folder, { recursive: true });

// --- what came out ---

const ratio = (a, b) => perHop[NAMES[a]] / perHop[NAMES[b]];
const ratios = {
  "append, waited for / bare commit of the same bytes": ratio("append", "bare"),
  "hop on sqlite / bare commit of the same bytes (target: 1.5 at most)": ratio("hop", "bare"),
  "hop with a model step on sqlite / bare commit": ratio("ask", "bare"),
  [`rate of ${manyRoles} roles of one run that wait for their events / rate of one (target: 8 at least)`]: ratio("commit", "commitMany"),
  [`rate of ${manyRoles} runs that append / rate of one`]: ratio("append", "appendMany"),
  [`rate of ${manyRoles} roles / rate of one, hops with a model step`]: ratio("ask", "askMany"),
  [`rate of ${manyRoles} roles / rate of one, hops without`]: ratio("hop", "hopMany"),
};
const extra = {
  "memory journal adds to a hop, microseconds (target: 5 at most)": perHop[NAMES.hopMemory] - perHop[NAMES.hopNone],
  "sqlite adds to a hop, microseconds": perHop[NAMES.hop] - perHop[NAMES.hopNone],
  "commits for a hop with a model step (target: 3 at most)": commitsPerAsk,
  "letters of the event of a hop": body.length,
  "bytes on disk for a message": weights.hop.bytesPerMessage,
  "bytes on disk for a message and its model step": weights.ask.bytesPerMessage,
  [`open, read and fold ${folded.count} events, seconds (target: 1 at most)`]: folded.seconds,
  "the same, seconds of a processor, the start of the process included": folded.cpuSeconds,
  "the same / JSON.parse of as many such events, by the clock": folded.seconds / folded.parseSeconds,
  "open the same run as a resume does, from its snapshot, seconds": opened.seconds,
  [`read ${iterated.count} events, seconds`]: iterated.seconds,
  "most memory of that process, MB (target: 300 at most)": iterated.maxRssMB,
};

if (process.argv.includes("--json")) {
  console.log(JSON.stringify({ node: process.version, stretches, perHop, ratios, extra, folded, opened, iterated }, null, 2));
} else {
  console.table(Object.fromEntries(Object.entries(perHop).map(([name, time]) => [name, { microseconds: Number(time.toFixed(1)) }])));
  for (const [name, value] of Object.entries({ ...ratios, ...extra })) console.log(`${name}: ${value.toFixed(2)}`);
}
