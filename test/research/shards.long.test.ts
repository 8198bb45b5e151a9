// @module-tag science
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";
import { scratchFolder } from "../workspace/scratch.ts";

const preload = pathToFileURL(join(import.meta.dirname, "shards-preload.mjs")).href;
const folder = join(root, "examples");
const programs = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
/** Programs whose runs are all of teams, or which have none, have no world that shards could make anew. */
const examples = programs.filter((file) => readFileSync(join(folder, file), "utf8").includes("new Environment("));

/**
 * Examples with worlds that shards refuse, with what their runs come to: a scheduler without simultaneous rounds, a journal in the options, and a
 * scripted model whose answers the first run uses up.
 */
const refused: Readonly<Record<string, readonly string[]>> = {
  "02-debate.ts": ["SCRIPT_EXHAUSTED"],
  "25-scheduler.ts": ["SHARDS_SCHEDULER"],
  "research/queue.ts": ["SHARDS_SCHEDULER"],
  "research/teams.ts": ["WORLD_INVALID"],
};

async function outcomesOf(file: string): Promise<ReadonlySet<string>> {
  const out = join(scratchFolder(), "outcomes.json");
  const path = join(root, "dist/examples", file.replace(/ts$/, "js"));
  const env = { ...process.env, SEED: "17", SHARDS_FILE: out };
  await promisify(execFile)(process.execPath, ["--import", preload, path], { env, maxBuffer: 2 ** 26 });
  return new Set(JSON.parse(readFileSync(out, "utf8")) as readonly string[]);
}

describe("the worlds of examples have the states and the log of one environment at 1, 2, 3, 4 and 7 shards", () => {
  it.each(examples)("%s", { timeout: 900_000 }, async (file) => {
    expect([...(await outcomesOf(file))].toSorted()).toEqual(refused[file] ?? ["equal"]);
  });

  it("of all examples with an environment", () => {
    expect(examples.length).toBeGreaterThan(25);
    expect(Object.keys(refused).filter((file) => !examples.includes(file))).toEqual([]);
  });
});
