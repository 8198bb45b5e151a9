import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { greetJs } from "../actions/greeter.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { command } from "../cli/kept-run.ts";
import { git, playing, resultOf } from "./hostile-model.ts";

const cwd = scratchFolder();
/** Works long enough to write into its folder. */
const briefly = ["demo", "todo", "--rounds", "1", "--quiet"];

/** A new folder to be in. */
function folder(name: string): string {
  mkdirSync(join(cwd, name));
  return join(cwd, name);
}

/** Every file below a folder with its text, but what git keeps for itself. */
function contentOf(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes("/.git/"));
  return Object.fromEntries(files.map((path) => [path.slice(root.length + 1), readFileSync(path, "utf8")]));
}

describe("an output folder", () => {
  it("that holds something is refused, named, and left as it is", async () => {
    const at = folder("full");
    mkdirSync(join(at, "mine/docs"), { recursive: true });
    writeFileSync(join(at, "mine/docs/requirement.txt"), "mine");
    const before = contentOf(at);
    const { code, stdout, stderr } = await command(at, [...briefly, "--out", "mine"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/Expected an empty output folder, but ".*mine" holds docs\..*\(WORKSPACE_NOT_EMPTY\)/);
    expect(contentOf(at)).toEqual(before);
    expect(readdirSync(join(at, "mine"))).toEqual(["docs"]);
  });

  it(
    "that holds something is worked in by force: what the company does not write stays, and is in no commit of its",
    { tags: ["company", "long"] },
    async () => {
      const at = folder("forced");
      git(at, "init", "--quiet", "mine");
      writeFileSync(join(at, "mine/notes.txt"), "mine");
      expect(await command(at, [...briefly, "--out", "mine", "--force"])).toMatchObject({ code: 4 });
      expect(readFileSync(join(at, "mine/notes.txt"), "utf8")).toBe("mine");
      expect(git(join(at, "mine"), "status", "--short")).toBe("?? notes.txt");
    },
  );

  it("that holds a repository and runs alone counts as empty, and both stay", async () => {
    const at = folder("empty");
    git(at, "init", "--quiet", "--initial-branch=theirs", "mine");
    mkdirSync(join(at, "mine/.troupe"));
    writeFileSync(join(at, "mine/.troupe/runs"), "runs");
    expect(await command(at, [...briefly, "--out", "mine"])).toMatchObject({ code: 4 });
    expect(readFileSync(join(at, "mine/.troupe/runs"), "utf8")).toBe("runs");
    expect(git(join(at, "mine"), "branch", "--show-current")).toBe("theirs");
    expect(git(join(at, "mine"), "log", "--format=%s")).toMatch(/^Write the requirements/);
  });

  it("that is missing is made, with those above it", async () => {
    const at = folder("missing");
    expect(await command(at, [...briefly, "--out", "a/b/c"])).toMatchObject({ code: 4 });
    expect(readdirSync(join(at, "a/b/c"))).toContain("docs");
  });

  it.runIf(process.platform === "linux")("that cannot be written is refused, whoever one is", async () => {
    const { code, stdout, stderr } = await command(folder("unwritable"), [...briefly, "--out", "/proc/project"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/"\/proc\/project" cannot be changed\. Choose a folder you may write to\. \(WORKSPACE_UNWRITABLE\)/);
  });

  it("that is a link leading nowhere is refused, and nothing is made at its end", async () => {
    const at = folder("link");
    symlinkSync(join(at, "nowhere"), join(at, "link"));
    expect(await command(at, [...briefly, "--out", "link"])).toMatchObject({ code: 2 });
    expect(readdirSync(at)).toEqual(["link"]);
  });

  it("is told of before any model is asked", async () => {
    await using stub = await openaiStub({ handler: playing() });
    const at = folder("unasked");
    writeFileSync(join(at, "file"), "mine");
    expect(await command(at, ["Greet me on a page", "--crew", "waterfall", "--base-url", stub.url, "--out", "file"])).toMatchObject({
      code: 2,
    });
    expect(stub.requests).toEqual([]);
  });
});

describe("an output folder that somebody changes while the company works", () => {
  /** Lets the company work; before its second file is written, `change` happens to its project. */
  async function disturbed(name: string, change: (project: string) => void): ReturnType<typeof command> {
    const at = folder(name);
    const project = join(at, "project");
    const handler = playing({}, (task) => (task === "WriteCode: index.html" ? change(project) : undefined));
    await using stub = await openaiStub({ handler });
    return await command(at, ["Greet me on a page", "--crew", "waterfall", "--base-url", stub.url, "--out", "project", "--json"]);
  }

  it("a link in a file's place is not written through", { tags: ["company", "long"] }, async () => {
    const victim = join(cwd, "victim.html");
    writeFileSync(victim, "mine");
    const { code, stdout } = await disturbed("linked", (project) => symlinkSync(victim, join(project, "index.html")));
    expect(code).toBe(1);
    expect(resultOf(stdout).error?.code).toBe("WORKSPACE_PATH");
    expect(readFileSync(victim, "utf8")).toBe("mine");
  });

  it("a link in a folder's place is not written through either", async () => {
    const outside = folder("outside");
    const { code, stdout } = await disturbed("moved", (project) => {
      renameSync(join(project, "src"), join(project, "old"));
      symlinkSync(outside, join(project, "src"));
    });
    expect(code).toBe(1);
    expect(resultOf(stdout).error?.code).toBe("WORKSPACE_PATH");
    expect(readdirSync(outside)).toEqual([]);
  });

  it("a file in its own place ends the run, and stays", { tags: ["company", "long"] }, async () => {
    const { code, stdout } = await disturbed("replaced", (project) => {
      rmSync(project, { recursive: true });
      writeFileSync(project, "mine");
    });
    expect(code).toBe(1);
    expect(resultOf(stdout).error?.code).toBe("WORKSPACE_NOT_A_FOLDER");
    expect(readFileSync(join(cwd, "replaced/project"), "utf8")).toBe("mine");
  });

  it(
    "another git at work in it ends the run: the files are written, and nothing of git's is broken",
    { tags: ["company", "long"] },
    async () => {
      const lock = (project: string): string => join(project, ".git/index.lock");
      const { code, stdout } = await disturbed("locked", (project) => writeFileSync(lock(project), ""));
      expect(code).toBe(1);
      expect(resultOf(stdout).error?.code).toBe("WORKSPACE_GIT");
      const project = join(cwd, "locked/project");
      expect(readFileSync(join(project, "src/greet.js"), "utf8")).toBe(greetJs);
      rmSync(lock(project));
      expect(git(project, "fsck", "--strict", "--no-dangling")).toBe("");
      expect(git(project, "log", "--format=%s").split("\n")).toHaveLength(3);
    },
  );
});
