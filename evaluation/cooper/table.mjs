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

function integrationTables(lines) {
  const totals = totalsOf(lines);
  const taskOf = ({ pair }) => pair.slice(0, pair.lastIndexOf("/"));
  const rowOf = (name, own) => {
    const { pairs, gitMerges, gitMergesGreen, integrated, refused, seconds } = totalsOf(own);
    return [name, pairs, gitMerges, gitMergesGreen, integrated, refused, seconds];
  };
  const tasks = [...new Set(lines.map(taskOf))].map((task) =>
    rowOf(
      task,
      lines.filter((line) => taskOf(line) === task),
    ),
  );
  const head = ["task", "pairs", "git merges", "of them green", "integrated", "refused", "seconds"];
  const rows = lines.map(({ pair, outcome, way = "", evidence, seconds }) => [pair, outcome, way, evidence, seconds.toFixed(1)]);
  const short = `${table(head, [...tasks, rowOf("all", lines)])}\n\n${table(["way", "pairs"], Object.entries(totals.byWay))}\n`;
  return { totals, short, long: table(["pair", "outcome", "way", "evidence", "seconds"], rows) };
}

const sum = (lines, name) => lines.reduce((all, line) => all + (line[name] ?? 0), 0);

/** The sums of a crew, and the pairs of which one agent alone made more, or less. */
function crewTotals(crew, lines, solo) {
  const own = lines.filter((line) => line.crew === crew);
  const against = own.filter(({ pair }) => solo.has(pair));
  return {
    crew,
    pairs: own.length,
    "both green": own.filter(({ green }) => green === 2).length,
    "features green": sum(own, "green"),
    "done, but not green": own.filter(({ saysDone, green }) => saysDone && green < 2).length,
    calls: sum(own, "calls"),
    "tokens in": sum(own, "inputTokens"),
    "tokens out": sum(own, "outputTokens"),
    cost: Number(sum(own, "cost").toFixed(4)),
    seconds: Math.round(sum(own, "seconds")),
    "one agent is better": against.filter(({ pair, green }) => solo.get(pair).green > green).map(({ pair }) => pair),
    "one agent is worse": against.filter(({ pair, green }) => solo.get(pair).green < green).map(({ pair }) => pair),
  };
}

function crewTables(lines) {
  const crews = [...new Set(lines.map(({ crew }) => crew))];
  const solo = new Map(lines.filter(({ crew }) => crew === "solo").map((line) => [line.pair, line]));
  const totals = crews.map((crew) => crewTotals(crew, lines, solo));
  const cells = totals.map((one) => Object.values(one).map((cell) => (Array.isArray(cell) ? cell.join(", ") || "-" : cell)));
  const head = ["pair", "crew", "green", "says", "evidence", "calls", "tokens in", "tokens out", "cost", "seconds"];
  const rows = lines.map(({ pair, crew, green, saysDone, status, evidence, calls, inputTokens, outputTokens, cost, seconds }) => {
    const sums = [calls, inputTokens, outputTokens, cost.toFixed(4), seconds.toFixed(1)];
    return [pair, crew, `${green} / 2`, saysDone ? "done" : status, evidence, ...sums];
  });
  return { totals, short: `${table(Object.keys(totals[0]), cells)}\n`, long: table(head, rows) };
}

/** One agent comes first: the others are compared with it. */
const ORDER = ["solo", "two", "handoff", "board"];

function inOrder(one, other) {
  return one.pair.localeCompare(other.pair, "en", { numeric: true }) || ORDER.indexOf(one.crew) - ORDER.indexOf(other.crew);
}

/** Writes `table.json` and `table.md`. @returns the sums as Markdown */
export function writeTables(folder, lines) {
  const sorted = lines.toSorted(inOrder);
  const parts = [
    { own: sorted.filter(({ crew }) => crew === "integration"), make: integrationTables },
    { own: sorted.filter(({ crew }) => crew !== "integration"), make: crewTables },
  ];
  const made = parts.filter(({ own }) => own.length > 0).map(({ own, make }) => ({ own, ...make(own) }));
  writeFileSync(
    join(folder, "table.json"),
    `${JSON.stringify(
      made.map(({ totals, own }) => ({ totals, pairs: own })),
      undefined,
      1,
    )}\n`,
  );
  writeFileSync(join(folder, "table.md"), made.map(({ short, long }) => `${short}\n${long}\n`).join("\n"));
  return made.map(({ short }) => short).join("\n");
}
