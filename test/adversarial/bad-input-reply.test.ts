import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openaiStub, type StubReply } from "../../src/testing/index.ts";
import { design, fence, tasks } from "../actions/greeter.ts";
import { scratchFolder } from "../cli/fake-host.ts";
import { command } from "../cli/kept-run.ts";
import { git, playing, resultOf, whole } from "./hostile-model.ts";
import { someOf } from "../long.ts";

const cwd = scratchFolder();
const prd = "docs/prd/greeter.json";
const plan = "docs/task/greeter.json";
const code = "src/greet.js";

interface Case {
  readonly what: string;
  readonly given: Readonly<Record<string, StubReply>>;
  readonly code: string;
  /** Files that were written before, and are there and committed after. */
  readonly kept: readonly string[];
}

const cases: readonly Case[] = [
  { what: "garbage", given: { WritePrd: "%%%% \u0007 <|im_end|>" }, code: "OUTPUT_INVALID", kept: [] },
  { what: "a wrong shape", given: { WriteDesign: '{"design":42}' }, code: "OUTPUT_INVALID", kept: [prd] },
  { what: "brackets without end", given: { WriteDesign: whole("[".repeat(50_000)) }, code: "OUTPUT_INVALID", kept: [prd] },
  {
    what: "a path that leaves the workspace",
    given: { WriteDesign: JSON.stringify({ ...design, fileList: ["../../outside/x.js"] }) },
    code: "OUTPUT_INVALID",
    kept: [prd],
  },
  {
    what: "a path from the root of the disk",
    given: { WriteTasks: JSON.stringify({ ...tasks, taskList: ["/tmp/outside.js"] }) },
    code: "OUTPUT_INVALID",
    kept: [prd],
  },
  {
    what: "a path into git",
    given: { WriteTasks: JSON.stringify({ ...tasks, taskList: [".git/hooks/pre-commit"] }) },
    code: "OUTPUT_INVALID",
    kept: [prd],
  },
  {
    what: "ten thousand files",
    given: { WriteTasks: whole(JSON.stringify({ ...tasks, taskList: Array.from({ length: 10_000 }, (_, n) => `src/${n}.js`) })) },
    code: "OUTPUT_INVALID",
    kept: [prd],
  },
  { what: "no code where code is asked for", given: { "WriteCode: index.html": "Let us talk." }, code: "CODE_MISSING", kept: [prd, plan] },
  {
    what: "a file larger than a project's may be",
    given: { "WriteCode: index.html": whole(fence(`<!doctype html>\n<p>${"x".repeat(1_100_000)}</p>\n`)) },
    code: "WORKSPACE_LIMIT",
    kept: [prd, plan],
  },
  { what: "a refusal", given: { "WriteCode: index.html": { fault: "refusal" } }, code: "MODEL_REFUSED", kept: [prd, plan] },
  { what: "half a reply", given: { "WriteCode: index.html": { fault: "length" } }, code: "MODEL_TRUNCATED", kept: [prd, plan] },
];

describe("a model of a real server that answers", () => {
  it.each(someOf(cases, 4))(
    "$what: exit code 1, $code, and what was written before is kept",
    { tags: "company" },
    async ({ what, given, code: expected, kept }) => {
      const at = join(cwd, what.replaceAll(" ", "-"));
      mkdirSync(at);
      await using stub = await openaiStub({ handler: playing(given) });
      const {
        code: exit,
        stdout,
        stderr,
      } = await command(at, ["Greet me on a page", "--crew", "waterfall", "--base-url", stub.url, "--out", "project", "--json"]);
      expect(exit).toBe(1);
      expect(resultOf(stdout)).toMatchObject({ exitCode: 1, error: { code: expected, message: expect.stringMatching(/^Expected /) } });
      expect(stderr).toContain(`(${expected})`);
      expect(stderr).not.toMatch(/[^\P{Cc}\n]/u);
      expect(readdirSync(at)).toEqual([".troupe", "project"]);
      const project = join(at, "project");
      for (const path of kept) expect(existsSync(join(project, path)), path).toBe(true);
      if (kept.length > 0) expect(git(project, "ls-files").split("\n")).toEqual(expect.arrayContaining([...kept]));
      expect(existsSync("/tmp/outside.js")).toBe(false);
    },
  );

  it("nonsense in the second file: the first one is there", { tags: ["company", "long"] }, async () => {
    const at = join(cwd, "second");
    mkdirSync(at);
    await using stub = await openaiStub({ handler: playing({ "WriteCode: index.html": "no" }) });
    await command(at, ["Greet me on a page", "--crew", "waterfall", "--base-url", stub.url, "--out", "project", "--quiet"]);
    expect(existsSync(join(at, "project", code))).toBe(true);
    expect(existsSync(join(at, "project/index.html"))).toBe(false);
  });
});
