import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { playing } from "../adversarial/hostile-model.ts";
import { type Child, run, start } from "./child.ts";
import { contentsOf, eventsIn, freshFolder, linesIn, newestIn, taskOf } from "./kept-run.ts";

const KEY = "sk-canary-0123456789abcdefghij";
/** Calls of the small project. */
const CALLS = 8;
const words = [`Greet me on a page, not with ${KEY}`, "--price", "1,4", "--sandbox", "none", "--out", "project", "--seed", "1", "--json"];

interface Ended {
  readonly cwd: string;
  readonly stdout: string;
  readonly result: ResultReport;
  /** What the model was asked for, in order. */
  readonly tasks: readonly string[];
}

function ended(cwd: string, stdout: string, tasks: readonly string[]): Ended {
  return { cwd, stdout, result: linesIn(stdout).at(-1) as ResultReport, tasks };
}

let plain: Promise<Ended> | undefined;

/** The run that nobody killed. */
function unkilled(): Promise<Ended> {
  return (plain ??= (async () => {
    await using stub = await openaiStub({ handler: playing() });
    const cwd = freshFolder();
    const { stdout, code } = await run([...words, "--base-url", stub.url], { cwd });
    expect(code).toBe(0);
    return ended(cwd, stdout, stub.requests.map(taskOf));
  })());
}

/** Every byte that is kept of runs. */
function kept(cwd: string): string {
  const folder = join(cwd, ".troupe");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")).join("\n");
}

function commits({ cwd }: Ended): string {
  return execFileSync("git", ["log", "--format=%an: %s"], { cwd: join(cwd, "project"), encoding: "utf8" });
}

describe("a run that is killed during a model call", () => {
  it.each(Array.from({ length: CALLS }, (_, n) => n + 1))("number %i goes on where it was, and pays for no other again", async (k) => {
    const whole = await unkilled();
    expect(whole.tasks).toHaveLength(CALLS);
    const cwd = freshFolder();
    const first: { child?: Child } = {};
    const script = playing();
    await using stub = await openaiStub({
      handler: (body, n) => {
        if (n !== k - 1) return script(body, n);
        first.child?.process.kill("SIGKILL");
        return { fault: "stall", after: 0 };
      },
    });
    first.child = start([...words, "--base-url", stub.url], { cwd, env: { OPENAI_API_KEY: KEY } });
    expect(await first.child.ended).toBe("SIGKILL");

    const { code, stdout, stderr } = await run(["resume", "--json"], { cwd, env: { OPENAI_API_KEY: KEY } });
    const resumed = ended(cwd, stdout, stub.requests.map(taskOf));
    expect({ code, stderr: stderr.split("\n")[0] }).toMatchObject({
      code: 0,
      stderr: /^Going on with run \S+, which was cut off\.$/.exec(stderr.split("\n")[0] ?? "")?.[0],
    });
    const again = whole.tasks[k - 1] ?? "";
    expect(resumed.tasks.toSorted()).toEqual([...whole.tasks, again].toSorted());
    expect(canonical(eventsIn(stdout))).toBe(canonical(eventsIn(whole.stdout)));
    expect(contentsOf(join(cwd, "project"))).toEqual(contentsOf(join(whole.cwd, "project")));
    expect(commits(resumed)).toBe(commits(whole));

    const { cost } = resumed.result;
    expect(cost.uncertain).toBeGreaterThan(0);
    expect(cost.worstCase).toBe(cost.uncertain);
    expect(cost.known).toBe(whole.result.cost.known + cost.uncertain);
    expect(stderr).toContain("1 model call was in flight when the run was cut off: counted in full ($");
    expect(stdout + stderr + kept(cwd)).not.toContain(KEY);
  });

  it("is replayed afterwards without a call, in another process and without a place to call", async () => {
    const cwd = freshFolder();
    const first: { child?: Child } = {};
    const script = playing();
    const stub = await openaiStub({
      handler: (body, n) => {
        if (n === 4) first.child?.process.kill("SIGKILL");
        return n === 4 ? { fault: "stall", after: 0 } : script(body, n);
      },
    });
    first.child = start([...words, "--base-url", stub.url], { cwd });
    await first.child.ended;
    expect((await run(["continue", "--quiet"], { cwd })).code).toBe(0);
    const asked = stub.requests.length;
    await stub.close();
    const replayed = await run(["replay", await newestIn(cwd)], { cwd });
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^equal: \d+ steps answered from the record, no call/) as string,
    });
    expect(stub.requests).toHaveLength(asked);
  });
});
