/*
 * Writes the figures of a run into BENCHMARKS.md, between its two marks.
 *
 *   node bench/runtime.mjs --json > run.json && node bench/report.mjs run.json
 *
 * `--print` shows them instead.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { remarksOn, shown, UNITS } from "./runtime/shown.mjs";

const BEGIN = "<!-- figures: begin -->";
const END = "<!-- figures: end -->";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { print: { type: "boolean", default: false } } });
const [path] = positionals;
if (path === undefined) throw new Error("Expected the JSON of a run, got nothing: node bench/report.mjs run.json");
const run = JSON.parse(readFileSync(path, "utf8"));

/** Text of a cell: an error of another's program may hold anything. */
function cell(text) {
  return String(text).replaceAll("\\", "\\\\").replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll(/\s+/g, " ");
}

function table(head, lines) {
  const rule = head.map((_, place) => (place === 0 ? "---" : "--:"));
  return [head, rule, ...lines.map((cells) => cells.map(cell))].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function line(row) {
  const who = row.peer.startsWith("troupe:") ? `troupe, ${row.peer.slice("troupe:".length)}` : row.peer;
  const size = row.n === 1 ? "" : row.n.toLocaleString("en-US");
  if (row.failed !== undefined) return [who, size, `did not run here: ${row.failed}`, "", "", ""];
  const times = row.times === undefined ? "" : `${shown(row.times.median)} (${shown(row.times.least)} to ${shown(row.times.most)})`;
  const figure = `${shown(row.median)} ${UNITS[row.measure]}`;
  return [who, size, figure, `${shown(row.least)} to ${shown(row.most)}`, times, remarksOn(row).join("; ")];
}

function installLine(row) {
  if (row.failed !== undefined) return [row.peer, `did not run here: ${row.failed}`, ""];
  return [row.peer, `${shown(row.bytes / 1e6)} MB`, row.packages];
}

function section(name) {
  const rows = run.rows.filter((row) => row.case === name);
  if (name === "install") {
    return `### install: what an install of it alone puts on the disk\n\n${table(["who", "size", "packages"], rows.map(installLine))}`;
  }
  const head = ["who", "of", "median", "spread", "times Troupe", "besides"];
  return `### ${name}: ${rows[0].unit}\n\n${table(head, rows.map(line))}`;
}

function figures() {
  const load = [run.load.before[0], run.load.after[0]].map((one) => one.toFixed(1)).join(" before and ");
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  const machine = `Node ${run.node}, ${run.platform}, ${run.processors} processors, ${Math.round(run.memory / 2 ** 30)} GB; ${run.rounds} rounds; load ${load} after.`;
  const names = [...new Set(run.rows.map((row) => row.case))];
  return [`${machine} ${versions.join(", ")}.`, ...names.map(section)].join("\n\n");
}

/** @throws when the page has not both marks, once and in their order */
function between(page, text) {
  const [before, middle, ...rest] = page.split(BEGIN);
  const [, after, ...more] = (middle ?? "").split(END);
  if (after === undefined || rest.length > 0 || more.length > 0)
    throw new Error(`Expected ${BEGIN} and ${END} once each in BENCHMARKS.md.`);
  return `${before}${BEGIN}\n\n${text}\n\n${END}${after}`;
}

const page = new URL("../BENCHMARKS.md", import.meta.url);
if (values.print) process.stdout.write(`${figures()}\n`);
else writeFileSync(page, between(readFileSync(page, "utf8"), figures()));
