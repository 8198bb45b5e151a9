import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { memoryJournal, Team } from "../../src/index.ts";
import { fileWorkspace, memoryWorkspace, type Workspace } from "../../src/workspace/index.ts";
import { mayWrite } from "../../src/workspace/recorded-files.ts";
import { waterfallCompany } from "../../roles/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { replies } from "./greeter.ts";
import { pretendSandbox } from "./pretend-sandbox.ts";
import { taskModel } from "./task-script.ts";

/** All files below a folder, git's too, with what they hold and when they were written. */
function seen(root: string): Readonly<Record<string, readonly [content: string, mtime: number]>> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(root.length + 1), [readFileSync(path, "utf8"), statSync(path).mtimeMs]] as const),
  );
}

function company(workspace: Workspace): Team {
  const roles = waterfallCompany({ workspace, sandbox: pretendSandbox(() => "passed") });
  return new Team({ roles, model: taskModel(replies), seed: 1, journal });
}

const journal = memoryJournal();

describe("a replay of a company", () => {
  it("leaves the project as it is, to the millisecond, and makes all its files in a folder that was empty", async () => {
    const root = scratchFolder();
    const project = fileWorkspace({ root, git: true });
    expect((await company(project).run("Greet me", { id: "r", rounds: 30 }).result).status).toBe("finished");
    const before = seen(root);
    const again = await company(fileWorkspace({ root, git: true })).replay("r").result;
    expect([again.status, again.error]).toEqual(["finished", undefined]);
    expect(seen(root)).toEqual(before);

    const scratch = scratchFolder();
    expect((await company(fileWorkspace({ root: scratch, git: true })).replay("r").result).status).toBe("finished");
    const contents = (at: string): unknown =>
      Object.fromEntries(
        Object.entries(seen(at))
          .filter(([path]) => !path.startsWith(".git/"))
          .map(([path, [content]]) => [path, content]),
      );
    expect(contents(scratch)).toEqual(contents(root));
    const log = (at: string): string => execFileSync("git", ["log", "--format=%s%n%b"], { cwd: at, encoding: "utf8" });
    expect(log(scratch)).toBe(log(root));
  });
});

describe("mayWrite", () => {
  it("lets a live step write anywhere, and a replay only where nothing was", async () => {
    expect(await mayWrite(memoryWorkspace({ files: { a: "1" } }), "live")).toBe(true);
    expect(await mayWrite(memoryWorkspace({ files: { a: "1" } }), "replay")).toBe(false);
    const empty = memoryWorkspace();
    expect(await mayWrite(empty, "replay")).toBe(true);
    await empty.write("a", "1");
    expect(await mayWrite(empty, "replay")).toBe(true);
  });

  it("takes for a project what was written live in the meantime", async () => {
    const workspace = memoryWorkspace();
    expect(await mayWrite(workspace, "replay")).toBe(true);
    expect(await mayWrite(workspace, "live")).toBe(true);
    expect(await mayWrite(workspace, "replay")).toBe(false);
  });

  it("asks again after it could not look", async () => {
    const workspace = memoryWorkspace();
    const list = workspace.list.bind(workspace);
    workspace.list = () => Promise.reject(new Error("not now"));
    await expect(mayWrite(workspace, "replay")).rejects.toThrow("not now");
    workspace.list = list;
    expect(await mayWrite(workspace, "replay")).toBe(true);
  });
});
