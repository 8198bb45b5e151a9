// @module-tag company
import { describe, expect, it } from "vitest";
import type { Delivery } from "../../roles/index.ts";
import { accepted, adding, around, brief, calling, RIGHT, roleIn } from "./adder.ts";
import { done, files, rest, whole, work, type Tried } from "./company-trial.ts";

describe("a person who approves", () => {
  it("is asked before anybody works, and what they say is different counts", async () => {
    const script = { Alice: [brief("S"), brief("S")], Alex: [calling(whole(RIGHT), done)], Vera: [accepted] };
    const { delivery, calls } = await work(script, { approve: "prd" }, undefined, ["No, only whole numbers.", "yes"]);
    expect(delivery).toMatchObject({ isDone: true, assumptions: ["Numbers are decimal.", "No, only whole numbers."] });
    expect(calls.map(roleIn)).toEqual(["Alice", "Alice", "Alice", "Alice", "Alex", "Vera"]);
    expect(String(calls[2]?.messages.at(-1)?.content)).toContain("No, only whole numbers.");
  });

  it("answers what the words leave open", async () => {
    const script = {
      Alice: [brief("S", { questions: ["How many numbers?"] }), brief("S")],
      Alex: [calling(whole(RIGHT), done)],
      Vera: [accepted],
    };
    const { delivery } = await work(script, { asks: true }, undefined, ["Two."]);
    expect(delivery.assumptions).toContain("How many numbers? Two.");
  });
});

describe("packages", () => {
  it("are installed only where the user allows it", async () => {
    const script = { ...rest, Alex: [calling(whole(RIGHT), ["install_packages", {}], done)] };
    const allowed = await work(script, { allowInstall: true });
    const refused = await work(script);
    const tools = ({ calls }: Tried) => calls.find((request) => roleIn(request) === "Alex")?.tools?.map(({ name }) => name);
    expect(tools(allowed)).toContain("install_packages");
    expect(tools(refused)).not.toContain("install_packages");
    expect(allowed.delivery.isDone && refused.delivery.isDone).toBe(true);
  });
});

describe("a review", () => {
  const complaint = (expected: string) =>
    JSON.stringify({
      reasons: "Negative numbers are not tried.",
      judgements: [],
      complaints: [
        {
          text: "Negative numbers are added wrongly.",
          check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "-2", "-3"], stdout: { equals: expected } }] },
        },
      ],
      accepts: false,
    });

  it("counts with a check that fails, and goes back to the engineer", async () => {
    const only = calling(whole("return Math.abs(a) + Math.abs(b);"), done);
    const { delivery } = await work({
      Alice: [brief("S")],
      Alex: [only, calling(["read_files", { files: [{ path: "src/add.mjs" }] }]), calling(files(adding(RIGHT)), done)],
      Vera: [complaint("-5"), accepted],
    });
    expect(delivery.complaints).toEqual([expect.objectContaining({ id: "R1", state: "answered" })]);
    expect(delivery).toMatchObject({ isDone: true, round: 1 });
  });

  it("that still says no leaves the product undone", async () => {
    const no = JSON.stringify({ reasons: "It is ugly.", judgements: [], complaints: [{ text: "It leaks." }], accepts: false });
    const { delivery } = await work({ Alice: [brief("S")], Alex: [calling(whole(RIGHT), done)], Vera: [no] });
    expect(delivery).toMatchObject({ isDone: false, complaints: [{ id: "R1", text: "It leaks.", state: "unproven" }] });
  });
});

describe("what the user says later", () => {
  it("is a change of the product, with its own criteria beside the earlier ones", async () => {
    const more = {
      id: "A3",
      priority: "P0",
      given: "the word help",
      when: "the command runs",
      then: "it says how",
      check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "--help"], stdout: { contains: ["Usage"] } }] },
    };
    const helping = {
      path: "src/cli.mjs",
      content: `if (process.argv[2] === "--help") console.log("Usage: adder A B");\nelse await import("./main.mjs");\n`,
    };
    const main = { path: "src/main.mjs", content: around[2]?.content ?? "" };
    const script = {
      Alice: [brief("S"), brief("S", { criteria: [more], assumptions: ["Help is in English."] })],
      Alex: [calling(whole(RIGHT), done), calling(["read_files", { files: [{ path: "src/cli.mjs" }] }], files(helping, main), done)],
      Vera: [accepted, accepted],
    };
    const { team, workspace, model } = await work(script);
    await team.send("run", "Add --help");
    const { output, status } = await team.resume("run").result;
    const delivery = output?.instructContent as Delivery;
    expect(status).toBe("finished");
    expect(delivery).toMatchObject({ isDone: true, assumptions: ["Numbers are decimal.", "Help is in English."] });
    expect(delivery.verification.verdicts.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["A1", "proven"],
      ["A2", "proven"],
      ["A3", "proven"],
    ]);
    expect(await workspace.read("docs/requirement.md")).toContain("Add --help");
    expect(model.calls.filter((request) => roleIn(request) === "Vera")).toHaveLength(2);
  });
});
