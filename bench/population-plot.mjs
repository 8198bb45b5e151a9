/*
 * Draws the figures of bench/population.mjs.
 *
 *   node bench/population.mjs --json > run.json && node bench/population-plot.mjs run.json
 *
 * Writes docs/pictures/population-random.svg and docs/pictures/population-ring.svg.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { plotSvg } from "../dist/src/research/index.js";

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error("Expected the JSON of a run, got nothing: node bench/population-plot.mjs run.json");
const { rows } = JSON.parse(readFileSync(path, "utf8"));
const titles = { random: "to a random role", ring: "to the neighbour" };
for (const world of new Set(rows.map((row) => row.world))) {
  const svg = await plotSvg(
    rows.filter((row) => row.world === world).map(({ n, us, peer }) => ({ roles: n, microseconds: us, who: peer })),
    {
      kind: "line",
      x: "roles",
      y: "microseconds",
      series: "who",
      interval: "none",
      xScale: "log",
      yScale: "linear",
      title: `CPU of a message: ${titles[world] ?? world}`,
      xTitle: "roles",
      yTitle: "microseconds of CPU a message",
    },
  );
  writeFileSync(new URL(`../docs/pictures/population-${world}.svg`, import.meta.url), svg);
}
