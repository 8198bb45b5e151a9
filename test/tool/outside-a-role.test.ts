import { describe, expect, it } from "vitest";
import { callTool, callTools, ChatMessage, defineTool, joinMessages, resultText, type ToolCall, toOpenAI } from "../../src/agent/index.ts";
import { call } from "./calling.ts";

const look = defineTool({ name: "look", description: "", effect: "read", execute: () => "seen" });
const usage = (code: string): Error => expect.objectContaining({ name: "UsageError", code }) as Error;

describe("calling a tool outside a role", () => {
  it("takes the tools and nothing else", async () => {
    expect(await callTool(call("look"), { tools: [look] })).toMatchObject({ outcome: "ok", result: { output: "seen" } });
    expect(await callTools([call("look", {}, "1"), call("look", {}, "2")], { tools: [look] })).toHaveLength(2);
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["no function", { id: "1", type: "function" }],
    ["a name that is no text", { id: "1", function: { name: 5, arguments: "{}" } }],
    ["arguments that are no text", { id: "1", function: { name: "look", arguments: {} } }],
    ["no id", { function: { name: "look", arguments: "{}" } }],
  ])("refuses a call that is %s, by an error of this package", async (_, wrong) => {
    await expect(callTool(wrong as ToolCall, { tools: [look] })).rejects.toThrow(usage("TOOL_CALL_INVALID"));
    await expect(callTools([wrong as ToolCall], { tools: [look] })).rejects.toThrow(usage("TOOL_CALL_INVALID"));
  });

  it("refuses options that are none", async () => {
    const asks = defineTool({ name: "look", description: "", permission: "ask", execute: () => 1 });
    await expect(callTool(call("look"), undefined as never)).rejects.toThrow(usage("CALL_OPTIONS_INVALID"));
    await expect(callTool(call("look"), { tools: 5 as never })).rejects.toThrow(usage("CALL_OPTIONS_INVALID"));
    const role = 5 as unknown as string;
    await expect(callTool(call("look"), { tools: [asks], role, approve: () => true })).rejects.toThrow(usage("CALL_OPTIONS_INVALID"));
    const choice = "banana" as "auto";
    await expect(callTools([call("look")], { tools: [look], choice })).rejects.toThrow(usage("TOOL_CHOICE_INVALID"));
  });

  it("reads a null as null, and nothing as no output", async () => {
    const answer = async (value: unknown): Promise<string> => {
      const tool = defineTool({ name: "look", description: "", execute: () => value as never });
      return resultText((await callTool(call("look"), { tools: [tool] })).result);
    };
    expect(await answer(null)).toBe("null");
    expect(await answer({ output: null })).toBe("null");
    expect(await answer(undefined)).toBe("(no output)");
  });
});

describe("messages for a server of OpenAI's kind", () => {
  const image = { url: "https://example.org/a.png" };
  const wish: ToolCall = call("look", {}, "1");

  it("of a whole conversation keep the pictures of tools", () => {
    const said = [ChatMessage.fromToolCalls([wish]), ChatMessage.tool({ content: "seen", name: "look", toolCallId: "1", images: [image] })];
    expect(toOpenAI(said)).toMatchObject([
      { role: "assistant" },
      { role: "tool", content: "seen" },
      { role: "user", content: [{ type: "text" }, { type: "image_url", image_url: image }] },
    ]);
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["a role that is no text", { role: 5, content: "x" }],
    ["a role that there is not", { role: "banana", content: "x" }],
    ["a call without a function", { role: "assistant", toolCalls: [{ id: "1" }] }],
    ["a picture that is none", { role: "user", content: "x", images: [5] }],
  ])("refuse %s by an error of this package", (_, wrong) => {
    expect(() => toOpenAI(wrong as ChatMessage)).toThrow(usage("CHAT_MESSAGE_INVALID"));
    expect(() => toOpenAI([wrong as ChatMessage])).toThrow(usage("CHAT_MESSAGE_INVALID"));
  });

  it("are made of calls that name their tools, and joined of messages whose role is a text", () => {
    expect(() => ChatMessage.fromToolCalls([{ id: "1" } as ToolCall])).toThrow(usage("CHAT_MESSAGE_INVALID"));
    expect(() => ChatMessage.fromToolCalls(null as unknown as ToolCall[])).toThrow(usage("CHAT_MESSAGE_INVALID"));
    expect(() => joinMessages({ role: 5 } as unknown as ChatMessage)).toThrow(usage("CHAT_MESSAGE_INVALID"));
  });
});
