import { describe, expect, it } from "vitest";
import { spokenDelivery } from "../../actions/company/delivery.ts";
import { isOrder } from "../../actions/company/work-order.ts";
import type { Delivery } from "../../roles/index.ts";
import { accepted, adding, around, brief, calling, criteria, RIGHT, test as written } from "./adder.ts";
import { readAdder } from "./adder-reader.ts";
import { files, whole, work } from "./company-trial.ts";

const IDEA = "A command that adds two numbers, whatever their size";
const says = (summary: string) => ["done", { summary }] as const;
const approach = "One function, and a command around it. I doubt large numbers.";
const design = JSON.stringify({
  approach,
  files: [{ path: "src/add.mjs", purpose: "the sum", code: adding('throw new Error("not written");').content }],
});

describe("what a company says", () => {
  it("is a speech in every message, while the order is written once and named afterwards", async () => {
    const { result } = await work(
      {
        Alice: [brief("M", { speech: "Two numbers are enough." })],
        Bob: [design],
        Edward: [calling(files(written), says("I wrote one test. It fails as it must."))],
        Alex: [calling(files(adding(RIGHT), ...around), says("I wrote the sum. I doubt nothing."))],
        Vera: [accepted],
      },
      { verify: readAdder },
      IDEA,
    );
    const [asked, ...said] = result.messages;
    expect(asked?.speech).toBeUndefined();
    expect(said.map(({ sentFrom, speech }) => [sentFrom, speech?.split(". ")[0]])).toEqual([
      ["Alice", "Two numbers are enough."],
      ["Bob", "One function, and a command around it"],
      ["Edward", "I wrote one test"],
      ["Alex", "I wrote the sum"],
      ["Vera", "I ran it: 2 of 2 criteria are proven, and 1 of 1 tests pass"],
    ]);
    const orders = said.filter(({ instructContent }) => isOrder(instructContent));
    expect(orders.map(({ content }) => content.includes(IDEA))).toEqual([true, false, false]);
    expect(orders[2]?.content).toContain("I wrote one test. It fails as it must.");
  });

  it("has the product manager's answer to a dispute, which the engineer reads", async () => {
    const wrong = [
      { ...criteria[0], check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "6" } }] } },
    ];
    const reasons = "Two and three are five. I was wrong.";
    const { result, calls } = await work(
      {
        Alice: [brief("S", { criteria: wrong }), JSON.stringify({ reasons, isWrong: true, check: criteria[0]?.check })],
        Alex: [
          calling(whole(RIGHT), says("")),
          calling(["dispute_check", { criterion: "A1", why: "2 and 3 are 5." }]),
          calling(says("It adds.")),
        ],
        Vera: [accepted],
      },
      { verify: readAdder },
    );
    const spoken = result.messages.map(({ sentFrom, speech = "" }) => `${sentFrom}: ${speech}`);
    expect(spoken).toContain("Alex: A1: 2 and 3 are 5.");
    expect(spoken).toContain(`Alice: The check of A1 was wrong, and is corrected. ${reasons}`);
    expect(calls.filter(({ messages }) => String(messages[1]?.content).includes(`is corrected. ${reasons}`))).not.toHaveLength(0);
  });

  it("names at most three failures, and what a check prints is one line", () => {
    const verdict = (id: string) =>
      ({ id, priority: "P0", outcome: "failed", by: "command", evidence: `line\n${"x".repeat(900)}` }) as const;
    const verification = { verdicts: ["A1", "A2", "A3", "A4"].map(verdict), suites: [], faults: [], notChecked: undefined };
    const speech = spokenDelivery({ verification, complaints: [], isDone: false } as unknown as Delivery, false);
    expect(speech).toContain("0 of 4 criteria are proven");
    expect(speech.match(/A\d fails: line x/g)).toHaveLength(3);
    expect(speech).toContain("And 1 more.");
    expect(speech).not.toContain("\n");
  });
});
