import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import { type Verifier, verifyProject } from "../../src/checks/index.ts";
import { memoryJournal, Team } from "../../src/index.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { accepted, adding, around, brief, calling, criteria, RIGHT, roleIn, roleModel, WRONG, test as written } from "./adder.ts";
import { readAdder } from "./adder-reader.ts";
import { done, files, rest, sandbox, whole, work } from "./company-trial.ts";

describe("a small product", () => {
  it("is proven by its criteria, its tests and its review", async () => {
    const { result, delivery, workspace, calls } = await work({ ...rest, Alex: [calling(whole(RIGHT), done)] });
    expect(result.status).toBe("finished");
    expect(delivery.isDone).toBe(true);
    expect(delivery.verification.verdicts.map(({ id, outcome, by }) => [id, outcome, by])).toEqual([
      ["A1", "proven", "command"],
      ["A2", "proven", "command"],
    ]);
    expect(delivery.verification.suites).toEqual([expect.objectContaining({ kind: "passed", passed: 1 })]);
    expect(calls.length).toBeLessThanOrEqual(8);
    expect(await workspace.read("docs/requirement.md")).toBe("# Requirement\n\nA command that adds two numbers\n");
    expect(workspace.pending).toEqual([]);
  });

  it("is run by its engineer, and as a whole by its verifier", { tags: ["company", "long"] }, async () => {
    const ran: string[] = [];
    const verify: Verifier = (request) => {
      ran.push(request.depth);
      return verifyProject(request);
    };
    const { delivery } = await work({ ...rest, Alex: [calling(whole(RIGHT), done)] }, { verify });
    expect(delivery.isDone).toBe(true);
    expect(ran).toEqual(["quick", "whole"]);
  });

  it(
    "is handed over only when its checks are green: red ones go back to the engineer with their evidence",
    { tags: ["company", "long"] },
    async () => {
      const { delivery, calls } = await work({ ...rest, Alex: [calling(whole(WRONG), done), calling(files(adding(RIGHT)), done)] });
      expect(delivery.isDone).toBe(true);
      const second = calls.filter((request) => roleIn(request) === "Alex")[1];
      expect(String(second?.messages.at(-1)?.content)).toMatch(/^Error: FAILED A1 \(P0\).*"5".*"-1"/);
    },
  );

  it(
    "lacks a file of its stack: its engineer is told at once, and not by the verifier in another round",
    { tags: ["company", "long"] },
    async () => {
      const readme = around.filter(({ path }) => path === "README.md");
      const others = around.filter(({ path }) => path !== "README.md");
      const first = calling(files(...others, adding(RIGHT), written), done);
      const { delivery, calls } = await work({ ...rest, Alex: [first, calling(files(...readme), done)] });
      expect([readme.length, delivery.isDone, calls.length]).toEqual([1, true, 5]);
      const second = calls.filter((request) => roleIn(request) === "Alex")[1];
      expect(String(second?.messages.at(-1)?.content)).toContain("README.md: It is planned, and is not there.");
    },
  );

  it("is never done when its engineer cannot get it right", { tags: ["company", "long"] }, async () => {
    const wrong = calling(whole(WRONG), done);
    const again = (body: string): ScriptedReply => calling(files(adding(body)), done);
    const { result, delivery, calls } = await work(
      {
        ...rest,
        Alex: [wrong, again("return 4;"), again("return a * b;"), again("return b - a;"), again("return 4;"), again("return 4;")],
      },
      { verify: readAdder },
    );
    expect(result.status).toBe("finished");
    expect(delivery).toMatchObject({ isDone: false });
    expect(delivery.verification.verdicts[0]).toMatchObject({ id: "A1", outcome: "failed" });
    expect(calls.map(roleIn)).toEqual(["Alice", "Alice", ...Array.from({ length: 6 }, () => "Alex")]);
  });

  it("is told so too when the run was resumed between the two", async () => {
    const workspace = await openWorkspace({ root: scratchFolder(), git: false });
    const verify: Verifier = ({ criteria: all }) => {
      const verdicts = all.map(
        ({ id, priority }) => ({ ...{ id, priority, evidence: "5 is not 6" }, outcome: "failed", by: "command" }) as const,
      );
      return Promise.resolve({ verdicts, suites: [], faults: [] });
    };
    const journal = memoryJournal();
    const first = calling(whole(WRONG), done);
    const teamOf = (alex: readonly ScriptedReply[]) => {
      const model = roleModel({ ...rest, Alex: alex });
      return { model, team: new Team({ roles: softwareCompany({ workspace, sandbox, verify }), model, journal }) };
    };
    const stopped = await teamOf([first]).team.run("A command that adds two numbers", { id: "run" }).result;
    expect(stopped.status).toBe("failed");
    const { model, team } = teamOf([calling(files(adding(`${WRONG} `)), done)]);
    await team.resume("run").result;
    const [, third] = model.calls.filter((request) => roleIn(request) === "Alex");
    expect(String(third?.messages.at(-1)?.content)).toContain("Change the strategy");
  });

  it("is not done by an engineer who gives up", { tags: ["company", "long"] }, async () => {
    const { delivery } = await work({ ...rest, Alex: [calling(["give_up", { why: "Numbers cannot be added." }])] });
    expect(delivery).toMatchObject({ isDone: false, summary: "Numbers cannot be added." });
  });

  it("keeps its criteria whatever the engineer writes over them", { tags: ["company", "long"] }, async () => {
    const easy = { path: "docs/acceptance.json", content: '{"criteria":[]}' };
    const { delivery, workspace } = await work({ ...rest, Alex: [calling(files(easy, ...around, adding(RIGHT), written), done)] });
    expect(delivery.verification.verdicts).toHaveLength(2);
    expect(await workspace.read("docs/acceptance.json")).toContain('"A1"');
  });
});

describe("a check that no correct product passes", () => {
  const wrong = [
    { ...criteria[0], check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "6" } }] } },
  ];
  const dispute = ["dispute_check", { criterion: "A1", why: "2 and 3 are 5, and the check expects 6." }] as const;
  const answer = (isWrong: boolean) =>
    JSON.stringify({ reasons: "2 and 3 are 5.", isWrong, ...(isWrong ? { check: criteria[0]?.check } : {}) });

  it("goes back to the product manager, and is corrected by the user's words alone", { tags: ["company", "long"] }, async () => {
    const { delivery, calls, workspace } = await work(
      {
        Alice: [brief("S", { criteria: wrong }), answer(true)],
        Alex: [calling(whole(RIGHT), done), calling(dispute), calling(done)],
        Vera: [accepted],
      },
      { verify: readAdder },
    );
    expect(delivery.isDone).toBe(true);
    expect(delivery.assumptions).toContain("The check of A1 was corrected: 2 and 3 are 5.");
    expect(calls.map(roleIn)).toEqual(["Alice", "Alice", "Alex", "Alex", "Alice", "Alex", "Vera"]);
    expect(await workspace.read("docs/acceptance.json")).toContain('"equals": "5"');
  });

  it("stays where the product manager says so, and the product is not done", { tags: ["company", "long"] }, async () => {
    const { delivery, calls } = await work({
      Alice: [brief("S", { criteria: wrong }), answer(false)],
      Alex: [calling(whole(RIGHT), done), calling(dispute), calling(done), calling(["give_up", { why: "It expects 6." }])],
      Vera: [accepted],
    });
    expect(delivery).toMatchObject({ isDone: false, summary: "It expects 6." });
    expect(calls.length).toBeLessThanOrEqual(8);
  });
});

describe("the user's words", { tags: ["company", "long"] }, () => {
  it("reach everybody unchanged, however long they are", async () => {
    const rules = Array.from({ length: 40 }, (_rule, index) => `${index + 1}. Rule ${index + 1} holds for case ${index * 7}.`).join("\n");
    const idea = `A command that adds two numbers.\n${rules}`;
    const { calls } = await work({ ...rest, Alex: [calling(whole(RIGHT), done)] }, {}, idea);
    for (const { messages } of calls) expect(messages.map(({ content }) => content).join("\n")).toContain(idea);
  });
});

describe("a product of size M", () => {
  const design = (body: string) =>
    JSON.stringify({
      approach: "One function and a command around it.",
      files: [
        { path: "src/add.mjs", purpose: "the sum", code: adding(body).content },
        ...around.slice(0, 1).map(({ path, content }) => ({ path, purpose: "package", code: content })),
      ],
    });
  const stub = 'throw new Error("not written");';

  it("has a design that compiles and tests that fail before there is code", { tags: ["company", "long"] }, async () => {
    const { delivery, calls, workspace } = await work({
      Alice: [brief("M")],
      Bob: [design(stub)],
      Edward: [calling(files(written), done)],
      Alex: [calling(["read_files", { files: [{ path: "src/add.mjs" }] }], files(adding(RIGHT), ...around.slice(1)), done)],
      Vera: [accepted],
    });
    expect(delivery).toMatchObject({ isDone: true, size: "M" });
    expect(calls.map(roleIn)).toEqual(["Alice", "Alice", "Bob", "Edward", "Alex", "Vera"]);
    expect(await workspace.read("src/add.mjs")).toContain(RIGHT);
  });

  it("takes no test that passes on nothing", { tags: ["company", "long"] }, async () => {
    const empty = { path: written.path, content: 'import { test } from "node:test";\ntest("A1: adds", () => {});\n' };
    const { calls } = await work({
      Alice: [brief("M")],
      Bob: [design(stub)],
      Edward: [calling(files(empty), done), calling(files(written), done)],
      Alex: [calling(["read_files", { files: [{ path: "src/add.mjs" }] }], files(adding(RIGHT), ...around.slice(1)), done)],
      Vera: [accepted],
    });
    const second = calls.filter((request) => roleIn(request) === "Edward")[1];
    expect(String(second?.messages.at(-1)?.content)).toContain("No test in tests/add.test.mjs fails");
  });

  it("has tests that its engineer cannot change", async () => {
    const { delivery, workspace } = await work(
      {
        Alice: [brief("M")],
        Bob: [design(stub)],
        Edward: [calling(files(written), done)],
        Alex: [
          calling(
            ["read_files", { files: [{ path: "src/add.mjs" }, { path: written.path }] }],
            files(adding(RIGHT), ...around.slice(1), { ...written, content: "" }),
            done,
          ),
        ],
        Vera: [accepted],
      },
      { verify: readAdder },
    );
    expect(delivery.isDone).toBe(true);
    expect(await workspace.read(written.path)).toBe(written.content);
  });

  it("corrects a test that contradicts the order, and no other way", { tags: ["company", "long"] }, async () => {
    const wrongTest = { path: written.path, content: written.content.replace("add(2, 3), 5", "add(2, 3), 6") };
    const dispute = ["dispute_test", { file: written.path, test: "A1: adds", criterion: "A1", why: "2 and 3 are 5." }] as const;
    const { delivery, calls } = await work({
      Alice: [brief("M")],
      Bob: [design(stub)],
      Edward: [
        calling(files(wrongTest), done),
        calling(["read_files", { files: [{ path: written.path }] }], files(written), ["done", { summary: "A1: 2 and 3 are 5." }]),
      ],
      Alex: [
        calling(["read_files", { files: [{ path: "src/add.mjs" }] }], files(adding(RIGHT), ...around.slice(1)), done),
        calling(dispute),
        calling(done),
      ],
      Vera: [accepted],
    });
    expect(delivery.isDone).toBe(true);
    expect(calls.map(roleIn)).toEqual(["Alice", "Alice", "Bob", "Edward", "Alex", "Alex", "Edward", "Alex", "Vera"]);
  });
});

describe("a project that is there", () => {
  const existing = {
    "package.json": '{ "name": "sums", "type": "module", "scripts": { "test": "node --test" } }\n',
    "README.md": "# sums\r\n\r\nIt adds.\r\n",
    "src/add.mjs": adding(RIGHT).content,
    "src/odd.mjs": "export const odd = 1;\r\n",
    "tests/add.test.mjs": written.content,
    "tests/old.test.mjs":
      'import { test } from "node:test";\nimport assert from "node:assert/strict";\ntest("old", () => assert.equal(1, 2));\n',
  };
  const change = {
    id: "A1",
    priority: "P0",
    given: "two numbers",
    when: "they are multiplied",
    then: "the product is printed",
    check: { kind: "command", steps: [{ run: ["node", "src/times.mjs", "2", "3"], stdout: { equals: "6" } }] },
  };
  const times = { path: "src/times.mjs", content: "const [a, b] = process.argv.slice(2).map(Number);\nconsole.log(a * b);\n" };

  it(
    "is changed with its map, its stack and its old failures known, and the rest stays as it is",
    { tags: ["company", "long"] },
    async () => {
      const root = scratchFolder();
      for (const [path, content] of Object.entries(existing)) {
        mkdirSync(join(root, path, ".."), { recursive: true });
        writeFileSync(join(root, path), content);
      }
      const script = {
        Alice: [brief("S", { stack: "python", criteria: [change] })],
        Alex: [calling(files(times), done)],
        Vera: [accepted],
      };
      const model = roleModel(script);
      const workspace = await openWorkspace({ root, force: true });
      const team = new Team({ roles: softwareCompany({ workspace, sandbox, existing: true }), model });
      const { output } = await team.run("Multiply, too").result;
      const delivery = output?.instructContent as Delivery;
      expect(delivery).toMatchObject({ isDone: true, stack: "node" });
      expect(delivery.verification.suites).toEqual([
        expect.objectContaining({ kind: "passed", reason: "1 failed before the work began, and still fail" }),
      ]);
      expect(String(model.calls[0]?.messages.at(-1)?.content)).toContain("src/odd.mjs");
      for (const [path, content] of Object.entries(existing)) expect(readFileSync(join(root, path), "utf8")).toBe(content);
    },
  );
});
