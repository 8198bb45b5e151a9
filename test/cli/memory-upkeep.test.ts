import Libsql from "libsql";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { type Embedder, hashingEmbedder } from "../../src/memory/embedder.ts";
import { memoryFile, remark, remember, remembered } from "./kept-memory.ts";
import { command, expectEnd, expectRefusal, freshFolder, linesIn, terminalHost } from "./kept-run.ts";

const DAY = 86_400_000;

/** Does something to a SQLite file. */
function sql(file: string, ...statements: readonly string[]): void {
  mkdirSync(dirname(file), { recursive: true });
  const db = new Libsql(file);
  for (const statement of statements) db.exec(statement);
  db.close();
}

async function withOld(): Promise<string> {
  const cwd = freshFolder();
  await remember(cwd, "Ann", [
    remark("old", "long ago ".repeat(20_000), { timestamp: Date.now() - 100 * DAY }),
    remark("undated", "who knows when", { timestamp: 0 }),
    remark("new", "just now"),
  ]);
  await remember(cwd, "Bob", [remark("old", "long ago", { timestamp: Date.now() - 100 * DAY })]);
  return cwd;
}

/** Bytes of the store and the log beside it. */
function sizeOf(cwd: string): number {
  return [memoryFile(cwd), `${memoryFile(cwd)}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

describe("troupe memory gc", () => {
  it("asks, and forgets nothing without a yes", async () => {
    const cwd = await withOld();
    await expectRefusal(cwd, ["memory", "gc", "--older-than", "90d"], "Forget 2 messages of 2 roles? They are gone for good.");
    expect(await remembered(cwd, "Ann")).toHaveLength(3);
  });

  it("forgets what is older than that, of one role or all, and gives the room back", async () => {
    const cwd = await withOld();
    const before = sizeOf(cwd);
    const told = /^Forgot 1 message; the store has \d+ kB now, and had \d+ kB\.\n$/;
    await expectEnd(cwd, ["memory", "gc", "A", "--older-than", "90d", "--yes"], 0, told);
    expect(await remembered(cwd, "Ann")).toEqual(["who knows when", "just now"]);
    expect(await remembered(cwd, "Bob")).toEqual(["long ago"]);
    expect(sizeOf(cwd)).toBeLessThan(before);
    const lines = linesIn((await command(cwd, ["memory", "gc", "--older-than", "90d", "--yes", "--json"])).stdout);
    expect(lines).toMatchObject([
      { type: "forgotten", roleId: "Bob", messages: 1 },
      { type: "compacted", forgotten: 1 },
    ]);
    expect((await command(cwd, ["memory", "ls"])).stdout).not.toContain("Bob");
  });
});

describe("a question before what cannot be undone", () => {
  it.each([
    ["n", 130, 3],
    ["", 130, 3],
    ["y", 0, 0],
  ])("is answered by %j: it ends with %i, and %i messages are left", async (answer, code, left) => {
    const cwd = await withOld();
    const host = terminalHost({ cwd });
    host.answers(answer);
    expect(await main(host, ["memory", "gc", "Ann", "--older-than", "0s"])).toBe(code);
    expect(await remembered(cwd, "Ann")).toHaveLength(left);
  });
});

describe("troupe memory rebuild", () => {
  it("makes the vectors again, and messages stay", async () => {
    const cwd = await withOld();
    sql(memoryFile(cwd), "UPDATE vectors SET vector = zeroblob(length(vector))");
    await expectEnd(cwd, ["memory", "rebuild", "Ann"], 0, /^Made the vectors of 3 messages of Ann again\.\n$/);
    expect((await command(cwd, ["memory", "search", "just now", "--role", "Ann"])).stdout).toContain("just now");
    expect(linesIn((await command(cwd, ["memory", "rebuild", "Ann", "--json"])).stdout)).toEqual([
      { type: "rebuilt", roleId: "Ann", messages: 3 },
    ]);
  });

  it("asks before it replaces what another embedder made", async () => {
    const cwd = freshFolder();
    const paid: Embedder = { ...hashingEmbedder({ dimensions: 64 }), id: "paid" };
    await remember(cwd, "Ann", [remark("1", "a"), remark("2", "b")], { embedder: paid });
    const before = (await command(cwd, ["memory", "ls", "--json"])).stdout;
    await expectRefusal(cwd, ["memory", "rebuild", "Ann"], "Replace 2 vectors that another embedder made?");
    expect((await command(cwd, ["memory", "ls", "--json"])).stdout).toBe(before);
    await expectEnd(cwd, ["memory", "rebuild", "Ann", "--yes"], 0);
    await expectEnd(cwd, ["memory", "show", "Ann"], 0, "2 made offline");
  });
});

const ALL = [
  ["ls"],
  ["search", "x"],
  ["show", "Ann"],
  ["export", "Ann"],
  ["import", "ann.json", "--yes"],
  ["rebuild", "Ann"],
  ["gc", "--older-than", "1d"],
];

const faults: readonly (readonly [what: string, code: string, make: (file: string) => void])[] = [
  ["another file", "MEMORY_FOREIGN", (file) => writeFileSync(file, "my diary, not a database\n".repeat(100))],
  ["another program's database", "MEMORY_FOREIGN", (file) => sql(file, "CREATE TABLE mine (x)", "INSERT INTO mine VALUES (1)")],
  [
    "runs",
    "MEMORY_FOREIGN",
    (file) => sql(file, "CREATE TABLE runs (x)", `PRAGMA application_id = ${0x54525045}`, "PRAGMA user_version = 1"),
  ],
  [
    "a newer store",
    "MEMORY_NEWER",
    (file) => sql(file, "CREATE TABLE n (x)", `PRAGMA application_id = ${0x5452504d}`, "PRAGMA user_version = 9"),
  ],
];

describe("a store that cannot be used", () => {
  it.each(faults)("because it is %s ends everything with 2 (%s), and is left as it is", async (_what, code, make) => {
    const other = await withOld();
    await command(other, ["memory", "export", "Ann", "ann.json"]);
    const cwd = freshFolder();
    writeFileSync(join(cwd, "ann.json"), readFileSync(join(other, "ann.json")));
    make(join(cwd, "bad.db"));
    const bytes = readFileSync(join(cwd, "bad.db"));
    for (const words of ALL) {
      expect((await expectRefusal(cwd, ["memory", ...words, "--store", "bad.db"], `(${code})`)).stdout).toBe("");
    }
    expect(readFileSync(join(cwd, "bad.db"))).toEqual(bytes);
  });
});

describe("a store with a changed row", () => {
  it.each(["UPDATE messages SET body = replace(body, 'just now', 'never!!!')", `UPDATE roles SET role = 'no JSON' WHERE role = '"Ann"'`])(
    "is refused by every command, with exit code 2: %s",
    async (change) => {
      const cwd = await withOld();
      sql(memoryFile(cwd), change);
      for (const name of ["show", "export", "rebuild"]) await expectRefusal(cwd, ["memory", name, "Ann"], "MEMORY_DAMAGED");
    },
  );
});
