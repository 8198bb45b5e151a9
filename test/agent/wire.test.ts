import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openai } from "../../src/adapters/openai.ts";
import { Agent, type AgentEvent, type AgentResult, defineTool } from "../../src/agent/index.ts";
import type { AgentOptions } from "../../src/agent/agent.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { type OpenAIStub, openaiStub, type StubReply } from "../../src/testing/index.ts";
import type { OpenAIBody, StubRaw } from "../../src/testing/stub-reply.ts";
import { impatient } from "../adversarial/impatient-clock.ts";

type Call = { readonly id: string; readonly name: string; readonly arguments: string };

const read = (path: string, id = `call_${path}`): Call => ({ id, name: "read", arguments: JSON.stringify({ path }) });

interface Wired {
  readonly result: AgentResult;
  readonly events: readonly AgentEvent[];
  readonly stub: OpenAIStub;
  /** The arguments of the tool, in the order it ran. */
  readonly ran: readonly string[];
}

/** An agent with one tool behind the real client, and what became of it. */
async function wired(replies: readonly StubReply[], streams: boolean, more: Partial<AgentOptions> = {}): Promise<Wired> {
  const ran: string[] = [];
  const tool = defineTool({
    name: "read",
    description: "Reads a file.",
    parameters: z.object({ path: z.string() }),
    effect: "read",
    execute: ({ path }) => {
      ran.push(path);
      return `${path}: ${"text ".repeat(path.startsWith("long") ? 2_000 : 1)}`;
    },
  });
  await using stub = await openaiStub({ replies });
  const model = openai({ model: "m", baseURL: stub.url, apiKey: "sk-test-wire-0123456789", stream: streams });
  const run = new Agent({ name: "tester", model, tools: [tool], clock: impatient, ...more }).run("Read the files.");
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  return { result: await run.result, events, stub, ran };
}

/** The end of the conversation as the last request told it: who spoke, and which calls were made or answered. */
function told({ messages }: OpenAIBody): unknown[] {
  return messages.map(({ role, tool_calls: made, tool_call_id: answered }) =>
    [role, ...(made ?? []).map(({ id }) => id), answered ?? ""].join(" ").trim(),
  );
}

/** A reply that ends in the middle of the arguments of its second call. */
function broken(end: NonNullable<StubRaw["end"]>, more: readonly object[] = []): StubRaw {
  const event = (delta: object): object => ({
    id: "1",
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: null }],
  });
  const begin = (index: number, id: string): object => ({ index, id, type: "function", function: { name: "read", arguments: "" } });
  const calls = [
    { id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a"}' } },
    { id: "call_b", type: "function", function: { name: "read", arguments: '{"path":"b"}' } },
  ];
  return {
    pieces: [
      event({ role: "assistant", content: "Let me see." }),
      event({ tool_calls: [begin(0, "call_a")] }),
      event({ tool_calls: [{ index: 0, function: { arguments: '{"path":"a"}' } }] }),
      event({ tool_calls: [begin(1, "call_b")] }),
      event({ tool_calls: [{ index: 1, function: { arguments: '{"pa' } }] }),
      ...more,
    ],
    whole: {
      id: "1",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", tool_calls: calls }, finish_reason: "tool_calls" }],
    },
    end,
  };
}

const both = [read("a"), read("b")];

describe.each([
  ["streamed", true],
  ["whole", false],
] as const)("an agent over the wire, %s", (_how, streams) => {
  it("several calls in one reply are answered in their order, and the answer follows", async () => {
    const { result, stub, ran, events } = await wired(
      [{ text: "I look.", toolCalls: both }, { toolCalls: [read("c")] }, "All read."],
      streams,
    );
    expect(result).toMatchObject({ status: "finished", answer: "All read.", steps: 3 });
    expect(ran.toSorted()).toEqual(["a", "b", "c"]);
    expect(stub.rejected).toEqual([]);
    expect(told(stub.requests.at(-1) as OpenAIBody)).toEqual([
      "user",
      "assistant call_a call_b",
      "tool call_a",
      "tool call_b",
      "assistant call_c",
      "tool call_c",
    ]);
    const sum = events.reduce((all, event) => all + (event.type === "reply.ended" ? (event.usage?.outputTokens ?? 0) : 0), 0);
    expect(result.usage.outputTokens).toBe(sum);
    expect(sum).toBeGreaterThan(0);
  });

  it.each(["cut", "reset"] as const)(
    "a reply that is %s in the middle of a call's arguments is asked for again, and its calls run once",
    async (end) => {
      const { result, stub, ran, events } = await wired([broken(end), { text: "Again.", toolCalls: both }, "All read."], streams);
      expect(result).toMatchObject({ status: "finished", answer: "All read." });
      expect(ran.toSorted()).toEqual(["a", "b"]);
      expect(stub.requests).toHaveLength(3);
      expect(stub.rejected).toEqual([]);
      expect(stub.requests[1]).toEqual(stub.requests[0]);
      expect(events.some((event) => event.type === "text.void")).toBe(streams);
    },
  );

  it("an error in the middle of a call's arguments too", async () => {
    const trouble: StubRaw = {
      ...broken("done", [{ error: { message: "The engine fell over.", code: 500 } }]),
      whole: { error: { message: "The engine fell over.", code: 500 } },
    };
    const { result, ran } = await wired([trouble, { toolCalls: both }, "All read."], streams);
    expect(result).toMatchObject({ status: "finished", answer: "All read." });
    expect(ran.toSorted()).toEqual(["a", "b"]);
  });

  it("a request that is too long is made shorter once, and the work goes on", async () => {
    const long = Array.from({ length: 10 }, (_, n) => ({ toolCalls: [read(`long${n}`)] }));
    const { result, stub, ran, events } = await wired(
      [...long, { fault: "context-overflow" }, { toolCalls: [read("c")] }, "All read."],
      streams,
    );
    expect(result).toMatchObject({ status: "finished", answer: "All read." });
    expect(ran).toHaveLength(11);
    expect(events.flatMap((event) => (event.type === "memory.compacted" ? [event.how] : []))).toEqual(["cleared"]);
    expect(stub.rejected).toEqual([]);
    const sizes = stub.requests.map((request) => JSON.stringify(request.messages).length);
    expect(sizes.at(-1)).toBeLessThan((sizes.at(-3) ?? 0) / 1.5);
  });

  it.each([
    ["refusal", "MODEL_REFUSED"],
    ["content-filter", "MODEL_CONTENT_FILTER"],
    ["unauthorized", "MODEL_AUTH"],
  ] as const)("%s ends the run at once, as what it is", async (fault, code) => {
    const { result, stub, ran } = await wired([{ toolCalls: [read("a")] }, { fault }], streams);
    expect(result).toMatchObject({ status: "failed", error: { code } });
    expect(ran).toEqual(["a"]);
    expect(stub.requests).toHaveLength(2);
  });

  it("names no tool may have, arguments that are no JSON, and ids that come twice never make a request that is refused", async () => {
    const odd = [
      { id: "x", name: "functions.read file!", arguments: '{"path":"a"}' },
      { id: "x", name: "read", arguments: '{"path":' },
      { id: "x", name: "read", arguments: '["a"]' },
      { id: "x", name: "read", arguments: "" },
      { id: "x", name: `read${"_long".repeat(40)}`, arguments: "{}" },
    ];
    const { result, stub, ran } = await wired([{ toolCalls: odd }, { toolCalls: odd.slice(0, 1) }, "I give up."], streams);
    expect(result).toMatchObject({ status: "finished", answer: "I give up." });
    expect(stub.rejected).toEqual([]);
    expect(ran).toEqual([]);
    const calls = stub.requests.flatMap(({ messages }) => messages.flatMap((message) => message.tool_calls ?? []));
    for (const call of calls) expect(JSON.parse(call.function.arguments)).toBeTypeOf("object");
    expect(JSON.stringify(calls)).toContain("unreadable");
  });
});

/** Longest silence in the next test, by which its timer is known. */
const SILENCE = 30_000;

it("a stream that falls silent in the middle of a call's arguments is given up and asked for again", async () => {
  let silence: (() => void) | undefined;
  const clock: Clock = {
    now: impatient.now,
    timer(ms, fire) {
      if (ms !== SILENCE) return impatient.timer(ms, fire);
      silence = fire;
      return () => {
        if (silence === fire) silence = undefined;
      };
    },
  };
  const replies = [broken("stall"), { toolCalls: both }, "All read."];
  let heard = 0;
  const waiting = wired(replies, true, { clock, calls: { timeouts: { silence: SILENCE } } }).finally(() => (heard = -1));
  // Silence passes only while the first reply hangs: its request has come, and turns enough have gone by for what it sends.
  while (heard >= 0 && heard < 2_000) {
    await setImmediate();
    heard += 1;
    if (heard > 500 && heard % 100 === 0) silence?.();
  }
  const { result, ran, stub } = await waiting;
  expect(result).toMatchObject({ status: "finished", answer: "All read." });
  expect(ran.toSorted()).toEqual(["a", "b"]);
  expect(stub.requests.length).toBeGreaterThanOrEqual(3);
});
