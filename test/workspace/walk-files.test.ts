import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { walkFiles } from "../../src/workspace/folders.ts";
import { errorOf, scratchFolder } from "./scratch.ts";
import { tries } from "../long.ts";

const all = { skip: () => false, limit: 1000 };

describe("walkFiles", () => {
  it("finds exactly the files that were made, sorted by code unit", { tags: "numbers" }, async () => {
    const name = fc.constantFrom("a", "b", "B", "ä", "a-b", "-", "a.b");
    const paths = fc.uniqueArray(
      fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.map((part) => `d${part}`).join("/")}/f`),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(paths, async (made) => {
        const root = scratchFolder();
        for (const path of made) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), "");
        }
        const { files, folders } = await walkFiles(root, all);
        expect(files).toEqual([...made].sort());
        const above = new Set(made.flatMap((path) => path.split("/").map((_, depth, parts) => parts.slice(0, depth).join("/"))));
        expect(folders).toEqual([...above].filter((folder) => folder !== "").sort());
      }),
      { numRuns: tries(10, 100) },
    );
  });

  it("ends in a tree of links that lead to each other", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "a"));
    symlinkSync("..", join(root, "a", "up"));
    symlinkSync(".", join(root, "self"));
    expect(await walkFiles(root, all)).toEqual({ files: [], folders: ["a"] });
  });

  it("skips by name, whole folders too", async () => {
    const root = scratchFolder();
    for (const path of ["skip/a", "keep/skip", "keep/b"]) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), "");
    }
    const { files } = await walkFiles(root, { ...all, skip: (name) => name === "skip" });
    expect(files).toEqual(["keep/b"]);
  });

  it("counts files and folders, and gives up above the limit", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d", "f"), "");
    expect((await walkFiles(root, { ...all, limit: 2 })).files).toEqual(["d/f"]);
    expect(await errorOf(() => walkFiles(root, { ...all, limit: 1 }))).toMatchObject({ code: "WORKSPACE_LIMIT" });
  });

  it("stops when the signal aborts", async () => {
    expect(await errorOf(() => walkFiles(scratchFolder(), { ...all, signal: AbortSignal.abort() }))).toMatchObject({ code: "ABORTED" });
  });

  it("takes a folder that is not there, or is a file, for an empty one", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "file"), "");
    expect(await walkFiles(join(root, "missing"), all)).toEqual({ files: [], folders: [] });
    expect(await walkFiles(join(root, "file"), all)).toEqual({ files: [], folders: [] });
  });
});
