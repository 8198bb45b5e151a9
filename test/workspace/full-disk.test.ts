import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import type * as files from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { openWorkspace } from "../../src/workspace/open-workspace.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

/** The call of the file system that fails next, and how. */
const broken = vi.hoisted((): { call?: string; code?: string } => ({}));

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof files>();
  const failure = (): Error => Object.assign(new Error("broken on purpose"), { code: broken.code });
  return {
    ...real,
    rename: async (from: string, to: string): Promise<void> => {
      if (broken.call === "rename") throw failure();
      await real.rename(from, to);
    },
    writeFile: async (file: string, text: string, options: object): Promise<void> => {
      await real.writeFile(file, text, options);
      if (broken.call === "writeFile") throw failure();
    },
    open: async (path: string, flags: string, mode?: number): Promise<unknown> => {
      const handle = await real.open(path, flags, mode);
      if (broken.call === "write") handle.writeFile = () => Promise.reject(failure());
      return handle;
    },
  };
});

afterEach(() => {
  delete broken.call;
});

describe("a disk that fails", () => {
  it.each([
    ["write", "ENOSPC", "WORKSPACE_FULL"],
    ["write", "EDQUOT", "WORKSPACE_FULL"],
    ["write", "EIO", "WORKSPACE_IO"],
    ["rename", "ENOSPC", "WORKSPACE_FULL"],
    ["rename", "EROFS", "WORKSPACE_UNWRITABLE"],
  ])("Workspace.W2 at %s with %s leaves the old file, no beginnings of a new one, and %s", async (call, system, code) => {
    const root = scratchFolder();
    const workspace = fileWorkspace({ root, limits: { bytes: 10 } });
    await workspace.write("a.txt", "old");
    Object.assign(broken, { call, code: system });
    const error = await errorOf(() => workspace.write("a.txt", "new"));
    expect(error).toMatchObject({ name: "WorkspaceError", code, data: { path: "a.txt", system }, cause: { message: "broken on purpose" } });
    expect(await errorOf(() => workspace.write("b.txt", "new"))).toMatchObject({ code });
    expect(readdirSync(root)).toEqual(["a.txt"]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("old");
    delete broken.call;
    await workspace.write("b.txt", "1234567");
    expect((await workspace.list()).length).toBe(2);
  });

  it("is found when the workspace is opened, and nothing is left there", async () => {
    const root = scratchFolder();
    writeFileSync(join(root, "mine.txt"), "mine");
    Object.assign(broken, { call: "writeFile", code: "ENOSPC" });
    expect(await errorOf(() => openWorkspace({ root, force: true }))).toMatchObject({ code: "WORKSPACE_FULL" });
    expect(readdirSync(root)).toEqual(["mine.txt"]);
  });
});
