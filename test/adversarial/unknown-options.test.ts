import { describe, expect, test } from "vitest";
import { Agent, defineTool } from "../../src/agent/index.ts";
import { defineAction, defineRole, Environment, Plan, priceOf, Team } from "../../src/index.ts";
import { createServer } from "../../src/server/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { fileWorkspace, memoryWorkspace } from "../../src/workspace/index.ts";

const model = scriptedModel([]);
const ann = defineRole({ name: "Ann", step: () => undefined });
const execute = (): string => "";

/** Options within options, and options of what no entry exports. The tables of `doors` have all others. Each is called with one more option. */
const doors: readonly (readonly [door: string, open: (more: object) => unknown, place?: string])[] = [
  ["defineRole with a step", (more) => defineRole({ name: "Ann", step: () => undefined, ...more })],
  ["a role's agent", (more) => new Environment().addRole(defineRole({ name: "Ann", reactMode: "agent", agent: { ...more } }))],
  [
    "a reaction",
    (more) => new Environment().addRole(defineRole({ name: "Ann", reactions: [{ on: "x", do: defineAction({ name: "A" }), ...more }] })),
  ],
  ["a role's memory", (more) => new Environment().addRole(defineRole({ name: "Ann", memory: { ...more } }))],
  ["what a role recalls", (more) => new Environment().addRole(defineRole({ name: "Ann", memory: { recall: { ...more } } })), "recall."],
  [
    "shares of a recall",
    (more) => new Environment().addRole(defineRole({ name: "Ann", memory: { recall: { shares: { ...more } } } })),
    "recall.shares.",
  ],
  ["new Agent with loops", (more) => new Agent({ name: "a", model, loops: { ...more } })],
  ["new Agent with compaction", (more) => new Agent({ name: "a", model, compaction: { ...more } })],
  ["a task of a plan", (more) => new Plan({ goal: "g", tasks: [{ id: "a", instruction: "b", ...more }] })],
  ["permissions", (more) => new Agent({ name: "a", model, permissions: { default: "ask", ...more } })],
  ["a rule of permissions", (more) => new Agent({ name: "a", model, permissions: { rules: [{ tool: "t", decide: "deny", ...more }] } })],
  ["a rule of a tool", (more) => defineTool({ name: "t", description: "", permission: [{ decide: "deny", ...more }], execute })],
  ["a price", (more) => priceOf({ id: "m", price: { input: 1, output: 2, ...more } }), "price."],
  ["listen", (more) => createServer({ team: new Team({ roles: [ann] }) }).listen({ port: 0, ...more })],
  ["close of a server", (more) => createServer({ team: new Team({ roles: [ann] }) }).close({ grace: 1, ...more })],
  ["commit of memoryWorkspace", (more) => memoryWorkspace().commit({ message: "m", author: "a", date: 1, ...more })],
  ["commit of fileWorkspace", (more) => fileWorkspace({ root: "nowhere" }).commit({ message: "m", author: "a", date: 1, ...more })],
];

describe("an option that nobody knows is refused, also from plain JavaScript", () => {
  test.each(doors.map(([door, open, place = ""]) => ({ door, open, place })))("$door", async ({ open, place }) => {
    // In a function that waits: some doors throw, others give a promise that fails.
    await expect((async () => void (await open({ unheardOf: 1 })))()).rejects.toMatchObject({
      code: "OPTION_UNKNOWN",
      data: { option: `${place}unheardOf` },
    });
  });

  test("in ask and step of an activation it fails the activation", async () => {
    const asking = (more: object) => defineRole({ name: "Ann", react: async (rc) => void (await rc.ask("?", more)) });
    const stepping = (more: object) =>
      defineRole({ name: "Ann", react: async (rc) => void (await rc.step("s", {}, () => Promise.resolve(1), more)) });
    const human = defineRole({
      name: "Ann",
      react: async (rc) => void (await rc.human.ask("?", { choices: [{ value: "a", lable: "b" } as never] })),
    });
    for (const role of [asking({ temprature: 1 }), stepping({ idempotant: false }), human]) {
      const result = await new Team({ roles: [role], model: scriptedModel(["x"]) }).run("go").result;
      expect(result).toMatchObject({ status: "failed", error: { code: "OPTION_UNKNOWN" } });
    }
  });
});
