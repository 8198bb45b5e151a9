// npm run science
// Runs every study of examples/research with fresh seeds, or with SEED, and compares what they find with the literature: a table for each,
// and exit code 1 where a value is missed.
import { randomUUID } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./root.mjs";

process.env.SEED ??= randomUUID();
const folder = join(root, "dist/examples/research");
const figures = [];
for (const file of readdirSync(folder).filter((name) => name.endsWith(".js"))) {
  const began = performance.now();
  const study = await import(pathToFileURL(join(folder, file)).href);
  figures.push(...study.figures);
  process.stderr.write(`${file.slice(0, -3).padEnd(24)}${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s\n`);
}
const missed = figures.filter(({ holds }) => !holds);
const exact = figures.filter(({ standardError }) => standardError === undefined);
console.log(
  `${figures.length} figures: ${exact.length} exact, ${figures.length - exact.length} stochastic, ${missed.length} missed. SEED=${process.env.SEED}`,
);
process.exitCode = missed.length === 0 ? 0 : 1;
