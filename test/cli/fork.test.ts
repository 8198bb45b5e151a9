import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ResultReport } from "../../src/cli/report.ts";
import { openaiStub } from "../../src/testing/index.ts";
import { fence, prd } from "../actions/greeter.ts";
import { git, playing, resultOf } from "../adversarial/hostile-model.ts";
import { someOf } from "../long.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import {
  command,
  contentsOf,
  eventsIn,
  expectEnd,
  freshFolder,
  greeting,
  idsIn,
  linesIn,
  newestIn,
  stoppedRun,
  taskOf,
} from "./kept-run.ts";

/** A whole run of the small project, which every test forks. */
const parent = parentRun();

afterAll(async () => (await parent).stub.close());

async function parentRun() {
  const stub = await openaiStub({ handler: playing({ "RewriteCode: src/greet.js (round 1)": fence("x") }) });
  const cwd = freshFolder();
  const { stdout } = await expectEnd(cwd, greeting(stub.url, "--price", "1,4", "--out", "project", "--seed", "1", "--json"), 0);
  return { cwd, id: await newestIn(cwd), events: eventsIn(stdout), result: resultOf(stdout) as ResultReport, stub };
}

function seqOf(events: readonly RunEvent[], cause: string): number {
  return events.find((event) => event.type === "act.ended" && event.said.some(({ message }) => message.causeBy === cause))?.seq ?? -1;
}

describe("troupe fork", () => {
  it(
    "that changes nothing pays nothing, from any place, and has the same project in a folder of its own",
    { tags: ["company", "long"] },
    async () => {
      const { cwd, id, events, result, stub } = await parent;
      const project = join(cwd, "project");
      const places = someOf([events.length - 1, seqOf(events, "WriteTasks"), 1], 2);
      for (const at of places) {
        const { code, stdout } = await command(cwd, ["fork", id, "--at", String(at), "--json"]);
        const report = resultOf(stdout) as ResultReport;
        expect({ code, at }).toEqual({ code: 0, at });
        expect(report).toMatchObject({ cost: { known: 0 }, fork: { parent: { runId: id, at }, paid: 0, saved: result.cost.known } });
        expect(report.out).not.toBe(project);
        expect(contentsOf(report.out)).toEqual(contentsOf(project));
        expect(git(report.out, "log", "--format=%an: %s")).toBe(git(project, "log", "--format=%an: %s"));
        expect(await command(cwd, ["replay", report.runId])).toMatchObject({ code: 0 });
      }
      expect(stub.requests).toHaveLength(8);
      expect(readdirSync(join(cwd, "workspace"))).toEqual(["project", "project-2", "project-3"].slice(0, places.length));
    },
  );

  it(
    "with another idea pays for what follows from it, and tells the first difference with both requests",
    { tags: ["company", "long"] },
    async () => {
      const { cwd, id, stub } = await parent;
      const before = stub.requests.length;
      writeFileSync(join(cwd, "idea.md"), "Greet me in French\n");
      const { code, stdout } = await command(cwd, ["fork", id, "--edit", "1=idea.md", "--out", "french"]);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^ {2}Fork +of \S+ at event 1: \d+ answers reused \(\d+ of models\), 1 model call made, \$0\.\d+ saved$/m);
      expect(stdout).toContain('\nFirst difference: Alice#0~1 asked something else of "gpt-5-mini"');
      expect(stdout).toMatch(/parent:\n[^]*> +\d+ \| Greet me on a page\n[^]*fork:\n[^]*> +\d+ \| Greet me in French\n/);
      expect(stub.requests.map(taskOf).slice(before)).toEqual(["WritePrd"]);
      expect(readFileSync(join(cwd, "french/docs/requirement.txt"), "utf8")).toBe("Greet me in French\n");
      expect(readFileSync(join(cwd, "project/docs/requirement.txt"), "utf8")).toBe("Greet me on a page\n");
    },
  );

  it("with other data in a message asks anew whoever reads it", { tags: ["company", "long"] }, async () => {
    const { cwd, id, events, stub } = await parent;
    const before = stub.requests.length;
    writeFileSync(join(cwd, "prd.json"), JSON.stringify({ ...prd, productGoals: ["Greet in verse"] }));
    const at = seqOf(events, "WritePrd");
    const { code, stdout } = await command(cwd, ["fork", id, "--edit", `${at}=prd.json`, "--json"]);
    expect(code).toBe(0);
    const asked = stub.requests.slice(before);
    expect(asked.map(taskOf)).toContain("WriteDesign");
    expect(asked.map(taskOf)).not.toContain("WritePrd");
    expect(JSON.stringify(asked[0])).toContain("Greet in verse");
    expect(resultOf(stdout)).toMatchObject({ fork: { paid: asked.length, difference: { act: "Bob#0~1" } } });
  });

  it(
    "with another model asks it everything that comes after, and goes on with it when it is stopped",
    { tags: ["company", "long"] },
    async () => {
      const { cwd, id, events, stub } = await parent;
      const before = stub.requests.length;
      const at = seqOf(events, "WriteTasks");
      const flags = ["--model", "other", "--price", "2,8"];
      const first = await command(cwd, ["fork", id, "--at", String(at), ...flags, "--rounds", "5", "--json"]);
      expect({ code: first.code, models: new Set(stub.requests.slice(before).map(({ model }) => model)) }).toEqual({
        code: 4,
        models: new Set(["other"]),
      });
      const { code, stdout } = await command(cwd, ["resume", "--rounds", "30", "--json"]);
      expect(code).toBe(0);
      expect(resultOf(stdout)).toMatchObject({ runId: await newestIn(cwd), out: (resultOf(first.stdout) as ResultReport).out });
      expect(stub.requests.slice(before).map(({ model }) => model)).toEqual(
        Array.from({ length: stub.requests.length - before }, () => "other"),
      );
      expect(linesIn((await command(cwd, ["runs", "show", await newestIn(cwd), "--json"])).stdout)).toMatchObject([
        { about: { model: { id: "other", price: { input: 2, output: 8 } } }, parent: { runId: id, at } },
      ]);
    },
  );

  it("can ask for everything anew, with a seed of its own, which is recorded", { tags: ["company", "long"] }, async () => {
    const { cwd, id, stub } = await parent;
    const before = stub.requests.length;
    const { code, stdout } = await command(cwd, ["fork", id, "--at", "1", "--reuse", "none", "--seed", "9", "--json"]);
    expect([code, stub.requests.length - before]).toEqual([0, 8]);
    expect(eventsIn(stdout)[0]).toMatchObject({ type: "run.started", seed: "9" });
    expect(resultOf(stdout)).toMatchObject({ fork: { reused: 0, paid: 8 } });
  });
});

describe("a fork expectRefusal, and leaves no trace", () => {
  it.each([
    [["--at", "999999"], "FORK_POINT"],
    [["--at", "-1"], "OPTION_INVALID"],
    [["--reuse", "some"], "OPTION_INVALID"],
    [["--at", "x"], "OPTION_INVALID"],
    [["--edit", "1"], "OPTION_INVALID"],
    [["--edit", "1=none.md"], "FILE_UNREADABLE"],
    [["--edit", "999999=idea.md"], "FORK_POINT"],
    [["--edit", "0=idea.md"], "FORK_CHANGE"],
    [["--edit", "1.5=idea.md"], "FORK_CHANGE"],
    [["--drop", "1", "--at", "20"], "FORK_CHANGE"],
    [["--drop", "20", "--at", "3"], "FORK_POINT"],
    [["--add", "empty.md"], "OPTION_INVALID"],
    [["--rounds", "1", "--at", "20"], "ROUNDS_USED"],
    [["--out", "full"], "WORKSPACE_NOT_EMPTY"],
    [["--model", "gpt-5"], "MODEL_AUTH"],
  ])("%j", async (flags, reason) => {
    const { cwd, id } = await begun;
    const ended = await command(cwd, ["fork", id, ...flags]);
    expect(ended).toMatchObject({
      code: reason === "MODEL_AUTH" ? 7 : 2,
      stdout: "",
      stderr: expect.stringContaining(`(${reason})`) as string,
    });
    expect(await idsIn(cwd)).toEqual([id]);
    expect(readdirSync(join(cwd, "workspace"))).toEqual(["todo"]);
    expect(existsSync(join(cwd, "full/docs"))).toBe(false);
  });
});

const begun = (async () => {
  const { cwd, id } = await stoppedRun();
  writeFileSync(join(cwd, "idea.md"), "Another idea\n");
  writeFileSync(join(cwd, "empty.md"), " \n");
  mkdirSync(join(cwd, "full/of/something"), { recursive: true });
  return { cwd, id };
})();
