/*
 * The cost of a message against the size of the population, beside a bare loop over message objects and beside nact.
 *
 *   npm run build && node bench/population.mjs
 *
 * `--sizes 1000,10000` these populations, `--peers troupe,bare` these peers, `--worlds random` these worlds, `--rounds 3` so many repetitions,
 * `--json` for a program to read. Each measurement has a process of its own, and the peers take turns. CPU is that of the whole process, with
 * the collector and the compiler; `rss` is the largest size of the process. The peer `mesa` needs Mesa: `--python python3` is a Python that has it.
 */
import { execFileSync } from "node:child_process";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "1000,10000,100000,1000000" },
    peers: { type: "string", default: "troupe,bare,nact" },
    worlds: { type: "string", default: "random,ring" },
    rounds: { type: "string", default: "5" },
    python: { type: "string", default: "python3" },
    json: { type: "boolean", default: false },
  },
});
const fileOf = (name) => fileURLToPath(new URL(`population/${name}`, import.meta.url));
const listed = (text) => text.split(",").filter((part) => part !== "");
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** Returns what one process measured; an error names the peer. */
function measured(peer, world, n) {
  const program = peer === "mesa" ? [values.python, fileOf("mesa_actors.py")] : [process.execPath, "--expose-gc", fileOf("one.mjs"), peer];
  const [command, ...args] = [...program, world, String(n)];
  return JSON.parse(execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
}

const before = loadavg()[0];
const rows = [];
for (const world of listed(values.worlds)) {
  for (const n of listed(values.sizes).map(Number)) {
    const runs = new Map(listed(values.peers).map((peer) => [peer, []]));
    for (let round = 0; round < Number(values.rounds); round += 1) for (const [peer, all] of runs) all.push(measured(peer, world, n));
    for (const [peer, all] of runs) {
      const us = all.map((run) => run.us);
      rows.push({
        world,
        n,
        peer,
        us: median(us),
        least: Math.min(...us),
        most: Math.max(...us),
        wall: median(all.map((run) => run.wall)),
        rss: median(all.map((run) => run.rss)),
        heap: median(all.map((run) => run.heap)),
        hiring: all[0].hiring === undefined ? undefined : median(all.map((run) => run.hiring)),
      });
    }
  }
}

const bareOf = ({ world, n }) => rows.find((row) => row.peer === "bare" && row.world === world && row.n === n);
if (values.json) {
  process.stdout.write(
    `${JSON.stringify({ node: process.version, processors: cpus().length, load: [before, loadavg()[0]], rows }, null, 1)}\n`,
  );
} else {
  process.stdout.write(
    `Node ${process.version}, ${cpus().length} processors, load ${before.toFixed(1)} before and ${loadavg()[0].toFixed(1)} after.\n\n`,
  );
  process.stdout.write("| world | roles | who | CPU, us a message | least to most | times bare | largest process | hiring, us a role |\n");
  process.stdout.write("|---|--:|---|--:|--:|--:|--:|--:|\n");
  for (const row of rows) {
    const bare = bareOf(row);
    const times = bare === undefined ? "" : (row.us / bare.us).toFixed(1);
    const spread = `${row.least.toFixed(2)} to ${row.most.toFixed(2)}`;
    const hiring = row.hiring === undefined ? "" : row.hiring.toFixed(2);
    const cells = [
      row.world,
      row.n.toLocaleString("en-US"),
      row.peer,
      row.us.toFixed(2),
      spread,
      times,
      `${Math.round(row.rss / 1e6)} MB`,
      hiring,
    ];
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}
