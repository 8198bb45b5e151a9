// @module-tag kill
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { contentHash } from "../../src/kernel/json.ts";
import { sqlite } from "../../src/adapters/sqlite.ts";
import type { ResultReport } from "../../src/cli/report.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { wordsOf } from "../evaluation/scripted-company.ts";
import { linesIn } from "../cli/kept-run.ts";
import { type Child, start } from "../cli/child.ts";
import { brief, criterion, product } from "../cli/outside-worker-runs.ts";
import { type Acts, standIn } from "../workspace/coding-agent/stand-in.ts";
import { figure } from "../long.ts";
import { isAlive } from "../../src/kernel/system-error.ts";
import { scratchFolder, until } from "../workspace/scratch.ts";
import { fileWorkspace } from "../../src/workspace/index.ts";

/*
 * SIGKILL of the command while a coding agent works for it: through a dispute, a repair and what the user tells the run after its end.
 */

const equals = (text: string): object => ({ kind: "command", steps: [{ run: ["node", "src/cli.mjs"], stdout: { equals: `${text}\n` } }] });
const wrong = { ...criterion, id: "A2", then: "it says OK", check: equals("OK") };
const ACTS: readonly Acts[] = [
  { when: "Say yes", files: product("yes"), pause: 300, cost: 0.01 },
  { when: "Round 1 of repair", files: product("ok"), pause: 300, cost: 0.01 },
  { when: "corrected", files: product("no"), pause: 300, cost: 0.01 },
  { when: ".", files: product("ok"), pause: 300, cost: 0.01, say: "DISPUTE A2: the user's words say ok in small letters" },
];

function reply(words: string): object {
  if (/Verifier, named/.test(words)) return { reasons: "I read it.", judgements: [], complaints: [], accepts: true };
  if (/says that the check of a criterion contradicts/.test(words)) return { reasons: "It is.", isWrong: true, check: equals("ok") };
  const yes = (id: string): object => ({ ...criterion, id, then: "it says yes", check: equals("yes") });
  return { ...brief, criteria: /Say yes/.test(words) ? [yes("A1"), yes("A2")] : [criterion, wrong] };
}

interface Ended {
  readonly results: readonly ResultReport[];
  readonly files: Readonly<Record<string, string | undefined>>;
  readonly commits: readonly string[];
  readonly calls: ReadonlyMap<string, number>;
  /** Starts of the worker, by their orders without what a cut-off adds. */
  readonly starts: ReadonlyMap<string, number>;
  readonly deaths: number;
  readonly refs: string;
}

/** The run, if the store has a message of it with these words: it need not be begun, or told, again. */
async function recordedRun(cwd: string, words: string): Promise<string | undefined> {
  const path = join(cwd, ".troupe/runs.db");
  if (!existsSync(path)) return undefined;
  const journal = sqlite({ path });
  const [run] = await journal.runs();
  let found = false;
  if (run !== undefined) for await (const event of journal.read(run.runId, 0)) found ||= JSON.stringify(event).includes(words);
  await journal.close();
  return found ? run?.runId : undefined;
}

/** @param deaths milliseconds after the start of a process at which it dies: of the run, and after it of what the user tells it */
async function survived(deaths: readonly (readonly number[])[]): Promise<Ended> {
  const cwd = scratchFolder();
  const calls = new Map<string, number>();
  await using server = await openaiStub({
    handler: (body) => {
      const question = contentHash(body.messages);
      calls.set(question, (calls.get(question) ?? 0) + 1);
      return JSON.stringify(reply(wordsOf(body)));
    },
  });
  const { command, variables, starts } = standIn("claude", ACTS);
  const model = ["--base-url", server.url, "--price", "0.25,2", "--json"];
  const worker = ["--worker", command.join(" "), "--worker-env", Object.keys(variables).join(","), "--allow-worker"];
  const first = ["run", "Say ok.", "--yes", "--model", "scripted", "--budget", "50", "--out", "product", ...model, ...worker];
  const env = { TROUPE_API_KEY: "none", ...variables };
  let killed = 0;
  const results: ResultReport[] = [];
  for (const [turn, moments] of deaths.entries()) {
    let words: readonly string[] = turn === 0 ? first : ["tell", results[0]?.runId ?? "", "Say yes instead.", "--yes", ...model];
    for (const moment of [...moments, undefined]) {
      const child: Child = start(words, { cwd, env });
      const timer = moment === undefined ? undefined : setTimeout(() => child.process.kill("SIGKILL"), moment);
      const end = await child.ended;
      clearTimeout(timer);
      if (end === "SIGKILL") killed += 1;
      // A worker never outlives the command.
      await until(() => starts().every(({ pid }) => !isAlive(pid)));
      const last = end === "SIGKILL" ? undefined : (linesIn(child.said.stdout).at(-1) as ResultReport | undefined);
      if (last?.type === "result") results[turn] = last;
      else if (moment === undefined) throw new Error(`${words.join(" ")} ended with ${end}: ${child.said.stderr.slice(-2_000)}`);
      if (last?.delivery?.isDone === true) break;
      const run = await recordedRun(cwd, turn === 0 ? "Say ok." : "Say yes instead.");
      if (run !== undefined) words = ["resume", run, "--yes", ...model];
    }
  }
  const root = join(cwd, "product");
  const workspace = fileWorkspace({ root });
  const files = Object.fromEntries(
    await Promise.all((await workspace.list()).map(async (path) => [path, await workspace.read(path)] as const)),
  );
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const orders = new Map<string, number>();
  for (const { order } of starts()) {
    const [whole = ""] = order.split("\n\nYou were cut off");
    orders.set(contentHash(whole), (orders.get(contentHash(whole)) ?? 0) + 1);
  }
  const refs = [git("branch", "--list", "troupe/*"), git("status", "--porcelain"), git("for-each-ref", "refs/troupe")].join("");
  return { results, files, commits: git("log", "--format=%an: %s").split("\n").sort(), calls, starts: orders, deaths: killed, refs };
}

const whole = survived([[], []]);

async function expectSame(ended: Ended): Promise<void> {
  const uncut = await whole;
  const isDone = ({ results }: Ended): unknown => results.map(({ status, delivery }) => [status, delivery?.isDone]);
  expect(isDone(ended)).toEqual([
    ["finished", true],
    ["finished", true],
  ]);
  expect([ended.files, ended.commits, ended.refs]).toEqual([uncut.files, uncut.commits, uncut.refs]);
  // Only calls in flight at a kill may be repeated.
  const more = (all: ReadonlyMap<string, number>, once: ReadonlyMap<string, number>): number =>
    [...all].reduce((sum, [what, count]) => sum + count - (once.get(what) ?? 0), 0);
  expect([...ended.calls.keys()].sort()).toEqual([...uncut.calls.keys()].sort());
  expect([...ended.starts.keys()].sort()).toEqual([...uncut.starts.keys()].sort());
  expect(more(ended.calls, uncut.calls) + more(ended.starts, uncut.starts)).toBeLessThanOrEqual(ended.deaths);
}

test("a run with a worker, a dispute, a repair and a wish after its end is done", async () => {
  const { results, starts, refs } = await whole;
  expect(results.map(({ delivery }) => delivery?.isDone)).toEqual([true, true]);
  expect([starts.size, refs]).toEqual([4, ""]);
});

test("killed at random moments, again and again, it ends the same, starts no recorded work again and leaves no worker", async () => {
  const moments = fc.array(fc.integer({ min: 300, max: 9_000 }), { minLength: 2, maxLength: 4 });
  let deaths = 0;
  await fc.assert(
    fc.asyncProperty(moments, moments, async (first, second) => {
      const ended = await survived([first, second]);
      deaths += ended.deaths;
      await expectSame(ended);
    }),
    {
      numRuns: 12,
      endOnFailure: true,
      examples: [
        [
          [2215, 1524, 412, 7750],
          [1646, 5936, 5787, 1537],
        ],
      ],
    },
  );
  figure(`${deaths} kills of a run with a worker`);
}, 7_200_000);
