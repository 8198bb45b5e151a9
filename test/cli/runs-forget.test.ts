import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sqliteStore } from "../../src/adapters/sqlite-store.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { memoryFile } from "./kept-memory.ts";
import { command, expectEnd, expectRefusal, linesIn, stoppedRun, storeWith } from "./kept-run.ts";

const CANARY = "canary778899";

/** A folder in which two people have spoken. */
function withTalk(): Promise<string> {
  const Chat = defineAction({ name: "Chat", prompt: (ctx) => ctx.text });
  return storeWith(async (journal, cwd) => {
    const store = sqliteStore({ path: memoryFile(cwd) });
    const roles = [defineRole({ name: "Guide", actions: [Chat], memory: { store } })];
    const team = new Team({ model: scriptedModel(() => "ok"), roles, journal });
    for (const user of ["ann", "ben"]) await team.run(`${user} says ${CANARY}`, { id: `${user}1`, scope: { user } }).result;
    await store.close();
  });
}

/** Returns those of some words that are in the files of the stores. */
function held(cwd: string, words: readonly string[]): readonly string[] {
  const folder = join(cwd, ".troupe");
  const files = readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));
  const all = files
    .filter((name) => statSync(name).isFile())
    .map((name) => readFileSync(name, "latin1"))
    .join("\n");
  return words.filter((word) => all.includes(word));
}

describe("troupe runs forget", () => {
  it("erases what one person said, in runs and memories, and tells how much", async () => {
    const cwd = await withTalk();
    const { code, stdout } = await command(cwd, ["runs", "forget", "--user", "ann", "--yes", "--json"]);
    expect([code, linesIn(stdout)]).toEqual([0, [{ type: "forgotten", runs: 1, texts: expect.any(Number), messages: 2 }]]);
    expect(held(cwd, [`ann says ${CANARY}`, `ben says ${CANARY}`])).toEqual([`ben says ${CANARY}`]);
    expect((await command(cwd, ["runs", "forget", "--conversation", "ben", "--yes"])).stderr).toContain("1 run");
    expect(held(cwd, [CANARY])).toEqual([]);
    expect((await command(cwd, ["memory", "ls"])).stdout).not.toContain("Guide");
  });

  it("asks first, wants to know whose words, and knows a wrong id", async () => {
    const cwd = await withTalk();
    for (const [words, why] of [
      [["--user", "ann"], "--yes"],
      [["--yes"], "--user"],
      [["--conversation", "nobody", "--yes"], "nobody"],
    ] as const) {
      const { code, stderr } = await command(cwd, ["runs", "forget", ...words]);
      expect([code === 0, stderr.includes(why)]).toEqual([false, true]);
    }
    expect(held(cwd, [CANARY])).toEqual([CANARY]);
  });

  it("erases nothing where the memories that it is told of are not there", async () => {
    const cwd = await withTalk();
    for (const [words, env] of [
      [["--memory", "wrong.db"], {}],
      [[], { TROUPE_MEMORY: "wrong.db" }],
    ] as const) {
      await expectRefusal(cwd, ["runs", "forget", "--user", "ann", "--yes", ...words], /wrong\.db.*STORE_MISSING/s, { env });
    }
    expect(held(cwd, [`ann says ${CANARY}`])).toEqual([`ann says ${CANARY}`]);
  });

  it("names memories by their scope in troupe memory, which are found by it", async () => {
    const cwd = await withTalk();
    const { stdout } = await command(cwd, ["memory", "ls", "--json"]);
    expect(linesIn(stdout).map((line) => (line as { readonly roleId: string }).roleId)).toEqual(["Guide, user ann", "Guide, user ben"]);
    expect((await command(cwd, ["memory", "show", "Guide, user b"])).stdout).toContain(`ben says ${CANARY}`);
    expect((await command(cwd, ["memory", "search", CANARY, "--role", "Guide, user a"])).stdout).not.toContain("ben says");
  });

  it("leaves a run of the command that can be looked at, and not gone on with, replayed or forked: TEXT_ERASED", async () => {
    const { cwd, id } = await stoppedRun(1);
    await expectEnd(cwd, ["runs", "forget", "--conversation", id, "--yes"], 0);
    expect(held(cwd, ["Create a command line to-do list"])).toEqual([]);
    for (const name of ["show", "flow"]) await expectEnd(cwd, ["runs", name, id], 0);
    for (const words of [
      ["resume", id],
      ["replay", id],
      ["fork", id, "--at", "3"],
    ]) {
      const { code, stderr } = await command(cwd, words);
      expect([words, code === 0, stderr.includes("erased")]).toEqual([words, false, true]);
    }
  });
});
