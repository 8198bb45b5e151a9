import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { command, freshFolder, git } from "./kept-run.ts";

describe("--force", () => {
  it(
    "loses nothing of uncommitted work that stands where the company writes, and says where it is",
    { tags: ["company", "long"] },
    async () => {
      const cwd = freshFolder();
      const project = join(cwd, "project");
      mkdirSync(join(project, "docs"), { recursive: true });
      git(project, "init", "--quiet");
      const mine = { "README.md": "# Mine\r\nnot committed", "docs/prd.md": "my own plan\n", "notes.txt": "untouched" };
      for (const [path, content] of Object.entries(mine)) writeFileSync(join(project, path), content);
      git(project, "add", "notes.txt");
      git(project, "commit", "--quiet", "-m", "Begin");
      const first = await command(cwd, ["demo", "todo", "--out", "project", "--force", "--seed", "1", "--no-run-tests"]);
      expect(first.code).toBe(0);
      const replaced = ["README.md", "docs/prd.md"].filter(
        (path) => readFileSync(join(project, path), "utf8") !== mine[path as "README.md"],
      );
      expect(replaced.length).toBeGreaterThan(0);
      for (const path of replaced) {
        expect(readFileSync(join(project, ".troupe/kept", path), "utf8")).toBe(mine[path as "README.md"]);
        expect(first.stderr).toContain(path);
      }
      expect(first.stderr).toContain("project/.troupe/kept");
      expect(readFileSync(join(project, "notes.txt"), "utf8")).toBe("untouched");
      expect(git(project, "status", "--porcelain", "--", ".troupe")).toBe("");
    },
  );

  it("keeps none of the company's own files when a run goes on", { tags: ["company", "long"] }, async () => {
    const cwd = freshFolder();
    await command(cwd, ["demo", "todo", "--out", "project", "--seed", "1", "--no-run-tests", "--rounds", "4", "--quiet"]);
    expect((await command(cwd, ["resume", "--rounds", "20"])).code).toBe(0);
    expect(existsSync(join(cwd, "project/.troupe"))).toBe(false);
  });
});
