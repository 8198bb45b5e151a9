// node tools/gallery.mjs: runs the studies of examples/research, and draws a picture of each into docs/pictures/gallery/, as docs/guides/gallery.md
// shows them. The seed is fixed, so equal programs draw equal pictures. Needs a build.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./root.mjs";

process.env.SEED = "gallery";
const studies = join(root, "dist/examples/research");
const folder = join(root, "docs/pictures/gallery");
const { plotSvg } = await import(pathToFileURL(join(root, "dist/src/research/index.js")).href);

/** Published values beside what was found. @param labels the figures that are shown, by their place in the report */
const published = (labels, x, y, more = {}) => ({
  rows: ({ figures }) =>
    Object.entries(labels).flatMap(([place, label]) =>
      ["expected", "found"].map((value) => ({ label, value: value === "found" ? "found" : "published", y: figures[place][value] })),
    ),
  plot: { kind: "bars", x: "label", y: "y", series: "value", xTitle: x, yTitle: y, ...more },
});
const found = (labels, x, y, more) => {
  const both = published(labels, x, y, { series: undefined, ...more });
  return { rows: (module) => both.rows(module).filter(({ value }) => value === "found"), plot: both.plot };
};
/** How often values occur, with the published mean. */
const spread = (valuesOf, x, reference, more = {}) => ({
  rows: (module) => valuesOf(module).map((value) => ({ value })),
  plot: {
    kind: "histogram",
    x: "value",
    xTitle: x,
    yTitle: "runs",
    bins: 12,
    ...(reference === undefined ? {} : { reference: { x: reference } }),
    ...more,
  },
});

const PICTURES = {
  auctions: found({ 1: "English", 2: "second price", 3: "first price" }, "auction", "revenue", { reference: { y: 2 / 3 } }),
  averaging: {
    rows: ({ messages }) =>
      ["a0", "a1"].flatMap((side) => {
        const said = messages.filter(({ sentFrom }) => sentFrom === side).slice(0, 8);
        return said.map(({ content }, round) => ({ side, round, opinion: Number(content) }));
      }),
    plot: { kind: "line", x: "round", y: "opinion", series: "side", reference: { y: 2 / 3 } },
  },
  blackboard: {
    rows: ({ posts }) => posts.map((count, level) => ({ row: level + 1, count })),
    plot: { kind: "bars", x: "row", y: "count", xTitle: "row of the board", yTitle: "solutions so far" },
  },
  byzantine: found({ 4: "1 of 3", 2: "1 of 4", 5: "2 of 6", 3: "2 of 7" }, "traitors", "disagreements"),
  cascade: published({ 0: "chain", 3: "star", 6: "mesh" }, "team", "right answers"),
  "contract-net": spread(({ costs }) => costs, "cost of the awarded bid", 0.1, {
    yTitle: "tasks",
    curve: (x) => (400 * 9 * (1 - x) ** 8) / 20,
    bins: 8,
  }),
  debate: spread(({ found: beliefs }) => beliefs, "mean belief in the right answer", 0.5),
  gossip: spread(({ small }) => small, "rounds until all 32 know", 9.3293, { bins: 7 }),
  "leader-election": spread(({ random }) => random, "probes of 64 stations", 303.6),
  "leader-election-both-ways": spread(({ counts }) => counts, "probes of 64 stations", undefined, { bins: 6 }),
  majority: published({ 0: "1", 1: "11", 2: "25" }, "jurors", "right"),
  "minority-game": found({ 0: "2", 1: "16" }, "states of the world", "variance", { reference: { y: 1 } }),
  money: {
    rows: ({ found: by }) => Object.entries(by).flatMap(([order, values]) => values.map((gini) => ({ order, gini }))),
    plot: { kind: "histogram", x: "gini", series: "order", xTitle: "Gini", yTitle: "runs", bins: 16 },
  },
  "money-loop": published({ 0: "all at once", 1: "shuffled", 2: "one at a time" }, "order", "Gini"),
  "noisy-dilemma": spread(({ found: points }) => points, "points a round", 2.25),
  "prisoners-dilemma": found({ 0: "cooperates", 1: "defects", 2: "like for like", 3: "suspicious", 4: "unforgiving" }, "strategy", "score"),
  queue: spread(({ found: stays }) => stays, "mean time in the system", 2),
  schelling: {
    rows({ told }) {
      const people = 230;
      const rounds = Math.max(...told.map(({ length }) => length / people));
      return told.flatMap((shares, rep) =>
        Array.from({ length: rounds }, (_, round) => {
          const from = Math.min(round, shares.length / people - 1) * people;
          const alike = shares.slice(from, from + people).reduce((sum, share) => sum + share, 0) / people;
          return { rep, round, alike };
        }),
      );
    },
    plot: { kind: "line", x: "round", y: "alike", yTitle: "neighbours alike", reference: { y: 0.75 } },
  },
  teams: found({ 3: "chain", 8: "star", 13: "mesh" }, "team", "notes heard"),
  "two-phase-commit": found({ 0: "commit", 1: "without answers" }, "protocol", "messages"),
  "voter-model": spread(({ steps }) => steps, "steps until all agree", 50.757),
};

/** What a picture in a page does not need: roles for readers of the drawing's parts, and a font on each word. */
function smaller(svg) {
  return svg
    .replace(/ (?:aria-[\w-]+|role|class|pointer-events)="[^"]*"/g, "")
    .replace(/ font-family="[^"]*"/g, "")
    .replace("<svg ", `<svg font-family="Helvetica, Arial, sans-serif" `)
    .replace(/<path [^>]*display="none"[^>]*\/>|<g><\/g>/g, "")
    .replace(/<path(?: transform="[^"]*")? d="[^"]*"\/>/g, "")
    .replace(/ (?:d|transform|[xy]2?|height|width)="[^"]*"/g, (place) => place.replace(/(\d+\.\d)\d+/g, "$1"))
    .replace(/>\s+</g, "><");
}

mkdirSync(folder, { recursive: true });
const wanted = process.argv.slice(2);
for (const [name, { rows, plot }] of Object.entries(PICTURES)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const module = await import(pathToFileURL(join(studies, `${name}.js`)).href);
  const svg = smaller(await plotSvg(rows(module), { width: 300, height: 160, ...plot }));
  writeFileSync(join(folder, `${name}.svg`), `${svg}\n`);
}
