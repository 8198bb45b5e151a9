import { describe, expect, it } from "vitest";
import { createMessage } from "../../src/message/message.ts";
import { ChatMessage, joinMessages, parseChatMessage, renderForPrompt, toChat, type ToolCall } from "../../src/model/chat-message.ts";
import { openaiMessages } from "../../src/model/openai-request.ts";

describe("toChat", () => {
  it("says who spoke and what", () => {
    expect(toChat(createMessage("Build it.", { sentFrom: "Alice" }))).toEqual({ role: "user", content: "Alice: Build it." });
    expect(toChat(createMessage("Build it."))).toEqual({ role: "user", content: "Build it." });
    expect(toChat(createMessage("I did.", { role: "assistant", sentFrom: "Bob" }))).toEqual({ role: "assistant", content: "Bob: I did." });
    expect(toChat(createMessage("Be brief.", { role: "system" }))).toEqual({ role: "system", content: "Be brief." });
  });

  it("a tool's message outside a call of a tool is the user's", () => {
    expect(toChat(createMessage("42", { role: "tool" })).role).toBe("user");
  });

  it("two messages that differ in id, time, cause and metadata alone read the same: or every fork would pay again", () => {
    const one = createMessage("Same.", { sentFrom: "A", id: "1", timestamp: 1, causeBy: "X", metadata: { run: 1 }, parents: ["p"] });
    const two = createMessage("Same.", { sentFrom: "A", id: "2", timestamp: 2, causeBy: "Y", metadata: { run: 2 } });
    expect(toChat(one)).toEqual(toChat(two));
    expect(renderForPrompt(one)).toBe(renderForPrompt(two));
  });
});

const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };
const call = (id: string): ToolCall => ({ id, type: "function", function: { name: "look", arguments: "{}" } });

describe("messages are made", () => {
  it("with the fields they need and no others", () => {
    expect(ChatMessage.user("hi")).toEqual({ role: "user", content: "hi" });
    expect(ChatMessage.user("hi", { name: "Ann", images: [picture, { url: "https://x.test/a.png" }] })).toEqual({
      role: "user",
      content: "hi",
      name: "Ann",
      images: [picture, { url: "https://x.test/a.png" }],
    });
    expect(ChatMessage.system("be brief")).toEqual({ role: "system", content: "be brief" });
    expect(ChatMessage.assistant("")).toEqual({ role: "assistant", content: "" });
    expect(ChatMessage.tool({ content: "4", name: "add", toolCallId: "c1" })).toEqual({
      role: "tool",
      content: "4",
      name: "add",
      toolCallId: "c1",
    });
  });

  it("of calls in the wire's form, whatever else a server put there", () => {
    const told = { ...call("c1"), type: "custom", index: 0 } as unknown as ToolCall;
    expect(ChatMessage.fromToolCalls([told], "I look.")).toEqual({ role: "assistant", content: "I look.", toolCalls: [call("c1")] });
    const signed = { ...call("c1"), extra: { signature: "s" } };
    expect(parseChatMessage(JSON.parse(JSON.stringify(ChatMessage.fromToolCalls([signed])))).toolCalls).toEqual([signed]);
    expect(ChatMessage.fromToolCalls([call("c1")])).not.toHaveProperty("content");
    expect(ChatMessage.fromToolCalls([], "just words")).toEqual({ role: "assistant", content: "just words" });
  });

  it("of calls with ids of their own, also where a server gives one id to all", () => {
    const { toolCalls = [] } = ChatMessage.fromToolCalls([call("x"), call("x"), call("x#2"), call("x")]);
    expect(toolCalls.map(({ id }) => id)).toEqual(["x", "x#2", "x#2#2", "x#3"]);
  });

  it("and stay as they are, all the way down", () => {
    const message = ChatMessage.fromToolCalls([call("c1")]);
    expect(() => Object.assign(message.toolCalls?.[0]?.function ?? {}, { name: "rm" })).toThrow(TypeError);
  });

  it("the same as one from elsewhere with these fields, which is looked through", () => {
    const made = [
      ChatMessage.user("hi"),
      ChatMessage.system(""),
      ChatMessage.assistant("yes"),
      ChatMessage.tool({ content: "", name: "", toolCallId: "c1" }),
      ChatMessage.tool({ content: "4", name: "add", toolCallId: "c1", images: [picture] }),
      ChatMessage.fromToolCalls([call("c1"), call("c1")], "I look."),
      ChatMessage.fromToolCalls([{ ...call("c1"), extra: { signature: "s" } }]),
    ];
    for (const message of made) {
      const read = parseChatMessage(JSON.parse(JSON.stringify(message)));
      expect([read, Object.keys(read)]).toEqual([message, Object.keys(message)]);
      expect(parseChatMessage(message)).toBe(message);
      expect(
        [message, message.toolCalls ?? message, message.toolCalls?.[0] ?? message, message.toolCalls?.[0]?.function ?? message].every(
          Object.isFrozen,
        ),
      ).toBe(true);
    }
  });

  it.each<[string, () => unknown]>([
    [
      "calls whose arguments are no text",
      () => ChatMessage.fromToolCalls([{ ...call("c"), function: { name: "x", arguments: {} } } as never]),
    ],
    ["calls with something besides that is no JSON", () => ChatMessage.fromToolCalls([{ ...call("c"), extra: { at: 1n } } as never])],
    ["calls and words that are no text", () => ChatMessage.fromToolCalls([call("c")], 7 as never)],
    ["an answer whose name is no text", () => ChatMessage.tool({ content: "4", name: 7, toolCallId: "c" } as never)],
    ["content that is no text", () => ChatMessage.user(7 as unknown as string)],
    ["a picture that is none", () => ChatMessage.user("x", { images: [{ mediaType: "picture", data: "PGI+" }] })],
    ["an answer to nothing", () => ChatMessage.tool({ content: "4", name: "add" } as Parameters<typeof ChatMessage.tool>[0])],
    ["a role there is not", () => parseChatMessage({ role: "oracle", content: "x" })],
    ["a user who calls tools", () => parseChatMessage({ role: "user", toolCalls: [call("c1")] })],
    [
      "arguments that are no text",
      () => parseChatMessage({ role: "assistant", toolCalls: [{ id: "1", function: { name: "x", arguments: {} } }] }),
    ],
    ["null", () => parseChatMessage(null)],
  ])("but not with %s", (_, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "CHAT_MESSAGE_INVALID" }) as Error);
  });
});

it("a message from elsewhere loses nulls and what no message has", () => {
  const told = { role: "assistant", content: null, toolCalls: [call("c1")], name: null, images: [], refusal: null };
  expect(parseChatMessage(told)).toEqual({ role: "assistant", toolCalls: [call("c1")] });
});

describe("joined messages", () => {
  const [a, b, c] = ["a", "b", "c"].map((content) => ChatMessage.user(content)) as [ChatMessage, ChatMessage, ChatMessage];

  it("are one list, the caller's own", () => {
    const list = [a, b];
    const joined = joinMessages(list, c);
    joined.pop();
    expect([joinMessages(a, b), joinMessages(a, [b, c]), joinMessages([a], b), joinMessages(), list]).toEqual([
      [a, b],
      [a, b, c],
      [a, b],
      [],
      [a, b],
    ]);
  });

  it.each([
    ["a text", "b"],
    ["nothing", undefined],
    ["a list of something else", [1]],
  ])("are none with %s", (_, part) => {
    expect(() => joinMessages(a, part as unknown as ChatMessage)).toThrow(
      /Expected chat messages or lists of them to join, got .* as number 2/,
    );
  });
});

describe("a message in OpenAI's own form", () => {
  const wire = {
    role: "assistant",
    content: null,
    refusal: null,
    tool_calls: [
      { id: "c1", type: "function", function: { name: "look", arguments: "{}" }, extra_content: { google: { signature: "s" } } },
    ],
  };

  it("keeps the calls of tools and which call an answer is of", () => {
    const [given] = wire.tool_calls;
    expect(parseChatMessage(wire)).toEqual({
      role: "assistant",
      toolCalls: [{ id: "c1", type: "function", function: given?.function, extra: { google: { signature: "s" } } }],
    });
    expect(parseChatMessage({ role: "tool", content: "seen", tool_call_id: "c1" })).toEqual({
      role: "tool",
      content: "seen",
      toolCallId: "c1",
    });
  });

  it("comes back from what is sent as it was", () => {
    const calls = parseChatMessage(wire);
    const answer = ChatMessage.tool({ content: "seen", name: "look", toolCallId: "c1" });
    expect(openaiMessages([calls, answer]).map(parseChatMessage)).toMatchObject([calls, { toolCallId: "c1", content: "seen" }]);
  });

  it.each<[string, unknown]>([
    ["calls that are none", { role: "assistant", tool_calls: "look" }],
    ["calls of a user", { role: "user", content: "x", tool_calls: wire.tool_calls }],
    ["an answer to no call", { role: "tool", content: "x", tool_call_id: null }],
    ["two calls answered at once", { role: "tool", content: "x", tool_call_id: "c1", toolCallId: "c2" }],
  ])("%s is refused", (_what, message) => {
    expect(() => parseChatMessage(message)).toThrow(expect.objectContaining({ code: "CHAT_MESSAGE_INVALID" }) as Error);
  });
});
