import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/agent/index.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { estimateTokens } from "../../src/memory/tokens.ts";
import type { ChatMessage, ToolCall } from "../../src/model/chat-message.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { groupsOf, shortened, withoutOldResults } from "../../src/agent/compaction.ts";
import { MessagesMemory } from "../../src/agent/messages-memory.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

function sizeOf(request: ChatRequest): number {
  return request.messages.reduce(
    (sum, { content = "", toolCalls }) => sum + estimateTokens(content + (toolCalls === undefined ? "" : JSON.stringify(toolCalls))),
    0,
  );
}

const isSummary = (request: ChatRequest): boolean => request.messages[0]?.content?.includes("memory of a conversation") === true;

describe("making room", () => {
  it("clears old results first, keeps the newest, and asks nobody for it", async () => {
    const look = noting("look", ({ q = "" }) => `${q}:${"x".repeat(4_000)}`);
    const { agent, model } = agentOf((_request, n) => (n < 12 ? calls(call("look", { q: `${n}` }, `c${n}`)) : "done"), {
      tools: [look],
      compaction: { contextTokens: 8_000 },
    });
    const run = agent.run("the goal");
    const events = await eventsOf(run);
    expect(await run.result).toMatchObject({ status: "finished", steps: 13 });
    expect(events.filter((event) => event.type === "memory.compacted").map((event) => event.how)).toContain("cleared");
    expect(model.calls).toHaveLength(13);
    for (const request of model.calls) expect(sizeOf(request)).toBeLessThan(8_000);
    const last = model.calls.at(-1)?.messages ?? [];
    expect(last[0]).toMatchObject({ content: "the goal" });
    const results = last.filter((message) => message.role === "tool").map((message) => message.content ?? "");
    expect(results.at(-1)?.startsWith("11:")).toBe(true);
    expect(results[0]).toContain("characters of this result were cleared");
    expect(results).toHaveLength(12);
  });

  it("Compaction.C1 sums up what is old when that is not enough, keeps goal and newest, and stays below the limit for ever", async () => {
    let n = 0;
    const { agent, model } = agentOf(
      (request) => {
        if (isSummary(request)) return "They looked at many things.";
        n++;
        return n < 40 ? { content: `thought ${n} ${"y".repeat(1_500)}`, toolCalls: [call("look", { q: `${n}` }, `c${n}`)] } : "done";
      },
      { tools: [noting()], compaction: { contextTokens: 6_000 }, maxSteps: 60 },
    );
    const run = agent.run("the goal");
    const events = await eventsOf(run);
    expect(await run.result).toMatchObject({ status: "finished", steps: 40 });
    expect(events.some((event) => event.type === "memory.compacted" && event.how === "summarized" && event.after < event.before)).toBe(
      true,
    );
    for (const request of model.calls.filter((one) => !isSummary(one))) {
      expect(sizeOf(request)).toBeLessThan(6_000);
      expect(request.messages[0]).toMatchObject({ role: "user", content: "the goal" });
    }
    const last = model.calls.at(-1)?.messages ?? [];
    expect(last[1]?.content).toContain("They looked at many things.");
    expect(last.some((message) => message.content?.startsWith("thought 39 ") === true)).toBe(true);
    expect(last.filter((message) => message.content?.includes("in short") === true)).toHaveLength(1);
  });

  it("Compaction.C3 cuts what is too long by itself, goal included, and the request fits", async () => {
    const { agent, model } = agentOf(["done"], { compaction: { contextTokens: 2_000 } });
    const run = agent.run(`begin ${"z".repeat(100_000)} end`);
    expect(await run.result).toMatchObject({ status: "finished" });
    const { content = "" } = model.calls[0]?.messages[0] ?? {};
    expect(content.length).toBeLessThan(8_000);
    expect(content).toMatch(/^begin z+\n\[\d+ characters were cut to make room\]\nz+ end$/);
  });

  it("leaves out pictures that would fill the room by themselves, and says so", async () => {
    const images = Array.from({ length: 16 }, (_, n) => ({ url: `https://pictures.test/${n}.png` }));
    const camera = defineTool({ name: "camera", description: "", effect: "read", execute: () => ({ output: "taken", images }) });
    const { agent, model } = agentOf([calls(call("camera")), "done"], { tools: [camera], compaction: { contextTokens: 8_000 } });
    const run = agent.run("the goal");
    const compacted = (await eventsOf(run)).filter((event) => event.type === "memory.compacted");
    expect(compacted).toMatchObject([{ how: "cut" }]);
    expect(compacted[0]?.after).toBeLessThan(6_000);
    const [result] = model.calls[1]?.messages.filter((message) => message.role === "tool") ?? [];
    expect(result).toMatchObject({ content: expect.stringMatching(/^taken\n\[16 pictures were left out/) as string });
    expect(result?.images).toBeUndefined();
  });

  it("ends in a window that is too small for anything, and keeps what the goal begins with", async () => {
    const { agent, model } = agentOf(
      (request, n) => (isSummary(request) || n > 30 ? "done" : calls(call("look", { q: `${n}` }, `c${n}`))),
      {
        tools: [noting("look", () => "x".repeat(5_000))],
        compaction: { contextTokens: 100 },
        maxSteps: 5,
      },
    );
    expect((await agent.run(`begin ${"z".repeat(5_000)}`).result).status).toMatch(/finished|max_steps/);
    for (const request of model.calls) expect(JSON.stringify(request.messages).length).toBeLessThan(10_000);
    expect(model.calls.length).toBeLessThan(30);
  });

  it("tears no character apart", () => {
    for (let limit = 100; limit < 140; limit++) {
      expect(shortened({ role: "user", content: `a${"\u{1f600}".repeat(500)}` }, limit).content).not.toMatch(/\p{Cs}/u);
    }
  });

  it("ModelClient.C1 makes room once when the server says that the request is too long, and goes on", async () => {
    let overflows = 0;
    const { agent, model } = agentOf(
      (request, n) => {
        if (n < 6) return calls(call("look", { q: `${n}` }, `c${n}`));
        if (isSummary(request)) return "short";
        if (sizeOf(request) > 2_000) {
          overflows++;
          return new ModelError("MODEL_CONTEXT_OVERFLOW", "too long");
        }
        return "done";
      },
      { tools: [noting("look", ({ q = "" }) => q + "x".repeat(3_000))] },
    );
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "done" });
    expect(overflows).toBe(1);
    expect(sizeOf(model.calls.at(-1) as ChatRequest)).toBeLessThan(2_000);
  });

  it("fails when a shorter request is too long as well, without trying for ever", async () => {
    const { agent, model } = agentOf((request) => (isSummary(request) ? "s" : new ModelError("MODEL_CONTEXT_OVERFLOW", "too long")));
    expect(await agent.run("x".repeat(10_000)).result).toMatchObject({ status: "failed", error: { code: "MODEL_CONTEXT_OVERFLOW" } });
    expect(model.calls.length).toBeLessThanOrEqual(3);
  });

  it("works on a memory that cannot be rewritten", async () => {
    const memory = new MessagesMemory({ tools: [noting("look", () => "x".repeat(4_000))] });
    Object.defineProperty(memory, "rewrite", { value: undefined });
    const { agent, model } = agentOf((_request, n) => (n < 8 ? calls(call("look", { q: `${n}` }, `c${n}`)) : "done"), {
      memory,
      compaction: { contextTokens: 6_000 },
    });
    expect(await agent.run("x").result).toMatchObject({ status: "finished" });
    for (const request of model.calls) expect(sizeOf(request)).toBeLessThan(6_000);
    expect((await memory.dump()).some((message) => message.content?.includes("cleared") === true)).toBe(false);
  });
});

describe("how room is made", () => {
  const wish = (id: string): ToolCall => call("look", {}, id);
  const result = (id: string, content: string): ChatMessage => ({ role: "tool", name: "look", toolCallId: id, content });

  it("Compaction.C2 keeps calls and their results in one group", () => {
    const record: ChatMessage[] = [
      { role: "user", content: "x" },
      { role: "assistant", toolCalls: [wish("a"), wish("b")] },
      result("a", "1"),
      result("b", "2"),
      { role: "assistant", content: "y" },
    ];
    expect(groupsOf(record).map((group) => group.length)).toEqual([1, 3, 1]);
    expect(groupsOf(record).flat()).toEqual(record);
  });

  it("clears pictures and long results of all but the newest groups, and nothing else", () => {
    const long = "x".repeat(500);
    const record: ChatMessage[] = [
      { role: "assistant", toolCalls: [wish("a")] },
      { ...result("a", long), images: [{ url: "https://example.org/a.png" }] },
      { role: "assistant", toolCalls: [wish("b")] },
      result("b", "short"),
      { role: "assistant", toolCalls: [wish("c")] },
      result("c", long),
    ];
    const cleared = withoutOldResults(record, 1);
    expect(cleared[1]).toEqual({ ...result("a", ""), content: expect.stringMatching(/^\[500 characters and 1 pictures/) });
    expect([0, 2, 3, 4, 5].every((place) => cleared[place] === record[place])).toBe(true);
    expect(withoutOldResults(record, 0)[5]?.content).toContain("cleared");
  });

  it("shortens texts and arguments, which stay JSON", () => {
    const message: ChatMessage = {
      role: "assistant",
      content: "c".repeat(1_000),
      toolCalls: [call("look", { q: "q".repeat(1_000) }), call("look", {}, "z")],
    };
    const short = shortened(message, 200);
    expect(short.content?.length).toBeLessThan(260);
    expect(JSON.parse(short.toolCalls?.[0]?.function.arguments ?? "")).toEqual({ cleared: expect.stringContaining("characters") });
    expect(short.toolCalls?.[1]).toBe(message.toolCalls?.[1]);
  });

  it("makes the same room by a counter that has to be waited for", async () => {
    const run = async (isLate: boolean) => {
      const count = (text: string): number | Promise<number> => (isLate ? Promise.resolve(estimateTokens(text)) : estimateTokens(text));
      const look = noting("look", ({ q = "" }) => `${q}:${"x".repeat(2_000)}`);
      const { agent, model } = agentOf((_request, n) => (n < 8 ? calls(call("look", { q: `${n}` }, `c${n}`)) : "done"), {
        tools: [look],
        systemPrompt: "Be brief.",
        compaction: { contextTokens: 3_000, counter: { name: "x", count } },
      });
      const events = await eventsOf(agent.run("the goal"));
      return { requests: model.calls.map(({ messages }) => messages), made: events.filter(({ type }) => type === "memory.compacted") };
    };
    const [atOnce, late] = [await run(false), await run(true)];
    expect(late).toEqual(atOnce);
    expect(JSON.stringify(late.requests.at(-1))).toContain("were cleared to make room");
  });
});
