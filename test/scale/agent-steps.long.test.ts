// @module-tag numbers
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { allocatedBy } from "./heap.ts";
import { workOf } from "./work.ts";
import { Agent } from "../../src/agent/agent.ts";
import type { ChatModel, ChatResponse } from "../../src/model/chat-model.ts";
import { defineTool } from "../../src/tool/tool.ts";

const look = defineTool({
  name: "look",
  description: "Looks.",
  effect: "read",
  parameters: z.object({ at: z.number() }),
  execute: () => "seen",
});

/** A model that asks for so many calls, one after another, and then answers; it keeps nothing. */
function asking(n: number): ChatModel {
  const usage = { inputTokens: 1, outputTokens: 1 };
  let at = 0;
  const chat = (): ChatResponse => {
    at += 1;
    const call = { id: `c${at}`, type: "function", function: { name: "look", arguments: `{"at":${at}}` } } as const;
    return at > n
      ? { content: "done", toolCalls: [], finishReason: "stop", usage }
      : { content: "", toolCalls: [call], finishReason: "tool_calls", usage };
  };
  return {
    id: "scripted",
    price: { input: 0, output: 0 },
    streams: false,
    chat: () => Promise.resolve(chat()),
    stream: () => expect.unreachable("the model says that it does not stream"),
  };
}

/** For each message that a step sends: measured 8. */
const BLOCKS = 12;
/** Of heap, for each message: measured 190, for lists of pointers. */
const BYTES = 256;

async function worked(n: number): Promise<void> {
  const result = await new Agent({ name: "one", model: asking(n), tools: [look], maxSteps: n + 5 }).run("go").result;
  expect(result).toMatchObject({ status: "finished", answer: "done", steps: n + 1 });
}

/** The difference of a long run and a short one: what a run costs to set up is in neither. */
async function perStep(few: number, many: number, cost: (n: number) => Promise<number>): Promise<number> {
  const short = await cost(few);
  return ((await cost(many)) - short) / (many - few);
}

describe("a step of an agent", () => {
  it("does a few blocks of work for each message of its conversation, which it sends whole, also where its window is full", async () => {
    await worked(10);
    const early = await perStep(20, 70, (n) => workOf(() => worked(n)));
    const late = await perStep(400, 480, (n) => workOf(() => worked(n)));
    const past = await perStep(1_000, 1_100, (n) => workOf(() => worked(n)));
    expect(early).toBeGreaterThan(50);
    const perMessage = (step: number, steps: number): number => (step - early) / (2 * (steps - 45));
    expect(perMessage(late, 440)).toBeLessThan(BLOCKS);
    expect(perMessage(past, 1_050)).toBeLessThan(BLOCKS);
  });

  it("takes of the conversation no more than lists of it", { tags: ["numbers", "long"] }, async () => {
    await worked(200);
    const early = await perStep(50, 150, (n) => allocatedBy(() => worked(n)));
    const late = await perStep(350, 450, (n) => allocatedBy(() => worked(n)));
    // Of two messages more for each of the 300 steps between.
    expect((late - early) / (2 * 300)).toBeLessThan(BYTES);
  });
});
