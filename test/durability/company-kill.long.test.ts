// @module-tag kill
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import { contentHash } from "../../src/kernel/json.ts";
import { openaiStub } from "../../src/testing/index.ts";
import type { StubAnswer, OpenAIBody } from "../../src/testing/stub-reply.ts";
import { fileWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { positionsOf } from "../long.ts";
import { calculatorAnswer } from "../roles/calculator.ts";
import { repeated, start } from "./kills.ts";

/*
 * SIGKILL of the software company at work on a product of size L, with engineers side by side in worktrees: after durable writes, and at
 * random moments between two calls of its model, in which it runs git and the checks.
 */

const scratch = scratchFolder();
const CHILD = fileURLToPath(new URL("company-child.mjs", import.meta.url));

/** The moment at which a process dies: after so many durable writes, or so many milliseconds after a call of the model. */
type Death = { readonly write: number } | { readonly call: number; readonly after: number };

interface Told {
  readonly status: string;
  readonly error?: string;
  readonly cost: number;
  readonly uncertain: number;
  readonly inFlight: number;
  readonly said: readonly string[];
  readonly isDone?: boolean;
}

interface Survived {
  readonly told: Told;
  readonly deaths: number;
  readonly calls: ReadonlyMap<string, number>;
  readonly files: Readonly<Record<string, string | undefined>>;
  readonly commits: readonly string[];
  readonly forks: string;
}

async function survive(deaths: readonly Death[]): Promise<Survived> {
  const folder = mkdtempSync(join(scratch, "company-"));
  const root = join(folder, "project");
  mkdirSync(root);
  const calls = new Map<string, number>();
  let asked = 0;
  let atCall: ((n: number) => void) | undefined;
  await using stub = await openaiStub({
    handler: (body: OpenAIBody): string | StubAnswer => {
      const question = contentHash(body.messages);
      calls.set(question, (calls.get(question) ?? 0) + 1);
      asked += 1;
      atCall?.(asked);
      return calculatorAnswer(body.messages);
    },
  });
  const common = { store: join(folder, "runs.db"), root, url: stub.url };
  let killed = 0;
  for (const death of deaths) {
    asked = 0;
    const child = start("write" in death ? { ...common, killAt: death.write } : common, CHILD);
    const timers: NodeJS.Timeout[] = [];
    atCall = "call" in death ? (n) => void (n === death.call && timers.push(setTimeout(() => child.kill(), death.after))) : undefined;
    if ((await child.ended).signal === "SIGKILL") killed += 1;
    for (const timer of timers) clearTimeout(timer);
  }
  atCall = undefined;
  const { stdout, stderr } = await start(common, CHILD).ended;
  if (stdout === "") throw new Error(`the last process told nothing: ${stderr}`);
  const workspace = fileWorkspace({ root });
  const paths = await workspace.list();
  const files = Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await workspace.read(path)] as const)));
  const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
  const commits = git("log", "--format=%an: %s").split("\n").sort();
  const forks = [git("branch", "--list", "troupe/*"), git("status", "--porcelain"), git("for-each-ref", "refs/troupe")].join("");
  return { told: JSON.parse(stdout) as Told, deaths: killed, calls, files, commits, forks };
}

const whole = survive([]);

/** The product, its commits and what was said are those of a run that nobody kills; only calls in flight are paid again; no fork is left. */
async function expectSame(survived: Survived): Promise<void> {
  const uncut = await whole;
  const { told, calls, files, commits, forks } = survived;
  expect([told.status, told.error, told.isDone]).toEqual(["finished", undefined, true]);
  expect(files).toEqual(uncut.files);
  expect([commits, forks]).toEqual([uncut.commits, ""]);
  expect(told.said).toEqual(uncut.told.said);
  expect(repeated(calls, uncut.calls)).toBeLessThanOrEqual(told.inFlight);
  expect(told.cost).toBe(uncut.told.cost + told.uncertain);
}

test("a run of size L that nobody kills is done", async () => {
  const { told, calls, forks } = await whole;
  expect([told.status, told.error, told.isDone, forks]).toEqual(["finished", undefined, true, ""]);
  expect([...calls.values()].every((count) => count === 1)).toBe(true);
});

test("killed after a durable write, it ends the same and pays nothing twice", async () => {
  const writes = positionsOf(150, [60]).filter((write) => write % 5 === 0);
  for (const write of writes) {
    const survived = await survive([{ write }]);
    if (write <= 60) expect(survived.deaths).toBe(1);
    await expectSame(survived);
  }
}, 7_200_000);

test("killed at random moments, again and again, it ends the same and pays nothing twice", async () => {
  const death = fc.record({ call: fc.integer({ min: 1, max: 6 }), after: fc.integer({ min: 0, max: 1_500 }) });
  const deaths = fc.array(death, { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(deaths, async (all) => expectSame(await survive(all)));
  await fc.assert(property, { numRuns: 20, endOnFailure: true });
}, 7_200_000);
