import { describe, expect, it, test } from "vitest";
import { ChatMemory } from "../../src/memory/chat-memory.ts";
import { ChatMessage, type ToolCall } from "../../src/model/chat-message.ts";
import { toOpenAI } from "../../src/model/openai-request.ts";

const call = (id: string, name = "search"): ToolCall => ({ id, type: "function", function: { name, arguments: "{}" } });
const calls = (...ids: string[]): ChatMessage => ChatMessage.fromToolCalls(ids.map((id) => call(id)));
const result = (id: string, content = `result of ${id}`): ChatMessage => ChatMessage.tool({ content, name: "search", toolCallId: id });
const user = ChatMessage.user;

function told(messages: readonly ChatMessage[]): string[] {
  return messages.map(({ role, content = "", toolCalls = [], toolCallId = "" }) =>
    [role, content, ...toolCalls.map(({ id }) => id), toolCallId].filter((part) => part !== "").join(" "),
  );
}

function filled(memory: ChatMemory, ...messages: ChatMessage[]): ChatMemory {
  for (const message of messages) memory.add(message);
  return memory;
}

test("the usage of the first seed: add, the newest two, the form for a server, clear", () => {
  const memory = filled(
    new ChatMemory(),
    ChatMessage.system("You are a helpful assistant."),
    user("Write a poem for me, please."),
    ChatMessage.assistant("Gladly. Here is a poem about spring: ..."),
  );
  expect(told(memory.recent(2))).toEqual(["user Write a poem for me, please.", "assistant Gladly. Here is a poem about spring: ..."]);
  expect(memory.messages.map(toOpenAI)).toEqual([
    { role: "system", content: "You are a helpful assistant." },
    { role: "user", content: "Write a poem for me, please." },
    { role: "assistant", content: "Gladly. Here is a poem about spring: ..." },
  ]);
  memory.clear();
  expect(memory.messages).toEqual([]);
});

test("the flow of the second seed: system, user, calls, result, answer", () => {
  const memory = filled(
    new ChatMemory(),
    ChatMessage.system("You are OpenManus."),
    user("Find today's news on technology."),
    ChatMessage.fromToolCalls(
      [{ id: "call_123", type: "function", function: { name: "web_search", arguments: '{"query": "technology news today"}' } }],
      "I look for it.",
    ),
    ChatMessage.tool({ content: "1. AI ... 2. Quanta ...", name: "web_search", toolCallId: "call_123" }),
    ChatMessage.assistant("The news are ..."),
  );
  expect(memory.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "assistant"]);
});

describe("the window", () => {
  it("has 100 messages unless said otherwise", () => {
    const memory = new ChatMemory();
    for (let n = 1; n <= 101; n++) memory.add(user(`${n}`));
    expect(memory.messages).toHaveLength(100);
    expect(memory.messages[0]).toEqual(user("2"));
  });

  it("ChatMemory.H3 never drops what is pinned: the goal stays, at its place", () => {
    const memory = new ChatMemory({ maxMessages: 3, pinned: "the goal" });
    filled(memory, user("1"), user("2"), user("3"));
    expect(told(memory.messages)).toEqual(["user the goal", "user 2", "user 3"]);
    memory.add(user("and this"), { pin: true });
    filled(memory, user("4"), user("5"));
    expect(told(memory.messages)).toEqual(["user the goal", "user and this", "user 5"]);
  });

  it("counts tokens, of calls and pictures too", () => {
    const tokens = { name: "characters", count: (text: string) => text.length };
    const memory = new ChatMemory({ maxTokens: 20, tokens });
    filled(memory, user("12345"), user("1234567"));
    expect(memory.tokens).toBe(20);
    memory.add(user("1"));
    expect(told(memory.messages)).toEqual(["user 1234567", "user 1"]);
    memory.add(user("x", { images: [{ url: "https://x.test/a.png" }] }));
    expect(told(memory.messages)).toEqual(["user x"]);
    expect(memory.tokens).toBe(4 + 1 + 1_024);
  });

  it("a batch with something in it that is no message adds nothing", () => {
    const memory = new ChatMemory();
    expect(() => memory.addAll([user("1"), { role: "oracle" } as unknown as ChatMessage])).toThrow(/CHAT_MESSAGE_INVALID|role/);
    expect(memory.messages).toEqual([]);
  });
});

describe("calls and answers", () => {
  it("ChatMemory.H2 calls that wait are left open at the end, and answered by words when the conversation continues", () => {
    const memory = filled(new ChatMemory(), calls("a", "b"), result("a"));
    expect(told(memory.messages)).toEqual(["assistant a b", "tool result of a a"]);
    memory.add(user("never mind"));
    expect(told(memory.messages)).toEqual([
      "assistant a b",
      "tool result of a a",
      "tool (no result: the call was cut off. It may have run; look before you call it again) b",
      "user never mind",
    ]);
    expect(memory.messages[2]).toMatchObject({ name: "search" });
  });

  it("an answer that nothing waits for is refused and not kept: no server would take it", () => {
    const memory = new ChatMemory({ maxMessages: 2 });
    expect(memory.add(result("a"))).toBe(false);
    filled(memory, calls("a"), result("a"));
    expect(memory.add(result("a", "again"))).toBe(false);
    filled(memory, calls("b"), user("1"), user("2"));
    expect(memory.add(result("b"))).toBe(false);
    expect(told(memory.messages)).toEqual(["user 1", "user 2"]);
  });

  it("an id that comes again in a later turn is the later call's: some servers count from 0 each time", () => {
    const memory = filled(new ChatMemory(), calls("call_0"), result("call_0", "first"), calls("call_0"), result("call_0", "second"));
    expect(told(memory.messages)).toEqual(["assistant call_0", "tool first call_0", "assistant call_0", "tool second call_0"]);
  });

  it("two calls of one id in one message are answered one after another", () => {
    const twice: ChatMessage = { role: "assistant", toolCalls: [call("x"), call("x")] };
    const memory = filled(new ChatMemory(), twice, result("x", "first"), result("x", "second"));
    expect(told(memory.messages)).toEqual(["assistant x x", "tool first x", "tool second x"]);
    expect(memory.add(result("x", "third"))).toBe(false);
  });
});

describe("recent", () => {
  const memory = filled(new ChatMemory(), user("1"), calls("a"), result("a"), ChatMessage.assistant("done"));

  it("returns at most the given number of newest messages; none for 0", () => {
    expect(memory.recent(0)).toEqual([]);
    expect(told(memory.recent(1))).toEqual(["assistant done"]);
    expect(told(memory.recent(100))).toEqual(told(memory.messages));
  });
});

describe("what is given out", () => {
  it("is the caller's own, and messages cannot be changed", () => {
    const message = { role: "user" as const, content: "as it was" };
    const memory = filled(new ChatMemory(), message);
    message.content = "changed";
    memory.messages.length = 0;
    memory.recent(1).pop();
    expect(told(memory.messages)).toEqual(["user as it was"]);
    expect(() => Object.assign(memory.messages[0] ?? {}, { content: "changed" })).toThrow(TypeError);
  });

  it("is joined by a name, past all limits", () => {
    expect(told(ChatMemory.concat(user("1"), [user("2"), user("3")], user("4")))).toEqual(["user 1", "user 2", "user 3", "user 4"]);
    expect(() => ChatMemory.concat(user("1"), 7 as unknown as ChatMessage)).toThrow(/got 7 as number 2/);
  });
});

describe("as JSON", () => {
  it("is the same after it was written and read, with what waits and what is pinned", () => {
    const memory = new ChatMemory({ maxMessages: 5, maxTokens: 1_000, pinned: "goal" });
    filled(memory, user("1"), calls("a", "b"), result("b"));
    const again = ChatMemory.fromJSON(JSON.parse(JSON.stringify(memory)));
    for (const one of [memory, again]) filled(one, result("a"), user("2"), user("3"));
    expect(again.messages).toEqual(memory.messages);
    expect(again.tokens).toBe(memory.tokens);
    expect(again.toJSON()).toEqual(memory.toJSON());
    expect(told(again.messages)).toEqual(["user goal", "user 2", "user 3"]);
  });

  it.each([
    ["nothing", null],
    ["another value", { messages: [] }],
    ["an answer without a call", { units: [{ messages: [result("a")] }] }],
    ["two messages in one unit", { units: [{ messages: [user("1"), user("2")] }] }],
    ["an answer of another unit", { units: [{ messages: [calls("a")] }, { messages: [user("1"), result("a")] }] }],
  ])("refuses %s", (_, json) => {
    expect(() => ChatMemory.fromJSON(json)).toThrow(expect.objectContaining({ code: "CHAT_MEMORY_INVALID" }) as Error);
  });
});

it.each([{ maxMessages: 0 }, { maxMessages: -1 }, { maxMessages: 1.5 }, { maxTokens: 0 }, { maxTokens: Number.NaN }])(
  "refuses %j: a limit of 0 must not mean no limit",
  (options) => {
    expect(() => new ChatMemory(options)).toThrow(expect.objectContaining({ code: "LIMIT_INVALID" }) as Error);
  },
);

it("refuses a counter that wants to be waited for, before it changes anything", () => {
  const memory = new ChatMemory({ maxTokens: 10, tokens: { name: "good", count: () => 1 } });
  memory.add(user("1"));
  expect(() => new ChatMemory({ maxTokens: 10, tokens: { name: "slow", count: () => Promise.resolve(1) } })).toThrow(
    expect.objectContaining({ code: "TOKENS_INVALID" }) as Error,
  );
  expect(memory.size).toBe(1);
});
