/*
 * Models of research as populations that pass messages, beside loops of the same models in Python and JavaScript.
 *
 *   npm run build && node bench/models.mjs
 *
 * `--models money,virus` these models, `--sizes 10000,100000` these populations, `--peers troupe,python` these peers, `--rounds 3` so many
 * repetitions. `--save` writes bench/models/figures.json and draws docs/pictures/models.svg. Each measurement has a process of its own, and the
 * peers take turns. CPU is that of the whole process, with the collector and the compiler. Python needs networkx for graphs; the peer
 * `agentscript` needs that package: `npm install --no-save agentscript` in this folder. The money of Python's and AgentScript's agents is theirs at once.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { plotSvg } from "../dist/src/research/index.js";

const { values } = parseArgs({
  options: {
    models: { type: "string", default: "money,ticks,virus,schelling,opinion" },
    sizes: { type: "string", default: "10000,100000" },
    peers: { type: "string", default: "troupe,python,bare" },
    rounds: { type: "string", default: "3" },
    python: { type: "string", default: "python3" },
    save: { type: "boolean", default: false },
  },
});
const listed = (text) => text.split(",").filter((part) => part !== "");
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const MODELS = { bare: ["money", "ticks", "virus", "opinion"], agentscript: ["money", "ticks"] };
/** Enough acts for the compiler, and few steps of a large population. */
const stepsFor = (n) => Math.max(4, Math.ceil(2_000_000 / n));

function measured(peer, model, n) {
  const program = peer === "python" ? [values.python, fileOf("models/loop.py")] : [process.execPath, fileOf("models/one.mjs"), peer];
  const [command, ...args] = [...program, model, String(n), String(stepsFor(n))];
  return JSON.parse(execFileSync(command, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }));
}

const before = loadavg()[0];
const rows = [];
for (const model of listed(values.models))
  for (const n of listed(values.sizes).map(Number)) {
    const peers = listed(values.peers).filter((peer) => MODELS[peer]?.includes(model) ?? true);
    const runs = new Map(peers.map((peer) => [peer, []]));
    for (let round = 0; round < Number(values.rounds); round += 1) for (const [peer, all] of runs) all.push(measured(peer, model, n));
    const python = median((runs.get("python") ?? []).map(({ us }) => us));
    for (const [peer, all] of runs) {
      const us = all.map((one) => one.us);
      const row = { model, n, peer, us: median(us), least: Math.min(...us), most: Math.max(...us), rss: median(all.map(({ rss }) => rss)) };
      rows.push(row);
      const times = python === undefined ? "" : (row.us / python).toFixed(1);
      const cells = [model, n.toLocaleString("en-US"), peer, row.us.toFixed(2), `${row.least.toFixed(2)} to ${row.most.toFixed(2)}`, times];
      process.stdout.write(`| ${[...cells, `${Math.round(row.rss / 1e6)} MB`].join(" | ")} |\n`);
    }
  }

if (values.save) {
  const about = { node: process.version, processors: cpus().length, load: [before, loadavg()[0]] };
  writeFileSync(fileOf("./models/figures.json"), `${JSON.stringify({ ...about, rows }, null, 1)}\n`);
  const svg = await plotSvg(
    rows.map(({ model, n, peer, us }) => ({ agents: n, microseconds: us, who: peer, model })),
    {
      ...{ kind: "line", x: "agents", y: "microseconds", series: "who", facet: "model", interval: "none", xScale: "log", yScale: "log" },
      ...{ title: "CPU of an agent and step", xTitle: "agents", yTitle: "microseconds" },
    },
  );
  writeFileSync(fileOf("../docs/pictures/models.svg"), svg);
}
