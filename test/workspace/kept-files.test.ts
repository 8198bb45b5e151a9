import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openWorkspace } from "../../src/workspace/open-workspace.ts";
import { scratchFolder } from "./scratch.ts";

function folderWith(files: Readonly<Record<string, string | Buffer>>) {
  const root = scratchFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}

const bytes = (root: string, path: string): Buffer => readFileSync(join(root, path));

describe("a workspace in a folder that holds files", () => {
  it("KeptFiles.K1 keeps what it replaces or removes, byte for byte, and says where", async () => {
    const odd = Buffer.from("\ufeffone\r\ntwo\0\xff", "latin1");
    const root = folderWith({ "src/a.bin": odd, "b.txt": "user's", "c.txt": "same\n" });
    const workspace = await openWorkspace({ root, force: true, git: false });
    await workspace.write("src/a.bin", "mine");
    await workspace.remove("b.txt");
    await workspace.write("c.txt", "same\n");
    await workspace.write("new.txt", "1");
    await workspace.write("new.txt", "2");
    expect(workspace.kept).toEqual([
      { path: "b.txt", keptAt: ".troupe/kept/b.txt" },
      { path: "src/a.bin", keptAt: ".troupe/kept/src/a.bin" },
    ]);
    expect([bytes(root, ".troupe/kept/src/a.bin"), bytes(root, ".troupe/kept/b.txt")]).toEqual([odd, Buffer.from("user's")]);
    expect(await workspace.list()).toEqual(["c.txt", "new.txt", "src/a.bin"]);
    expect(bytes(root, ".troupe/.gitignore").toString()).toBe("*\n");
  });

  it("KeptFiles.K1 keeps what somebody wrote between two writes of the run", async () => {
    const root = scratchFolder();
    const workspace = await openWorkspace({ root, git: false });
    await workspace.write("a.txt", "mine");
    writeFileSync(join(root, "a.txt"), "user's");
    await workspace.write("a.txt", "mine again");
    expect(bytes(root, ".troupe/kept/a.txt").toString()).toBe("user's");
  });

  it("KeptFiles.K2 never replaces a kept file, and keeps each content once", async () => {
    const root = folderWith({ "a.txt": "one" });
    const write = async (): Promise<readonly string[]> => {
      const workspace = await openWorkspace({ root, force: true, git: false });
      await workspace.write("a.txt", "mine");
      return workspace.kept.map(({ keptAt }) => keptAt);
    };
    expect(await write()).toEqual([".troupe/kept/a.txt"]);
    writeFileSync(join(root, "a.txt"), "two");
    expect(await write()).toEqual([".troupe/kept/a.txt.2"]);
    writeFileSync(join(root, "a.txt"), "one");
    expect(await write()).toEqual([".troupe/kept/a.txt"]);
    expect([bytes(root, ".troupe/kept/a.txt"), bytes(root, ".troupe/kept/a.txt.2")].map(String)).toEqual(["one", "two"]);
  });

  it.skipIf(process.platform === "win32")("KeptFiles.K3 lets nobody read the copy who could not read the file", async () => {
    const root = folderWith({ ".env": "KEY=secret" });
    chmodSync(join(root, ".env"), 0o600);
    const workspace = await openWorkspace({ root, force: true, git: false });
    await workspace.write(".env", "KEY=");
    expect(statSync(join(root, ".troupe/kept/.env")).mode & 0o777).toBe(0o600);
    expect(statSync(join(root, ".env")).mode & 0o777).toBe(0o600);
  });

  it("writes nothing when the earlier content cannot be kept", async () => {
    const root = folderWith({ "a.txt": "user's" });
    const outside = scratchFolder();
    symlinkSync(outside, join(root, ".troupe"));
    const workspace = await openWorkspace({ root, force: true, git: false });
    await expect(workspace.write("a.txt", "mine")).rejects.toMatchObject({ code: "WORKSPACE_PATH" });
    expect([bytes(root, "a.txt").toString(), existsSync(join(outside, "kept"))]).toEqual(["user's", false]);
  });
});
