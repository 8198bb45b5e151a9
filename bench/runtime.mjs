/*
 * Troupe and its peers at the same work, each case in a process of its own, interleaved, the median of several rounds.
 *
 *   npm run build && (cd bench && npm install) && node bench/runtime.mjs [--only hop,fanout] [--rounds 5] [--json]
 *
 * Times are of this machine and this day: what counts are the ratios within one run.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { TABLE } from "./runtime/table.mjs";

const { values } = parseArgs({
  options: { only: { type: "string" }, rounds: { type: "string", default: "5" }, json: { type: "boolean", default: false } },
});
const rounds = Number(values.rounds);
const only = values.only?.split(",");
const one = fileURLToPath(new URL("runtime/one.mjs", import.meta.url));

function lived(peer, name, n) {
  const text = execFileSync(process.execPath, ["--expose-gc", one, peer, name, String(n)], {
    encoding: "utf8",
    timeout: 600_000,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const told = JSON.parse(text.trim().split("\n").at(-1));
  if (!(told.done > 0)) throw new Error(`${peer} did nothing of ${name}: ${text}`);
  return told;
}

/** Microseconds, or bytes, for one. */
function each({ name }, { ms, done, bytesEach }) {
  return name === "idle" ? bytesEach : (ms * 1_000) / done;
}

function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function shown(number) {
  return number >= 100 ? number.toFixed(0) : number.toPrecision(3);
}

function row(entry) {
  const peers = Object.entries(entry.sizes);
  const told = new Map(peers.map(([peer]) => [peer, []]));
  const failed = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const [peer, n] of peers) {
      if (failed.has(peer)) continue;
      try {
        told.get(peer).push(lived(peer, entry.name, n));
      } catch (error) {
        failed.set(
          peer,
          String(error.stderr ?? error)
            .trim()
            .split("\n")
            .at(-1),
        );
      }
    }
  }
  const ours = median(told.get("troupe").map((result) => each(entry, result)));
  return peers.map(([peer, n]) => {
    const results = told.get(peer);
    if (failed.has(peer)) return { case: entry.name, peer, n, failed: failed.get(peer) };
    const all = results.map((result) => each(entry, result));
    const bytes = results[0].bytes;
    return {
      case: entry.name,
      peer,
      n,
      median: median(all),
      least: Math.min(...all),
      most: Math.max(...all),
      timesTroupe: median(all) / ours,
      ...(bytes === undefined ? {} : { bytesEach: bytes / n }),
    };
  });
}

const rows = [];
for (const entry of TABLE) {
  if (only !== undefined && !only.includes(entry.name)) continue;
  const lines = row(entry);
  rows.push(...lines);
  if (values.json) continue;
  process.stdout.write(`\n${entry.name}: ${entry.unit}\n`);
  for (const line of lines) {
    if (line.failed !== undefined) process.stdout.write(`  ${line.peer.padEnd(15)} did not run here: ${line.failed}\n`);
    else {
      const unit = entry.name === "idle" ? "bytes" : "µs";
      const disk = line.bytesEach === undefined ? "" : `  ${shown(line.bytesEach)} bytes on the disk`;
      const spread = `${shown(line.least)} to ${shown(line.most)}`;
      process.stdout.write(
        `  ${line.peer.padEnd(15)} ${shown(line.median).padStart(8)} ${unit}  (${spread})  ${shown(line.timesTroupe)} x Troupe${disk}\n`,
      );
    }
  }
}
if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, rounds, rows }, null, 2)}\n`);
