import { describe, expect, it } from "vitest";
import { assignedFiles, assignmentText } from "../../actions/company/assignment.ts";
import { renderOrder, type WorkOrder, type WorkTask } from "../../actions/company/work-order.ts";
import type { Delivery } from "../../roles/index.ts";
import type { SoftwareCompanyOptions } from "../../roles/company/software-company.ts";
import { type ChatRequest, createMessage, Memory, type Message, type RoleContext } from "../../src/index.ts";
import { accepted, adding, around, brief, calling, criteria, RIGHT, roleIn, type RoleScript, test as written } from "./adder.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { NO_ZERO, readAdder } from "./adder-reader.ts";
import { done, files, rest, type Tried, whole, work as tried } from "./company-trial.ts";

/** Lets a company work whose verifier reads. */
function work(script: RoleScript, options: Partial<SoftwareCompanyOptions> = {}): Promise<Tried> {
  return tried(script, { verify: readAdder, ...options });
}

const STUB = 'throw new Error("not written");';
const design = JSON.stringify({
  approach: "One function and a command around it.",
  files: [
    { path: "src/add.mjs", purpose: "the sum", code: adding(STUB).content },
    { path: "package.json", purpose: "package", code: around[0]?.content },
  ],
});
const medium = { Alice: [brief("M")], Bob: [design], Edward: [calling(files(written), done)], Vera: [accepted] };
/** The engineer's answer without reading: it replaces the interfaces that it was shown. */
const atOnce = calling(files(adding(RIGHT), ...around.slice(1)), done);

const taskIn = ({ messages }: ChatRequest): string => String(messages[1]?.content);
const of = (calls: readonly ChatRequest[], name: string): readonly ChatRequest[] => calls.filter((request) => roleIn(request) === name);
/** The length of the beginning that two texts have in common. */
function common(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

describe("what a worker is shown", () => {
  it(
    "is the code of the design and the tests, begins alike for QA and the engineer, and ends with the role",
    { tags: "numbers" },
    async () => {
      const { delivery, calls } = await work({ ...medium, Alex: [atOnce] });
      expect(delivery.isDone).toBe(true);
      expect(calls.map(roleIn)).toEqual(["Alice", "Alice", "Bob", "Edward", "Alex", "Vera"]);
      const [qa, engineer] = [of(calls, "Edward")[0], of(calls, "Alex")[0]] as [ChatRequest, ChatRequest];
      expect(taskIn(engineer)).toContain(written.content);
      const told = ({ tools = [], messages }: ChatRequest): string =>
        JSON.stringify([tools.map(({ name, description, parameters }) => ({ name, description, parameters })), messages[0]]);
      expect(told(qa)).toBe(told(engineer));
      const shared = taskIn(qa).slice(0, common(taskIn(qa), taskIn(engineer)));
      expect(shared).toContain(adding(STUB).content);
      expect(shared).toContain(JSON.stringify(criteria[0]?.check));
      expect(taskIn(engineer)).toMatch(/## Your role\nYou are an Engineer, named Alex\.[^#]*$/);
    },
  );

  it("has the files of its own task before all others that are named", { tags: "numbers" }, async () => {
    const workspace = await openWorkspace({ root: scratchFolder() });
    const paths = ["example/page.md", "src/own.mjs"];
    for (const path of paths) await workspace.write(path, "x".repeat(20_000));
    const owned: WorkTask = { id: "t1", title: "own", owns: ["src/own.mjs"], tests: [], needs: [], state: "working", tries: 1 };
    const order: WorkOrder = {
      ...{ kind: "order", requirement: "Render example/page.md.", feedback: [], name: "site", size: "L", stack: "node", assumptions: [] },
      ...{ criteria: [], isChange: false, tasks: [owned], task: "t1" },
      design: { approach: "One part.", files: paths.map((path) => ({ path, purpose: "a part" })) },
    };
    const rc = { news: [], step: (_name: string, _request: object, read: () => unknown) => read() } as unknown as RoleContext;
    const { design: shown } = await assignedFiles(rc, workspace, order, () => false);
    expect([...shown.files.keys()]).toEqual(["src/own.mjs"]);
  });

  it("QA may write fixtures beside the tests, and take them back", { tags: ["company", "long"] }, async () => {
    const fixture = { path: "tests/fixtures.mjs", content: "export const two = 2;\n" };
    const gone = { path: "tests/gone.test.mjs", content: "export {};\n" };
    const { calls, delivery } = await work({
      ...medium,
      Edward: [calling(files(written, fixture, gone), ["shell", { command: "rm tests/gone.test.mjs" }], done)],
      Alex: [atOnce],
    });
    expect(of(calls, "Edward")).toHaveLength(1);
    expect(delivery.isDone).toBe(true);
  });

  it("as a reviewer of a change has all of it but the company's own documents, tests last", { tags: "numbers" }, async () => {
    const part = (path: string): string => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n@@ -0,0 +1 @@\n+of ${path}\n`;
    const paths = ["docs/acceptance.json", "docs/guide.md", "docs/requirement.md", "tests/add.test.mjs", "src/add.mjs"];
    const diff = (): Promise<string> => Promise.resolve(paths.map(part).join(""));
    const { calls } = await work({ ...rest, Alex: [calling(whole(RIGHT), done)] }, { diff });
    const review = taskIn(of(calls, "Vera")[0] as ChatRequest);
    expect(review.match(/^\+of .*$/gm)).toEqual(["+of docs/guide.md", "+of src/add.mjs", "+of tests/add.test.mjs"]);
  });

  it(
    "in a new and small project tells a judgement once, has no search; its reviewer has the code and the tests' names",
    { tags: ["company", "long"] },
    async () => {
      const judged = { ...criteria[1], id: "A3", check: { kind: "judgement", reason: "taste cannot be run" } };
      const { calls } = await work({
        ...rest,
        Alice: [brief("S", { criteria: [criteria[0], judged] })],
        Alex: [calling(whole(RIGHT), done)],
      });
      const [engineer] = of(calls, "Alex") as [ChatRequest];
      expect(taskIn(engineer).split("taste cannot be run")).toHaveLength(2);
      expect(engineer.tools?.map(({ name }) => name)).toEqual(["write_files", "editor", "shell", "done", "give_up", "dispute_check"]);
      const review = taskIn(of(calls, "Vera")[0] as ChatRequest);
      expect(review).toContain(adding(RIGHT).content);
      expect(review).toContain(`Tests, not shown: ${written.path}`);
      expect(review).not.toContain("assert.equal");
    },
  );
});

describe("one who repairs", () => {
  const complaint = {
    text: "It fails on zero.",
    check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "0", "0"], stdout: { equals: "0" } }] },
  };
  const review = JSON.stringify({ reasons: "Zero.", judgements: [], complaints: [complaint], accepts: false });

  it("has the files, the objection with its check, and its earlier attempts, in a message of the user", { tags: "numbers" }, async () => {
    const { delivery, calls } = await work({
      Alice: [brief("S")],
      Alex: [calling(whole(NO_ZERO), done), calling(files(adding(`${NO_ZERO} `)), done), calling(files(adding(RIGHT)), done)],
      Vera: [review, accepted],
    });
    expect(delivery.isDone).toBe(true);
    // The check of the objection is one of those that the engineer must pass.
    expect(String(of(calls, "Alex")[2]?.messages.at(-1)?.content)).toContain("FAILED R1");
    const [first, second] = of(calls, "Alex") as [ChatRequest, ChatRequest];
    expect(second.messages.map(({ role }) => role)).toEqual(["system", "user"]);
    expect(taskIn(second)).toContain(adding(NO_ZERO).content);
    expect(taskIn(second)).toContain(`R1, an objection of the review: ${complaint.text} Its check: ${JSON.stringify(complaint.check)}`);
    expect(taskIn(second)).toContain("## Your work so far\n- You said: An adder.");
    const shared = common(taskIn(first), taskIn(second));
    expect(taskIn(first).slice(0, shared)).toContain(JSON.stringify(criteria[1]?.check));
  });

  it("has what was found after each earlier attempt at the present words, and the newest findings as they are", { tags: "numbers" }, () => {
    const first: WorkOrder = {
      ...{ kind: "order", requirement: "Add.", feedback: [], name: "adder", size: "M", stack: "node" },
      ...{ assumptions: [], criteria: [], isChange: false },
    };
    const said = (summary: string): Message =>
      createMessage(summary, { sentFrom: "Alex", instructContent: { status: "finished", summary } });
    const found = (id: string, round: number): Message => {
      const verdicts = [{ id, priority: "P0", outcome: "failed", by: "command", evidence: "" }] as const;
      const verification = { verdicts, suites: [], faults: [] };
      const facts = { isDone: false, verification, complaints: [], assumptions: [], summary: "", round };
      const delivery: Delivery = { kind: "delivery", name: "adder", size: "M", stack: "node", ...facts };
      return createMessage(`FAILED ${id}`, { sentFrom: "Vera", instructContent: delivery });
    };
    const ordered = (next: WorkOrder): Message => createMessage(renderOrder(next), { sentFrom: "Edward", instructContent: next });
    const later = ordered({ ...first, feedback: ["Subtract."] });
    const news = [found("A2", 1)];
    const all = [ordered(first), said("Adds."), found("A9", 0), later, said("Subtracts."), found("A1", 0), said("Again."), ...news];
    const none = { text: "", files: new Map<string, string>() };
    const parts = { order: first, files: { design: none, others: none }, role: ["Your role", ""] as const };
    const text = assignmentText({ name: "Alex", news, memory: Object.assign(new Memory(), { get: () => all }) }, parts);
    const attempts = "- You said: Subtracts.\n- Then the verification found: A1\n- You said: Again.";
    expect(text).toContain(`## Your work so far\n${attempts}\n\n## From Vera\nFAILED A2`);
  });
});
