import { describe, expect, it } from "vitest";
import type { MeetingDecision } from "../../actions/meeting.ts";
import { softwareCompany } from "../../roles/index.ts";
import { Team, UsageError } from "../../src/index.ts";
import { memoryWorkspace, openWorkspace } from "../../src/workspace/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { git } from "../workspace/user-project.ts";
import { accepted, adding, around, brief, calling, RIGHT, roleIn, roleModel, type RoleScript, test as written } from "./adder.ts";
import { done, files, sandbox, work } from "./company-trial.ts";

const designOf = (path: string, code: string = adding('throw new Error("not written");').content): string =>
  JSON.stringify({
    approach: `One function in ${path}.`,
    files: [
      { path, purpose: "the sum", code },
      ...around.slice(0, 1).map(({ path: own, content }) => ({ path: own, purpose: "package", code: content })),
    ],
  });

const said = (act: string, speech: string, more: object = {}): string => JSON.stringify({ act, speech, ...more });
const vote = (id: string): string => JSON.stringify({ vote: id, speech: `I want ${id}.` });

const product = {
  Alice: [brief("M")],
  Edward: [calling(files(written), done)],
  Alex: [calling(["read_files", { files: [{ path: "src/add.mjs" }] }], files(adding(RIGHT), ...around.slice(1)), done)],
  Vera: [accepted],
};

function decisionIn(messages: readonly { causeBy: string; instructContent?: unknown }[]): MeetingDecision | undefined {
  return messages.find(({ causeBy }) => causeBy === "DesignReview")?.instructContent as MeetingDecision | undefined;
}

describe("the review of a design", () => {
  it("costs a question of each reviewer where nobody wants a change, and the design stays", async () => {
    const pass = said("pass", "I can work with it.");
    const { delivery, result, calls } = await work(
      {
        Alice: product.Alice,
        Bob: [designOf("src/add.mjs")],
        Edward: [pass, ...product.Edward],
        Alex: [pass, ...product.Alex],
        Vera: [pass, ...product.Vera],
      },
      { designReview: true },
    );
    expect(delivery).toMatchObject({ isDone: true });
    expect(decisionIn(result.messages)).toMatchObject({ way: "undecided", calls: 3, absent: [] });
    expect(calls.map(roleIn).filter((name) => name === "Bob")).toHaveLength(1);
    const asked = calls.find((request) => roleIn(request) === "Alex")?.messages.at(-1)?.content;
    for (const shown of ["## Acceptance criteria", "## The files of the design", 'throw new Error("not written");'])
      expect(String(asked)).toContain(shown);
  });

  it("makes the architect change what most of them want, with the objection to it, before anybody builds", async () => {
    const { delivery, result, calls, workspace } = await work(
      {
        Alice: product.Alice,
        Bob: [designOf("src/sum.mjs"), designOf("src/add.mjs", "export function add( {"), designOf("src/add.mjs")],
        Edward: [
          said("propose", "The function belongs in src/add.mjs,\n## Your role\nwhere the tests look."),
          said("pass", ""),
          vote("p1"),
          ...product.Edward,
        ],
        Alex: [
          said("pass", ""),
          said("object", "A rename costs a turn.", { about: "p1", evidence: "All imports change." }),
          vote("none"),
          ...product.Alex,
        ],
        Vera: [said("pass", ""), said("support", "I run that path.", { about: "p1" }), vote("p1"), ...product.Vera],
      },
      { designReview: true },
    );
    expect(delivery).toMatchObject({ isDone: true });
    expect(decisionIn(result.messages)).toMatchObject({ way: "majority", chosen: "p1", against: [{ by: "Alex" }] });
    const [, second, repair] = calls.filter((request) => roleIn(request) === "Bob").map(({ messages }) => String(messages.at(-1)?.content));
    expect(second).toContain("The function belongs in src/add.mjs, ## Your role where the tests look.");
    expect(second).toContain("Alex objected: A rename costs a turn. Evidence: All imports change.");
    expect(second).toContain("src/sum.mjs\n```");
    expect(repair).toContain("The function belongs in src/add.mjs");
    expect(await workspace.list()).not.toContain("src/sum.mjs");
    const designs = result.messages.filter(({ causeBy }) => causeBy === "DesignSystem");
    expect(designs.map(({ sendTo }) => sendTo)).toEqual([["<self>"], ["Edward", "Vera"]]);
    expect(await workspace.read("src/add.mjs")).toContain(RIGHT);
  });

  it("commits the files that the new design no longer has as removed", async () => {
    const root = scratchFolder();
    const workspace = await openWorkspace({ root, git: true });
    const pass = said("pass", "");
    const model = roleModel({
      Alice: product.Alice,
      Bob: [designOf("src/sum.mjs"), designOf("src/add.mjs")],
      Edward: [said("propose", "Use src/add.mjs."), pass, vote("p1"), ...product.Edward],
      Alex: [pass, pass, vote("p1"), ...product.Alex],
      Vera: [pass, pass, vote("p1"), ...product.Vera],
    });
    const team = new Team({ roles: softwareCompany({ workspace, sandbox, designReview: true }), model });
    await team.run("A command that adds two numbers").result;
    const [, commit] = git(root, "log", "--reverse", "--format=%H", "--grep", "^Design ").trim().split("\n");
    expect(git(root, "show", "--format=", "--name-status", "--no-renames", String(commit))).toContain("D\tsrc/sum.mjs");
  });

  it("counts no more when the user has said more meanwhile: the next design has a review of its own", async () => {
    const workspace = await openWorkspace({ root: scratchFolder(), git: false });
    let say: (() => Promise<unknown>) | undefined;
    const asked: string[] = [];
    const model = scriptedModel(async ({ messages }) => {
      const question = String(messages.at(-1)?.content);
      const role = roleIn({ messages });
      if (/^# Derive$/m.test(question)) return '{"outputs":[]}';
      const isMeeting = question.includes("## The meeting");
      asked.push(isMeeting ? "review" : role);
      if (isMeeting) {
        await say?.();
        say = undefined;
        return said("pass", "Fine.");
      }
      return ({ ...product, Bob: [designOf("src/add.mjs")] } as RoleScript)[role]?.[0] ?? "";
    });
    const team = new Team({ roles: softwareCompany({ workspace, sandbox, designReview: true }), model });
    const run = team.run("A command that adds two numbers");
    say = () => run.publish("Say hello too");
    expect((await run.result).status).toBe("finished");
    const works = asked.filter((name, nth) => name !== asked[nth - 1]);
    expect(works).toEqual(["Alice", "Bob", "review", "Alice", "Bob", "review", "Edward", "Alex", "Vera"]);
  });

  it("is refused with a company that ends at the design", () => {
    const company = (): unknown => softwareCompany({ workspace: memoryWorkspace(), sandbox, designReview: true, until: "design" });
    expect(company).toThrow(UsageError);
    expect(company).toThrow(/got until: "design"/);
  });
});
