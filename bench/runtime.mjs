/*
 * Troupe and its peers at the same work, each case in a process of its own, interleaved, the median of several rounds.
 *
 *   npm run build && (cd bench && npm install) && node bench/runtime.mjs
 *
 *   --only hop,fanout   these cases alone      --peers troupe,nact   these peers alone
 *   --rounds 5          how often              --most 20000          no size above it
 *   --json              for a program to read; bench/report.mjs writes BENCHMARKS.md from it
 *
 * Times are of this machine and this day: what counts are the ratios within one run. What is measured and what is not stands in
 * BENCHMARKS.md.
 */
import { availableParallelism, loadavg, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { installRows } from "./runtime/install.mjs";
import { caseRows, coldRows, versions } from "./runtime/rows.mjs";
import { COLD, INSTALLED, TABLE } from "./runtime/table.mjs";
import { shownRow } from "./runtime/shown.mjs";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    peers: { type: "string" },
    rounds: { type: "string", default: "5" },
    most: { type: "string", default: "Infinity" },
    json: { type: "boolean", default: false },
  },
});
const only = values.only?.split(",");
const limits = { rounds: Number(values.rounds), most: Number(values.most), peers: values.peers?.split(",") };
const loadBefore = loadavg();

const all = [
  ...TABLE.map((entry) => ({ ...entry, rows: () => caseRows(entry, limits) })),
  ...COLD.map((entry) => ({ ...entry, rows: () => coldRows(entry, limits) })),
  {
    name: "install",
    unit: "what an install of it alone puts on the disk",
    rows: () => installRows().filter(({ peer }) => limits.peers === undefined || limits.peers.includes(peer)),
  },
];
const unknown = only?.filter((name) => !all.some((entry) => entry.name === name)) ?? [];
if (unknown.length > 0) throw new Error(`Expected cases of ${all.map(({ name }) => name).join(", ")}, got ${unknown.join(", ")}.`);

const rows = [];
for (const entry of all) {
  if (only !== undefined && !only.includes(entry.name)) continue;
  const lines = entry.rows();
  rows.push(...lines);
  // Progress goes where it does not mix with the JSON.
  const out = values.json ? process.stderr : process.stdout;
  out.write(`\n${entry.name}: ${entry.unit}\n`);
  for (const line of lines) out.write(`  ${shownRow(line)}\n`);
  for (const [peer, why] of Object.entries(entry.without ?? {})) out.write(`  ${peer.padEnd(16)} has no such case: ${why}\n`);
}

if (values.json) {
  const machine = {
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    processors: availableParallelism(),
    memory: totalmem(),
  };
  const run = {
    ...machine,
    rounds: limits.rounds,
    load: { before: loadBefore, after: loadavg() },
    versions: versions([...new Set(Object.values(INSTALLED).flat())]),
  };
  process.stdout.write(`${JSON.stringify({ ...run, rows }, null, 2)}\n`);
}
