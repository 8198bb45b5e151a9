import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { walkFiles } from "../../src/workspace/folders.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

const all = { skip: () => false, limit: 1000 };

describe("walkFiles", () => {
  it("ends in a tree of links that lead to each other", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "a"));
    symlinkSync("..", join(root, "a", "up"));
    symlinkSync(".", join(root, "self"));
    expect(await walkFiles(root, all)).toEqual({ files: [], folders: ["a"] });
  });

  it("counts files and folders, and gives up above the limit", async () => {
    const root = scratchFolder();
    mkdirSync(join(root, "d"));
    writeFileSync(join(root, "d", "f"), "");
    expect((await walkFiles(root, { ...all, limit: 2 })).files).toEqual(["d/f"]);
    expect(await errorOf(() => walkFiles(root, { ...all, limit: 1 }))).toMatchObject({ code: "WORKSPACE_LIMIT" });
  });
});
