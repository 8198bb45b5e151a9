// Does a shortcut help? A rumour goes round a lattice, and round the same lattice with some edges moved: graphs, roles on them, metrics, a
// comparison seed by seed, a plot, and a table of all messages.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "troupe";
import {
  algebraicConnectivity,
  alongEdges,
  compareBySeed,
  coordinationMetrics,
  csvTable,
  hireOn,
  messageRows,
  neighboursTold,
  parquetTable,
  plotHtml,
  rewiring,
  ringTopology,
  starTopology,
  tInterval,
  type Topology,
  topologyMetrics,
  wattsStrogatz,
} from "troupe/research";

// #region graphs
const latticeWith = (moved: number, seed: number) => wattsStrogatz(40, { degree: 4, rewiring: moved, seed });
const { diameter, clustering } = topologyMetrics(latticeWith(0, 1));
const held = await algebraicConnectivity(latticeWith(0, 1));
console.log(`lattice: ${diameter} steps across, clustering ${clustering}, held by ${held.toFixed(3)}`);
// #endregion

// #region roles
/** Tells all neighbours what it hears first. */
function rumour(topology: Topology, seed: number): Environment {
  const world = new Environment({ seed, edges: [alongEdges(topology)] });
  hireOn(world, topology, ({ name, neighbours }) =>
    defineRole({
      name,
      watch: [],
      state: z.object({ knows: z.boolean().default(false) }),
      step({ knows }, message, out) {
        if (!knows) out.say(message.content, { sendTo: neighbours });
        return { knows: true };
      },
    }),
  );
  return world;
}
// #endregion

// #region run
async function spread(moved: number, seed: number) {
  const topology = latticeWith(moved, seed);
  const world = rumour(topology, seed);
  world.publishMessage(createMessage("The bridge is open.", { sendTo: "p1" }));
  const { rounds, messages } = await world.run();
  return { rounds, messages, metrics: coordinationMetrics(messages, { roles: topology.nodes }) };
}

const { metrics } = await spread(0, 1);
console.log(`${metrics.messages} messages, ${metrics.criticalPath} in a row, redundancy ${metrics.redundancy}`);
// #endregion

// #region statistics
const seeds = Array.from({ length: 8 }, (_, place) => place + 1);
const rows: { moved: number; seed: number; rounds: number }[] = [];
for (const moved of [0, 0.1, 0.3]) for (const seed of seeds) rows.push({ moved, seed, rounds: (await spread(moved, seed)).rounds });
const valuesAt = (moved: number) => rows.filter((row) => row.moved === moved).map(({ seed, rounds }) => ({ seed, value: rounds }));

const { low, high } = await tInterval(valuesAt(0.3).map(({ value }) => value));
const { difference, permutation } = await compareBySeed(valuesAt(0), valuesAt(0.3));
console.log(`rounds with shortcuts: ${low.toFixed(1)} to ${high.toFixed(1)}`);
console.log(`saved: ${difference.estimate.toFixed(1)} rounds, p = ${permutation.p.toFixed(4)}`);
// #endregion

// #region plot
const folder = mkdtempSync(join(tmpdir(), "troupe-coordination-"));
const page = await plotHtml(rows, { kind: "line", x: "moved", y: "rounds", title: "A rumour travels faster with shortcuts" });
writeFileSync(join(folder, "rumour.html"), page);
// #endregion
console.log(`a page of ${Math.round(page.length / 1000)} kB, with scripts: ${page.includes("<script")}`);

// #region table
const table = messageRows((await spread(0.3, 1)).messages, { per: "recipient", columns: { moved: 0.3, seed: 1 } });
writeFileSync(join(folder, "messages.csv"), csvTable(table));
writeFileSync(join(folder, "messages.parquet"), await parquetTable(table));
// #endregion
console.log(`${table.length} rows of ${Object.keys(table[0] ?? {}).length} columns`);

// #region rewiring
/** Keeps its neighbours in its state, and passes words on to them. */
const passing = defineRole({
  name: "Passing",
  watch: [],
  state: z.object({ near: z.array(z.string()).default([]) }),
  step({ near }, message, out) {
    const told = neighboursTold(message);
    if (told !== undefined) return { near: [...told] };
    if (message.content === "ping") out.say("pong", { sendTo: near });
    return undefined;
  },
});
const [before, after] = [ringTopology(6), starTopology(6)];
const changing = new Environment({ seed: 1 });
hireOn(changing, before, passing);
for (const message of rewiring(undefined, before)) changing.publishMessage(message);
await changing.run();
for (const message of rewiring(before, after)) changing.publishMessage(message);
changing.publishMessage(createMessage("ping", { sendTo: "p3" }));
const pong = (await changing.run()).messages.at(-1);
console.log(`p3 now reaches ${pong?.sendTo.join(", ")}`);
// #endregion
rmSync(folder, { recursive: true });
