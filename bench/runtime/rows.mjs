import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { reasonIn } from "./install.mjs";

const one = fileURLToPath(new URL("one.mjs", import.meta.url));
const cold = fileURLToPath(new URL("cold.mjs", import.meta.url));
const command = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const LONGEST_MS = 900_000;
/** A process says what it did in its last line. */
const lastLine = (text) => JSON.parse(text.trim().split("\n").at(-1));

function node(args) {
  return execFileSync(process.execPath, args, { encoding: "utf8", timeout: LONGEST_MS, stdio: ["ignore", "pipe", "pipe"] });
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return Number.isInteger(half) ? (sorted[half - 1] + sorted[half]) / 2 : sorted[Math.floor(half)];
}

/**
 * Lets everybody of a case take turns for so many rounds.
 *
 * @param takers what each is called, its size, how often it takes part, and how it is measured once: `{ value, ... }`
 */
function takeTurns(takers, rounds) {
  const results = takers.map(() => []);
  const failed = takers.map(() => undefined);
  for (let round = 0; round < rounds; round += 1) {
    for (const [place, taker] of takers.entries()) {
      if (failed[place] !== undefined || round >= taker.rounds) continue;
      try {
        results[place].push(taker.measured());
      } catch (error) {
        failed[place] =
          error.code === "ETIMEDOUT" ? `it took longer than ${LONGEST_MS / 1_000} s` : reasonIn(String(error.stderr || error));
      }
    }
  }
  return { results, failed };
}

/** The place of Troupe's row of the nearest size: what a row is compared with. */
function ownPlace(takers, { n }) {
  const own = takers.flatMap(({ peer, n: size }, place) => (peer === "troupe" ? [{ place, far: Math.abs(Math.log(size / n)) }] : []));
  return own.toSorted((a, b) => a.far - b.far)[0]?.place;
}

/** The ratio to Troupe in the rounds of both, so that a slow moment of the machine counts for both. */
function ratios(values, own) {
  const pairs = values.slice(0, own.length).map((value, round) => value / own[round]);
  if (pairs.length === 0) return undefined;
  return { median: median(values) / median(own), least: Math.min(...pairs), most: Math.max(...pairs) };
}

function rowsOf(entry, takers, rounds) {
  const { results, failed } = takeTurns(takers, rounds);
  return takers.map(({ peer, n }, place) => {
    const row = { case: entry.name, measure: entry.measure, unit: entry.unit, peer, n };
    if (failed[place] !== undefined) return { ...row, failed: failed[place] };
    const all = results[place];
    const values = all.map(({ value }) => value);
    const own = ownPlace(takers, takers[place]);
    const times =
      own === undefined || failed[own] !== undefined
        ? undefined
        : ratios(
            values,
            results[own].map(({ value }) => value),
          );
    const digests = new Set(all.flatMap(({ digest }) => digest ?? []));
    const more = ["cpu", "heapEach", "rss", "peak", "bytesEach"].filter((key) => all[0]?.[key] !== undefined);
    return {
      ...row,
      rounds: all.length,
      median: median(values),
      least: Math.min(...values),
      most: Math.max(...values),
      ...(times === undefined ? {} : { times }),
      ...Object.fromEntries(more.map((key) => [key, median(all.map((result) => result[key]))])),
      ...(digests.size === 0 ? {} : { sameState: digests.size === 1 && all.length > 1 }),
    };
  });
}

/** One case for everybody who has it. @param most no size above it */
export function caseRows(entry, { rounds, most, peers }) {
  const takers = Object.entries(entry.sizes).flatMap(([peer, sizes]) =>
    sizes
      .filter((n) => n <= most && (peers === undefined || peers.includes(peer)))
      .map((n) => ({ peer, n, rounds: Math.min(rounds, entry.slow?.[peer]?.[n] ?? rounds), measured: () => lived(entry, peer, n) })),
  );
  return rowsOf(entry, takers, rounds);
}

function lived(entry, peer, n) {
  // "troupe:hop" is another case beside this one, for comparison.
  const [module, name = entry.name] = peer.split(":");
  const told = lastLine(node(["--expose-gc", ...(entry.flags ?? []), one, module, name, String(n), entry.measure]));
  if (!(told.done > 0)) throw new Error(`Error: ${peer} did nothing of ${name}.`);
  const { ms, cpuMs, done, heapEach, rss, peak, bytes, digest } = told;
  const value = { each: (ms * 1_000) / done, whole: ms, heap: heapEach }[entry.measure];
  const cpu = cpuMs === undefined ? undefined : entry.measure === "each" ? (cpuMs * 1_000) / done : cpuMs;
  return {
    value,
    cpu,
    rss,
    peak,
    digest,
    ...(entry.measure === "heap" ? {} : { heapEach }),
    bytesEach: bytes === undefined ? undefined : bytes / n,
  };
}

/** Whole processes, from their start to their end. */
export function coldRows(entry, { rounds, peers }) {
  const args = (peer) => (entry.how === "help" ? (peer === "bare" ? ["-e", "0"] : [command, "--help"]) : [cold, peer, entry.how]);
  const takers = entry.peers
    .filter((peer) => peers === undefined || peers.includes(peer))
    .map((peer) => ({ peer, n: 1, rounds, measured: () => ({ value: timeOf(() => node(args(peer))) }) }));
  for (const { measured } of takers.slice(0, 1)) measured();
  return rowsOf({ ...entry, measure: "whole" }, takers, rounds);
}

function timeOf(work) {
  const from = process.hrtime.bigint();
  work();
  return Number(process.hrtime.bigint() - from) / 1e6;
}

/** The versions that took part, as far as they are installed. */
export function versions(names) {
  const require = createRequire(new URL("../package.json", import.meta.url));
  return Object.fromEntries(names.map((name) => [name, versionOf(require, name)]));
}

function versionOf(require, name) {
  const folders = require.resolve.paths(name) ?? [];
  for (const folder of folders) {
    try {
      return require(`${folder}/${name}/package.json`).version;
    } catch {
      // Not in this folder.
    }
  }
  return "not installed";
}
