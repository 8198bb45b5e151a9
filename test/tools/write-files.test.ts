import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { editorTool } from "../../src/tools/editor.ts";
import type { EditRules } from "../../src/tools/edit-history.ts";
import { readFilesTool } from "../../src/tools/read-files.ts";
import { shellTool } from "../../src/tools/shell.ts";
import { writeFilesTool } from "../../src/tools/write-files.ts";
import { chooseSandbox } from "../../src/workspace/choose-sandbox.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { call, projectOf, read } from "./tool-kit.ts";

function project(files: Readonly<Record<string, string | Buffer>> = {}, rules: EditRules = {}) {
  const made = projectOf(files);
  const { workspace } = made;
  const writing = { write: writeFilesTool({ workspace, ...rules }), editor: editorTool({ workspace, ...rules }) };
  return { ...made, ...writing, reader: readFilesTool({ workspace }) };
}

const file = (path: string, content: string) => ({ path, content });

describe("write_files", () => {
  it("writes many files at once, with their folders and one form of text", async () => {
    const { write, now } = project();
    const files = [file("src/a.js", "a\r\nb"), file("deep/er/b.txt", "\ufeffb\n"), file("pkg/__init__.py", "")];
    expect(await read(write, { files })).toBe("New: src/a.js, deep/er/b.txt, pkg/__init__.py.");
    expect([now("src/a.js"), now("deep/er/b.txt"), now("pkg/__init__.py")]).toEqual(["a\nb\n", "b\n", ""]);
  });

  it("writes over a file that the agent was shown before, and not when it has changed since", async () => {
    const shown = new Map([
      ["a.txt", "a\n"],
      ["b.txt", "b\n"],
      ["c.txt", "c\n"],
    ]);
    const { write, editor, now } = project(
      { "a.txt": "a\n", "b.txt": "of another\n", "c.txt": "c\n" },
      { shown: (path) => shown.get(path) },
    );
    const called = await call(write, { files: [file("a.txt", "A\n"), file("b.txt", "B\n")] });
    expect(called).toMatchObject({ outcome: "failed", result: { error: expect.stringContaining("someone has changed it since") } });
    await read(editor, { command: "create", path: "c.txt", content: "C\n", overwrite: true });
    expect([now("a.txt"), now("b.txt"), now("c.txt")]).toEqual(["A\n", "of another\n", "C\n"]);
  });

  it("never writes over a file that was not read, and writes the others", async () => {
    const { write, now } = project({ "user.txt": "precious\n" });
    const called = await call(write, { files: [file("user.txt", "mine\n"), file("new.txt", "new\n")] });
    expect(called).toMatchObject({
      outcome: "failed",
      result: { output: "New: new.txt.", data: { written: ["new.txt"], refused: ["user.txt"] } },
    });
    expect(called.result.error).toMatch(/user\.txt: Expected user\.txt to be read before/);
    expect([now("user.txt"), now("new.txt")]).toEqual(["precious\n", "new\n"]);
  });

  it.each(["editor", "reader"] as const)("writes over a file that the %s has shown", async (by) => {
    const { write, now, ...tools } = project({ "a.txt": "old\n" });
    await read(tools[by], by === "editor" ? { command: "view", path: "a.txt" } : { files: [{ path: "a.txt" }] });
    expect(await read(write, { files: [file("a.txt", "new")] })).toBe("Changed: a.txt.");
    expect(await read(write, { files: [file("a.txt", "newer")] })).toBe("Changed: a.txt.");
    expect(now("a.txt")).toBe("newer\n");
  });

  it("does not write over what somebody changed after it was read, or what another agent read", async () => {
    const { write, reader, now, root } = project({ "a.txt": "old\n", "b.txt": "old\n" });
    const [mine, yours] = [{}, {}];
    await read(reader, { files: [{ path: "a.txt" }] }, { session: mine });
    await read(reader, { files: [{ path: "b.txt" }] }, { session: yours });
    writeFileSync(join(root, "a.txt"), "the user's\n");
    const told = await read(write, { files: [file("a.txt", "x"), file("b.txt", "x")] }, { session: mine });
    expect(told).toMatch(/a\.txt: Expected a\.txt as you saw it.*\n.*b\.txt: Expected b\.txt to be read/);
    expect([now("a.txt"), now("b.txt")]).toEqual(["the user's\n", "old\n"]);
  });

  it("EditHistory.H4 demands that a file was read whole, also after an edit of a part", async () => {
    const { write, reader, editor, now } = project({ "a.txt": "1\n2\n3\n", "b.txt": "1\n2\n" });
    await read(reader, { files: [{ path: "a.txt", from: 2, to: 3 }] });
    await read(editor, { command: "replace", path: "b.txt", old: "2", new: "two" });
    const files = [file("a.txt", "x"), file("b.txt", "x")];
    expect((await read(write, { files })).match(/you have not seen lines 1(?: to 2)? whole/g)).toHaveLength(2);
    await read(reader, { files: ["a.txt", "b.txt"] });
    expect(await read(write, { files })).toBe("Changed: a.txt, b.txt.");
    expect(now("a.txt")).toBe("x\n");
  });

  it("EditHistory.H4 counts a file that was read in parts as read whole", async () => {
    const { write, reader, root } = project();
    writeFileSync(join(root, "long.txt"), "x".repeat(99).concat("\n").repeat(810));
    const files = [file("long.txt", "new")];
    expect(await read(reader, { files: ["long.txt"] })).toMatch(/\[lines 1 to 480 of 810\]/);
    expect(await read(write, { files })).toMatch(/you have not seen lines 481 to 810 whole/);
    await read(reader, { files: [{ path: "long.txt", from: 700 }] });
    expect(await read(write, { files })).toMatch(/you have not seen lines 481 to 699 whole/);
    await read(reader, { files: [{ path: "long.txt", from: 400, to: 700 }] });
    expect(await read(write, { files })).toBe("Changed: long.txt.");
  });

  it("EditHistory.H4 names a line that no view shows whole", async () => {
    const { write, reader } = project({ "a.txt": `1\n${"x".repeat(3_000)}\n3\n` });
    await read(reader, { files: ["a.txt"] });
    expect(await read(write, { files: [file("a.txt", "x")] })).toMatch(/lines 2 whole.*replace a part/);
  });

  it("keeps the line ends, the mark and the open last line of a file that is there", async () => {
    const { write, reader, root } = project({ "a.txt": "\ufeffone\r\ntwo" });
    await read(reader, { files: [{ path: "a.txt" }] });
    await read(write, { files: [file("a.txt", "one\n2\n")] });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("\ufeffone\r\n2");
  });

  it("leaves a file alone whose content is the same, also one that was not read", async () => {
    const { write, workspace, now } = project({ "a.txt": "same\r\n" });
    expect(await read(write, { files: [file("a.txt", "same\n")] })).toBe("The same as before: a.txt.");
    expect(now("a.txt")).toBe("same\r\n");
    expect(workspace.pending).toEqual([]);
  });

  it.each(["../x", "/etc/passwd", ".git/hooks/pre-commit", ".troupe/x", "node_modules/x.js", "a\u0000b", "link/x"])(
    "refuses %j and writes the rest",
    async (path) => {
      const { write, root, now } = project();
      const outside = scratchFolder();
      symlinkSync(outside, join(root, "link"));
      const called = await call(write, { files: [file(path, "x"), file("ok.txt", "x")] });
      expect(called.result.data).toMatchObject({ written: ["ok.txt"] });
      expect(called.outcome).toBe("failed");
      expect(now("ok.txt")).toBe("x\n");
    },
  );
});

describe("rules for changes", () => {
  const refuse = (path: string): string | undefined => (path.startsWith("test/") ? "Only QA changes a test." : undefined);

  it("keep paths from every tool that could change them", async () => {
    const { write, editor, workspace, now } = project({ "test/a.test.js": "ok(1)\n", "a.js": "1\n" }, { refuse });
    const shell = shellTool({ workspace, sandbox: await chooseSandbox("none"), refuse });
    await read(editor, { command: "view", path: "test/a.test.js" });
    const tries = [
      await read(write, { files: [file("test/a.test.js", "ok(0)")] }),
      await read(editor, { command: "replace", path: "test/a.test.js", old: "1", new: "0" }),
      await read(editor, { command: "create", path: "test/b.test.js", content: "x" }),
      await read(shell, { command: "echo 'ok(0)' > test/a.test.js; rm -f test/none; echo 2 > a.js" }),
    ];
    for (const told of tries) expect(told).toContain("Only QA changes a test.");
    expect([now("test/a.test.js"), now("a.js")]).toEqual(["ok(1)\n", "2\n"]);
    expect(await workspace.list()).toEqual(["a.js", "test/a.test.js"]);
  });

  it("tell the faults that a check finds in what was written, once for a call", async () => {
    const seen: (readonly string[])[] = [];
    const check: EditRules["check"] = async (paths) => (
      seen.push(paths),
      paths.includes("bad.js") ? "bad.js:1: unexpected end" : undefined
    );
    const { write, editor, now } = project({ "same.js": "1\n" }, { check });
    const called = await call(write, { files: [file("a.js", "1"), file("bad.js", "{"), file("same.js", "1")] });
    expect(called).toMatchObject({
      outcome: "failed",
      result: { output: expect.stringContaining("New: a.js, bad.js."), error: "bad.js:1: unexpected end" },
    });
    expect(await read(editor, { command: "insert", path: "bad.js", line: 1, new: "(" })).toMatch(
      /^Error: bad.js:1: unexpected end\nEdited bad.js/,
    );
    expect(await read(write, { files: [file("same.js", "1")] })).toBe("The same as before: same.js.");
    expect(seen).toEqual([["a.js", "bad.js"], ["bad.js"]]);
    expect(now("bad.js")).toBe("{\n(\n");
  });
});

describe("read_files", () => {
  it("shows several files and ranges, in fences they cannot close", async () => {
    const { reader } = project({ "a.md": "````\nx\n````\n", "b.js": "1\n2\n3\n" });
    expect(await read(reader, { files: [{ path: "a.md" }, { path: "b.js", from: 2 }] })).toBe(
      "a.md\n`````\n````\nx\n````\n`````\n\nb.js\n```\n2\n3\n[lines 2 to 3 of 3]\n```",
    );
  });

  it("tells what cannot be read beside what can", async () => {
    const { reader } = project({ "a.js": "1\n", bin: Buffer.from([0, 1]) });
    const told = await read(reader, { files: [{ path: "a.js" }, { path: "none" }, { path: "../x" }, { path: "bin" }] });
    expect(told).toMatch(/^Error: Expected a file at none[^]*\.\.\/x[^]*binary[^]*\na\.js\n```\n1\n```$/);
  });

  it("shows as much as it may, and counts as seen only what it showed", async () => {
    const { workspace, write, now } = project({
      "a.txt": `${"x".repeat(99)}\n`.repeat(100),
      "b.txt": "b\n",
      "long.txt": "y".repeat(9_000),
    });
    const reader = readFilesTool({ workspace, limit: 3_000 });
    const told = await read(reader, { files: [{ path: "a.txt" }, { path: "b.txt" }] });
    expect(told).toMatch(/^Error: Not read: b\.txt[^]*\[lines 1 to \d\d of 100\]\n```$/);
    await read(reader, { files: [{ path: "long.txt" }] });
    const files = ["a.txt", "b.txt", "long.txt"].map((path) => file(path, "x"));
    expect((await call(write, { files })).result.data).toEqual({ written: [], refused: ["a.txt", "b.txt", "long.txt"] });
    expect(now("b.txt")).toBe("b\n");
  });
});
