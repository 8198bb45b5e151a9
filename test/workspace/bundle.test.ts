import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bundleWorkspace, restoreBundle } from "../../src/workspace/bundle.ts";
import { runProcess } from "../../src/workspace/process.ts";
import { errorOf, scratchFolder } from "./scratch.ts";

async function git(cwd: string, ...args: readonly string[]): Promise<string> {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
  const result = await runProcess({ file: "git", args: [...who, ...args], cwd });
  if (result.kind !== "exited" || result.code !== 0) throw new Error(`git ${args.join(" ")}: ${JSON.stringify(result)}`);
  return result.stdout.trim();
}

describe("a bundle of a project", () => {
  it("Bundle.B4 has what is not committed, and a commit that no branch has; the index stays as it was", async () => {
    const root = scratchFolder();
    await git(root, "init", "--quiet");
    for (const name of ["one", "two", "gone"]) await writeFile(join(root, name), name);
    await git(root, "add", "one", "gone");
    await git(root, "commit", "--quiet", "-m", "First");
    await git(root, "checkout", "--quiet", "--detach");
    await git(root, "rm", "--quiet", "gone");
    await git(root, "commit", "--quiet", "-m", "Second");
    await writeFile(join(root, "one"), "changed");
    const before = await git(root, "status", "--short");
    const to = join(scratchFolder(), "deep", "new");
    await restoreBundle({ root: to, bundle: await bundleWorkspace({ root }) });
    expect(await git(root, "status", "--short")).toBe(before);
    expect(await git(to, "status", "--short")).toBe(before);
    expect(await git(to, "rev-parse", "HEAD")).toBe(await git(root, "rev-parse", "HEAD"));
    expect([await readFile(join(to, "one"), "utf8"), await readFile(join(to, "two"), "utf8")]).toEqual(["changed", "two"]);
  });

  it("Bundle.B1 Bundle.B2 Bundle.B3 is refused into a folder with a file, with other refs, or with other bytes", async () => {
    const root = scratchFolder();
    await writeFile(join(root, "mine"), "unread");
    const bundle = await bundleWorkspace({ root });
    expect((await errorOf(() => restoreBundle({ root, bundle }))).code).toBe("WORKSPACE_NOT_EMPTY");
    expect((await errorOf(() => restoreBundle({ root: scratchFolder(), bundle: { ...bundle, sha256: "0" } }))).code).toBe(
      "WORKSPACE_BUNDLE",
    );
    await git(root, "update-ref", "refs/replace/x", "refs/troupe/present");
    await git(root, "bundle", "create", "--quiet", "hostile", "refs/troupe/present", "refs/replace/x");
    const bytes = new Uint8Array(await readFile(join(root, "hostile")));
    const hostile = { bytes, sha256: createHash("sha256").update(bytes).digest("hex"), branch: "main" };
    expect((await errorOf(() => restoreBundle({ root: scratchFolder(), bundle: hostile }))).message).toContain("refs/replace/x");
  });
});
