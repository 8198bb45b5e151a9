import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { command, expectEnd, expectRefusal, freshFolder, idsIn, linesIn, stoppedRun, storeWith, terminalHost } from "./kept-run.ts";

const kept = stoppedRun();

/** A run of a program, whose words would steer a terminal. */
const hostileStore = storeWith(async (journal) => {
  const hostile = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e";
  const say = defineAction({ name: `Say ${hostile}`, prompt: () => hostile });
  const fail = defineAction({ name: "Fail", run: () => Promise.reject(new Error(hostile)) });
  const roles = [
    defineRole({ name: `Ann ${hostile}`, profile: hostile, actions: [say] }),
    defineRole({ name: "Ben", actions: [fail], onFailure: "skip" }),
  ];
  const model = scriptedModel([hostile], { id: hostile });
  await new Team({ name: hostile, roles, model, journal }).run(hostile, { id: "bad\u001b[2Jid" }).result;
});

describe("troupe runs ls", () => {
  it("lists the newest first, short, with what became of each", async () => {
    const { cwd, id } = await kept;
    const { stdout } = await expectEnd(cwd, ["runs"], 0);
    expect(stdout).toMatch(/^RUN +LAST +STATUS +EVENTS +IDEA\n/);
    expect(stdout).toContain(`${id.slice(0, 8)}  `);
    expect(stdout).toMatch(/ rounds +\d+ +Create a command line to-do list\n$/);
  });

  it("gives a line of JSON for each", async () => {
    const { cwd, id } = await kept;
    const [row] = linesIn((await command(cwd, ["runs", "ls", "--json"])).stdout);
    expect(row).toEqual({
      type: "run",
      id,
      status: "rounds",
      idea: "Create a command line to-do list",
      team: "software company",
      events: expect.any(Number) as number,
      started: expect.any(Number) as number,
      ended: expect.any(Number) as number,
      moved: expect.any(Number) as number,
      cost: expect.any(Number) as number,
      unpriced: 0,
      calls: expect.any(Number) as number,
      tokens: expect.any(Number) as number,
      roles: ["Alice", "Bob", "Eve", "Alex", "Edward"],
    });
  });
});

describe("troupe runs show", () => {
  it("tells the roles, the cost, what was said with the numbers a fork names, and how to go on", async () => {
    const { cwd, id } = await kept;
    const { stdout } = await expectEnd(cwd, ["runs", "show", id.slice(0, 6)], 0);
    for (const line of [
      `Run      ${id}\n`,
      "Status   rounds\n",
      "Project  workspace/todo (5 files written)\n",
      `Go on    troupe resume ${id.slice(0, 8)}\n`,
      "Alice   Product Manager  1      1\n",
      "     1  outside to Alice, UserRequirement: Create a command line to-do list\n",
    ]) {
      expect(stdout).toContain(line);
    }
  });

  it("gives all of it as JSON", async () => {
    const { cwd, id } = await kept;
    const [shown] = linesIn((await command(cwd, ["runs", "show", id, "--json"])).stdout);
    expect(shown).toMatchObject({
      type: "run",
      runId: id,
      status: "rounds",
      about: { command: "troupe", demo: "todo", rounds: 2, seed: "1", version: "1.2.3" },
      rounds: 2,
      uncertain: 0,
      held: 0,
      cost: { unpriced: 0 },
      roles: [{ name: "Alice", profile: "Product Manager", activations: 1, calls: 1, isOpen: false, waiting: 0 }, {}, {}, {}, {}],
      deadLetters: [],
      questions: [],
      store: join(cwd, ".troupe/runs.db"),
    });
    expect((shown as { said: readonly { seq: number }[] }).said.map(({ seq }) => seq)).toEqual([1, 13, 27]);
  });

  it.each(["ls", "show", "events"])("%s shows what a terminal would obey, and sends none of it", async (name) => {
    const cwd = await hostileStore;
    const { code, stdout } = await command(cwd, ["runs", name, ...(name === "ls" ? [] : ["bad"])]);
    expect({ code, shown: stdout.includes("\\u{1b}") }).toEqual({ code: 0, shown: true });
    expect(stdout).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    await expectRefusal(cwd, ["resume", "bad"], "RUN_FOREIGN");
  });
});

describe("troupe runs events", () => {
  it("prints a line for each, from any, of any type", async () => {
    const { cwd, id } = await kept;
    const all = (await command(cwd, ["runs", "events", id])).stdout.trimEnd().split("\n");
    expect(all[0]).toMatch(/^ +0 {2}\+0:00 +run\.started +software company, 5 roles, rounds, seed 1$/);
    expect((await command(cwd, ["runs", "events", id, "--from", "3"])).stdout.trimEnd().split("\n")).toEqual(all.slice(3));
    const messages = (await command(cwd, ["runs", "events", id, "--type", "message"])).stdout;
    expect(messages.trimEnd().split("\n")).toEqual(all.filter((line) => line.includes("  message  ")));
    expect((await command(cwd, ["runs", "events", id, "--from", "99999"])).stdout).toBe("");
  });

  it.each([
    [["--from", "-1"], "--from"],
    [["--from", "x"], "--from"],
    [["--type", "steps"], "step.started, step.ended"],
    [["--type", "__proto__"], "step.started"],
  ])("refuses %j", async (words, todo) => {
    const { cwd, id } = await kept;
    await expectRefusal(cwd, ["runs", "events", id, ...words], todo);
  });
});

describe("troupe runs diff", () => {
  it("is equal for a run and its copy", async () => {
    const { cwd, id } = await stoppedRun();
    const { stdout } = await command(cwd, ["runs", "export", id]);
    await command(cwd, ["runs", "import", "-", "--as", "copy"], { stdin: stdout });
    expect(await command(cwd, ["runs", "diff", id, "copy"])).toMatchObject({ code: 0, stdout: "equal\n" });
    expect(linesIn((await command(cwd, ["runs", "diff", id, "copy", "--json"])).stdout)).toEqual([
      { type: "diff", left: id, right: "copy", equal: true },
    ]);
  });
});

describe("troupe runs export and import", () => {
  it("carry a run to another folder, equal", async () => {
    const { cwd, id } = await kept;
    const file = join(freshFolder(), "run.ndjson");
    expect((await expectEnd(cwd, ["runs", "export", id, file], 0, `Exported run ${id}`)).stdout).toBe("");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const there = freshFolder();
    expect(linesIn((await command(there, ["runs", "import", file, "--json"])).stdout)).toMatchObject([{ type: "imported", runId: id }]);
    expect((await command(there, ["runs", "export", id])).stdout).toBe(readFileSync(file, "utf8"));
    await expectRefusal(there, ["runs", "import", file], "--as <id>");
  });

  it.each([
    ["is no export", () => "hello\n", "EXPORT_INVALID"],
    ["is empty", () => "", "EXPORT_INVALID"],
    ["was cut", (text: string) => text.slice(0, text.length / 2), "EXPORT_CUT"],
    ["was changed", (text: string) => text.replace("to-do list", "to-do lost"), "EXPORT_INVALID"],
    ["has a prototype", (text: string) => text.replace('"type":"message"', '"type":"message","__proto__":{"x":1}'), "EVENT_INVALID"],
  ])("refuse a file that %s, and keep nothing of it", async (_what, spoil, reason) => {
    const { cwd, id } = await kept;
    const { stdout } = await command(cwd, ["runs", "export", id]);
    const there = freshFolder();
    expect((await expectRefusal(there, ["runs", "import", "-"], `(${reason})`, { stdin: spoil(stdout) })).stdout).toBe("");
    expect(await idsIn(there)).toEqual([]);
  });

  it("refuse files that cannot be read or are there already, and a terminal", async () => {
    const { cwd, id } = await kept;
    const at = freshFolder();
    writeFileSync(join(at, "mine"), "mine");
    await expectRefusal(cwd, ["runs", "import", join(at, "none")], "FILE_UNREADABLE");
    await expectRefusal(cwd, ["runs", "import", at], "FILE_UNREADABLE");
    await expectRefusal(cwd, ["runs", "import", join(at, "mine"), "--as", "../x"], "--as");
    await expectRefusal(cwd, ["runs", "export", id, join(at, "mine")], "it exists already");
    expect(readFileSync(join(at, "mine"), "utf8")).toBe("mine");
    const host = terminalHost({ cwd });
    expect(await main(host, ["runs", "export", id])).toBe(2);
    expect(host.stdout.text).toBe("");
  });
});

describe("troupe runs rm", () => {
  it("forgets what is named after a yes, and leaves the project", async () => {
    const { cwd, id } = await stoppedRun();
    const host = terminalHost({ cwd });
    host.answers("n");
    expect(await main(host, ["runs", "rm", id.slice(0, 8)])).toBe(130);
    expect(await idsIn(cwd)).toEqual([id]);
    await expectRefusal(cwd, ["runs", "rm", id], "UNCONFIRMED");
    expect(linesIn((await command(cwd, ["runs", "rm", id, "--yes", "--json"])).stdout)).toEqual([{ type: "removed", runId: id }]);
    expect(await idsIn(cwd)).toEqual([]);
    expect(existsSync(join(cwd, "workspace/todo/docs"))).toBe(true);
  });
});

describe("troupe runs gc", { tags: ["company", "long"] }, () => {
  it("forgets what is finished and old, nothing else, and makes the store smaller", async () => {
    const { cwd, id } = await stoppedRun();
    expect((await command(cwd, ["demo", "todo", "--quiet", "--no-run-tests"])).code).toBe(0);
    const [finished = ""] = await idsIn(cwd);
    expect(linesIn((await command(cwd, ["runs", "gc", "--json"])).stdout)).toMatchObject([{ type: "compacted", removed: 0 }]);
    await expectRefusal(cwd, ["runs", "gc", "--older-than", "0s"], "UNCONFIRMED");
    const lines = linesIn((await command(cwd, ["runs", "gc", "--older-than", "0s", "--yes", "--json"])).stdout);
    expect(lines).toMatchObject([
      { type: "removed", runId: finished },
      { type: "compacted", removed: 1 },
    ]);
    const { before, after } = lines[1] as { before: number; after: number };
    expect(after).toBeLessThan(before);
    expect(await idsIn(cwd)).toEqual([id]);
    expect((await command(cwd, ["resume", "--rounds", "20", "--quiet"])).code).toBe(0);
  });
});
