import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/program.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { playing, resultOf } from "../adversarial/hostile-model.ts";
import { start } from "./child.ts";
import {
  command,
  contentsOf,
  eventsIn,
  expectEnd,
  expectRefusal,
  freshFolder,
  git,
  greeting,
  idsIn,
  newestIn,
  stoppedRun,
  terminalHost,
} from "./kept-run.ts";

describe("a run that used up its rounds", () => {
  it("says in its summary how it continues, and does", async () => {
    const cwd = freshFolder();
    const { stdout } = await expectEnd(cwd, ["demo", "todo", "--rounds", "2", "--no-run-tests"], 4);
    const [, id = ""] = /^ {2}Run +(\S+)$/m.exec(stdout) ?? [];
    expect(stdout).toContain(`  Go on    troupe resume ${id}\n`);
    await expectEnd(cwd, ["resume", id, "--rounds", "3"], 4, 'which ended as "rounds".');
  });

  it("gets as many again by continue, which needs no id, and prints all of its events", async () => {
    const { cwd } = await stoppedRun();
    const { code, stdout } = await command(cwd, ["continue", "--json"]);
    expect(code).toBe(4);
    expect(eventsIn(stdout).map(({ seq }) => seq)).toEqual(eventsIn(stdout).map((_, n) => n));
    expect(resultOf(stdout)).toMatchObject({ status: "rounds", rounds: 4, goOn: expect.stringMatching(/^troupe resume \w+$/) as string });
  });
});

describe("a store that was named", { tags: ["company", "long"] }, () => {
  it("is named in the line that goes on, and found there and by the environment", async () => {
    const cwd = freshFolder();
    const { stdout } = await command(cwd, ["demo", "todo", "--rounds", "1", "--out", "project", "--store", "my runs.db"]);
    expect(stdout).toMatch(/^ {2}Go on +troupe resume \S+ --store 'my runs\.db'$/m);
    expect((await command(cwd, ["resume", "--rounds", "2", "--quiet", "--store", "my runs.db"])).code).toBe(4);
    expect((await command(cwd, ["resume", "--rounds", "3", "--quiet"], { env: { TROUPE_STORE: "my runs.db" } })).code).toBe(4);
    expect(readdirSync(cwd).filter((name) => name === ".troupe")).toEqual([]);
  });
});

const stopped = stoppedRun();

describe("resume refuses", () => {
  it.each([
    [["--model", "gpt-5"], "MODEL_FIXED", "troupe fork <id> --model <name>"],
    [["nobody"], "RUN_UNKNOWN", "troupe runs ls"],
    [["--rounds", "1"], "ROUNDS_USED", "counts the rounds since"],
    [["--budget", "abc"], "OPTION_INVALID", "such as 3 or 0.50"],
    [["a", "b"], "COMMAND_INVALID", "troupe --help"],
  ])("%j", async (words, code, todo) => {
    const ended = await expectRefusal((await stopped).cwd, ["resume", ...words], `(${code})`);
    expect([ended.stdout, ended.stderr]).toEqual(["", expect.stringContaining(todo)]);
  });
});

describe("money", () => {
  it("that was used up can be raised, and no call is made again for it", async () => {
    await using stub = await openaiStub({ handler: playing() });
    const cwd = freshFolder();
    const first = await expectEnd(cwd, greeting(stub.url, "--price", "1,4", "--budget", "0.07", "--json"), 3);
    expect(resultOf(first.stdout)).toMatchObject({ goOn: expect.stringMatching(/ --budget 0\.14$/) as string });
    const asked = stub.requests.length;
    await expectEnd(cwd, ["resume", "--quiet"], 3);
    expect(stub.requests).toHaveLength(asked);
    await expectEnd(cwd, ["resume", "--budget", "2", "--quiet"], 0);
    expect(stub.requests).toHaveLength(8);
  });
});

describe("a project that somebody changed since", () => {
  async function changed(): Promise<{ readonly cwd: string; readonly project: string }> {
    const { cwd } = await stoppedRun(3, "--out", "project");
    const project = join(cwd, "project");
    writeFileSync(join(project, "docs/requirement.txt"), "mine\n");
    rmSync(join(project, "docs/prd/todo-cli.md"));
    writeFileSync(join(project, "README.md"), "mine too\n");
    return { cwd, project };
  }

  const kept = changed();

  it("is told file by file, and nothing is written over", async () => {
    const { cwd, project } = await kept;
    const before = contentsOf(project);
    const { stderr } = await expectRefusal(cwd, ["resume", "--rounds", "20"], "(WORKSPACE_CHANGED)");
    for (const line of ["added    README.md", "removed  docs/prd/todo-cli.md", "changed  docs/requirement.txt"])
      expect(stderr).toContain(`  ${line}\n`);
    expect(contentsOf(project)).toEqual(before);
  });

  it("is gone on with by force: what the company does not write stays as it is", { tags: ["company", "long"] }, async () => {
    const { cwd, project } = await changed();
    expect((await command(cwd, ["resume", "--rounds", "20", "--force", "--quiet"])).code).toBe(0);
    expect(readFileSync(join(project, "docs/requirement.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(project, "README.md"), "utf8")).not.toBe("mine too\n");
    expect(await command(cwd, ["replay", await newestIn(cwd)])).toMatchObject({ code: 0 });
  });

  it.each([
    ["n", 130],
    ["y", 4],
  ])("is asked about on a terminal; the answer %s ends with %i", { tags: ["company", "long"] }, async (answer, code) => {
    const { cwd, project } = await kept;
    const host = terminalHost({ cwd });
    host.answers(answer);
    expect(await main(host, ["resume", "--rounds", "4"])).toBe(code);
    expect(readFileSync(join(project, "README.md"), "utf8") === "mine too\n").toBe(code === 130);
  });
});

describe("a project in the folder one works in", { tags: ["company", "long"] }, () => {
  it("is not full because runs are kept there, and git never sees them", async () => {
    const { cwd } = await stoppedRun(2, "--out", ".");
    expect((await command(cwd, ["resume", "--rounds", "20", "--quiet"])).code).toBe(0);
    expect(git(cwd, "ls-files")).not.toContain(".troupe");
    expect(git(cwd, "status", "--short")).toBe("");
    expect((await command(cwd, ["demo", "todo", "--out", ".", "--rounds", "1", "--quiet"])).stderr).toContain("WORKSPACE_NOT_EMPTY");
  });
});

describe("two processes and one run", () => {
  it("the second is refused, whatever it wants with the run, and may look at it", { tags: ["company", "long"] }, async () => {
    await using stub = await openaiStub({ reply: { fault: "stall", after: 0 } });
    const cwd = freshFolder();
    const first = start(greeting(stub.url, "--json"), { cwd });
    await first.until("stdout", /step\.started/);
    const id = await newestIn(cwd);
    for (const words of [["resume"], ["resume", id], ["runs", "rm", id, "--yes"]]) {
      await expectRefusal(cwd, words, "RUN_OWNED");
    }
    // An answer goes to the process that drives the run, which asks nothing now.
    await expectRefusal(cwd, ["answer", id, "red"], "QUESTION_MISSING");
    const shown = await command(cwd, ["runs", "show", id, "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: "open", roles: [{ name: "Alice", isOpen: true }, {}, {}, {}, {}] });
    expect((await command(cwd, ["runs", "export", id])).code).toBe(0);
    first.process.kill("SIGTERM");
    expect(await first.ended).toBe(143);
    expect(await idsIn(cwd)).toEqual([id]);
    expect((await command(cwd, ["runs", "rm", id, "--yes"])).code).toBe(0);
    expect(await idsIn(cwd)).toEqual([]);
  });
});
