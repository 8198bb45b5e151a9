import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdk, type AiSdkModel } from "../../src/adapters/ai-sdk.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { ChatMessage } from "../../src/model/chat-message.ts";
import type { JsonObject } from "../../src/kernel/json.ts";
import type { ChatChunk, ChatRequest } from "../../src/model/chat-model.ts";
import { doors, failureOf, streamed } from "./chat-doors.ts";
import { type Said, serverOf, type Wire, wires } from "./ai-sdk-wires.ts";

const signal = new AbortController().signal;
const hello: ChatRequest = { messages: [ChatMessage.system("Be brief."), ChatMessage.user("Hello")] };
const tools = [{ name: "add", description: "Adds.", parameters: { type: "object", properties: { a: { type: "number" } } } }];

describe.each(wires.map((wire) => [wire.name, wire] as const))("aiSdk over %s", (_name, wire: Wire) => {
  describe.each(doors)("%s", (_door, ask) => {
    it("answers with text and usage", async () => {
      const said: Said = { text: "Hi there", input: 20, output: 3 };
      const { content, toolCalls, finishReason, usage } = await ask(aiSdk(serverOf(wire, said).model), hello);
      expect({ content, toolCalls, finishReason, usage }).toEqual({
        content: "Hi there",
        toolCalls: [],
        finishReason: "stop",
        usage: { inputTokens: 20, outputTokens: 3 },
      });
    });

    it("calls tools, and takes their results back", async () => {
      const call = { id: "toolcall1", name: "add", input: { a: 2 } };
      const first = serverOf(wire, { call, end: "calls", input: 20, output: 3 });
      const reply = await ask(aiSdk(first.model), { ...hello, tools, toolChoice: "auto" });
      expect(reply.finishReason).toBe("tool_calls");
      expect(reply.toolCalls.map((one) => [one.function.name, JSON.parse(one.function.arguments)])).toEqual([["add", { a: 2 }]]);
      expect(JSON.stringify(first.requests[0]?.body)).toContain("Adds.");
      const [made] = reply.toolCalls;
      const second = serverOf(wire, { text: "4", input: 30, output: 1 });
      const answer = ChatMessage.tool({ content: "the sum is 4", name: "add", toolCallId: made?.id ?? "" });
      const messages = [...hello.messages, ChatMessage.fromToolCalls(reply.toolCalls), answer];
      expect((await ask(aiSdk(second.model), { messages, tools })).content).toBe("4");
      expect(JSON.stringify(second.requests[0]?.body)).toContain("the sum is 4");
    });

    it("says when its reply was cut", async () => {
      const { finishReason } = await ask(aiSdk(serverOf(wire, { text: "Once", end: "length", input: 5, output: 9 }).model), hello);
      expect(finishReason).toBe("length");
    });

    it.runIf(wire.hasThoughts)("keeps its thoughts, and gives them back", async () => {
      const reply = await ask(aiSdk(serverOf(wire, { thought: "Greet back.", text: "Hi", input: 9, output: 9 }).model), hello);
      expect(reply.reasoning?.text).toBe("Greet back.");
      const next = serverOf(wire, { text: "Bye", input: 9, output: 1 });
      const before: ChatMessage = { role: "assistant", content: "Hi", ...(reply.reasoning && { reasoning: reply.reasoning }) };
      await ask(aiSdk(next.model), { messages: [...hello.messages, before, ChatMessage.user("Bye")] });
      expect(JSON.stringify(next.requests[0]?.body)).toMatch(/Greet back\.|sealed|rs_1/);
    });

    it("counts what its cache served", async () => {
      if (wire.name === "mistral") return;
      const { usage } = await ask(aiSdk(serverOf(wire, { text: "Hi", input: 20, cached: 12, output: 3 }).model), hello);
      expect(usage).toEqual({ inputTokens: 20, outputTokens: 3, cachedTokens: 12 });
    });

    it.each([
      [400, "prompt is too long: 9 tokens", "MODEL_CONTEXT_OVERFLOW"],
      [401, "no such key", "MODEL_AUTH"],
      [404, "no such model", "MODEL_NOT_FOUND"],
      [429, "slow down", "MODEL_RATE_LIMIT"],
      [500, "broken", "MODEL_SERVER"],
    ])("reports %s %s as %s", async (status, message, code) => {
      const error = await failureOf(ask(aiSdk(serverOf(wire, { status, message }).model), hello));
      expect([error.code, (error.data as { status?: number }).status]).toEqual([code, status]);
      expect(error.message).toContain(message);
      if (code === "MODEL_RATE_LIMIT") expect(error.data).toMatchObject({ retryAfterMs: 7_000, mayHaveRun: false });
    });
  });

  it("sends the schema, the limits and pictures", async () => {
    const { model, requests } = serverOf(wire, { text: '{"n":1}', input: 9, output: 9 });
    const image = { mediaType: "image/png", data: "iVBORw0KGgo=" };
    const schema = z.toJSONSchema(z.object({ n: z.number() })) as unknown as JsonObject;
    await aiSdk(model)
      .chat(
        {
          messages: [ChatMessage.user("What is it?", { images: [image] })],
          schema: { type: "schema", name: "Number", schema },
          maxTokens: 77,
          stop: ["END"],
        },
        { signal },
      )
      .catch((error: unknown) => {
        if (!(error instanceof ModelError) || error.code !== "MODEL_EMPTY") throw error;
      });
    const sent = JSON.stringify(requests[0]?.body);
    for (const part of ["iVBORw0KGgo=", "77", '"n"']) expect(sent).toContain(part);
  });
});

describe("aiSdk", () => {
  const fake = (parts: readonly object[], specificationVersion = "v3"): AiSdkModel => ({
    specificationVersion,
    provider: "fake",
    modelId: "fake-1",
    doGenerate: () => Promise.resolve({ content: [], finishReason: "stop", usage: {}, warnings: [] }),
    doStream: () =>
      Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      }),
  });

  it.each([
    ["a name", "anthropic/claude"],
    ["nothing", undefined],
    ["a model of another specification", { ...fake([]), specificationVersion: "v1" }],
    ["an embedding model", { specificationVersion: "v3", provider: "p", modelId: "m", doEmbed: () => undefined }],
  ])("refuses %s", (_what, value) => {
    expect(() => aiSdk(value as AiSdkModel)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }) as Error);
  });

  it("reports an error inside a stream, and a stream that ends early", async () => {
    const begun = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "Hel" },
    ];
    const limited = Object.assign(new Error("slow down"), { name: "AI_APICallError", statusCode: 429, responseHeaders: {} });
    const inside = await failureOf(streamed(aiSdk(fake([...begun, { type: "error", error: limited }])), hello));
    expect([inside.code, (inside.data as { mayHaveRun?: boolean }).mayHaveRun]).toEqual(["MODEL_RATE_LIMIT", true]);
    expect((await failureOf(streamed(aiSdk(fake(begun)), hello))).code).toBe("MODEL_CUT");
    expect((await failureOf(streamed(aiSdk(fake([{ type: "error", error: "no reason" }])), hello))).code).toBe("MODEL_FAILED");
  });

  it("asks for the schema in words where the provider ignores it", async () => {
    const warnings = [{ type: "unsupported", feature: "responseFormat" }];
    const model = aiSdk(fake([{ type: "stream-start", warnings }]));
    const asked: ChatRequest = { ...hello, schema: { type: "json" } };
    expect((await failureOf(streamed(model, asked))).code).toBe("MODEL_FORMAT_UNSUPPORTED");
  });

  it("leaves out calls that the provider has made itself", async () => {
    const search = { type: "tool-call", toolCallId: "1", toolName: "web_search", input: "{}", providerExecuted: true };
    const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage: {} };
    const chunks: ChatChunk[] = [];
    for await (const chunk of aiSdk(fake([search, finish])).stream(hello, { signal })) chunks.push(chunk);
    expect(chunks).toEqual([{ finishReason: "stop" }]);
  });
});
