import { mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { holdFile, type Reach } from "../../src/workspace/held-folder.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

function neighbours(): { readonly root: string; readonly outside: string; swap(): void; swapBack(): void } {
  const base = scratchFolder();
  const [root, outside] = [join(base, "project"), join(base, "outside")];
  mkdirSync(join(root, "src"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(root, "src", "a.js"), "inside");
  writeFileSync(join(outside, "a.js"), "outside");
  const [src, moved] = [join(root, "src"), join(root, "moved")];
  return {
    root,
    outside,
    swap: () => {
      renameSync(src, moved);
      symlinkSync(outside, src);
    },
    swapBack: () => {
      unlinkSync(src);
      renameSync(moved, src);
    },
  };
}

const reaches: readonly Reach[] = process.platform === "linux" ? ["descriptor", "path"] : ["path"];

describe.each(reaches)("a file held through its %s", (reach) => {
  it("is replaced, with folders made on the way", async () => {
    const { root } = neighbours();
    const file = await holdFile(root, "src/deep/b.js", true, reach);
    await file?.replace(Buffer.from("new"));
    await file?.close();
    expect(readFileSync(join(root, "src/deep/b.js"), "utf8")).toBe("new");
    expect(readdirSync(join(root, "src/deep"))).toEqual(["b.js"]);
  });

  it("HeldFile.F2 is not written when its folder became a link after it was entered", async () => {
    const { root, outside, swap, swapBack } = neighbours();
    const file = await holdFile(root, "src/a.js", true, reach);
    swap();
    expect(await errorOf(async () => file?.replace(Buffer.from("new")))).toMatchObject({ code: "WORKSPACE_PATH" });
    await file?.close();
    expect(readdirSync(outside)).toEqual(["a.js"]);
    expect(readFileSync(join(outside, "a.js"), "utf8")).toBe("outside");
    swapBack();
    expect(readdirSync(join(root, "src"))).toEqual(["a.js"]);
    expect(readFileSync(join(root, "src", "a.js"), "utf8")).toBe("inside");
  });

  it("HeldFile.F2 is not read when its folder became a link after it was entered", async () => {
    const { root, swap } = neighbours();
    const file = await holdFile(root, "src/a.js", false, reach);
    swap();
    expect(await errorOf(async () => file?.open())).toMatchObject({ code: "WORKSPACE_PATH" });
    await file?.close();
  });

  it("HeldFile.F2 is not written when its folder was moved out of the project", async () => {
    const { root, outside } = neighbours();
    const file = await holdFile(root, "src/a.js", true, reach);
    renameSync(join(root, "src"), join(outside, "src"));
    symlinkSync(join(outside, "src"), join(root, "src"));
    expect(await errorOf(async () => file?.replace(Buffer.from("new")))).toMatchObject({ code: "WORKSPACE_PATH" });
    await file?.close();
    expect(readdirSync(join(outside, "src"))).toEqual(["a.js"]);
    expect(readFileSync(join(outside, "src", "a.js"), "utf8")).toBe("inside");
  });

  it("holds no file open after it is given back, also when the way is refused", async () => {
    const { root, swap } = neighbours();
    const before = openFiles();
    const file = await holdFile(root, "src/a.js", true, reach);
    await file?.replace(Buffer.from("new"));
    await file?.close();
    expect(await holdFile(root, "none/a.js", false, reach)).toBeUndefined();
    swap();
    expect(await errorOf(() => holdFile(root, "src/a.js", true, reach))).toMatchObject({ code: "WORKSPACE_PATH" });
    expect(openFiles()).toBe(before);
  });
});

/** Folders of scratch projects among the open files of this process. */
function openFiles(): number {
  if (process.platform !== "linux") return 0;
  return readdirSync("/proc/self/fd").length;
}
