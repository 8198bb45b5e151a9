import { describe, expect, it } from "vitest";
import { openai } from "../../../src/adapters/openai.ts";
import { modelError } from "../../../src/model/failure.ts";
import { chatModelContract, openaiStub, scriptedModel, type ScriptedReply, type StubReply } from "../../../src/testing/index.ts";
import type { ContractReply } from "../../../src/testing/contracts/chat-model.ts";
import type { ScriptedAnswer } from "../../../src/testing/scripted-model.ts";
import { broken } from "./broken.ts";

const kit = { describe, it, expect };

function scripted(reply: ContractReply): ScriptedReply | ScriptedAnswer {
  switch (reply.kind) {
    case "text":
      return reply.text;
    case "tool":
      return { toolCalls: [{ id: "call_1", type: "function", function: { name: reply.name, arguments: reply.arguments } }] };
    case "truncated":
      return { content: reply.text, finishReason: "length" };
    case "rate-limited":
      return modelError("MODEL_RATE_LIMIT", "slow down");
    case "stall":
      return () => new Promise(() => {});
  }
}

function stubbed(reply: ContractReply): StubReply {
  switch (reply.kind) {
    case "text":
      return reply.text;
    case "tool":
      return { toolCalls: [{ name: reply.name, arguments: reply.arguments }] };
    case "truncated":
      return { fault: "length", text: reply.text };
    case "rate-limited":
      return { fault: "rate-limit" };
    case "stall":
      return { fault: "stall" };
  }
}

chatModelContract(kit, "scriptedModel", (replies) => ({ model: scriptedModel(replies.map(scripted)) }));

chatModelContract(kit, "openai, streaming", async (replies) => {
  const stub = await openaiStub({ replies: replies.map(stubbed) });
  return { model: openai({ model: "m", baseURL: stub.url }), close: () => stub.close() };
});

chatModelContract(kit, "openai, whole", async (replies) => {
  const stub = await openaiStub({ replies: replies.map(stubbed) });
  return { model: openai({ model: "m", baseURL: stub.url, stream: false }), close: () => stub.close() };
});

describe("chatModelContract", () => {
  const brokenBy = (make: Parameters<typeof chatModelContract>[2]): Promise<string[]> =>
    broken((checks) => chatModelContract(checks, "under test", make));

  it("finds a model that swallows the end of a stream, and one that ends a stream when aborted as if it were whole", async () => {
    const lossy = await brokenBy((replies) => {
      const model = scriptedModel(replies.map(scripted));
      return {
        model: {
          id: model.id,
          chat: (request, o) => model.chat(request, o),
          async *stream(request, o) {
            try {
              for await (const piece of model.stream(request, o)) if (piece.finishReason === undefined) yield piece;
            } catch (error) {
              if (!o.signal.aborted) throw error;
            }
          },
        },
      };
    });
    expect(lossy).toEqual(["ChatModel.C2", "ChatModel.C3", "ChatModel.C4", "ChatModel.C6", "ChatModel.C7", "ChatModel.C8"]);
  });

  it("finds a model whose errors are not typed", async () => {
    const untyped = await brokenBy((replies) => ({
      model: scriptedModel(replies.map((reply) => (reply.kind === "rate-limited" ? new Error("429") : scripted(reply)))),
    }));
    expect(untyped).toEqual(["ChatModel.C5"]);
  });
});
