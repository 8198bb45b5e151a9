import { readdir, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileObjects } from "../../src/adapters/objects.ts";
import { scratchFolder } from "../workspace/scratch.ts";

describe("what a writer of objects in a folder leaves when it is killed", () => {
  it("FileObjects.O1 FileObjects.O4 a half-written file is no object, and is removed when its writer has been gone for a day", async () => {
    const dir = scratchFolder();
    const objects = fileObjects({ dir });
    await objects.put("runs/a", new TextEncoder().encode("rain"));
    const left = ["a~.0123456789ab.tmp", "a~.ba9876543210.tmp"].map((name) => join(dir, "runs", name));
    for (const path of left) await writeFile(path, "half");
    const then = Date.now() / 1000 - 90_000;
    await utimes(left[0] ?? "", then, then);
    expect([await objects.list("runs"), (await readdir(join(dir, "runs"))).toSorted()]).toEqual([
      ["runs/a"],
      ["a~", "a~.ba9876543210.tmp"],
    ]);
  });
});
