import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkCrew, type CrewReport, openCrew, readCrew, shippedCrews } from "../../../roles/index.ts";
import { type Action, defineAction, defineRole, Team, usd } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { tries } from "../../long.ts";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };
const free = { id: "small", price: { input: 0, output: 0 } };
const priced = { id: "dear", price: { input: 1, output: 10 }, maxOutputTokens: 1_000 };

async function checked(file: string): Promise<CrewReport> {
  const { roles, output } = openCrew(await readCrew(file), ports);
  return checkCrew({ roles, model: free, output, rounds: 10 });
}

const codes = ({ faults, warnings }: CrewReport): object => ({
  faults: faults.map(({ code }) => code),
  warnings: warnings.map(({ code }) => code),
});
const none = { faults: [], warnings: [] };

describe("a check of a crew", () => {
  it("finds nothing in a crew that works, and counts its calls", async () => {
    const report = await checked(`roles:
      - { name: A, actions: [{ name: Draft, output: { text: text } }] }
      - { name: B, actions: [{ name: Polish, on: Draft }] }`);
    expect(codes(report)).toEqual(none);
    expect(report.roles.map(({ name, activations, calls }) => [name, activations, calls])).toEqual([
      ["A", 1, 3],
      ["B", 1, 1],
    ]);
    expect([report.calls, report.cost]).toEqual([4, 0]);
  });

  it("finds a message that no role hears and that is no output", async () => {
    const file = "roles: [{ name: A, actions: [{ name: X }] }, { name: B, actions: [{ name: Y }] }]";
    expect(codes(await checked(file))).toEqual({ faults: [], warnings: ["MESSAGE_UNHEARD"] });
    const { faults } = await checked(`${file.slice(0)}\noutput: [X]`);
    expect(faults).toEqual([{ code: "MESSAGE_UNHEARD", role: "B", message: expect.stringMatching(/Y by B are heard by no role/) }]);
  });

  it("finds a role that nothing starts, and an action that nothing starts", async () => {
    const asleep = await checked(`roles:
      - { name: A, actions: [{ name: X, sendTo: [C] }] }
      - { name: B, actions: [{ name: Y, on: Z }] }
      - { name: C, watch: [UserRequirement], actions: [{ name: Z, on: Y }] }`);
    expect(asleep.faults.map(({ code, role }) => [code, role])).toEqual([
      ["ROLE_ASLEEP", "B"],
      ["ROLE_ASLEEP", "C"],
    ]);
  });

  it("knows what a user may say later, and counts an action that both messages start once", async () => {
    const report = await checked(`roles:
      - { name: A, actions: [{ name: Draft, on: [UserRequirement, UserFeedback] }] }
      - { name: B, actions: [{ name: Polish, on: Draft }] }
      - { name: C, actions: [{ name: Thank, on: UserFeedback, prompt: "Thank for {{UserFeedback}}", sendTo: [A] }] }`);
    expect(report.faults).toEqual([]);
    expect(report.roles.map(({ activations }) => activations)).toEqual([1, 1, 1]);
  });

  it("tells a circle without an end from one that a value, a limit, code or a person ends", async () => {
    const circle = (more: string): string => `roles:
      - { name: A, actions: [{ name: Write, on: [UserRequirement, Review] }] }
      - { name: B, ${more.startsWith("human") ? more : ""} actions: [{ name: Review, on: Write, output: { ok: boolean }${more.startsWith("human") ? "" : more} }] }`;
    expect(codes(await checked(circle("")))).toEqual({ faults: ["CIRCLE_ENDLESS"], warnings: [] });
    expect(codes(await checked(circle(", endsWhen: { ok: true }")))).toEqual({ faults: [], warnings: ["CIRCLE_OPEN"] });
    expect(codes(await checked(circle(", limit: 2")))).toEqual(none);
    expect(codes(await checked(circle("human: true,")))).toEqual({ faults: [], warnings: ["CIRCLE_OPEN"] });
  });

  it("bounds a circle by its limit, else by the rounds", async () => {
    const bounds = async (end: string): Promise<unknown> =>
      (
        await checked(`roles:
      - { name: A, actions: [{ name: Write, on: [UserRequirement, Review] }] }
      - { name: B, actions: [{ name: Review, on: Write, output: { ok: boolean }${end} }] }`)
      ).roles.map(({ activations, calls }) => [activations, calls]);
    expect(await bounds(", limit: 2")).toEqual([
      [3, 3],
      [3, 9],
    ]);
    expect(await bounds(", endsWhen: { ok: true }")).toEqual([
      [10, 10],
      [10, 30],
    ]);
  });

  it("looks at the roles of the reserve as if they were hired, and bounds those that a run begins with", async () => {
    const role = (name: string, on: string) =>
      defineRole({ name, reactions: [{ on, do: defineAction({ name: `By${name}`, prompt: () => "a" }) }] });
    const roles = [role("A", "UserRequirement"), role("B", "ByC")];
    const reserve = [role("C", "ByA"), role("D", "ByE"), role("A", "ByA")];
    const report = await checkCrew({ roles, reserve, model: priced, models: { C: { id: "nobody-knows" } }, budget: usd(1) });
    expect(report.faults.map(({ code, role: name }) => [code, name])).toEqual([
      ["ROLE_INVALID", "A"],
      ["NAME_UNKNOWN", "D"],
      ["ROLE_ASLEEP", "D"],
      ["PRICE_UNKNOWN", "C"],
    ]);
    expect(report.roles.map(({ name, calls }) => [name, calls])).toEqual([
      ["A", 1],
      ["B", 0],
    ]);
  });

  it("works for roles made by code, and says where code decides", async () => {
    const Plan: Action = defineAction({ name: "Plan", run: async (ctx) => ctx.ask("a") });
    const report = await checkCrew({ roles: [defineRole({ name: "P", actions: [Plan] })], model: priced });
    expect(report.warnings.map(({ code, role }) => [code, role])).toEqual([["CALLS_UNBOUNDED", "P"]]);
    expect(report.roles[0]).toMatchObject({ calls: undefined, unbounded: "code of Plan decides how often it asks" });
    expect([report.calls, report.cost]).toEqual([undefined, undefined]);
    const bound = await checkCrew({ roles: [defineRole({ name: "P", actions: [Plan] })], model: priced, budget: usd(2) });
    expect([codes(bound), bound.cost]).toEqual([none, 2_000_000]);
  });

  it.each(shippedCrews().map(({ name }) => name))("finds no fault in the shipped crew %s", async (use) => {
    const { roles } = openCrew({ use }, ports);
    expect((await checkCrew({ roles, model: free })).faults).toEqual([]);
  });

  it("bounds the cost by calls, tokens and price", async () => {
    const roles = openCrew(await readCrew("roles: [{ name: A, steps: 5, tools: [planning] }]"), ports).roles;
    // 5 calls, each of 10,000 tokens in at $1 and 1,000 out at $10 for a million.
    expect(await checkCrew({ roles, model: priced, inputTokens: 10_000 })).toMatchObject({ calls: 5, cost: 100_000 });
    expect(await checkCrew({ roles, model: priced, inputTokens: 10_000, budget: usd(0.01) })).toMatchObject({ cost: 10_000 });
    expect(await checkCrew({ roles, model: free, models: { A: priced }, inputTokens: 10_000 })).toMatchObject({ cost: 100_000 });
  });

  it("finds missing models and prices", async () => {
    const roles = [defineRole({ name: "A", actions: [defineAction({ name: "X" })] })];
    expect(codes(await checkCrew({ roles }))).toMatchObject({ faults: ["MODEL_MISSING"] });
    const unpriced = { roles, model: { id: "nobody-knows" }, budget: usd(1) };
    expect(codes(await checkCrew(unpriced))).toMatchObject({ faults: ["PRICE_UNKNOWN"] });
    expect(codes(await checkCrew({ ...unpriced, allowUnpriced: true }))).toEqual(none);
    expect(codes(await checkCrew({ ...unpriced, prices: { "nobody-knows": { input: 1, output: 1 } } }))).toEqual(none);
  });

  it("never bounds a crew of questions below what it does", { tags: "numbers" }, async () => {
    const causes = fc.subarray(["UserRequirement", "A0", "A1", "A2", "A3"], { minLength: 1 });
    const crew = fc.array(fc.record({ on: causes, limit: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }) }), {
      minLength: 1,
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(crew, async (list) => {
        const known = ["UserRequirement", ...list.map((_, n) => `A${n}`)];
        const roles = list.map(({ on, limit }, n) => {
          const heard = on.filter((cause) => known.includes(cause));
          const action = { name: `A${n}`, on: heard.length === 0 ? ["UserRequirement"] : heard, ...(limit === undefined ? {} : { limit }) };
          return { name: `R${n}`, actions: [action] };
        });
        const opened = openCrew({ roles }, ports);
        const model = scriptedModel(() => "said");
        const report = await checkCrew({ roles: opened.roles, model, rounds: 6 });
        await new Team({ roles: opened.roles, model }).run("go", { rounds: 6 }).result;
        expect(model.calls.length).toBeLessThanOrEqual(report.calls ?? Infinity);
      }),
      { numRuns: tries(40, 400) },
    );
  });
});
