import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { exportSnapshot, snapshotLines } from "../../src/inspector/memory-snapshot.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { Memory } from "../../src/memory/memory.ts";
import { fakeHost } from "./fake-host.ts";
import { remark, remember, remembered } from "./kept-memory.ts";
import { command, expectEnd, expectRefusal, freshFolder, placed } from "./kept-run.ts";

const WORDS = ["one", "two \u0000 \ud800 数据库", "x".repeat(1_000_000)];

async function withAnn(): Promise<string> {
  const cwd = freshFolder();
  const messages = WORDS.map((text, n) => remark(`m${n}`, text));
  await remember(cwd, "../Ann", messages);
  return cwd;
}

/** A folder, and the file of an export in it. */
async function exported(): Promise<{ readonly cwd: string; readonly file: string }> {
  const cwd = await withAnn();
  expect((await command(cwd, ["memory", "export", "../A", "ann.json"])).code).toBe(0);
  return { cwd, file: join(cwd, "ann.json") };
}

describe("troupe memory export and import", () => {
  it("carry a memory to another store, whole", async () => {
    const { cwd, file } = await exported();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const other = freshFolder();
    await expectEnd(other, ["memory", "import", file], 0, /^Imported 3 messages into \.\.\/Ann\.\n$/);
    expect(await remembered(other, "../Ann")).toEqual(WORDS);
    expect(readFileSync(join(other, ".troupe/.gitignore"), "utf8")).toBe("*\n");
    await command(other, ["memory", "export", "../Ann", "again.json"]);
    const [before, after] = [file, join(other, "again.json")].map((path) => JSON.parse(readFileSync(path, "utf8")) as { body: unknown });
    expect(after?.body).toEqual(before?.body);
    expect(await remembered(cwd, "../Ann")).toEqual(WORDS);
  });

  it("write over no file, and print nothing on a terminal", async () => {
    const { cwd, file } = await exported();
    const before = readFileSync(file, "utf8");
    await expectRefusal(cwd, ["memory", "export", "../Ann", "ann.json"], "EXPORT_UNWRITABLE");
    expect(readFileSync(file, "utf8")).toBe(before);
    const host = fakeHost({ cwd, isTTY: true });
    expect(await main(host, ["memory", "export", "../Ann"])).toBe(2);
    await nextMacrotask();
    expect(host.stdout.text).toBe("");
    expect(host.stderr.text).toContain("EXPORT_TERMINAL");
  });

  it("ask before they add to what somebody remembers, and --yes answers", async () => {
    const { cwd } = await exported();
    await remember(cwd, "../Ann", [remark("new", "since then")]);
    const words = ["memory", "import", "ann.json"];
    await expectRefusal(cwd, words, "Add to what ../Ann remembers already, 4 messages?");
    await expectEnd(cwd, [...words, "--yes"], 0, "Imported 0 messages into ../Ann. 3 messages were there already.\n");
    expect(await remembered(cwd, "../Ann")).toEqual([...WORDS, "since then"]);
  });

  it("refuse what is no memory with 2, plain words, and without making a store", async () => {
    const { file } = await exported();
    const good = readFileSync(file, "utf8");
    const short = [...snapshotLines(await exportSnapshot(new Memory()))].join("\n");
    const cases: readonly (readonly [string, string])[] = [
      [good.slice(0, good.length / 2), "SNAPSHOT_INVALID"],
      [good.replace("one", "0ne"), "SNAPSHOT_INVALID"],
      [good.replace('"v":1', '"v":2'), "SNAPSHOT_NEWER"],
      ['{"troupe":"run","v":1}', "SNAPSHOT_FOREIGN"],
      ["[]", "SNAPSHOT_FOREIGN"],
      [short, "SNAPSHOT_KIND"],
      ["", "SNAPSHOT_INVALID"],
      [good.replace('"metadata":{}', '"metadata":{"__proto__":{"x":1}}'), "SNAPSHOT_INVALID"],
    ];
    for (const [text, code] of cases) {
      const { cwd } = placed({ "bad.json": text });
      await expectRefusal(cwd, ["memory", "import", "bad.json"], `(${code})`);
      expect(existsSync(join(cwd, ".troupe"))).toBe(false);
    }
    await expectRefusal(freshFolder(), ["memory", "import", "none.json"], "FILE_UNREADABLE");
    expect((await command(freshFolder(), ["memory", "import", file, "--as", " "])).stderr).toContain("(OPTION_INVALID)");
  });
});
