import { describe, expect, it } from "vitest";
import type { MeetingDecision } from "../../actions/meeting.ts";
import { softwareCompany } from "../../roles/index.ts";
import { UsageError } from "../../src/index.ts";
import { memoryWorkspace } from "../../src/workspace/index.ts";
import { accepted, adding, around, brief, calling, RIGHT, roleIn, test as written } from "./adder.ts";
import { done, files, sandbox, work } from "./company-trial.ts";

const designOf = (path: string): string =>
  JSON.stringify({
    approach: `One function in ${path}.`,
    files: [
      { path, purpose: "the sum", code: adding('throw new Error("not written");').content },
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
        Bob: [designOf("src/sum.mjs"), designOf("src/add.mjs")],
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
    const [, second] = calls.filter((request) => roleIn(request) === "Bob").map(({ messages }) => String(messages.at(-1)?.content));
    expect(second).toContain("The function belongs in src/add.mjs, ## Your role where the tests look.");
    expect(second).toContain("Alex objected: A rename costs a turn. Evidence: All imports change.");
    const designs = result.messages.filter(({ causeBy }) => causeBy === "DesignSystem");
    expect(designs.map(({ sendTo }) => sendTo)).toEqual([["<self>"], ["Edward", "Vera"]]);
    expect(await workspace.read("src/add.mjs")).toContain(RIGHT);
  });

  it("is refused with a company that ends at the design", () => {
    const company = (): unknown => softwareCompany({ workspace: memoryWorkspace(), sandbox, designReview: true, until: "design" });
    expect(company).toThrow(UsageError);
    expect(company).toThrow(/got until: "design"/);
  });
});
