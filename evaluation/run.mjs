/**
 * Lets a product work on an idea, as a user would, and scores what it made:
 *
 *     node evaluation/run.mjs --product company --idea csv-columns --model-url http://127.0.0.1:8080/v1 --out DIR
 *
 * `--keep DIR` keeps the model's answers, and `--play` in place of the URL plays those that are kept. With
 * `--slips SEED` the code of the model has slips. The result is one line of JSON, added to `results.jsonl` in the folder `--out`.
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { cacheableShare } from "./answers.mjs";
import { HERE, loadIdea } from "./check-list.mjs";
import { startPlayer } from "./play.mjs";
import { startProxy } from "./proxy.mjs";
import { setUpRepository } from "./repository.mjs";
import { score } from "./score.mjs";
import { Slips } from "./slips.mjs";

const MAIN = fileURLToPath(new URL("../dist/src/cli/main.js", import.meta.url));
const TOOLS = "shell,code,editor,file_search,planning";

/** The words of each product: for an idea, and for the change of a repository. */
const PRODUCTS = {
  company: { idea: (out) => ["run", "--out", out], change: (folder) => ["run", "--in", folder] },
  waterfall: {
    idea: (out) => ["run", "--crew", "waterfall", "--out", out],
    change: (folder) => ["run", "--crew", "waterfall", "--out", folder, "--force"],
  },
  agent: {
    idea: (out) => ["agent", "--tools", TOOLS, "--allow", TOOLS, "--steps", "60", "--out", out],
    change: () => ["agent", "--tools", TOOLS, "--allow", TOOLS, "--steps", "60", "--out", "."],
  },
};

/** Runs the command and collects its lines. */
function command(words, cwd) {
  return new Promise((done) => {
    const env = { ...process.env, TROUPE_API_KEY: "key-of-the-evaluation-7f3a" };
    const child = spawn(process.execPath, [MAIN, ...words], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (said[name] += text));
    child.on("close", (code) => done({ code, ...said }));
  });
}

/**
 * @param options `product`, `idea`, `modelUrl`, `out` (a folder), and optionally `keep`, `slips` (a seed), `price`, `budget`, `more` (words for the command)
 * @returns the facts of the run, and the score as `passed` and `all`
 */
export async function evaluate({ product, idea: id, modelUrl, out, keep, slips: seed, price = "0.25,2", budget = "2", more = [] }) {
  const list = await loadIdea(id);
  const folder = resolve(out, `${product}-${id}`);
  const project = join(folder, "project");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "idea.txt");
  writeFileSync(file, list.idea);
  const isChange = list.repository !== undefined;
  if (isChange) setUpRepository(list.repository, project);
  const slips = seed === undefined ? undefined : new Slips(seed);
  const proxy = await startProxy({ upstream: modelUrl, keep, slips });
  const began = Date.now();
  const words = PRODUCTS[product][isChange ? "change" : "idea"](project);
  const model = ["--model", "by-hand", "--base-url", proxy.url, "--price", price, "--budget", budget];
  const common = ["--json", "--yes", "--file", file, "--store", join(folder, "runs.db"), ...model, ...more];
  const ended = await command([...words, ...common], isChange ? project : folder);
  const seconds = (Date.now() - began) / 1000;
  await proxy.close();
  writeFileSync(join(folder, "events.jsonl"), ended.stdout);
  writeFileSync(join(folder, "stderr.txt"), ended.stderr);
  writeFileSync(join(folder, "requests.jsonl"), proxy.requests.map((request) => `${JSON.stringify(request)}\n`).join(""));
  const { passed, all, checks } = await score({ idea: id, project });
  writeFileSync(join(folder, "checks.json"), `${JSON.stringify(checks, undefined, 1)}\n`);
  const failed = checks.filter((check) => !check.passed).map((check) => check.id);
  const made = slips === undefined ? {} : { slips: slips.made };
  return {
    product,
    idea: id,
    size: list.size,
    stack: list.stack,
    ...made,
    ...factsOf(ended, proxy.requests),
    seconds,
    passed,
    all,
    failed,
  };
}

/** The facts in the last line of the command. */
function factsOf({ code, stdout }, requests) {
  const last = stdout.trim().split("\n").at(-1) ?? "";
  const result = last.startsWith("{") ? JSON.parse(last) : {};
  const { usage = {}, cost = {} } = result;
  return {
    exitCode: code,
    status: result.status ?? "none",
    calls: requests.length,
    inputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cost: (cost.known ?? 0) / 1_000_000,
    cacheable: cacheableShare(requests),
    ...(result.error === undefined ? {} : { error: result.error.code }),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const text = { type: "string" };
  const options = {
    product: text,
    idea: text,
    "model-url": text,
    play: { type: "boolean" },
    out: text,
    keep: text,
    slips: text,
    price: text,
    budget: text,
  };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const { product = "company", idea = "", "model-url": given = "", play: isPlayed, out = "evaluation-results", ...rest } = values;
  if (!(product in PRODUCTS)) throw new Error(`Expected one of ${Object.keys(PRODUCTS).join(", ")}, got "${String(product)}".`);
  const player = isPlayed === true ? await startPlayer({ answers: join(HERE, "answers", product, idea) }) : undefined;
  const result = await evaluate({ product, idea, modelUrl: player?.url ?? given, out, ...rest, more: positionals });
  await player?.close();
  appendFileSync(join(out, "results.jsonl"), `${JSON.stringify(result)}\n`);
  console.log(JSON.stringify(result, undefined, 1));
}
