// Loaded before an example: gives each run without a seed the same one, sets the concurrency of all runs, of environments and of teams, records what
// happens in each, and writes the hashes of their canonical records, in the order in which the runs began. With RECORD_STILL it also gives each
// run without an id the next one of a list, and stops the clock.
import crypto, { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";
import { canonical, Environment } from "../../dist/src/index.js";

const { RECORD_CONCURRENCY, RECORD_FILE, RECORD_STILL, SEED = "" } = process.env;
/** The bytes of a fresh seed; no other random value has as many. */
const SEED_BYTES = 8;
const TYPES =
  "run.started message act.started act.resumed step.started step.ended act.ended act.failed round.ended clock.advanced role.hired role.retired run.resumed run.ended".split(
    " ",
  );

const { randomBytes } = crypto;
crypto.randomBytes = (size, ...more) =>
  size === SEED_BYTES ? createHash("sha256").update(SEED).digest().subarray(0, SEED_BYTES) : randomBytes(size, ...more);
syncBuiltinESMExports();
if (RECORD_STILL !== undefined) {
  let drawn = 0;
  Date.now = () => Date.UTC(2026, 0);
  globalThis.crypto.getRandomValues = (bytes) => bytes.fill((drawn += 1));
}

const records = new Map();
const house = Environment.prototype;
const { addRole, run, drive, finish } = house;
const { get: log } = Object.getOwnPropertyDescriptor(house, "log");

function observe(environment) {
  if (records.has(environment)) return;
  const record = { events: [], hashes: [] };
  records.set(environment, record);
  for (const type of TYPES) environment.on(type, (event) => record.events.push(event));
}

house.addRole = function (...given) {
  observe(this);
  return addRole.apply(this, given);
};

// A team records the start of a run before it hires.
Object.defineProperty(house, "log", {
  get() {
    observe(this);
    return log.call(this);
  },
});

house.drive = function (...given) {
  this.state.bounds = { ...this.state.bounds, concurrency: Number(RECORD_CONCURRENCY) };
  return drive.apply(this, given);
};

for (const [name, ending] of Object.entries({ run, finish }))
  house[name] = async function (...given) {
    const result = await ending.apply(this, given);
    hash(records.get(this));
    return result;
  };

function hash(record) {
  if (record === undefined || record.events.length === 0) return;
  record.hashes.push(createHash("sha256").update(canonical(record.events)).digest("hex"));
  record.events.length = 0;
}

if (isMainThread)
  process.on("exit", () => {
    for (const record of records.values()) hash(record);
    writeFileSync(RECORD_FILE, JSON.stringify([...records.values()].map(({ hashes }) => hashes)));
  });
