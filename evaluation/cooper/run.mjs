/**
 * Runs a crew on the pairs of features of CooperBench, in a local copy that stays where it is:
 *
 *     node evaluation/cooper/run.mjs --benchmark FOLDER --repositories FOLDER --out FOLDER --only click,dirty-equals,chi
 *     node evaluation/cooper/run.mjs --benchmark FOLDER --repositories FOLDER --out FOLDER --crew solo,two,handoff,board --model NAME --model-url URL
 *
 * `--repositories` has a clone of each repository with its history, under its name. Every pair is a run in `runs.db` of the folder `--out`, a
 * line of `results.jsonl`, and a row of `table.md` and `table.json`. Pairs that have a line are not run again, and a run that was cut off is
 * resumed. Without `--crew` the benchmark's own changes are integrated, without a model.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { canonical, Team } from "../../dist/src/index.js";
import { sqlite } from "../../dist/src/adapters/sqlite.js";
import { chooseSandbox } from "../../dist/src/workspace/index.js";
import { pairsOf, tasksIn } from "./benchmark.mjs";
import { CREWS } from "./crews.mjs";
import { integrationCrew } from "./integrate.mjs";
import { digestOf, Judge } from "./judge.mjs";
import { makeProject } from "./project.mjs";
import { scorePair } from "./score.mjs";
import { writeTables } from "./table.mjs";

const ROUNDS = 50;
const INTEGRATION = "integration";

async function eventsOf(source) {
  const events = [];
  for await (const event of source) events.push(event);
  return canonical(events);
}

/** True where a replay, without any effect or call, gives the recorded events. */
async function replays(team, id) {
  const again = team.replay(id);
  const events = await eventsOf(again);
  await again.result;
  return events === (await eventsOf(team.journal.read(id, 0)));
}

/** @returns the line of the pair: `{ pair, crew, outcome, way, git, evidence, seconds, replays }` */
async function integratePair(pair, { repositories, out, judge, journal, known }) {
  const began = Date.now();
  const id = `${INTEGRATION}-${pair.id.replaceAll("/", "-")}`;
  const project = makeProject({ task: pair.task, repositories, folder: join(out, "projects", id), isKnown: known.has(id) });
  const team = new Team({ name: INTEGRATION, roles: integrationCrew({ pair, project, judge, digest: digestOf }), journal });
  const [one, other] = pair.features.map(({ number }) => number);
  const { status, output, error } = await team.run(`Integrate the features ${one} and ${other} of ${pair.task.id}.`, { id, rounds: ROUNDS })
    .result;
  const ended = { outcome: "failed", evidence: `the run ended as ${status}: ${error?.message ?? "without an error"}` };
  const seconds = (Date.now() - began) / 1000;
  return {
    pair: pair.id,
    crew: INTEGRATION,
    ...(status === "finished" ? output.instructContent : ended),
    seconds,
    replays: await replays(team, id),
  };
}

/** The newest line of each pair and crew. */
function linesIn(file) {
  const texts = existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
  const lines = texts.filter((text) => text !== "").map((text) => JSON.parse(text));
  return [...new Map(lines.map((line) => [`${line.crew} ${line.pair}`, line])).values()];
}

const isEnded = ({ outcome, status }) => outcome !== "failed" && status !== "failed" && status !== "stopped";

async function together(items, number, work) {
  const left = [...items];
  const take = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: number }, take));
}

function saysLine(line) {
  const came =
    line.crew === INTEGRATION ? `${line.outcome}${line.way === undefined ? "" : ` by ${line.way}`}` : `${line.green} of 2 features green`;
  return `${line.pair}, ${line.crew}: ${came}, ${line.seconds.toFixed(1)} s`;
}

/**
 * Runs crews on all pairs that have no line yet.
 *
 * @param options `benchmark`, `repositories`, `out`, and optionally `only` (repositories), `pairs` (their ids), `crews`, `side` (pairs at the same
 * time), `say`, and those of {@link scorePair}
 * @returns all lines
 */
export async function runPairs({
  benchmark,
  repositories,
  out,
  only,
  pairs: wanted,
  crews = [INTEGRATION],
  side = 2,
  say = () => {},
  ...model
}) {
  mkdirSync(out, { recursive: true });
  const file = join(out, "results.jsonl");
  const pairs = tasksIn(benchmark, only)
    .flatMap(pairsOf)
    .filter(({ id }) => wanted === undefined || wanted.includes(id));
  const done = new Set(
    linesIn(file)
      .filter(isEnded)
      .map(({ crew, pair }) => `${crew} ${pair}`),
  );
  const sandbox = await chooseSandbox("bubblewrap");
  const judge = new Judge({ sandbox, folder: join(out, "tests") });
  const journal = sqlite({ path: join(out, "runs.db") });
  const known = new Set((await journal.runs()).map(({ runId }) => runId));
  const common = { repositories, out, judge, journal, sandbox, replays, known };
  const work = crews.flatMap((crew) => pairs.map((pair) => ({ crew, pair }))).filter(({ crew, pair }) => !done.has(`${crew} ${pair.id}`));
  await together(work, side, async ({ crew, pair }) => {
    const line = crew === INTEGRATION ? await integratePair(pair, common) : await scorePair(pair, { ...common, ...model, crew });
    appendFileSync(file, `${JSON.stringify(line)}\n`);
    say(saysLine(line));
  });
  await journal.close();
  return linesIn(file);
}

const WORDS = [
  "benchmark",
  "repositories",
  "out",
  "only",
  "pairs",
  "crew",
  "together",
  "model",
  "model-url",
  "answers",
  "keep",
  "budget",
  "price",
];
const USUAL = { out: "cooper-results", crew: INTEGRATION, together: "2", model: "by-hand", budget: "1", price: "3,15" };

/** Reads the words of the command. */
function optionsOf(args) {
  const { values } = parseArgs({ args, options: Object.fromEntries(WORDS.map((name) => [name, { type: "string" }])) });
  const {
    benchmark,
    repositories,
    out,
    only,
    pairs,
    crew,
    together: side,
    budget,
    price,
    "model-url": modelUrl,
    ...rest
  } = { ...USUAL, ...values };
  if (benchmark === undefined || repositories === undefined) throw new Error("Expected --benchmark FOLDER and --repositories FOLDER.");
  const crews = crew.split(",");
  const unknown = crews.filter((name) => name !== INTEGRATION && !(name in CREWS));
  const known = [INTEGRATION, ...Object.keys(CREWS)].join(", ");
  if (unknown.length > 0) throw new Error(`Expected crews out of ${known}, got ${unknown.join(", ")}.`);
  const folders = { benchmark: resolve(benchmark), repositories: resolve(repositories), out: resolve(out) };
  const amounts = { side: Number(side), budget: Number(budget), price: price.split(",").map(Number) };
  return { ...rest, ...folders, ...amounts, crews, modelUrl, only: only?.split(","), pairs: pairs?.split(",") };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const options = optionsOf(process.argv.slice(2));
  const lines = await runPairs({ ...options, say: console.log });
  console.log(writeTables(options.out, lines));
}
