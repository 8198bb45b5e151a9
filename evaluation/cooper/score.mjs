/** Runs a crew with a model on a pair, and judges what it made by the tests of the benchmark, which no prompt has shown. */
import { join } from "node:path";
import { openai } from "../../dist/src/adapters/openai.js";
import { Team, usd } from "../../dist/src/index.js";
import { startPlayer } from "../play.mjs";
import { startProxy } from "../proxy.mjs";
import { CREWS } from "./crews.mjs";
import { digestOf } from "./judge.mjs";
import { makeProject, putBackTests } from "./project.mjs";

const ROUNDS = 50;
const MILLION = 1_000_000;

/** The address of the model of one run: kept answers, or a server behind a proxy that keeps them. */
async function modelOf({ answers, keep, modelUrl }, id) {
  if (answers !== undefined) return startPlayer({ answers: join(answers, id) });
  if (modelUrl === undefined) throw new Error("Expected --model-url URL or --answers FOLDER for a crew with a model, got neither.");
  return startProxy({ upstream: modelUrl, ...(keep === undefined ? {} : { keep: join(keep, id) }) });
}

/**
 * @param options `crew` (a name of crews.mjs), `budget` in dollars, `price` in dollars for a million tokens in and out, `model`, and one of
 * `answers` and `modelUrl`, with `keep`
 * @returns the line of the pair, with `green`, the number of its features whose tests pass, and `saysDone`
 */
export async function scorePair(pair, { repositories, out, judge, journal, sandbox, replays, known, ...options }) {
  const began = Date.now();
  const {
    crew,
    budget,
    price: [input, output],
    model: name,
  } = options;
  const id = `${crew}-${pair.id.replaceAll("/", "-")}`;
  const project = makeProject({ task: pair.task, repositories, folder: join(out, "projects", id), isKnown: known.has(id) });
  const server = await modelOf(options, id);
  const model = openai({ model: name, baseURL: server.url, apiKey: process.env.TROUPE_API_KEY ?? "none", price: { input, output } });
  const team = new Team({
    name: crew,
    roles: CREWS[crew]({ pair, project, sandbox, digest: digestOf }),
    journal,
    model,
    budget: usd(budget),
  });
  const numbers = pair.features.map((feature) => feature.number);
  const run = team.run(`Build the features ${numbers.join(" and ")} of ${pair.task.repository}.`, { id, rounds: ROUNDS });
  const { status, outputs, cost, usage, error } = await run.result;
  await server.close();
  putBackTests(project);
  const verdicts = [];
  for (const feature of pair.features) verdicts.push(await judge.judge(project.root, { feature, task: pair.task }));
  const saysDone = status === "finished" && outputs.every(({ instructContent }) => instructContent?.isDone !== false);
  return {
    pair: pair.id,
    crew,
    status,
    ...(error === undefined ? {} : { error: error.message }),
    saysDone,
    green: verdicts.filter(({ isGreen }) => isGreen).length,
    evidence: verdicts.map(({ isGreen, why }, n) => `feature ${numbers[n]} ${isGreen ? "is green" : why}`).join("; "),
    calls: server.requests.length,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cost: cost.known / MILLION,
    seconds: (Date.now() - began) / 1000,
    replays: await replays(team, id),
  };
}
