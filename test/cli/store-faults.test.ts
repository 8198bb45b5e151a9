import Libsql from "libsql";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Check } from "../../src/cli/commands/doctor.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { playing } from "../adversarial/hostile-model.ts";
import { command, expectEnd, expectRefusal, freshFolder, idsIn, newestIn, stoppedRun } from "./kept-run.ts";

const KEY = "sk-canary-0123456789abcdefghij";

/** Does something to a SQLite file. */
function sql(file: string, ...statements: readonly string[]): void {
  const db = new Libsql(file);
  for (const statement of statements) db.exec(statement);
  db.close();
}

const faults: readonly (readonly [what: string, code: string, make: (file: string) => void])[] = [
  ["a folder", "JOURNAL_UNWRITABLE", (file) => mkdirSync(file)],
  ["another file", "JOURNAL_FOREIGN", (file) => writeFileSync(file, "my diary, not a database\n".repeat(100))],
  ["another program's database", "JOURNAL_FOREIGN", (file) => sql(file, "CREATE TABLE mine (x)", "INSERT INTO mine VALUES (1)")],
  [
    "a newer version's",
    "JOURNAL_NEWER",
    (file) => sql(file, "CREATE TABLE new (x)", `PRAGMA application_id = ${0x54525045}`, "PRAGMA user_version = 99"),
  ],
];

describe("a store that cannot be used", () => {
  it.each(faults)("because it is %s ends all with 2 (%s), nothing asked, and is left as it is", async (_what, code, make) => {
    await using stub = await openaiStub({ handler: playing() });
    const cwd = freshFolder();
    const store = join(cwd, "bad.db");
    make(store);
    const before = readdirSync(cwd).filter((name) => name !== "workspace");
    const bytes = code === "JOURNAL_UNWRITABLE" ? undefined : readFileSync(store);
    const env = { OPENAI_API_KEY: KEY, TROUPE_BASE_URL: stub.url };
    const all = ["demo todo", "resume", "answer x y", "replay x", "fork x", "runs", "runs show x", "runs gc"].map((line) =>
      line.split(" "),
    );
    for (const words of [["Greet me on a page"], ...all]) {
      const { stdout, stderr } = await expectRefusal(cwd, [...words, "--store", "bad.db"], `(${code})`, { env });
      expect([stdout, stderr, stderr.includes(KEY)]).toEqual(["", expect.stringContaining("--store <file>"), false]);
    }
    const doctor = await expectEnd(cwd, ["doctor", "--json"], 1, "", { env: { ...env, TROUPE_STORE: "bad.db" } });
    const { checks } = JSON.parse(doctor.stdout) as { readonly checks: readonly Check[] };
    expect(checks.find(({ name }) => name === "store")).toMatchObject({
      state: "fail",
      hint: expect.stringContaining("--store") as string,
    });
    expect(stub.requests).toEqual([]);
    expect(readdirSync(cwd)).toEqual(before);
    if (bytes !== undefined) expect(readFileSync(store).equals(bytes)).toBe(true);
  });
});

describe("a store that is damaged", () => {
  async function damaged(): Promise<{ readonly cwd: string; readonly id: string }> {
    const { cwd, id } = await stoppedRun();
    sql(
      join(cwd, ".troupe/runs.db"),
      `UPDATE events SET body = x'00' WHERE place = (SELECT max(place) FROM events WHERE place <= (SELECT min(place) + 27 FROM events))`,
    );
    return { cwd, id };
  }

  it("is told of before the run goes on, and what is whole can be read", async () => {
    const { cwd, id } = await damaged();
    await expectRefusal(cwd, ["resume"], "JOURNAL_DAMAGED");
    const events = await command(cwd, ["runs", "events", id]);
    const whole = events.stdout.trimEnd().split("\n");
    expect({ code: events.code, last: whole.at(-1) }).toMatchObject({ code: 2, last: expect.stringMatching(/^ +26 /) as string });
    expect(events.stderr).toContain("its first 27 events, up to 26, are intact");
    for (const words of ["replay", "runs show", "runs flow", "fork", "runs export"])
      await expectRefusal(cwd, [...words.split(" "), id], "JOURNAL_DAMAGED");
  });

  it("keeps its other runs, and loses the one that is removed", { tags: ["company", "long"] }, async () => {
    const { cwd, id } = await damaged();
    expect((await command(cwd, ["demo", "todo", "--rounds", "1", "--quiet"])).code).toBe(4);
    expect((await command(cwd, ["replay", await newestIn(cwd)])).code).toBe(0);
    expect((await command(cwd, ["runs", "rm", id, "--yes"])).code).toBe(0);
    expect(await idsIn(cwd)).toHaveLength(1);
  });
});
