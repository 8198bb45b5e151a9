import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, defineTool } from "../../src/agent/index.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { requestBody } from "../../src/model/openai-request.ts";
import { defineAction, defineRole, Team } from "../../src/index.ts";
import { cacheableShare, type PromptParts, scriptedModel } from "../../src/testing/index.ts";

const user = (content: string): PromptParts => ({ messages: [{ role: "user", content }] });
const long = (letter: string, tokens: number): string => letter.repeat(4 * tokens);

describe("cacheableShare", () => {
  it("is nothing for nothing, for one request, and for short prompts", () => {
    expect(cacheableShare([])).toEqual({ promptTokens: 0, cacheableTokens: 0, share: 0 });
    expect(cacheableShare([user(long("a", 5_000))]).share).toBe(0);
    expect(cacheableShare([user(long("a", 900)), user(long("a", 900))]).share).toBe(0);
  });

  it("counts whole steps of the beginning that is the same", () => {
    const [first, second] = [user(`${long("a", 2_000)}b`), user(`${long("a", 2_000)}c`)];
    const { promptTokens, cacheableTokens } = cacheableShare([first, second]);
    expect(cacheableTokens).toBe(1_920);
    expect(promptTokens).toBeGreaterThan(4_000);
    expect(cacheableShare([first, second], { minimum: 1_921 }).cacheableTokens).toBe(0);
    expect(cacheableShare([first, second], { step: 1 }).cacheableTokens).toBeGreaterThan(1_999);
  });

  it("a difference at the beginning, another model, another tool or another schema costs everything", () => {
    const same = user(long("a", 3_000));
    expect(cacheableShare([user(`1${long("a", 3_000)}`), user(`2${long("a", 3_000)}`)]).share).toBe(0);
    expect(
      cacheableShare([
        { ...same, model: "m" },
        { ...same, model: "n" },
      ]).share,
    ).toBe(0);
    expect(
      cacheableShare([
        { ...same, tools: [{ name: "a" }] },
        { ...same, tools: [{ name: "b" }] },
      ]).share,
    ).toBe(0);
    expect(cacheableShare([same, { ...same, response_format: { type: "json_object" } }]).share).toBe(0);
    expect(cacheableShare([same, user(long("b", 3_000)), same]).share).toBeGreaterThan(0.3);
  });

  it("property: from 0 to 1, the last request changes nothing before it, and the form of the wire counts alike", () => {
    const request = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }).map((parts): ChatRequest => ({
      messages: parts.map((part) => ({ role: "user", content: long(part, 700) })),
    }));
    const wire = (one: ChatRequest): PromptParts =>
      requestBody(one, { model: "m", maxTokensField: "max_tokens", extra: {} }, true) as unknown as PromptParts;
    fc.assert(
      fc.property(fc.array(request, { maxLength: 8 }), (requests) => {
        const whole = cacheableShare(requests);
        expect(whole.share >= 0 && whole.share <= 1).toBe(true);
        expect(whole.cacheableTokens % 128).toBe(0);
        expect(cacheableShare(requests.slice(0, -1)).cacheableTokens).toBeLessThanOrEqual(whole.cacheableTokens);
        expect(cacheableShare(requests.map(wire)).cacheableTokens).toBe(whole.cacheableTokens);
      }),
    );
  });

  it("refuses options of other names", () => {
    expect(() => cacheableShare([], { steps: 1 } as object)).toThrow("Did you mean step?");
  });
});

describe("the requests of this package", () => {
  const read = defineTool({
    name: "read",
    description: `Reads a file. ${"It says how. ".repeat(40)}`,
    parameters: z.object({ path: z.string() }),
    effect: "read",
    execute: ({ path }) => `${path}:\n${"const line = 1;\n".repeat(60)}`,
  });
  const steps = 25;
  const reading = (_request: ChatRequest, n: number) =>
    n < steps
      ? { toolCalls: [{ id: `c${n}`, type: "function" as const, function: { name: "read", arguments: `{"path":"src/${n}.js"}` } }] }
      : "Done.";

  it("of an agent begin like those before them: nine tenths can come from the cache", async () => {
    const model = scriptedModel(reading);
    const agent = new Agent({ name: "a", model, tools: [read], systemPrompt: "You read. ".repeat(100), nextStepPrompt: "What next?" });
    expect(await agent.run("Read all files.").result).toMatchObject({ status: "finished" });
    expect(model.calls).toHaveLength(steps + 1);
    expect(cacheableShare(model.calls).share).toBeGreaterThan(0.85);
    // Each request begins with the whole one before, its last prompt aside.
    for (const [n, { messages }] of model.calls.entries()) {
      const before = model.calls[n - 1]?.messages.slice(0, -1) ?? [];
      expect(messages.slice(0, before.length)).toEqual(before);
      expect(messages.at(-1)).toEqual({ role: "user", content: "What next?" });
    }
  });

  it("of an agent that makes room again and again keep most of it", async () => {
    const model = scriptedModel(reading);
    const agent = new Agent({
      name: "a",
      model,
      tools: [read],
      systemPrompt: "You read. ".repeat(400),
      compaction: { contextTokens: 6_000 },
    });
    expect(await agent.run("Read all files.").result).toMatchObject({ status: "finished" });
    expect(cacheableShare(model.calls).share).toBeGreaterThan(0.6);
  });

  it("of roles that ask begin with who they are", async () => {
    const model = scriptedModel(() => "Said.");
    const rules = `Rules: ${"be short. ".repeat(600)}`;
    const ask = defineAction({ name: "Ask", run: async (ctx) => ctx.ask(`Task ${ctx.news.length} ${Math.random()}`, { system: rules }) });
    const role = defineRole({ name: "Ann", actions: [ask] });
    for (const idea of ["one", "two", "three"]) await new Team({ roles: [role], model }).run(idea).result;
    expect(model.calls).toHaveLength(3);
    expect(cacheableShare(model.calls).share).toBeGreaterThan(0.6);
  });
});
