import { describe, expect, test } from "vitest";
import { directSteps, type StepPort, type StepSpec } from "../../src/kernel/step.ts";
import { ReplyBuilder } from "../../src/model/attempt.ts";
import { modelError } from "../../src/model/failure.ts";
import { steppedModel } from "../../src/model/ask.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { callSetup } from "./call-setup.ts";

const signal = new AbortController().signal;

/** A door that remembers what passed it. */
function watchedDoor(): { readonly steps: StepPort; readonly passed: StepSpec[] } {
  const direct = directSteps(signal);
  const passed: StepSpec[] = [];
  return { passed, steps: { step: (spec, effect) => (passed.push(spec), direct.step(spec, effect)) } };
}

const request = {
  messages: [{ role: "user", content: "Who?" }],
  tools: [{ name: "look", description: "Looks.", parameters: { type: "object" } }],
  toolChoice: "required",
  schema: { type: "json" },
  temperature: 0,
  seed: 7,
  stop: ["."],
} as const;

describe("a model behind a door", () => {
  test("all that decides the answer is the step's address, and reaches the model", async () => {
    const { steps, passed } = watchedDoor();
    const inner = scriptedModel(["me"]);
    const reply = await steppedModel(inner, { steps, policy: callSetup().deps }).chat(request, { signal });
    expect(reply.content).toBe("me");
    expect(passed).toMatchObject([{ kind: "model", name: inner.id, request: { ...request, model: inner.id } }]);
    expect(inner.calls[0]).toMatchObject(request);
  });

  test("a try that failed is made again, and its text is told apart", async () => {
    const setup = callSetup({ random: () => 0 });
    const trouble = modelError("MODEL_SERVER", "Expected an answer, got 503. Take another.", { retryable: true });
    const inner = scriptedModel([
      () => {
        throw trouble;
      },
      "better",
    ]);
    const heard: string[] = [];
    const model = steppedModel(inner, { steps: watchedDoor().steps, policy: setup.deps });
    const reply = model.chat(request, { signal, onDelta: (text, info) => void heard.push(`${info.try}:${text}`) });
    while (await setup.clock.advanceToNext());
    expect((await reply).content).toBe("better");
    expect(heard.join("")).toContain("2:");
    expect(heard.every((text) => !text.startsWith("1:"))).toBe(true);
  });

  test("its stream is the whole answer in one piece, and builds the same answer again", async () => {
    const call = { id: "c1", type: "function", function: { name: "look", arguments: "{}" }, extra: { signature: "s" } } as const;
    const answer = { content: "", toolCalls: [call], finishReason: "tool_calls", usage: { inputTokens: 1, outputTokens: 2 } } as const;
    const model = steppedModel(scriptedModel([answer]), { steps: watchedDoor().steps, policy: callSetup().deps });
    const builder = new ReplyBuilder(model.id);
    for await (const chunk of model.stream(request, { signal })) builder.add(chunk);
    expect(builder.finish()).toMatchObject(answer);
  });
});
