import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openai } from "../../src/adapters/openai.ts";
import { Agent, type AgentResult, defineTool } from "../../src/agent/index.ts";
import { openaiStub } from "../../src/testing/index.ts";
import type { StubRaw } from "../../src/testing/stub-reply.ts";
import { ANSWER, DIALECTS, LAST, TOLD_OF } from "./dialects.ts";

interface Spoken {
  readonly result: AgentResult;
  readonly seen: readonly (readonly [string, object])[];
  readonly rejected: readonly unknown[];
  readonly requests: readonly { readonly messages: readonly object[] }[];
}

/** An agent with two tools, over the real client, to a server that speaks in some way. */
async function speak(turns: readonly StubRaw[], streams: boolean): Promise<Spoken> {
  const seen: (readonly [string, object])[] = [];
  const tool = (name: string, parameters: z.ZodType): ReturnType<typeof defineTool> =>
    defineTool({
      name,
      description: name,
      parameters,
      effect: "read",
      execute: (args) => {
        seen.push([name, args as object]);
        return `${name} of ${JSON.stringify(args)}`;
      },
    }) as ReturnType<typeof defineTool>;
  const tools = [tool("weather", z.object({ city: z.string() })), tool("today", z.object({}))];
  await using stub = await openaiStub({ replies: [...turns, LAST] });
  const model = openai({ model: "m", baseURL: stub.url, apiKey: "sk-test-dialects-000", stream: streams });
  const result = await new Agent({ name: "tester", model, tools }).run("How warm is it?").result;
  return { result, seen, rejected: stub.rejected, requests: stub.requests };
}

describe.each([
  ["streamed", true],
  ["whole", false],
] as const)("tool calls %s", (_how, streams) => {
  it.each(DIALECTS)("$name", async ({ turns, expected }) => {
    const { result, seen, rejected, requests } = await speak(turns, streams);
    expect(result.error).toBeUndefined();
    expect(result).toMatchObject({ status: "finished", answer: ANSWER });
    expect(seen).toEqual(expected);
    expect(rejected).toEqual([]);
    expect(requests).toHaveLength(turns.length + 1);
  });

  it("a text that only tells of a call runs nothing, and is asked again", async () => {
    const { result, seen, requests } = await speak([TOLD_OF], streams);
    expect(result).toMatchObject({ status: "finished", answer: ANSWER });
    expect(seen).toEqual([]);
    expect(JSON.stringify(requests[1]?.messages.at(-1))).toContain("words around it");
  });

  it("the signature of a server's calls is sent back with those calls, and with no others", async () => {
    const { requests } = await speak(
      DIALECTS.flatMap(({ name, turns }) => (name === "Gemini" ? turns : [])),
      streams,
    );
    const calls = requests.at(-1)?.messages.flatMap((message) => (message as { readonly tool_calls?: readonly object[] }).tool_calls ?? []);
    const signed = { extra_content: { google: { thought_signature: "CiQBjz1rX9tQ==" } } };
    expect(calls).toMatchObject([signed, {}, signed, {}]);
    expect(calls?.filter((call) => "extra_content" in call)).toHaveLength(2);
  });

  it("thoughts go back in the field of a server that wants them, with the calls that they led to, and in no other", async () => {
    const { requests } = await speak(
      DIALECTS.flatMap(({ name, turns }) => (/^(Ollama, all|vLLM$|llama)/.test(name) ? turns : [])),
      streams,
    );
    const said = requests.at(-1)?.messages.filter((message) => "tool_calls" in message) ?? [];
    expect(said.map((message) => (message as { readonly reasoning_content?: string }).reasoning_content)).toEqual([
      undefined,
      "Both cities, then.",
      "Paris.",
      "Paris.",
    ]);
    expect(JSON.stringify(requests)).not.toMatch(/wants/);
  });
});
