import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { Team } from "../../src/index.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { exportRun } from "../../src/runtime/record/transfer.ts";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { playing } from "../adversarial/hostile-model.ts";
import { positionsOf } from "../long.ts";
import { answering } from "../runtime/town.ts";
import { type Child, start } from "./child.ts";
import { command, contentsOf, eventsIn, expectEnd, freshFolder, greeting, linesIn, newestIn, taskOf } from "./kept-run.ts";

const KEY = "sk-canary-0123456789abcdefghij";
/** Calls of the small project. */
const CALLS = 8;
const wordsFor = (url: string): readonly string[] => {
  const [idea, ...words] = greeting(url, "--price", "1,4", "--out", "project", "--seed", "1", "--json");
  return [`${idea}, not with ${KEY}`, ...words];
};

/** @param tasks what the model was asked for, in order */
function ended(cwd: string, stdout: string, tasks: readonly string[]) {
  return { cwd, stdout, result: linesIn(stdout).at(-1) as ResultReport, tasks };
}

type Ended = ReturnType<typeof ended>;
let plain: Promise<Ended> | undefined;

/** The run that nobody killed. */
function unkilled(): Promise<Ended> {
  return (plain ??= (async () => {
    await using stub = await openaiStub({ handler: playing() });
    const cwd = freshFolder();
    const { stdout, code } = await command(cwd, wordsFor(stub.url));
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
  it.each(positionsOf(CALLS, [4]))("number %i goes on where it was, and pays for no other again", { tags: "kill" }, async (k) => {
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
    first.child = start(wordsFor(stub.url), { cwd, env: { OPENAI_API_KEY: KEY } });
    expect(await first.child.ended).toBe("SIGKILL");

    const { code, stdout, stderr } = await command(cwd, ["resume", "--json"], { env: { OPENAI_API_KEY: KEY } });
    const resumed = ended(cwd, stdout, stub.requests.map(taskOf));
    expect({ code, stderr: stderr.split("\n")[0] }).toMatchObject({
      code: 0,
      stderr: /^Continuing run \S+, which was cut off\.$/.exec(stderr.split("\n")[0] ?? "")?.[0],
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

  it("is replayed afterwards without a call, in another process and without a place to call", { tags: ["kill", "long"] }, async () => {
    const cwd = freshFolder();
    const first: { child?: Child } = {};
    const script = playing();
    const stub = await openaiStub({
      handler: (body, n) => {
        if (n === 4) first.child?.process.kill("SIGKILL");
        return n === 4 ? { fault: "stall", after: 0 } : script(body, n);
      },
    });
    first.child = start(wordsFor(stub.url), { cwd });
    await first.child.ended;
    expect((await command(cwd, ["continue", "--quiet"])).code).toBe(0);
    const asked = stub.requests.length;
    await stub.close();
    const replayed = await command(cwd, ["replay", await newestIn(cwd)]);
    expect(replayed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^equal: \d+ steps answered from the record, no call/) as string,
    });
    expect(stub.requests).toHaveLength(asked);
  });
});

const agentWords = ["agent", "note that I need milk", "--model", "stub-1", "--allow", "editor", "--out", "notes", "--seed", "1", "--json"];

function edit(args: object): StubReply {
  return { text: "I write.", toolCalls: [{ name: "editor", arguments: JSON.stringify(args) }] };
}

const SCRIPT: readonly StubReply[] = [
  edit({ command: "create", path: "note.txt", content: "buy milk\n" }),
  edit({ command: "insert", path: "note.txt", line: 1, new: "and bread" }),
  "The note is written.",
];

/** The reply depends on the conversation alone. */
function answer({ messages }: OpenAIBody): StubReply {
  return SCRIPT[messages.filter(({ role }) => role === "tool").length] ?? "nothing is left to do";
}

async function lived(killAt?: number) {
  const cwd = freshFolder();
  const first: { child?: Child } = {};
  await using stub = await openaiStub({
    handler: (body, n) => {
      if (n !== killAt) return answer(body);
      first.child?.process.kill("SIGKILL");
      return { fault: "stall", after: 0 };
    },
  });
  const options = { cwd, env: { OPENAI_API_KEY: KEY } };
  const words = [...agentWords, "--base-url", stub.url];
  if (killAt !== undefined) {
    first.child = start(words, options);
    expect(await first.child.ended).toBe("SIGKILL");
  }
  const { stdout } = await expectEnd(cwd, killAt === undefined ? words : ["resume", "--json"], 0, "", options);
  expect(stub.rejected).toEqual([]);
  const result = linesIn(stdout).at(-1) as ResultReport;
  return {
    note: readFileSync(join(cwd, "notes/note.txt"), "utf8"),
    answer: result.answer,
    events: canonical(eventsIn(stdout)),
    calls: stub.requests.length,
  };
}

describe("troupe agent, killed while its model answers", () => {
  const unkilledAgent = lived();

  it.each(positionsOf(SCRIPT.length, [3]))(
    "call %i: resume goes on where it was, and asks for nothing else again",
    { tags: "kill" },
    async (n) => {
      const whole = await unkilledAgent;
      expect(whole).toMatchObject({ note: "buy milk\nand bread\n", answer: "The note is written.", calls: SCRIPT.length });
      expect(await lived(n - 1)).toEqual({ ...whole, calls: SCRIPT.length + 1 });
    },
  );
});

/** Large against what pipes and streams hold, so that what was taken of it was read. */
const MESSAGES = 600;
const text = "x".repeat(5_000);
/** Parts of the lines after which the import is killed. */
const PARTS = [0.2, 0.5, 0.9, 1];

let lines: readonly string[];

beforeAll(async () => {
  lines = await exportedRun();
});

async function exportedRun(): Promise<readonly string[]> {
  const speaker = answering("Ann", async (rc) => {
    for (let n = 0; n < MESSAGES; n += 1) await rc.step("say", { n }, () => Promise.resolve(text));
  });
  const team = new Team({ roles: [speaker] });
  await team.run("go", { id: "big" }).result;
  const all: string[] = [];
  for await (const line of exportRun(team.journal, "big")) all.push(line);
  return all;
}

async function runsIn(cwd: string): Promise<readonly unknown[]> {
  return linesIn((await command(cwd, ["runs", "ls", "--json"])).stdout);
}

/** Feeds the first of the lines to an import and kills it when it has read them. */
async function killedAfter(cwd: string, count: number): Promise<void> {
  const child = start(["runs", "import", "-"], { cwd, isFed: true });
  const taken = new Promise<void>((resolve) => child.process.stdin.write(`${lines.slice(0, count).join("\n")}\n`, () => resolve()));
  await Promise.race([taken, child.ended]);
  child.process.kill("SIGKILL");
  expect(await child.ended).toBe("SIGKILL");
}

describe("an import that is killed", () => {
  it.each(positionsOf(PARTS.length, [2]).map((place) => PARTS[place - 1] ?? 1))(
    "after %f of its lines leaves nothing, and the same file is imported afterwards",
    { tags: "kill" },
    async (part) => {
      const cwd = freshFolder();
      writeFileSync(join(cwd, "big.ndjson"), `${lines.join("\n")}\n`);
      await killedAfter(cwd, Math.ceil(part * lines.length));
      expect(lines.length).toBeGreaterThan(2 * MESSAGES);
      expect((await runsIn(cwd)).filter((run) => (run as { events: number }).events > 0)).toEqual([]);
      expect(await command(cwd, ["runs", "import", "big.ndjson"])).toMatchObject({ code: 0 });
      const { stdout } = await command(cwd, ["runs", "export", "big"]);
      expect(stdout.trimEnd().split("\n")).toEqual(lines);
    },
  );
});
