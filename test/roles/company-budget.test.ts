import { describe, expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import type { SoftwareCompanyOptions } from "../../roles/company/software-company.ts";
import { memoryJournal, type RunResult, Team, usd } from "../../src/index.ts";
import type { ScriptedReply } from "../../src/testing/index.ts";
import { fileWorkspace, openWorkspace } from "../../src/workspace/index.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { adding, calling, RIGHT, roleIn, roleModel, type RoleScript, WRONG } from "./adder.ts";
import { readAdder } from "./adder-reader.ts";
import { done, files, rest, sandbox, whole } from "./company-trial.ts";

/** Micro-dollars of the limit on one reply, which is reserved before each call. */
const REPLY = 4 * 16_384;

/** A reply that costs so many micro-dollars, besides its prompt. */
function costing(reply: ScriptedReply, cost: number): ScriptedReply {
  return { ...(reply as object), usage: { inputTokens: 0, outputTokens: cost / 4 } };
}

interface Spent {
  readonly result: RunResult;
  readonly delivery: Delivery;
  readonly roles: readonly string[];
}

async function worked(script: RoleScript, budget: number, options: Partial<SoftwareCompanyOptions> = {}): Promise<Spent> {
  const workspace = await openWorkspace({ root: scratchFolder() });
  const model = roleModel(script);
  const roles = softwareCompany({ workspace, sandbox, verify: readAdder, ...options });
  const journal = memoryJournal();
  const team = new Team({ roles, model, journal, seed: 1, budget: usd(budget / 1_000_000) });
  const result = await team.run("A command that adds two numbers", { id: "run" }).result;
  const scratch = fileWorkspace({ root: scratchFolder(), git: false });
  const again = new Team({ roles: softwareCompany({ workspace: scratch, sandbox, ...options }), model: roleModel({}), journal, seed: 1 });
  expect((await again.replay("run").result).output).toEqual(result.output);
  return { result, delivery: result.output?.instructContent as Delivery, roles: model.calls.map(roleIn) };
}

describe("a share of the budget is kept for the proof", () => {
  const budget = Math.ceil((REPLY + 20_000) / 0.85);

  it("so a run whose engineers have spent theirs ends with its verdicts, and not in the middle", async () => {
    const { result, delivery, roles } = await worked(
      { ...rest, Alex: [costing(calling(whole(WRONG), done), 20_000), calling(files(adding(RIGHT)), done)] },
      budget,
    );
    expect(result.status).toBe("finished");
    expect(roles).toEqual(["Alice", "Alice", "Alex"]);
    expect(delivery).toMatchObject({ isDone: false, summary: expect.stringContaining("share of the budget") });
    expect(delivery.verification.verdicts.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["A1", "failed"],
      ["A2", "proven"],
    ]);
  });

  it("a review that cannot be paid is left out, which is told, and the verdicts stay", { tags: ["company", "long"] }, async () => {
    const { result, delivery, roles } = await worked({ ...rest, Alex: [costing(calling(whole(RIGHT), done), 60_000)] }, budget, {
      verificationShare: 0,
    });
    expect([result.status, roles]).toEqual(["finished", ["Alice", "Alice", "Alex"]]);
    expect(delivery.verification.verdicts.map(({ outcome }) => outcome)).toEqual(["proven", "proven"]);
    expect(delivery.review).toBeUndefined();
    expect(delivery.assumptions.at(-1)).toContain("No one has reviewed the product.");
  });

  it.each([1, -0.1, Number.NaN])("%d is no share", async (verificationShare) => {
    const workspace = await openWorkspace({ root: scratchFolder() });
    expect(() => softwareCompany({ workspace, sandbox, verificationShare })).toThrowError(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});
