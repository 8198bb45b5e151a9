import { describe, expect, it } from "vitest";
import { type Embedder, hashingEmbedder } from "../../src/memory/embedder.ts";
import { remark, remember } from "./kept-memory.ts";
import { command, freshFolder, linesIn } from "./kept-run.ts";

/** A text that would steer a terminal. */
const HOSTILE = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e";
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

const kept = filled();

/** A folder in which three roles remember something. */
async function filled(): Promise<string> {
  const cwd = freshFolder();
  await remember(cwd, "Ann", [
    remark("m1-aaaa", "The database moved to another server", { sentFrom: "Bob", causeBy: "Move" }),
    remark("m1-bbbb", "The cat sleeps on the keyboard\n  and purrs", {
      sentFrom: "Cara",
      instructContent: { cats: 1 },
      parents: ["m1-aaaa"],
    }),
    remark("m2-cccc", "The cat sleeps on the keyboard\n  and purrs", { timestamp: 0 }),
  ]);
  await remember(cwd, "Ann", [remark("m1-aaaa", "Said in another run")], { runId: "run2" });
  await remember(cwd, "../../etc/Anna", [remark("x", "部署数据库的服务器")]);
  await remember(cwd, `evil ${HOSTILE}`, [remark(`id ${HOSTILE}`, HOSTILE, { sentFrom: HOSTILE, causeBy: HOSTILE })]);
  return cwd;
}

describe("troupe memory ls", () => {
  it("lists who remembers how much", async () => {
    const cwd = await kept;
    const { code, stdout, stderr } = await command(cwd, ["memory"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines[0]).toMatch(/^ROLE +MESSAGES +VECTORS +SIZE +LAST$/);
    expect(lines[1]).toMatch(/^Ann +4 +4 +1\.\d kB +(now|\d+s)$/);
    expect(lines[2]).toMatch(/^\.\.\/\.\.\/etc\/Anna +1 +1 +\d+ B +(now|\d+s)$/);
    const ageless = (text: string): string => text.replace(/\S+$/gm, "");
    expect(ageless((await command(cwd, ["memory", "ls"])).stdout)).toBe(ageless(stdout));
  });

  it("gives a line of JSON for each", async () => {
    const lines = linesIn((await command(await kept, ["memory", "ls", "--json"])).stdout);
    expect(lines).toMatchObject([
      { type: "memory", roleId: "Ann", messages: 4, vectors: [{ count: 4 }], newest: expect.any(Number) as number },
      { roleId: "../../etc/Anna", messages: 1 },
      { roleId: `evil ${HOSTILE}`, messages: 1 },
    ]);
  });

  it("finds the store where --store or TROUPE_MEMORY say, and not where TROUPE_STORE keeps runs", async () => {
    const path = `${await kept}/.troupe/memory.db`;
    const cwd = freshFolder();
    expect((await command(cwd, ["memory", "ls", "--store", path])).stdout).toContain("Ann ");
    expect((await command(cwd, ["memory"], { env: { TROUPE_MEMORY: path } })).stdout).toContain("Ann ");
    expect((await command(cwd, ["memory"], { env: { TROUPE_STORE: path } })).stderr).toContain("No memories are kept");
  });
});

describe("troupe memory search", () => {
  it("finds what shares words, in every role, best first", async () => {
    const { code, stdout } = await command(await kept, ["memory", "search", "database", "server"]);
    expect(code).toBe(0);
    const [heads, first] = stdout.split("\n");
    expect(heads).toMatch(/^SCORE +ROLE +MESSAGE +AGE +FROM +SAID$/);
    expect(first).toMatch(/^\d+\.\d\d +Ann +m1-aaaa +1h +Bob +The database moved to another server$/);
  });

  it("leaves the vectors of another embedder alone", async () => {
    const cwd = freshFolder();
    const paid: Embedder = { ...hashingEmbedder({ dimensions: 64 }), id: "paid" };
    await remember(cwd, "Ann", [remark("1", "The cat sleeps")], { embedder: paid });
    const before = (await command(cwd, ["memory", "ls", "--json"])).stdout;
    expect((await command(cwd, ["memory", "search", "cat"])).stdout).toContain("The cat sleeps");
    expect((await command(cwd, ["memory", "ls", "--json"])).stdout).toBe(before);
    expect((await command(cwd, ["memory", "show", "Ann"])).stdout).toMatch(/^Vectors +1 of another embedder/m);
  });

  it.each([
    [["search", "  "], "OPTION_INVALID"],
    [["search"], "COMMAND_INVALID"],
    [["search", "x", "--limit", "0"], "OPTION_INVALID"],
    [["search", "x", "--limit", "1e3"], "OPTION_INVALID"],
    [["search", "x", "--threshold", "0.2"], "COMMAND_INVALID"],
    [["search", "x", "--role", "nobody"], "ROLE_UNKNOWN"],
    [["search", "x", "--role", ""], "ROLE_UNKNOWN"],
    [["show", "nobody"], "ROLE_UNKNOWN"],
    [["show", "../../../etc/passwd"], "ROLE_UNKNOWN"],
    [["show", "Ann", "m1"], "MESSAGE_AMBIGUOUS"],
    [["show", "Ann", "nothing"], "MESSAGE_UNKNOWN"],
    [["show", "Ann", "--last", "-1"], "OPTION_INVALID"],
    [["export", "nobody"], "ROLE_UNKNOWN"],
    [["rebuild", "nobody"], "ROLE_UNKNOWN"],
    [["gc", "nobody", "--older-than", "0s"], "ROLE_UNKNOWN"],
    [["gc", "--older-than", "soon"], "OPTION_INVALID"],
  ])("refuses %j with 2 and %s", async (words, code) => {
    const ended = await command(await kept, ["memory", ...words]);
    expect(ended).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(`(${code})`) as string });
    expect(ended.stderr).not.toMatch(STEERING);
  });
});

describe("troupe memory show", () => {
  it("tells what is in a memory", async () => {
    const { code, stdout } = await command(await kept, ["memory", "show", "Ann"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Role +Ann\nMessages 4 of 2 runs, [\d.]+ k?B\n/);
    expect(stdout).toMatch(/^Vectors +4 made offline$/m);
    expect(stdout).toMatch(/^m1-bbbb +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +Cara +The cat/m);
  });

  it("shows one message whole, by the beginning of its id", async () => {
    const { stdout } = await command(await kept, ["memory", "show", "Ann", "m1-b"]);
    expect(stdout).toMatch(/^Message +m1-bbbb\nRun +run1\nSaid +\d{4}-.* UTC by Cara\n/);
    expect(stdout).toContain('Answers  m1-aaaa\nPayload  {"cats":1}\n\nThe cat sleeps on the keyboard\n  and purrs\n');
    const [line] = linesIn((await command(await kept, ["memory", "show", "Ann", "m2", "--json"])).stdout);
    expect(line).toMatchObject({ type: "message", runId: "run1", message: { id: "m2-cccc", timestamp: 0 } });
  });

  it("lets nobody steer the terminal", async () => {
    const cwd = await kept;
    for (const words of [
      ["ls"],
      ["show", "evil"],
      ["show", "evil", "id"],
      ["search", "owned 31m 2J"],
      ["show", "e", "--json"],
      ["ls", "--json"],
    ]) {
      const { stdout, stderr } = await command(cwd, ["memory", ...words]);
      expect({ words, isClean: !STEERING.test(stdout + stderr) }).toEqual({ words, isClean: true });
      expect(stdout).not.toBe("");
    }
  });
});
