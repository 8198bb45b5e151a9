import { describe, expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import type { Verification } from "../../src/checks/index.ts";
import type { SuiteReport } from "../../src/checks/verification.ts";
import type { VerifyRequest } from "../../src/checks/verify.ts";
import { memoryJournal, Team } from "../../src/index.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { accepted, adding, around, brief, calling, criteria, RIGHT, roleModel, type RoleScript, test as written } from "./adder.ts";
import { done, files, rest, sandbox, whole } from "./company-trial.ts";

const passed: SuiteReport = {
  ...{ language: "javascript", kind: "passed", total: 2, passed: 2, failed: 0, skipped: 0 },
  ...{ files: [written.path], failures: [] },
};
const skipping = (count: number): Pick<Verification, "suites" | "faults"> => ({
  suites: [{ ...passed, total: 2 + count, skipped: count }],
  faults: [{ kind: "tests", message: `${count} of ${2 + count} tests in JavaScript are skipped.` }],
});

/** A verifier that finds every criterion proven, and of the rest what it is told to find. */
function finding(found: (request: VerifyRequest) => Partial<Verification> = () => ({})): (request: VerifyRequest) => Promise<Verification> {
  return (request) => {
    const verdicts = request.criteria.map(({ id, priority }) => ({
      id,
      priority,
      outcome: "proven" as const,
      by: "command" as const,
      evidence: "",
    }));
    return Promise.resolve({ verdicts, suites: [passed], faults: [], ...found(request) });
  };
}

/** Lets a company work whose checks find what they are told to, and says something to it afterwards. */
async function delivered(
  script: RoleScript,
  verify: ReturnType<typeof finding>,
  { existing = false, told }: { readonly existing?: boolean; readonly told?: string } = {},
): Promise<readonly Delivery[]> {
  const workspace = await openWorkspace({ root: scratchFolder(), git: false });
  const model = roleModel(script);
  const team = new Team({ roles: softwareCompany({ workspace, sandbox, verify, existing }), model, journal: memoryJournal() });
  const first = await team.run("A command that adds two numbers", { id: "run" }).result;
  if (told === undefined) return [first.output?.instructContent as Delivery];
  const { output } = await team.resume("run", { add: [told] }).result;
  return [first, { output }].map((result) => result.output?.instructContent as Delivery);
}

const engineer = [calling(whole(RIGHT), done)];

describe("a product is not done", () => {
  it("when its reviewer refuses it, and names no objection", async () => {
    const no = JSON.stringify({ reasons: "It is not what was asked for.", judgements: [], complaints: [], accepts: false });
    const [delivery] = await delivered({ ...rest, Alex: engineer, Vera: [no] }, finding());
    const complaints = [{ id: "R1", state: "unproven", text: "It is not what was asked for." }];
    expect(delivery).toMatchObject({ isDone: false, complaints });
  });

  it("when a later wish is carried out and what the company itself left red is still so", async () => {
    const failures = [{ name: "adds", file: written.path, message: "5 is not 6" }];
    const red = finding(() => ({ suites: [{ ...passed, kind: "failed", passed: 1, failed: 1, failures }] }));
    const stuck: ScriptedReply = calling(["give_up", { why: "I cannot." }]);
    const script = { Alice: [brief("S"), brief("S")], Alex: [calling(whole(RIGHT)), stuck, stuck], Vera: [accepted, accepted] };
    const all = await delivered(script, red, { told: "Print the sum in words." });
    expect(all.map(({ isDone }) => isDone)).toEqual([false, false]);
  });

  it("when more tests are skipped than before the work", async () => {
    const before = skipping(1);
    const more = finding(({ depth, criteria: asked }) => (depth === "whole" && asked.length === 0 ? before : skipping(2)));
    const same = finding(() => before);
    const stuck = calling(["give_up", { why: "They stay." }]);
    const [one] = await delivered({ ...rest, Alex: [calling(whole(RIGHT)), stuck] }, more, { existing: true });
    const [other] = await delivered({ ...rest, Alex: engineer }, same, { existing: true });
    expect([one?.isDone, other?.isDone]).toEqual([false, true]);
  });
});

describe("what may not be weakened", () => {
  const wrong = [
    { ...criteria[0], check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "6" } }] } },
  ];

  it("is a check: its correction must be able to fail", async () => {
    const hollow = { kind: "command", steps: [{ run: ["node", "--version"] }] };
    const asked: VerifyRequest[] = [];
    const red = finding((request) => {
      asked.push(request);
      return { verdicts: request.criteria.map(({ id, priority }) => ({ id, priority, outcome: "failed", by: "command", evidence: "6" })) };
    });
    const dispute = calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]);
    const script = {
      Alice: [brief("S", { criteria: wrong }), JSON.stringify({ reasons: "So be it.", isWrong: true, check: hollow })],
      Alex: [calling(whole(RIGHT)), dispute, calling(["give_up", { why: "It expects 6." }])],
    };
    const [delivery] = await delivered(script, red);
    expect(delivery).toMatchObject({ isDone: false, assumptions: ["Numbers are decimal."] });
    expect(asked.at(-1)?.criteria[0]?.check).toEqual(wrong[0]?.check);
  });

  it("is a criterion: a change that replaces one says so", async () => {
    const easier = { ...criteria[0], priority: "P1", then: "it prints something" };
    const script = {
      Alice: [brief("S"), brief("S", { criteria: [easier], assumptions: [] })],
      Alex: [...engineer, calling(done)],
      Vera: [accepted, accepted],
    };
    const [, delivery] = await delivered(script, finding(), { told: "Make it simpler." });
    expect(delivery?.assumptions).toEqual(["Numbers are decimal.", "A1 replaces an earlier criterion (P0): it prints the sum"]);
  });

  it("is a criterion: a change names those that it removes, which must be there, and says so", async () => {
    const more = { ...criteria[0], id: "A3", then: "it prints the sum in words" };
    const removing = (...removed: readonly string[]) => brief("S", { criteria: [more], assumptions: [], removed });
    const script = {
      Alice: [brief("S"), removing("A9"), removing("A2")],
      Alex: [...engineer, calling(done)],
      Vera: [accepted, accepted],
    };
    const [, delivery] = await delivered(script, finding(), { told: "Words are fine." });
    expect(delivery?.verification.verdicts.map(({ id }) => id)).toEqual(["A1", "A3"]);
    expect(delivery?.assumptions.at(-1)).toBe("A2 is void, an earlier criterion (P1): it fails and names the word");
  });

  it("are tests: one that QA removes in a dispute stays expected", async () => {
    const planned: (readonly string[] | undefined)[] = [];
    const verify = finding((request) => {
      if (request.depth === "whole") planned.push(request.planned);
      return request.criteria.length > 0 || request.depth !== "quick"
        ? {}
        : { suites: [{ ...passed, kind: "failed", failures: [{ name: "a", file: written.path, message: "" }] }] };
    });
    const interfaces = [adding('throw new Error("not written");')].map(({ path, content: code }) => ({ path, purpose: "the sum", code }));
    const script = {
      Alice: [brief("M")],
      Bob: [JSON.stringify({ approach: "One function.", files: interfaces })],
      Edward: [
        calling(files(written), done),
        calling(["shell", { command: `rm ${written.path}` }], ["done", { summary: "It was wrong." }]),
      ],
      Alex: [
        calling(["dispute_test", { file: written.path, test: "A1", criterion: "A1", why: "It is wrong." }]),
        calling(["read_files", { files: [{ path: "src/add.mjs" }] }], files(adding(RIGHT), ...around), done),
      ],
      Vera: [accepted],
    };
    await delivered(script, verify);
    expect(planned.at(-1)).toEqual(["src/add.mjs", written.path]);
  });

  it("are the design and the tests: a corrected check leaves them in the plan, and stays when a test is corrected later", async () => {
    const asked: VerifyRequest[] = [];
    const verify = finding((request) => {
      if (request.depth === "whole") asked.push(request);
      return request.criteria.length > 0 || request.depth !== "quick"
        ? {}
        : { suites: [{ ...passed, kind: "failed", failures: [{ name: "a", file: written.path, message: "" }] }] };
    });
    const interfaces = [adding('throw new Error("not written");')].map(({ path, content: code }) => ({ path, purpose: "the sum", code }));
    const corrected = { reasons: "2 and 3 are 5.", isWrong: true, check: criteria[0]?.check };
    const script = {
      Alice: [brief("M", { criteria: wrong }), JSON.stringify(corrected)],
      Bob: [JSON.stringify({ approach: "One function.", files: interfaces })],
      Edward: [calling(files(written), done), calling(["done", { summary: "It stays." }])],
      Alex: [
        calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]),
        calling(["dispute_test", { file: written.path, test: "A1", criterion: "A1", why: "It is wrong." }]),
        calling(files(adding(RIGHT), ...around), done),
      ],
      Vera: [accepted],
    };
    const [delivery] = await delivered(script, verify);
    expect(delivery).toMatchObject({
      isDone: true,
      assumptions: expect.arrayContaining(["The check of A1 was corrected: 2 and 3 are 5."]),
    });
    for (const { planned, criteria: now } of asked) {
      expect(planned).toEqual(["src/add.mjs", written.path]);
      expect(now[0]?.check).toEqual(criteria[0]?.check);
    }
    // Its verifier takes what its engineer saw: both ask for the same.
    expect(asked).toHaveLength(1);
  });

  it("is the review: it looks again after the repair of what it objected to, also when a check is disputed meanwhile", async () => {
    const objection = { text: "It takes no words.", check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "x"], exit: 2 }] } };
    const refused = JSON.stringify({ reasons: "x fails.", judgements: [], complaints: [objection], accepts: true });
    // Its check fails for the reviewer, and passes when the engineer has repaired it.
    const verify = finding(({ depth, criteria: now }) => ({
      verdicts: now.map(({ id, priority }) => ({
        ...{ id, priority, by: "command" as const, evidence: "" },
        outcome: depth === "criteria" ? ("failed" as const) : ("proven" as const),
      })),
    }));
    const dispute = calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]);
    const stays = JSON.stringify({ reasons: "2 and 3 are 5.", isWrong: false });
    const script = {
      Alice: [brief("S"), stays],
      Alex: [...engineer, dispute, calling(done)],
      Vera: [refused, accepted],
    };
    const [delivery] = await delivered(script, verify);
    expect(delivery).toMatchObject({ isDone: true, round: 1, complaints: [{ id: "R1", state: "answered" }] });
  });
});
