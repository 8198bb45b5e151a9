/** Tables of results, for people and for programs. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const row = (cells) => `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|").replaceAll(/\s+/g, " ")).join(" | ")} |`;
const table = (head, rows) => [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n");

function counted(lines, keyOf) {
  const counts = new Map();
  for (const line of lines) counts.set(keyOf(line), (counts.get(keyOf(line)) ?? 0) + 1);
  return [...counts];
}

/** Totals of lines of the crew `integration`. */
export function totalsOf(lines) {
  const integrated = lines.filter(({ outcome }) => outcome === "integrated");
  const merged = lines.filter(({ git }) => git === "merges");
  return {
    pairs: lines.length,
    gitMerges: merged.length,
    gitMergesGreen: integrated.filter(({ way }) => way === "three-way merge").length,
    integrated: integrated.length,
    refused: lines.filter(({ outcome, evidence }) => outcome === "refused" && evidence !== "").length,
    byWay: Object.fromEntries(counted(integrated, ({ way }) => way)),
    replayed: lines.filter(({ replays }) => replays === true).length,
    seconds: Math.round(lines.reduce((sum, { seconds }) => sum + seconds, 0)),
  };
}

/** Writes `table.json` and `table.md`. @returns the totals as Markdown */
export function writeTables(folder, lines) {
  const sorted = lines.toSorted((one, other) => one.pair.localeCompare(other.pair, "en", { numeric: true }));
  const totals = totalsOf(sorted);
  const taskOf = ({ pair }) => pair.slice(0, pair.lastIndexOf("/"));
  const tasks = [...new Set(sorted.map(taskOf))].map((task) => {
    const own = sorted.filter((line) => taskOf(line) === task);
    const { pairs, gitMerges, gitMergesGreen, integrated, refused, seconds } = totalsOf(own);
    return [task, pairs, gitMerges, gitMergesGreen, integrated, refused, seconds];
  });
  const sums = table(["task", "pairs", "git merges", "of them green", "integrated", "refused", "seconds"], [
    ...tasks,
    ["all", totals.pairs, totals.gitMerges, totals.gitMergesGreen, totals.integrated, totals.refused, totals.seconds],
  ]);
  const ways = table(["way", "pairs"], Object.entries(totals.byWay));
  const rows = sorted.map(({ pair, outcome, way = "", evidence, seconds }) => [pair, outcome, way, evidence, seconds.toFixed(1)]);
  const text = `${sums}\n\n${ways}\n`;
  writeFileSync(join(folder, "table.json"), `${JSON.stringify({ totals, pairs: sorted }, undefined, 1)}\n`);
  writeFileSync(join(folder, "table.md"), `${text}\n${table(["pair", "outcome", "way", "evidence", "seconds"], rows)}\n`);
  return text;
}
