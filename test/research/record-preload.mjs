// Loaded before an example: sets the concurrency of its environments, records what happens in each, and writes the hashes of their canonical
// records, in the order in which the environments were made.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { canonical, Environment } from "../../dist/src/index.js";

const { RECORD_CONCURRENCY, RECORD_FILE } = process.env;
const TYPES = "run.started message act.started act.resumed step.started step.ended act.ended act.failed round.ended clock.advanced".split(
  " ",
);
const records = new Map();
const { addRole, run } = Environment.prototype;

Environment.prototype.addRole = function (...given) {
  if (!records.has(this)) {
    const record = { events: [], hashes: [] };
    records.set(this, record);
    for (const type of [...TYPES, "role.hired", "role.retired", "run.resumed", "run.ended"])
      this.on(type, (event) => record.events.push(event));
  }
  return addRole.apply(this, given);
};

Environment.prototype.run = async function (...given) {
  this.state.bounds = { ...this.state.bounds, concurrency: Number(RECORD_CONCURRENCY) };
  const result = await run.apply(this, given);
  hash(records.get(this));
  return result;
};

function hash(record) {
  if (record === undefined || record.events.length === 0) return;
  record.hashes.push(createHash("sha256").update(canonical(record.events)).digest("hex"));
  record.events.length = 0;
}

process.on("exit", () => {
  for (const record of records.values()) hash(record);
  writeFileSync(RECORD_FILE, JSON.stringify([...records.values()].map(({ hashes }) => hashes)));
});
