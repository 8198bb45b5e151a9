// Searching vectors, side by side with others in one run. Build first (`npm run build`), install the others once (`cd bench && npm install`),
// then `node bench/memory-peers.mjs [--rounds 3] [--json file]`. Every case runs in a process of its own, all cases in turn, so many rounds;
// what is told is the median of the rounds and how far they lie apart. Recall is against the plainest of loops.
//
// Not measured: vectors of real texts, more dimensions than 256, writers beside the readers, indexes on a server.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nearestKeys, syntheticVectors } from "./synthetic-vectors.mjs";
import { vectorPeers } from "./vector-peers.mjs";

const DIMENSIONS = 256;
const K = 4;
const QUESTIONS = 40;
const COUNTS = [10_000, 100_000];
/** Less than this is no difference, on a machine that others use too. */
const EQUAL = 0.99;

function quantile(numbers, part) {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)];
}

function numbersIn(file) {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}

/** One case, in a process of its own. */
async function measured(name, count, folder) {
  const all = numbersIn(join(folder, "kept")).subarray(0, count * DIMENSIONS);
  const asked = numbersIn(join(folder, "asked"));
  const truth = JSON.parse(readFileSync(join(folder, `truth-${count}`), "utf8"));
  const began = performance.now();
  const search = await vectorPeers[name].fill(all, { dimensions: DIMENSIONS, k: K, folder });
  const fill = performance.now() - began;
  const questions = Array.from({ length: QUESTIONS }, (_, n) => asked.slice(n * DIMENSIONS, (n + 1) * DIMENSIONS));
  for (const question of questions.slice(0, 5)) await search(question);
  const times = [];
  let hits = 0;
  for (const [n, question] of questions.entries()) {
    const start = performance.now();
    const found = await search(question);
    times.push(performance.now() - start);
    hits += found.filter((key) => truth[n].includes(key)).length;
  }
  return { p50: quantile(times, 0.5), p95: quantile(times, 0.95), recall: hits / (QUESTIONS * K), fill };
}

function inProcess(name, count, folder) {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), "case", name, String(count), folder], { encoding: "utf8" });
  if (child.status === 0) return JSON.parse(child.stdout.trim().split("\n").at(-1));
  const why = child.stderr.split("\n").find((line) => /error/i.test(line)) ?? `status ${child.status}`;
  return { failed: why.slice(0, 160) };
}

/** The result of the rounds of one case. */
function summed(rounds) {
  const failed = rounds.find((round) => round.failed !== undefined);
  if (failed !== undefined) return failed;
  const p50s = rounds.map(({ p50 }) => p50);
  return {
    p50: quantile(p50s, 0.5),
    spread: [Math.min(...p50s), Math.max(...p50s)],
    p95: quantile(
      rounds.map(({ p95 }) => p95),
      0.5,
    ),
    recall: rounds[0].recall,
    fill: quantile(
      rounds.map(({ fill }) => fill),
      0.5,
    ),
  };
}

function prepare(folder) {
  const kept = syntheticVectors(Math.max(...COUNTS), DIMENSIONS, "kept");
  const asked = syntheticVectors(QUESTIONS, DIMENSIONS, "asked");
  for (const [name, numbers] of Object.entries({ kept, asked })) writeFileSync(join(folder, name), Buffer.from(numbers.buffer));
  for (const count of COUNTS) {
    const some = kept.subarray(0, count * DIMENSIONS);
    const truth = Array.from({ length: QUESTIONS }, (_, n) => nearestKeys(some, asked.subarray(n * DIMENSIONS, (n + 1) * DIMENSIONS), K));
    writeFileSync(join(folder, `truth-${count}`), JSON.stringify(truth));
  }
}

function compared(rounds, folder) {
  const cases = COUNTS.flatMap((count) =>
    Object.entries(vectorPeers).flatMap(([name, { atMost = Infinity }]) => (count > atMost ? [] : [{ count, name, rounds: [] }])),
  );
  for (let round = 0; round < rounds; round++) {
    for (const one of cases) if (one.rounds.at(-1)?.failed === undefined) one.rounds.push(inProcess(one.name, one.count, folder));
  }
  return cases.map(({ count, name, rounds: ran }) => ({ count, name, ...summed(ran) }));
}

/** The ratio to each of our times with at least the same recall. */
function ratiosOf(results, { count, recall, p50 }) {
  const ours = results.filter((one) => one.name.startsWith("troupe") && one.count === count && one.recall >= Math.min(EQUAL, recall));
  return Object.fromEntries(ours.map((one) => [one.name, p50 / one.p50]));
}

function told(results) {
  for (const count of COUNTS) {
    console.log(
      `\n${count} vectors of ${DIMENSIONS}, the nearest ${K}: p50 of ${QUESTIONS} questions in ms (its spread over rounds), p95, recall, fill`,
    );
    for (const one of results.filter((result) => result.count === count)) {
      if (one.failed !== undefined) {
        console.log(`${one.name.padEnd(22)} did not run: ${one.failed}`);
        continue;
      }
      const spread = one.spread.map((value) => value.toFixed(2)).join(" to ");
      const figures = `${one.p50.toFixed(2).padStart(8)} (${spread})`.padEnd(30);
      const ratios = Object.entries(one.ratios ?? {}).map(([name, ratio]) => `${ratio.toFixed(1)} times ${name}`);
      console.log(
        `${one.name.padEnd(22)} ${figures} p95 ${one.p95.toFixed(2)}   recall ${one.recall.toFixed(4)}   ${(one.fill / 1_000).toFixed(2)} s   ${ratios.join("; ")}`,
      );
    }
    for (const [name, { atMost = Infinity, because }] of Object.entries(vectorPeers)) {
      if (count > atMost) console.log(`${name.padEnd(22)} left out: ${because}`);
    }
  }
  for (const { name, count, ratios = {} } of results) {
    for (const [ours, ratio] of Object.entries(ratios)) if (ratio < 1) console.log(`at ${count} ${name} is faster than ${ours}`);
  }
}

function main() {
  const { values } = parseArgs({ options: { rounds: { type: "string", default: "3" }, json: { type: "string" } } });
  const folder = mkdtempSync(join(tmpdir(), "troupe-bench-"));
  try {
    prepare(folder);
    const results = compared(Number(values.rounds), folder).map((one, _, all) =>
      one.failed !== undefined || one.name.startsWith("troupe") ? one : { ...one, ratios: ratiosOf(all, one) },
    );
    const machine = { node: process.version, cpus: cpus().length, cpu: cpus()[0]?.model, load: loadavg()[0] };
    console.log(
      `node ${machine.node}, ${machine.cpus} x ${machine.cpu}, load ${machine.load.toFixed(1)} at the end, ${values.rounds} rounds`,
    );
    told(results);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, results }, undefined, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[2] === "case") {
  const [name, count, folder] = process.argv.slice(3);
  console.log(JSON.stringify(await measured(name, Number(count), folder)));
  process.exit(0);
} else {
  main();
}
