import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { fileWorkspace, memoryWorkspace } from "../../src/workspace/index.ts";
import { assertUnchanged, type ChangedFile, changesSince, RecordedFiles } from "../../src/workspace/recorded-files.ts";

import { scratchFolder } from "./scratch.ts";
import { Written } from "./written.ts";

function recorded(events: readonly RunEvent[]): RecordedFiles {
  const files = new RecordedFiles();
  for (const event of events) files.add(event);
  return files;
}

/** The changes in the folder of these files, by their contents. */
async function changes(written: Written, files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = await changesSince(recorded(written.events), memoryWorkspace({ files }));
  return found.map(({ path, change }) => `${change} ${path}`);
}

const ANN = "Ann#0~1";

describe("a project that is as its run left it", () => {
  it("has no change, whatever was written before the last", async () => {
    const written = new Written().write(ANN, "a.js", "1").write(ANN, "a.js", "2").write(ANN, "b/c.js", "3").done(ANN);
    expect(await changes(written, { "a.js": "2", "b/c.js": "3" })).toEqual([]);
  });

  it("RecordedFiles.V2 has any content of an activation that has not ended: it writes them all again", async () => {
    const written = new Written().write("Bob#0~1", "a.js", "0").done("Bob#0~1").write(ANN, "a.js", "1").write(ANN, "a.js", "2");
    expect(await changes(written, { "a.js": "1" })).toEqual([]);
    expect(await changes(written, { "a.js": "2" })).toEqual([]);
    expect(await changes(written, { "a.js": "0" })).toEqual(["changed a.js"]);
    expect(await changes(written, {})).toEqual(["removed a.js"]);
  });

  it("RecordedFiles.V3 has what was there before, or the new content, where the process died in a write", async () => {
    const written = new Written().write("Bob#0~1", "a.js", "0").done("Bob#0~1");
    written.begin(ANN, "a.js", "1");
    written.begin(ANN, "new.js", "1");
    for (const present of [{ "a.js": "0" }, { "a.js": "1" }, { "a.js": "1", "new.js": "1" }])
      expect(await changes(written, present)).toEqual([]);
    expect(await changes(written, { "a.js": "0", "new.js": "other" })).toEqual(["changed new.js"]);
    expect(await changes(written, {})).toEqual(["removed a.js"]);
  });

  it("RecordedFiles.V3 has what was there before where a fork took the write from its parent and may not have done it yet", async () => {
    const written = new Written();
    written.end(ANN, written.begin(ANN, "a.js", "1", 7), "1");
    expect(await changes(written, {})).toEqual([]);
    expect(await changes(written, { "a.js": "1" })).toEqual([]);
    expect(await changes(written, { "a.js": "2" })).toEqual(["changed a.js"]);
    expect(await changes(written.done(ANN), {})).toEqual(["removed a.js"]);
  });

  it("RecordedFiles.V3 has what was there before where the write stands in the past that a fork shares", async () => {
    const start = { type: "run.started", team: "t", roles: [], seed: "s", scheduler: "rounds", parent: { runId: "p", at: 2 } } as const;
    const shared = new Written().add(start).write(ANN, "a.js", "1");
    expect(await changes(shared, {})).toEqual([]);
    expect(await changes(shared.write(ANN, "b.js", "1"), {})).toEqual(["removed b.js"]);
  });

  it("a write that failed changed nothing", async () => {
    const written = new Written().write(ANN, "a.js", "1");
    written.end(ANN, written.begin(ANN, "a.js", "2"), "2", { ok: false }).done(ANN);
    expect(await changes(written, { "a.js": "1" })).toEqual([]);
  });

  it("RecordedFiles.V2 has what a failed attempt wrote until the next one has ended, which may write it again", async () => {
    const written = new Written().write(ANN, "a.js", "1").write(ANN, "a.js", "2").fails(ANN, "retry");
    expect(await changes(written, { "a.js": "1" })).toEqual([]);
    written.write("Ann#0~2", "b.js", "1").done("Ann#0~2");
    expect(await changes(written, { "a.js": "1", "b.js": "1" })).toEqual(["changed a.js"]);
  });

  it("RecordedFiles.V1 counts a message that was given up as ended", async () => {
    const written = new Written().write(ANN, "a.js", "1").write(ANN, "a.js", "2").fails(ANN, "dead");
    expect(await changes(written, { "a.js": "1" })).toEqual(["changed a.js"]);
    expect(await changes(written, { "a.js": "2" })).toEqual([]);
  });
});

describe("a project that somebody changed", () => {
  it("is told of exactly by the files that differ", async () => {
    const path = fc.constantFrom("a", "b", "c", "d", "e");
    const content = fc.constantFrom("1", "2");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(path, content), fc.dictionary(path, content), async (was, is) => {
        const run = new Written();
        for (const [name, text] of Object.entries(was)) run.write(ANN, name, text);
        const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort();
        expect(await changes(run.done(ANN), is)).toEqual(
          names.flatMap((name) => {
            if (was[name] === is[name]) return [];
            return `${was[name] === undefined ? "added" : is[name] === undefined ? "removed" : "changed"} ${name}`;
          }),
        );
      }),
    );
  });

  it("is refused with all of them", () => {
    const many = Array.from({ length: 25 }, (_, n): ChangedFile => ({ path: `${n}.js`, change: "removed" }));
    expect(() => assertUnchanged([], "/p")).not.toThrow();
    expect(() => assertUnchanged(many, "/p\u001b[2J")).toThrow(
      expect.objectContaining({
        code: "WORKSPACE_CHANGED",
        message: expect.stringMatching(
          /^Expected the files in "\/p\\u\{1b\}\[2J".* 0\.js \(removed\), .* and 5 more\. .*--force/,
        ) as string,
        data: { changes: many },
      }) as Error,
    );
  });
});

describe("looking at a workspace", () => {
  const written = new Written().write(ANN, "a.js", "one\n").write(ANN, "docs/b.md", "two\n").done(ANN);

  it("finds what was changed, removed and added on a disk, and nothing in the folders that are not the project's", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root, git: false });
    await workspace.write("a.js", "one\n");
    await workspace.write("docs/b.md", "two\n");
    for (const path of [".troupe/runs.db", ".git/HEAD", "node_modules/x/y.js"]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), "x");
    }
    const files = recorded(written.events);
    expect(await changesSince(files, workspace)).toEqual([]);
    writeFileSync(join(root, "a.js"), Buffer.from([0xff, 0xfe]));
    rmSync(join(root, "docs"), { recursive: true });
    writeFileSync(join(root, "mine.txt"), "mine");
    expect(await changesSince(files, workspace)).toEqual([
      { path: "a.js", change: "changed" },
      { path: "docs/b.md", change: "removed" },
      { path: "mine.txt", change: "added" },
    ]);
  });

  it("calls a link, a folder and a file that is too large a change", async () => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root, git: false, limits: { fileBytes: 100 } });
    const files = recorded(new Written().write(ANN, "a", "1").write(ANN, "b", "2").write(ANN, "c", "3").done(ANN).events);
    writeFileSync(join(root, "target"), "1");
    symlinkSync(join(root, "target"), join(root, "a"));
    mkdirSync(join(root, "b"));
    writeFileSync(join(root, "c"), "3".repeat(101));
    rmSync(join(root, "target"));
    expect((await changesSince(files, workspace)).map(({ path, change }) => `${change} ${path}`)).toEqual([
      "changed a",
      "changed b",
      "changed c",
    ]);
  });
});
