import { describe, expect, it } from "vitest";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { restoreFiles } from "../../src/workspace/restore-files.ts";
import { Written } from "./written.ts";

const [ANN, BOB] = ["Ann#0~1", "Bob#0~1"];
const commit = { message: "Write a", author: "Ann", paths: ["a.js"], trailers: { "Troupe-Message": "Ann#0.0" } };

describe("restoring files from a record", () => {
  it("writes what ended activations wrote, in the order they ended, with their commits", async () => {
    const written = new Written()
      .write(ANN, "a.js", "1")
      .write(BOB, "b.js", "2")
      .commit(ANN, commit)
      .done(BOB)
      .write(ANN, "a.js", "3")
      .done(ANN);
    const workspace = memoryWorkspace();
    expect(await restoreFiles(workspace, written.events)).toEqual({ files: 2, commits: 1 });
    expect([await workspace.read("a.js"), await workspace.read("b.js")]).toEqual(["3", "2"]);
    expect(workspace.commits).toMatchObject([
      { message: "Write a", author: "Ann", date: 5_000, trailers: commit.trailers, paths: ["a.js"] },
    ]);
  });

  it("leaves to open activations what is theirs, and stops where it shall", async () => {
    const written = new Written().write(ANN, "a.js", "1").done(ANN).write(BOB, "b.js", "2").write(BOB, "c.js", "3").done(BOB);
    const workspace = memoryWorkspace();
    expect(await restoreFiles(workspace, written.events, { at: 5 })).toEqual({ files: 1, commits: 0 });
    expect(await workspace.list()).toEqual(["a.js"]);
    expect(await restoreFiles(workspace, written.events)).toEqual({ files: 3, commits: 0 });
  });

  it("counts a retry's files with those of the attempt before, and a failed write not at all", async () => {
    const written = new Written().write(ANN, "a.js", "1");
    written.end(ANN, written.begin(ANN, "b.js", "2"), "2", { ok: false });
    written.fails(ANN, "retry").write("Ann#0~2", "c.js", "3").done("Ann#0~2");
    const workspace = memoryWorkspace();
    await restoreFiles(workspace, written.events);
    expect(await workspace.list()).toEqual(["a.js", "c.js"]);
  });

  it("does not take a request for a commit that is none", async () => {
    for (const request of [null, {}, { ...commit, paths: "a.js" }, { ...commit, author: 1 }]) {
      const workspace = memoryWorkspace();
      expect(await restoreFiles(workspace, new Written().write(ANN, "a.js", "1").commit(ANN, request).done(ANN).events)).toEqual({
        files: 1,
        commits: 0,
      });
    }
  });

  it("writes nothing outside the project, whatever a record says", async () => {
    const written = new Written().write(ANN, "../outside.js", "1").done(ANN);
    await expect(restoreFiles(memoryWorkspace(), written.events)).rejects.toMatchObject({ code: "WORKSPACE_PATH" });
  });
});
