import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startInShell } from "../cli/child.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { git } from "./hostile-model.ts";
import { someOf } from "../long.ts";

const cwd = scratchFolder();
const project = "demo todo --out project --no-run-tests";
/** The same, stopped after two rounds, which ends it with 4. */
const begun = `${project} --rounds 2`;

/** Runs a line of a shell in a folder of its own. */
async function shell(name: string, line: string): Promise<{ readonly at: string; readonly stdout: string; readonly stderr: string }> {
  const at = join(cwd, name);
  mkdirSync(at);
  const child = startInShell(line, { cwd: at });
  expect(await child.ended).toBe(0);
  return { at, ...child.said };
}

/** Everything the company wrote is in a commit, and the repository is sound. */
function expectSound(root: string): void {
  expect(git(root, "status", "--short")).toBe("");
  expect(git(root, "fsck", "--strict", "--no-dangling")).toBe("");
}

describe("streams that are closed", () => {
  it("output to a reader that takes one line: quietly, and what is written is whole", { tags: ["company", "long"] }, async () => {
    const { at, stdout, stderr } = await shell("head", `{ troupe ${project} --json --quiet; echo "code $?" >&2; } | head -n 1`);
    expect(JSON.parse(stdout)).toMatchObject({ type: "run.started" });
    expect(stderr).toBe("code 0\n");
    if (existsSync(join(at, "project/docs"))) expectSound(join(at, "project"));
  });

  it("progress to a reader that takes one line: the company works on", { tags: ["company", "long"] }, async () => {
    const { at, stdout } = await shell("progress", `{ troupe ${begun}; echo "code $?" > code; } 2>&1 | head -n 1; cat code`);
    expect(stdout).toMatch(/^Playing the bundled script.*\ncode 4\n$/);
    expectSound(join(at, "project"));
  });

  it.each([
    ["help", "--help"],
    ["version", "--version"],
    ["doctor", "doctor"],
  ])("the words of %s to a reader that takes nothing", async (name, words) => {
    const { stderr } = await shell(name, `{ troupe ${words}; echo "code $?" >&2; } | true`);
    expect(stderr).toBe("code 0\n");
  });

  const closings = [
    ["all", "<&- >&- 2>&-"],
    ["input", "<&-"],
    ["output", ">&-"],
    ["errors", "2>&-"],
  ] as const;

  it.each(someOf(closings, 0))("%s from the beginning: the project is made all the same", { tags: "company" }, async (name, closed) => {
    const { at, stdout } = await shell(`closed-${name}`, `(troupe ${project} ${closed}); echo "code $?"`);
    expect(stdout).toMatch(/^code 0$/m);
    expectSound(join(at, "project"));
    expect(existsSync(join(at, "project/src/todo.mjs"))).toBe(true);
  });

  it("input where the idea should come from: there is none, and that is told", async () => {
    const { stdout, stderr } = await shell("idea", `troupe - <&-; echo "code $?"`);
    expect(stdout).toBe("code 2\n");
    expect(stderr).toContain("(IDEA_MISSING)");
  });
});

describe("streams that do not end, or take nothing", () => {
  it.runIf(existsSync("/dev/full"))(
    "a full disk behind the output: 1, told on the other stream",
    { tags: ["company", "long"] },
    async () => {
      const { stdout, stderr } = await shell("full", `(troupe ${begun} --quiet > /dev/full); echo "code $?"`);
      expect(stdout).toBe("code 1\n");
      expect(stderr).toMatch(/^error: Expected to write to standard output, but .*no space.* \(OUTPUT_UNWRITABLE\)\n$/);
    },
  );

  it.runIf(existsSync("/dev/zero"))("an idea without end", async () => {
    const { stdout, stderr } = await shell("endless", `troupe - < /dev/zero; echo "code $?"`);
    expect(stdout).toBe("code 2\n");
    expect(stderr).toContain("(IDEA_TOO_LONG)");
  });

  it("an idea that is no text", async () => {
    const { stdout, stderr } = await shell("bytes", String.raw`printf 'a \377\376 game' | troupe -; echo "code $?"`);
    expect(stdout).toBe("code 2\n");
    expect(stderr).toContain("(IDEA_BINARY)");
  });

  it("a folder that is gone before the command begins: no stack, but what to do", async () => {
    const { stdout, stderr } = await shell("gone", `mkdir away && cd away && rmdir ../away && troupe ${project}; echo "code $?"`);
    expect(stdout).toBe("code 2\n");
    expect(stderr).toMatch(/^error: Expected to be in a folder.*\(CWD_GONE\)\n$/m);
  });
});
