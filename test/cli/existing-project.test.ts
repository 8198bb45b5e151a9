import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { openaiStub, type OpenAIStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody } from "../../src/testing/stub-reply.ts";
import { accepted, adding, brief, RIGHT, test as written } from "../roles/adder.ts";
import { command, expectRefusal, git, linesIn, newestIn, placed, reach } from "./kept-run.ts";

const files = {
  "package.json": '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
  "README.md": "# sums\r\n\r\nIt adds.\r\n",
  "src/add.mjs": adding(RIGHT).content,
  "tests/add.test.mjs": written.content,
};

/** A folder with a project in a repository of its own, in which everything is committed. */
function repository(placedFiles: Readonly<Record<string, string>> = files): { readonly cwd: string; readonly project: string } {
  const { cwd } = placed(Object.fromEntries(Object.entries(placedFiles).map(([path, content]) => [`sums/${path}`, content])));
  const project = join(cwd, "sums");
  git(project, "init", "--quiet");
  git(project, "config", "core.autocrlf", "false");
  git(project, "add", "-A");
  git(project, "commit", "--quiet", "-m", "Begin");
  return { cwd, project };
}

const criterion = {
  id: "A1",
  priority: "P0",
  given: "two numbers",
  when: "they are multiplied",
  then: "the product is printed",
  check: { kind: "command", steps: [{ run: ["node", "src/times.mjs", "2", "3"], stdout: { equals: "6" } }] },
};
const times = { path: "src/times.mjs", content: "const [a, b] = process.argv.slice(2).map(Number);\nconsole.log(a * b);\n" };
const called = (name: string, args: unknown): { name: string; arguments: string } => ({ name, arguments: JSON.stringify(args) });

/** A model that adds a command to the project. */
function changing(): Promise<OpenAIStub> {
  const replies: Readonly<Record<string, StubReply>> = {
    Alice: { text: brief("S", { criteria: [criterion] }) },
    Alex: { text: "", toolCalls: [called("write_files", { files: [times] }), called("done", { summary: "Multiplies." })] },
    Vera: { text: accepted },
  };
  const roleOf = ({ messages }: OpenAIBody): string =>
    /You are an? [\w ]+, named (\w+)/.exec(JSON.stringify(messages.slice(0, 2)))?.[1] ?? "";
  return openaiStub({ handler: (body) => replies[roleOf(body)] ?? { text: "?" } });
}

async function changed(cwd: string, stub: OpenAIStub, ...more: readonly string[]): Promise<{ code: number | null; report: ResultReport }> {
  const words = ["run", "Multiply, too", "--in", "sums", ...reach(stub), "--json", ...more];
  const { code, stdout } = await command(cwd, words);
  return { code, report: linesIn(stdout).at(-1) as ResultReport };
}

describe("a project that is there", () => {
  it(
    "is changed in place when everything is committed: a commit, a diff, and the rest byte for byte",
    { tags: ["company", "long"] },
    async () => {
      await using stub = await changing();
      const { cwd, project } = repository();
      const { code, report } = await changed(cwd, stub);
      expect([code, report.delivery?.isDone]).toEqual([0, true]);
      expect(report.change).toMatchObject({ place: "in place", branch: "main", left: [] });
      expect(report.change?.files).toContainEqual({ path: "src/times.mjs", change: "added" });
      expect(report.change?.diff).toContain("+console.log(a * b);");
      for (const [path, content] of Object.entries(files)) expect(readFileSync(join(project, path), "utf8")).toBe(content);
      expect(git(project, "status", "--porcelain")).toBe("");
    },
  );

  it(
    "with uncommitted changes is changed on a branch of its own, with force too, and nothing of the user's moves",
    { tags: ["company", "long"] },
    async () => {
      await using stub = await changing();
      const { cwd, project } = repository();
      writeFileSync(join(project, "src/add.mjs"), "// mine, not committed\n");
      const { code, report } = await changed(cwd, stub, "--force");
      expect([code, report.change?.place]).toEqual([0, "worktree"]);
      expect(readFileSync(join(project, "src/add.mjs"), "utf8")).toBe("// mine, not committed\n");
      expect(git(project, "show", `${report.change?.branch ?? ""}:src/times.mjs`)).toContain("a * b");
      expect(git(project, "status", "--porcelain").split("\n")).toContain("M src/add.mjs");
    },
  );

  it("is changed further on its branch when the user says more, and git is told how to take it over", async () => {
    await using stub = await changing();
    const { "tests/add.test.mjs": _tests, ...untested } = files;
    const { cwd, project } = repository(untested);
    writeFileSync(join(project, "notes.txt"), "mine\n");
    const { report } = await changed(cwd, stub);
    const { branch = "", base = "", commit = "", files: own } = report.change ?? {};
    // The criteria are kept beside the project, and hold for the next change.
    expect(own).toEqual([{ path: "src/times.mjs", change: "added" }]);
    expect(readFileSync(join(project, ".troupe/acceptance.json"), "utf8")).toContain('"A1"');
    expect(git(project, "status", "--porcelain")).toBe("?? notes.txt");
    const more = await command(cwd, ["tell", report.runId, "And say so in notes.txt", "--base-url", stub.url]);
    expect(more.code).toBe(0);
    expect(more.stdout).toContain(`Diff      git -C ${project} diff ${base.slice(0, 10)}..${branch}\n`);
    expect(git(project, "branch", "--list", "troupe/*").trim()).toBe(branch);
    expect(git(project, "rev-list", `${base}..${branch}`)).toContain(commit);
    const take = /Take +(git .*) \(git refuses a merge/.exec(more.stdout.replaceAll(/\n {12}/g, " "))?.[1] ?? "false";
    execFileSync("sh", ["-c", take], { cwd });
    expect(readFileSync(join(project, "src/times.mjs"), "utf8")).toContain("a * b");
  });

  it("without a repository tells every file that was written, also when another process goes on", async () => {
    await using stub = await changing();
    const { cwd, project } = repository();
    rmSync(join(project, ".git"), { recursive: true });
    mkdirSync(join(project, "docs"));
    writeFileSync(join(project, "docs/requirement.md"), "mine\n");
    const first = await command(cwd, ["run", "Multiply, too", "--in", "sums", ...reach(stub), "--no-run-tests", "--documents"]);
    expect(first.stdout).toMatch(/Changed +added docs\/acceptance\.json, docs\/requirement\.md, added src\/times\.mjs\n/);
    expect(first.stderr).toContain("Nothing is committed, for it is no git repository; what files of yours held is kept in .troupe/kept.");
    await using other = await openaiStub({ reply: "no order" });
    const id = await newestIn(cwd);
    const again = await command(cwd, ["tell", id, "more", "--base-url", other.url]);
    expect([again.code, again.stderr]).toEqual([1, expect.not.stringContaining("its folder has changed")]);
    expect(again.stdout).toMatch(/Changed +added docs\/acceptance\.json, docs\/requirement\.md, added src\/times\.mjs\n/);
    expect(again.stdout).toMatch(/Go on +troupe resume \S+\n {2}Instead +with another model: troupe fork \S+ --model <name>\n/);
    expect(again.stdout).toMatch(/Replies +what the model answered: troupe runs events \S+ --type step\.ended --json\n/);
    const replies = await command(cwd, ["runs", "events", id, "--type", "step.ended", "--json"]);
    expect(replies.stdout).toContain("no order");
  });

  it("is refused with options that contradict each other, and the model is not asked", async () => {
    await using stub = await changing();
    const { cwd } = repository();
    const refused: readonly (readonly [words: readonly string[], error: string])[] = [
      [["--in", "sums", "--out", "other"], "OPTION_CONFLICT"],
      [["--inc"], "OPTION_CONFLICT"],
      [["--in-folder"], "OPTION_CONFLICT"],
      [["--documents"], "OPTION_CONFLICT"],
      [["--in", "sums", "--crew", "waterfall"], "OPTION_CONFLICT"],
      [["--in", "nowhere"], "WORKSPACE_NOT_A_FOLDER"],
    ];
    for (const [words, error] of refused) await expectRefusal(cwd, ["run", "Multiply, too", ...words, "--base-url", stub.url], error);
    expect(stub.requests).toEqual([]);
  });
});
