import { expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import type { VerifyRequest } from "../../src/checks/verify.ts";
import { memoryJournal, type Run, Team } from "../../src/index.ts";
import { openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { accepted, brief, calling, RIGHT, roleIn, roleModel } from "./adder.ts";
import { done, sandbox, whole } from "./company-trial.ts";

it("a company that is told something while its engineer works delivers what was asked for first and then the change", async () => {
  const workspace = await openWorkspace({ root: scratchFolder(), git: false });
  const script = {
    Alice: [brief("S"), brief("S", { assumptions: ["The sum is in words."] })],
    Alex: [calling(whole(RIGHT), done), calling(done)],
    Vera: [accepted, accepted],
  };
  const said = "Print the sum in words.";
  let isTold = false;
  const model = roleModel(script, async (request) => {
    if (isTold || roleIn(request) !== "Alex") return;
    isTold = true;
    await run.publish(said);
  });
  const verify = ({ criteria }: VerifyRequest) =>
    Promise.resolve({
      verdicts: criteria.map(({ id, priority }) => ({ id, priority, outcome: "proven" as const, by: "command" as const, evidence: "" })),
      suites: [],
      faults: [],
    });
  const team = new Team({ roles: softwareCompany({ workspace, sandbox, verify }), model, journal: memoryJournal() });
  const run: Run = team.run("A command that adds two numbers", { id: "run" });
  const { status, messages } = await run.result;
  const deliveries = messages.flatMap(({ sentFrom, instructContent }) => (sentFrom === "Vera" ? [instructContent as Delivery] : []));
  expect([status, deliveries.map(({ isDone }) => isDone)]).toEqual(["finished", [true, true]]);
  expect(deliveries.map(({ assumptions }) => assumptions.includes("The sum is in words."))).toEqual([false, true]);
  const asked = model.calls.filter((request) => roleIn(request) === "Alice").map(({ messages: all }) => String(all.at(-1)?.content));
  expect(asked.some((content) => content.includes(said))).toBe(true);
});
