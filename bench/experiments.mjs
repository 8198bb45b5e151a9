// node bench/experiments.mjs
// One sweep with and without the kit: lines that are written, and its seconds with one and with two processes. Eighty runs of 200 or 400
// roles and 100 rounds. Needs a build.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("./experiments/", import.meta.url));
const command = fileURLToPath(new URL("../dist/src/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "troupe-experiments-"));
const TRIES = 3;

const linesOf = (file) =>
  readFileSync(join(here, file), "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;

/** Returns the seconds that a program took, and those of processors that it and its processes took. */
function secondsOf(words) {
  const began = performance.now();
  const ended = spawnSync("sh", ["-c", '"$0" "$@" >/dev/null && times', process.execPath, ...words], { encoding: "utf8" });
  if (ended.status !== 0) throw new Error(`${words.join(" ")} ended with ${ended.status}: ${ended.stderr}`);
  const times = [...(ended.stdout.trim().split("\n").at(-1) ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  return { wall: (performance.now() - began) / 1000, cpu: times.reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0) };
}

const best = (measure) => {
  const tried = Array.from({ length: TRIES }, (_, nth) => measure(nth));
  return { wall: Math.min(...tried.map(({ wall }) => wall)), cpu: Math.min(...tried.map(({ cpu }) => cpu)) };
};
console.log(`Node ${process.versions.node}, ${availableParallelism()} cores, ${cpus()[0]?.model}; the best of ${TRIES}`);
const byHand = [1, 2].map((workers) => best(() => secondsOf([join(here, "by-hand.mjs"), String(workers), join(folder, "rows.jsonl")])));
const withKit = [1, 2].map((workers) =>
  best((nth) =>
    secondsOf([
      command,
      "experiment",
      "run",
      join(here, "with-kit.mjs"),
      "--workers",
      String(workers),
      "-q",
      "--out",
      join(folder, `${workers}-${nth}`),
    ]),
  ),
);
const text = ({ wall, cpu }) => `${wall.toFixed(2)} s, ${cpu.toFixed(2)} s of processors`;
const row = (name, file, [one, two]) => console.log(`${name}: ${linesOf(file)} lines; 1 process ${text(one)}; 2 processes ${text(two)}`);
row("by hand", "by-hand.mjs", byHand);
row("with kit", "with-kit.mjs", withKit);
const gini = (file) => readFileSync(file, "utf8").trim().split("\n").length;
if (gini(join(folder, "rows.jsonl")) !== gini(join(folder, "1-0/rows.jsonl"))) throw new Error("Expected as many rows of both.");
rmSync(folder, { recursive: true });
