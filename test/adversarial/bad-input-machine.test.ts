import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub } from "../../src/testing/index.ts";
import { fence } from "../actions/greeter.ts";
import { run } from "../cli/child.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { playing, resultOf } from "./hostile-model.ts";

const cwd = scratchFolder();

/** A model's test that leaves a trace where it runs without a sandbox. */
function tracing(file: string): string {
  return fence(
    `import { writeFileSync } from "node:fs";\nimport { test } from "node:test";\ntest("ran", () => writeFileSync(${JSON.stringify(file)}, ""));\n`,
  );
}

/** Lets a real model's company work where neither git nor bubblewrap is. */
async function bareRun(name: string, ...words: readonly string[]): ReturnType<typeof run> {
  const at = join(cwd, name);
  mkdirSync(at);
  await using stub = await openaiStub({ handler: playing({ "WriteTest: tests/greet.test.mjs": tracing(join(at, "trace")) }) });
  return await run(["Greet me on a page", "--crew", "waterfall", "--base-url", stub.url, "--out", "project", ...words], {
    cwd: at,
    env: { PATH: at },
  });
}

describe("a machine without git and without bubblewrap", () => {
  const refused = bareRun("refused");

  it("does not run what a real model wrote, and says how to allow it, before the run and after", async () => {
    const { code, stdout, stderr } = await refused;
    expect(code).toBe(0);
    expect(existsSync(join(cwd, "refused/trace"))).toBe(false);
    expect(stderr.split("\n")[0]).toMatch(/tests will not run.*--sandbox none/);
    expect(stdout).toMatch(/Tests\s+not run\..*--sandbox none/);
  });

  it("tells a program the same", { tags: ["company", "long"] }, async () => {
    const { stdout } = await bareRun("told", "--json");
    expect(resultOf(stdout)).toMatchObject({
      exitCode: 0,
      tests: { tests: "not run", total: 0, hint: expect.stringContaining("--sandbox none") },
    });
  });

  it("runs it when it is told to, after a warning", { tags: ["company", "long"] }, async () => {
    const { code, stdout, stderr } = await bareRun("allowed", "--sandbox", "none");
    expect(code).toBe(0);
    expect(stderr.split("\n")[0]).toContain("without isolation");
    expect(stdout).toMatch(/Tests\s+1 passed/);
    expect(existsSync(join(cwd, "allowed/trace"))).toBe(true);
  });

  it("does not run it either when bubblewrap is demanded", { tags: ["company", "long"] }, async () => {
    const { stdout } = await bareRun("demanded", "--sandbox", "bubblewrap");
    expect(stdout).toMatch(/Tests\s+not run/);
    expect(existsSync(join(cwd, "demanded/trace"))).toBe(false);
  });

  it("writes the whole project without a history, and says so once", async () => {
    const { stderr } = await refused;
    expect(stderr.match(/keeps no history: git is not on the PATH/g)).toHaveLength(1);
    const files = readdirSync(join(cwd, "refused/project"));
    expect(files).toEqual(expect.arrayContaining(["docs", "index.html", "src", "tests"]));
    expect(files).not.toContain(".git");
  });
});
