/**
 * Runs a crew on the pairs of features of CooperBench, in a local copy that stays where it is:
 *
 *     node evaluation/cooper/run.mjs --benchmark FOLDER --repositories FOLDER --out FOLDER --only click,dirty-equals,chi
 *
 * `--repositories` has a clone of each repository with its history, under its name. Every pair is a run in `runs.db` of the folder `--out`, a
 * line of `results.jsonl`, and a row of `table.md` and `table.json`. Pairs that have a line are not run again.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { canonical, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { chooseSandbox } from "../../dist/src/workspace/index.js";
import { pairsOf, tasksIn } from "./benchmark.mjs";
import { integrationCrew } from "./integrate.mjs";
import { digestOf, Judge } from "./judge.mjs";
import { makeProject } from "./project.mjs";
import { writeTables } from "./table.mjs";

const ROUNDS = 50;

async function eventsOf(source) {
  const events = [];
  for await (const event of source) events.push(event);
  return canonical(events);
}

/** True where a replay without any effect gives the recorded events. */
async function replays(team, id) {
  const again = team.replay(id);
  const events = await eventsOf(again);
  await again.result;
  return events === (await eventsOf(team.journal.read(id, 0)));
}

/**
 * Runs the crew `integration` on a pair.
 *
 * @returns the line of the pair: `{ pair, crew, outcome, way, git, evidence, seconds, replays }`
 */
export async function integratePair(pair, { repositories, out, judge, journal }) {
  const began = Date.now();
  const id = `integration-${pair.id.replaceAll("/", "-")}`;
  const project = makeProject({ task: pair.task, repositories, folder: join(out, "projects", id) });
  const team = new Team({ name: "integration", roles: integrationCrew({ pair, project, judge, digest: digestOf }), journal });
  const [one, other] = pair.features.map(({ number }) => number);
  const { status, output, error } = await team.run(`Integrate the features ${one} and ${other} of ${pair.task.id}.`, { id, rounds: ROUNDS }).result;
  const result = output?.instructContent ?? { outcome: "refused", evidence: `the run ended as ${status}: ${error?.message ?? "without a result"}` };
  const seconds = (Date.now() - began) / 1000;
  return { pair: pair.id, crew: "integration", ...result, seconds, replays: await replays(team, id) };
}

const linesIn = (file) => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line)) : []);

async function together(items, number, work) {
  const left = [...items];
  const take = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: number }, take));
}

/** Runs the crew on all pairs that have no line yet. @returns all lines */
export async function runPairs({ benchmark, repositories, out, only, pairs: wanted, side = 2 }) {
  mkdirSync(out, { recursive: true });
  const file = join(out, "results.jsonl");
  const pairs = tasksIn(benchmark, only).flatMap(pairsOf).filter(({ id }) => wanted === undefined || wanted.includes(id));
  const done = new Set(linesIn(file).map(({ pair }) => pair));
  const sandbox = await chooseSandbox("bubblewrap");
  const judge = new Judge({ sandbox, folder: join(out, "tests") });
  const journal = sqlite({ path: join(out, "runs.db") });
  await together(pairs.filter(({ id }) => !done.has(id)), side, async (pair) => {
    const line = await integratePair(pair, { repositories, out, judge, journal });
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    console.log(`${line.pair}: ${line.outcome}${line.way === undefined ? "" : ` by ${line.way}`}, ${line.seconds.toFixed(1)} s`);
  });
  await journal.close();
  return linesIn(file);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const text = { type: "string" };
  const { values } = parseArgs({ options: { benchmark: text, repositories: text, out: text, only: text, pairs: text, together: text } });
  const { benchmark, repositories, out = "cooper-results", only, pairs, together: side = "2" } = values;
  if (benchmark === undefined || repositories === undefined) throw new Error("Expected --benchmark FOLDER and --repositories FOLDER.");
  const lines = await runPairs({ benchmark, repositories: resolve(repositories), out: resolve(out), only: only?.split(","), pairs: pairs?.split(","), side: Number(side) });
  console.log(writeTables(resolve(out), lines));
}
