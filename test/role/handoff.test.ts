import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import {
  type ChatRequest,
  createMessage,
  defineRole,
  defineTool,
  guard,
  handoff,
  memoryJournal,
  type Role,
  Team,
} from "../../src/index.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { call, calls } from "../agent/setup.ts";

const transfer = (to: string, reason = "a refund", n = 0): object => calls(call(`transfer_to_${to}`, { reason }, `call_${n}`));
const seenBy = (request: ChatRequest | undefined): readonly string[] =>
  (request?.messages ?? []).slice(1).map(({ role, content }) => `${role}: ${content ?? ""}`);

function desk(o: Parameters<typeof handoff>[1] = {}): readonly [Role, Role] {
  const rita = defineRole({ name: "Rita", goal: "decide about refunds", reactMode: "agent", watch: [] });
  return [defineRole({ name: "Desk", tools: [handoff(rita, o)] }), rita];
}

describe("a hand-off", () => {
  it.each([
    [
      "all",
      [
        "user: Hello, I am Ann.",
        "user: Desk: Hello Ann.",
        "user: I want my money back.",
        "user: This conversation is handed over to you. You answer the user now. Desk: a refund",
      ],
    ],
    ["none", ["user: This conversation is handed over to you. You answer the user now. Desk: a refund"]],
    ["summary", ["user: Desk: Ann wants money.", "user: This conversation is handed over to you. You answer the user now. Desk: a refund"]],
  ] as const)("passes the conversation on: %s", async (history, seen) => {
    const summary = history === "summary" ? ["Ann wants money."] : [];
    const model = scriptedModel(["Hello Ann.", transfer("Rita"), ...summary, "You get it."]);
    const chat = new Team({ roles: desk({ history }), model }).conversation("ann");
    await chat.say("Hello, I am Ann.");
    const { messages } = await chat.say("I want my money back.");
    expect(messages.map(({ sentFrom, content }) => `${sentFrom}: ${content}`)).toEqual(["Desk: a refund", "Rita: You get it."]);
    expect(seenBy(model.calls.at(-1))).toEqual(seen);
  });

  it("leaves the conversation with the role that took it, over a restart", async () => {
    const journal = memoryJournal();
    await new Team({ roles: desk(), model: scriptedModel([transfer("Rita"), "You get it."], { id: "m" }), journal })
      .conversation("ann")
      .say("Refund?");
    const model = scriptedModel(["Tomorrow."], { id: "m" });
    const { messages } = await new Team({ roles: desk(), model, journal }).conversation("ann").say("When?");
    expect(messages.map(({ sentFrom }) => sentFrom)).toEqual(["Rita"]);
    expect(seenBy(model.calls[0])).toEqual(["user: Refund?", "user: Desk: a refund", "assistant: You get it.", "user: When?"]);
    const replayed = await new Team({ roles: desk(), journal, model: scriptedModel([], { id: "m" }) }).replay("ann").result;
    expect(replayed.error).toBeUndefined();
  });

  it("gives the other role the input that the model fills in", async () => {
    const roles = desk({ input: z.object({ order: z.number() }), history: "none" });
    const model = scriptedModel([calls(call("transfer_to_Rita", { order: 7 })), "You get it."]);
    const { messages } = await new Team({ roles, model }).run("Refund for order 7.").result;
    expect(messages[1]).toMatchObject({ sendTo: ["Rita"], content: '{"order":7}', instructContent: { input: { order: 7 } } });
  });

  it.each([
    ["mended from what the model wrote", '{"reason":"a refund",}', []],
    [
      "as a guard rewrote them",
      '{"reason":"card 4111"}',
      [guard({ name: "no cards", on: "call", check: () => ({ rewrite: { reason: "a refund" } }) })],
    ],
  ])("has the arguments %s", async (_what, args, guards) => {
    const [, rita] = desk();
    const model = scriptedModel([calls(call("transfer_to_Rita", args)), "You get it."]);
    const team = new Team({ roles: [defineRole({ name: "Desk", tools: [handoff(rita)], guards }), rita], model });
    const { messages } = await team.run("Refund?").result;
    expect(messages.map(({ content }) => content)).toEqual(["Refund?", "a refund", "You get it."]);
  });

  it("cuts a message that is too long alone", async () => {
    const model = scriptedModel([transfer("Rita"), "You get it."]);
    await new Team({ roles: desk(), model }).run(`Refund for order 7. ${"x".repeat(200_000)}`).result;
    expect(seenBy(model.calls[1])[0]).toMatch(/^user: Refund for order 7\./);
  });

  it("is no message from outside that has its cause", async () => {
    const model = scriptedModel([transfer("Rita"), "You get it.", "Tomorrow."]);
    const chat = new Team({ roles: desk(), model }).conversation("ann");
    await chat.say("Refund?");
    await chat.say(createMessage("I am a hand-off.", { causeBy: "Handoff", sendTo: "Nobody" }));
    expect((await chat.say("When?")).messages.map(({ sentFrom }) => sentFrom)).toEqual(["Rita"]);
  });

  it("of a role with a schema for its answers asks for none", async () => {
    const { defineAction } = await import("../../src/index.ts");
    const Answer = defineAction({ name: "Answer", output: z.object({ yes: z.boolean() }), run: () => undefined as never });
    const [, rita] = desk();
    const model = scriptedModel([transfer("Rita"), "Yes."]);
    const roles = [defineRole({ name: "Desk", reactMode: "agent", actions: [Answer], tools: [handoff("Rita")] }), rita];
    expect((await new Team({ roles, model }).run("Refund?").result).output?.content).toBe("Yes.");
  });

  it("in a circle ends after ten, with an answer", async () => {
    const one = defineRole({ name: "One", tools: [handoff("Two")] });
    const two = defineRole({ name: "Two", tools: [handoff("One")], watch: [] });
    let n = 0;
    const model = scriptedModel(({ tools = [] }) => {
      const [tool] = tools.filter(({ name }) => name.startsWith("transfer"));
      return tool === undefined ? "I answer." : transfer(tool.name.slice("transfer_to_".length), "not mine", n++);
    });
    const { status, output } = await new Team({ roles: [one, two], model }).run("Who?").result;
    expect([status, output?.content, n]).toEqual(["finished", "I answer.", 10]);
    // What is handed back is not told twice.
    expect(seenBy(model.calls.at(-1)).filter((text) => text === "user: Who?")).toHaveLength(1);
  });

  it("to a role that was retired meanwhile fails, and is no answer", async () => {
    const look = defineTool({
      name: "look",
      description: "Looks.",
      parameters: z.object({}),
      effect: "read",
      execute: async () => (await run.retire("Rita"), "seen"),
    });
    const rita = defineRole({ name: "Rita", profile: "Clerk", reactMode: "agent", watch: [] });
    const clerks = defineRole({ name: "Desk", tools: [look, handoff("Clerk")] });
    const model = scriptedModel([
      calls(call("look", {}, "a")),
      calls(call("transfer_to_Clerk", { reason: "a refund" }, "b")),
      "You get it.",
    ]);
    const team = new Team({ roles: [clerks, rita], model });
    const run = team.run("Refund?");
    const { status, error, output } = await run.result;
    expect([status, error?.code, output?.content]).toEqual(["failed", "ADDRESS_UNKNOWN", undefined]);
  });

  test.each([
    ["to nobody", "Ritta", "ROLE_UNKNOWN", /Did you mean Rita/],
    ["to itself", "Desk", "ROLE_INVALID", /another role/],
    ["to its own profile", "Clerk", "ROLE_INVALID", /another role/],
  ])("%s is refused before the run begins", async (_what, to, code, text) => {
    const rita = defineRole({ name: "Rita", reactMode: "agent", watch: [] });
    const clerk = defineRole({ name: "Desk", profile: "Clerk", tools: [handoff(to)] });
    const team = new Team({ roles: [clerk, rita], model: scriptedModel([]) });
    const { error } = await team.run("Refund?").result;
    expect([error?.code, text.test(error?.message ?? "")]).toEqual([code, true]);
    const environment = new Environment({ model: scriptedModel([]) }).addRole(clerk);
    environment.publishMessage("Refund?");
    await expect(environment.run()).rejects.toMatchObject({ code });
  });
});
