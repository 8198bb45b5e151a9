import { readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { editorTool } from "../../src/tools/editor.ts";
import { memoryWorkspace } from "../../src/workspace/memory-workspace.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { call, makePipe, projectOf, read } from "./tool-kit.ts";
import { titled } from "../titled.ts";

function project(files: Readonly<Record<string, string | Buffer>> = {}) {
  const made = projectOf(files);
  return { ...made, tool: editorTool({ workspace: made.workspace }) };
}

describe("the editor", () => {
  it("views lines with numbers, ranges, and the files of a folder", async () => {
    const { tool } = project({ "src/a.js": "one\n\ttwo\nthree\n", "src/b/c.js": "", "d.txt": "" });
    expect(await read(tool, { command: "view", path: "src/a.js" })).toBe("     1\tone\n     2\t\ttwo\n     3\tthree");
    expect(await read(tool, { command: "view", path: "src/a.js", range: [2, 9] })).toBe(
      "     2\t\ttwo\n     3\tthree\n[lines 2 to 3 of 3]",
    );
    expect(await read(tool, { command: "view", path: "src/a.js", range: [7, 9] })).toContain("the file has 3");
    expect(await read(tool, { command: "view", path: "src/" })).toBe("src/a.js\nsrc/b/c.js");
    for (const path of [".", "", "./", "/"]) expect(await read(tool, { command: "view", path })).toBe("d.txt\nsrc/a.js\nsrc/b/c.js");
    expect(await read(tool, { command: "view", path: "d.txt" })).toBe("(the file is empty)");
    expect(await read(tool, { command: "view", path: "nowhere" })).toContain("nothing is there");
  });

  it("creates a file with its folders, and writes over none unless told", async () => {
    const { tool, now } = project({ "a.txt": "old" });
    expect(await read(tool, { command: "create", path: "x/y/z.txt", content: "new\n" })).toBe("Created x/y/z.txt: 4 bytes.");
    expect(now("x/y/z.txt")).toBe("new\n");
    expect(await call(tool, { command: "create", path: "a.txt", content: "new" })).toMatchObject({ outcome: "failed" });
    expect(now("a.txt")).toBe("old");
    const over = { command: "create", path: "a.txt", content: "new", overwrite: true };
    expect(await read(tool, over)).toMatch(/have not seen what it holds/);
    expect(now("a.txt")).toBe("old");
    await read(tool, { command: "view", path: "a.txt" });
    await read(tool, over);
    expect(now("a.txt")).toBe("new");
  });

  it("shows the lines around an edit", async () => {
    const { tool } = project({ a: Array.from({ length: 30 }, (_, n) => `line ${n + 1}`).join("\n") });
    expect(await read(tool, { command: "replace", path: "a", old: "line 15\n", new: "15a\n15b\n" })).toMatch(
      /^Edited a.*\n {4}11\tline 11\n[^]*15a\n {4}16\t15b\n[^]*\n {4}20\tline 19\n\[/,
    );
  });
});

describe("undo", () => {
  it("EditHistory.H2 takes edits back one by one, and a file it created away", async () => {
    const { tool, now, workspace } = project({ a: "1" });
    await read(tool, { command: "replace", path: "a", old: "1", new: "2" });
    await read(tool, { command: "create", path: "b", content: "b" });
    await read(tool, { command: "replace", path: "a", old: "2", new: "3" });
    await read(tool, { command: "undo", path: "a" });
    expect(now("a")).toBe("2");
    expect(await read(tool, { command: "undo", path: "b" })).toBe("b is gone again.");
    expect(await workspace.list()).toEqual(["a"]);
    await read(tool, { command: "undo", path: "a" });
    expect(now("a")).toBe("1");
    expect(await call(tool, { command: "undo", path: "a" })).toMatchObject({ outcome: "failed" });
    await read(tool, { command: "create", path: "b", content: "again" });
    expect(now("b")).toBe("again");
  });

  it("EditHistory.H1 is refused when someone else has changed the file since", async () => {
    const { tool, now, root } = project({ a: "1" });
    await read(tool, { command: "replace", path: "a", old: "1", new: "2" });
    writeFileSync(join(root, "a"), "theirs");
    expect(await call(tool, { command: "undo", path: "a" })).toMatchObject({ outcome: "failed" });
    expect(now("a")).toBe("theirs");
  });
});

describe("a file that somebody changes", () => {
  it("between view and edit is not edited before it is viewed again", async () => {
    const { tool, now, root } = project({ a: "one\ntwo\n" });
    await read(tool, { command: "view", path: "a" });
    writeFileSync(join(root, "a"), "zero\none\ntwo\n");
    expect(await read(tool, { command: "insert", path: "a", line: 1, new: "x" })).toContain("View it again");
    expect(await read(tool, { command: "replace", path: "a", old: "two", new: "2" })).toContain("View it again");
    expect(now("a")).toBe("zero\none\ntwo\n");
    await read(tool, { command: "view", path: "a" });
    await read(tool, { command: "replace", path: "a", old: "two", new: "2" });
    expect(now("a")).toBe("zero\none\n2\n");
  });

  it("at the same time as another editor loses nothing", async () => {
    const { workspace, now } = project({ a: Array.from({ length: 20 }, (_, n) => `<${n}>`).join("\n") });
    const tools = [editorTool({ workspace }), editorTool({ workspace })];
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        call(tools[n % 2] ?? editorTool({ workspace }), { command: "replace", path: "a", old: `<${n}>`, new: `[${n}]` }, { session: {} }),
      ),
    );
    expect(now("a")).toBe(Array.from({ length: 20 }, (_, n) => `[${n}]`).join("\n"));
  });
});

describe("what is no file of the project", () => {
  it.each(
    titled([
      "../outside",
      "/etc/passwd",
      "a/../../b",
      "C:\\x",
      "~/x\0y",
      ".git/config",
      "node_modules/x/index.js",
      ".troupe/runs.db",
      "con",
      "x".repeat(500),
      "a\nb",
    ]),
  )("is refused: %s", async (_case, path) => {
    const { tool, workspace } = project({ kept: "kept" });
    for (const args of [
      { command: "view" },
      { command: "create", content: "x" },
      { command: "replace", old: "a", new: "b" },
      { command: "insert", line: 0, new: "x" },
      { command: "undo" },
    ]) {
      expect(await call(tool, { ...args, path })).toMatchObject({ outcome: "failed" });
    }
    expect(await workspace.list()).toEqual(["kept"]);
  });

  it("is refused when a link leads there", async () => {
    const { tool, root } = project();
    const outside = scratchFolder();
    writeFileSync(join(outside, "secret"), "secret");
    symlinkSync(outside, join(root, "folder"));
    symlinkSync(join(outside, "secret"), join(root, "file"));
    for (const path of ["folder/secret", "file"]) {
      for (const args of [
        { command: "view" },
        { command: "create", content: "x", overwrite: true },
        { command: "replace", old: "secret", new: "x" },
      ]) {
        const { outcome, result } = await call(tool, { ...args, path });
        expect([outcome, result.output]).toEqual(["failed", undefined]);
      }
    }
    expect(readFileSync(join(outside, "secret"), "utf8")).toBe("secret");
  });

  it("is refused when it is a pipe, binary or huge, without waiting for it", async () => {
    const { tool, root } = project({ binary: Buffer.from([0, 1, 2]), latin: Buffer.from("caf\u00e9", "latin1"), huge: "" });
    truncateSync(join(root, "huge"), 5_000_000);
    makePipe(join(root, "pipe"));
    for (const path of ["binary", "latin", "huge", "pipe"]) {
      expect([path, (await call(tool, { command: "view", path })).outcome]).toEqual([path, "failed"]);
      expect([path, (await call(tool, { command: "create", path, content: "x", overwrite: true })).outcome]).toEqual([path, "failed"]);
    }
  });
});

it.each([
  { command: "create" },
  { command: "replace", new: "x" },
  { command: "replace", old: "x" },
  { command: "insert", new: "x" },
  { command: "insert", line: 1 },
])("says which argument is missing: %j", async (args) => {
  const tool = editorTool({ workspace: memoryWorkspace({ files: { a: "x" } }) });
  expect(await read(tool, { ...args, path: "a" })).toMatch(/Expected the argument `(content|old|new|line)`/);
});

it("asks before it writes and not before it shows", async () => {
  const workspace = memoryWorkspace({ files: { a: "x" } });
  const tool = editorTool({ workspace });
  expect(await call(tool, { command: "view", path: "a" }, { policy: {} })).toMatchObject({ outcome: "ok" });
  for (const command of ["create", "replace", "insert", "undo"]) {
    const args = { command, path: "a", content: "y", overwrite: true, old: "x", new: "y", line: 0 };
    expect(await call(tool, args, { policy: {} })).toMatchObject({ outcome: "denied" });
  }
  expect(await workspace.read("a")).toBe("x");
});
