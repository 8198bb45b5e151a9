import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fileWorkspace } from "../../src/workspace/file-workspace.ts";
import { errorOf, scratchFolder } from "./scratch.ts";
import { tries } from "../long.ts";

/** A project next to a folder with a secret that no path of the project may reach. */
function neighbours(): { readonly root: string; readonly outside: string; readonly secret: string } {
  const base = scratchFolder();
  const root = join(base, "project");
  const outside = join(base, "outside");
  mkdirSync(root);
  mkdirSync(outside);
  const secret = join(outside, "secret.txt");
  writeFileSync(secret, "secret");
  return { root, outside, secret };
}

describe("a workspace on disk", () => {
  it("makes its root with the first write, not before", async () => {
    const root = join(scratchFolder(), "a", "b");
    const workspace = fileWorkspace({ root });
    expect(await workspace.list()).toEqual([]);
    expect(await workspace.read("x.txt")).toBeUndefined();
    await workspace.remove("x.txt");
    expect(existsSync(root)).toBe(false);
    await workspace.write("x.txt", "1");
    expect(readFileSync(join(root, "x.txt"), "utf8")).toBe("1");
  });

  it("works in a root that the user chose as a link", async () => {
    const { root, outside } = neighbours();
    symlinkSync(outside, join(root, "chosen"));
    const workspace = fileWorkspace({ root: join(root, "chosen") });
    await workspace.write("new.txt", "1");
    expect(readFileSync(join(outside, "new.txt"), "utf8")).toBe("1");
  });

  it("HeldFile.F1 Workspace.W1 follows no link, neither to a folder nor to a file", async () => {
    const { root, outside, secret } = neighbours();
    symlinkSync(outside, join(root, "folder"));
    symlinkSync(secret, join(root, "file.txt"));
    symlinkSync(join(outside, "new.txt"), join(root, "dangling.txt"));
    symlinkSync("..", join(root, "up"));
    const workspace = fileWorkspace({ root });
    for (const path of ["folder/secret.txt", "folder/new.txt", "file.txt", "dangling.txt", "up/outside/secret.txt"]) {
      for (const work of [() => workspace.write(path, "x"), () => workspace.read(path), () => workspace.remove(path)]) {
        expect(await errorOf(work)).toMatchObject({ name: "WorkspaceError", code: "WORKSPACE_PATH" });
      }
    }
    expect(readFileSync(secret, "utf8")).toBe("secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(await workspace.list()).toEqual([]);
    expect(await workspace.list("folder")).toEqual([]);
    expect(await workspace.list("up/outside")).toEqual([]);
  });

  it("Workspace.W1 writes nothing outside when a folder becomes a link between two writes", async () => {
    const { root, outside } = neighbours();
    const workspace = fileWorkspace({ root });
    await workspace.write("src/a.js", "1");
    renameSync(join(root, "src"), join(root, "old"));
    symlinkSync(outside, join(root, "src"));
    expect(await errorOf(() => workspace.write("src/a.js", "2"))).toMatchObject({ code: "WORKSPACE_PATH" });
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  it("Workspace.W1 replaces a hard link by a file of its own, so the other name keeps its content", async () => {
    const { root, secret } = neighbours();
    linkSync(secret, join(root, "same.txt"));
    await fileWorkspace({ root }).write("same.txt", "mine");
    expect(readFileSync(secret, "utf8")).toBe("secret");
  });

  it("Workspace.W1 random trees of links never let a write out", { tags: "numbers" }, async () => {
    const name = fc.constantFrom("a", "b", "c");
    const tree = fc.array(fc.record({ at: name, to: fc.constantFrom("..", "../outside", "../outside/secret.txt", "a", "b", "/tmp", ".") }));
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(tree, paths, async (links, targets) => {
        const { root, outside, secret } = neighbours();
        for (const { at, to } of links) {
          if (!existsSync(join(root, at))) symlinkUnlessThere(to, join(root, at));
        }
        const workspace = fileWorkspace({ root, git: false });
        for (const target of targets) await workspace.write(target.join("/"), "x").catch(() => undefined);
        expect(readdirSync(outside)).toEqual(["secret.txt"]);
        expect(readFileSync(secret, "utf8")).toBe("secret");
      }),
      { numRuns: tries(14, 160) },
    );
  });

  it("HeldFile.F3 Workspace.W2 leaves the old file and no beginnings of the new one when the last step fails", async () => {
    const { root } = neighbours();
    const workspace = fileWorkspace({ root, limits: { files: 1 } });
    mkdirSync(join(root, "taken"));
    expect(await errorOf(() => workspace.write("taken", "x"))).toMatchObject({ code: "WORKSPACE_PATH" });
    expect(readdirSync(root)).toEqual(["taken"]);
    await workspace.write("a.txt", "the failed write does not count against the limit");
    expect(await errorOf(() => workspace.write("a.txt/b.txt", "x"))).toMatchObject({ code: "WORKSPACE_LIMIT" });
    expect(readdirSync(root).sort()).toEqual(["a.txt", "taken"]);
  });

  it("Workspace.W2 hides files that a killed process left half written", async () => {
    const { root } = neighbours();
    writeFileSync(join(root, ".app.js.0123456789ab.troupe-tmp"), "hal");
    expect(await fileWorkspace({ root }).list()).toEqual([]);
  });

  it("keeps the rights of the file it replaces", async () => {
    const { root } = neighbours();
    writeFileSync(join(root, "run.sh"), "old");
    chmodSync(join(root, "run.sh"), 0o751);
    await fileWorkspace({ root }).write("run.sh", "new");
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o751);
  });

  it("lets a new file that begins with #! be executed, and no other", async () => {
    const { root } = neighbours();
    const workspace = fileWorkspace({ root });
    await workspace.write("bin/tool.mjs", "#!/usr/bin/env node\n");
    await workspace.write("src/tool.mjs", "export {};\n");
    const mayRun = (path: string): boolean => (statSync(join(root, path)).mode & 0o100) !== 0;
    expect([mayRun("bin/tool.mjs"), mayRun("src/tool.mjs")]).toEqual([true, false]);
  });

  it("lists what can be read and nothing else", async () => {
    const { root } = neighbours();
    for (const folder of [".git", ".troupe", "node_modules", "src", "src/node_modules"]) {
      mkdirSync(join(root, folder));
      writeFileSync(join(root, folder, "file.txt"), "1");
    }
    writeFileSync(join(root, "what?.txt"), "1");
    writeFileSync(join(root, "line\nbreak.txt"), "1");
    const workspace = fileWorkspace({ root });
    expect(await workspace.list()).toEqual(["src/file.txt"]);
    expect(await workspace.read("src/file.txt")).toBe("1");
  });

  it("Workspace.W5 counts only what it wrote, so a large project can be worked on", async () => {
    const { root } = neighbours();
    for (let n = 0; n < 20; n++) writeFileSync(join(root, `old${n}.txt`), "x".repeat(100));
    const workspace = fileWorkspace({ root, limits: { files: 1, bytes: 10, fileBytes: 10 } });
    await workspace.write("new.txt", "1234567890");
    expect((await workspace.list()).length).toBe(21);
  });
});

function symlinkUnlessThere(to: string, at: string): void {
  try {
    symlinkSync(to, at);
  } catch (error) {
    // A dangling link of the same name, which existsSync does not see.
    expect((error as { code: string }).code).toBe("EEXIST");
  }
}
