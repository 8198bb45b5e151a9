import { describe, expect, it } from "vitest";
import { type Agent, defineTool, MessagesMemory } from "../../src/agent/index.ts";
import { ModelError } from "../../src/kernel/errors.ts";
import { defineAction } from "../../src/role/action.ts";
import { defineRole, type RoleOptions } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { ToolCall } from "../../src/model/chat-message.ts";
import type { ChatRequest, ChatResponse } from "../../src/model/chat-model.ts";
import { Team } from "../../src/team/team.ts";
import { scriptedModel, type ScriptedAnswer } from "../../src/testing/scripted-model.ts";
import { eventsOf as recordOf } from "../team/recorded.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";
import { titled } from "../titled.ts";

const codes = async (run: ReturnType<Agent["run"]>): Promise<string[]> =>
  (await eventsOf(run)).flatMap((event) => (event.type === "warning" ? [event.code] : []));

const isSummary = (request: ChatRequest): boolean => request.messages[0]?.content?.includes("memory of a conversation") === true;
const broken = (): never => {
  throw new ModelError("MODEL_BAD_REQUEST", "Expected a summary, got a server that is broken. Try later.");
};

const photo = defineTool({
  name: "photo",
  description: "",
  effect: "read",
  execute: () => ({ output: "a photo", images: [{ mediaType: "image/png", data: "iVBORw0KGgo=" }] }),
});

/** A text-only model, in the words of a server. */
function blind(words: string, answer: ScriptedAnswer): ScriptedAnswer {
  return (request, n) => {
    if (request.messages.some(({ images = [] }) => images.length > 0)) throw new ModelError("MODEL_BAD_REQUEST", words);
    return answer(request, n);
  };
}

/** Runs a role and replays its record: how both ended. */
async function replayed(more: Partial<RoleOptions>, answer: ScriptedAnswer): Promise<readonly unknown[]> {
  const journal = memoryJournal();
  const team = new Team({
    seed: "s",
    journal,
    roles: [defineRole({ name: "Scout", reactMode: "agent", ...more })],
    model: scriptedModel(answer),
  });
  const first = await team.run("What is where?", { id: "r" }).result;
  expect(first.error).toBeUndefined();
  expect(canonical(await recordOf(journal, "r"))).not.toBe("");
  const again = await team.replay("r").result;
  return [first, again].map(({ status, output }) => [status, output?.content]);
}

describe("a summary that fails", () => {
  const long: ScriptedAnswer = (request, n) => {
    if (isSummary(request)) return broken();
    const done = request.messages.filter(({ role }) => role === "tool").length;
    return n < 30 ? calls(call("look", { q: `${n} ${"y".repeat(2_000)}` }, `c${n}`)) : `done with ${done} results`;
  };
  const options = { tools: [noting("look", () => "x".repeat(150))], compaction: { contextTokens: 6_000 }, maxSteps: 60 };

  it("ModelClient.C2 does not end the run: room is made without one, which is told, and it is not asked for again", async () => {
    const { agent, model } = agentOf(long, options);
    const run = agent.run("the goal");
    expect(await codes(run)).toEqual(["SUMMARY_FAILED"]);
    expect(await run.result).toMatchObject({ status: "finished" });
    expect(model.calls.filter(isSummary)).toHaveLength(1);
    for (const request of model.calls.filter((one) => !isSummary(one))) expect(request.messages[0]).toMatchObject({ content: "the goal" });
  });

  it("behind a mailbox is replayed alike", async () => {
    const [first, again] = await replayed({ tools: options.tools, agent: { compaction: options.compaction }, maxReactLoop: 60 }, long);
    expect(again).toEqual(first);
    expect(first).toEqual(["finished", expect.stringContaining("done with")]);
  });

  it("leaves what fits, also of more messages than could be cut short", async () => {
    const memory = new MessagesMemory();
    await memory.setGoal("the goal");
    for (let n = 0; n < 400; n++) await memory.update([{ role: "user", content: `note ${n} ${"z".repeat(200)}` }]);
    const { agent, model } = agentOf((request) => (isSummary(request) ? broken() : "done"), {
      memory,
      compaction: { contextTokens: 2_000 },
    });
    expect(await agent.run().result).toMatchObject({ status: "finished" });
    const sent = model.calls.at(-1)?.messages ?? [];
    expect(JSON.stringify(sent).length).toBeLessThan(8_000);
    expect(sent[0]).toMatchObject({ content: "the goal" });
    expect(sent.at(-1)?.content).toMatch(/^note 399/);
    expect(sent.some(({ content = "" }) => /\d+ older messages were left out/.test(content))).toBe(true);
  });
});

describe("a reply that was cut by its length limit", () => {
  const cut = (...wishes: readonly ToolCall[]): Partial<ChatResponse> => ({ ...calls(...wishes), finishReason: "length" });
  const whole = call("look", { q: "a" }, "1");
  const half = call("look", '{"q": "b', "2");

  it("goes on with the calls that are whole, and tells the model of the others", async () => {
    const look = noting();
    const { agent, model } = agentOf([cut(whole, half), "done"], { tools: [look] });
    const run = agent.run("x");
    expect(await codes(run)).toEqual(["REPLY_TRUNCATED"]);
    expect([(await run.result).status, look.seen]).toEqual(["finished", ["a"]]);
    expect(model.calls[1]?.messages.slice(-2)).toMatchObject([
      { role: "tool", toolCallId: "1", content: "seen a" },
      { role: "tool", toolCallId: "2", content: expect.stringMatching(/length limit before this call was whole/) as string },
    ]);
  });

  it.each(["", '{"q": "b', '{"q": "b"', "{", '[{"q": "b"}]'])("makes no call of the arguments %j", async (text) => {
    const look = noting();
    const { agent } = agentOf([cut(call("look", text, "1")), "done"], { tools: [look] });
    const run = agent.run("x");
    expect(await codes(run)).toEqual(["REPLY_TRUNCATED", "REPLY_UNUSABLE"]);
    expect([(await run.result).status, look.seen]).toEqual(["finished", []]);
  });

  it("again and again ends the run", async () => {
    const { agent } = agentOf((_request, n) => cut(call("look", `{"q": "${n}`, `${n}`)), { tools: [noting()] });
    expect(await agent.run("x").result).toMatchObject({ status: "failed", steps: 3, error: { code: "AGENT_REPLY_UNUSABLE" } });
  });

  it("in its text is told, and is no answer", async () => {
    const { agent, model } = agentOf([{ content: "I think that", finishReason: "length" }, "done"], { tools: [noting()] });
    const run = agent.run("x");
    expect(await codes(run)).toEqual(["REPLY_UNUSABLE"]);
    expect(await run.result).toMatchObject({ status: "finished", answer: "done", steps: 2 });
    expect(model.calls[1]?.messages.slice(-2)).toMatchObject([
      { role: "assistant", content: "I think that" },
      { role: "user", content: expect.stringMatching(/reached its length limit.*Say less at once/) as string },
    ]);
    const endless = agentOf(() => ({ content: "I think that", finishReason: "length" }));
    expect(await endless.agent.run("x").result).toMatchObject({ status: "failed", steps: 3, error: { code: "AGENT_REPLY_UNUSABLE" } });
    const empty = agentOf((_request, n) => (n === 0 ? { content: "", finishReason: "length" } : "done"));
    expect(await empty.agent.run("x").result).toMatchObject({ status: "finished", answer: "done", steps: 2 });
    expect(empty.model.calls[1]?.messages.map(({ role }) => role)).toEqual(["user", "user"]);
  });

  it("behind a mailbox is replayed alike", async () => {
    const [first, again] = await replayed({ tools: [noting()] }, (_request, n) => (n === 0 ? cut(whole, half) : "done"));
    expect([first, again]).toEqual([
      ["finished", "done"],
      ["finished", "done"],
    ]);
  });
});

describe("a picture that the model refuses", () => {
  const look: ScriptedAnswer = (request) => {
    const results = request.messages.filter(({ role }) => role === "tool").length;
    return results < 2 ? calls(call("photo", {}, `p${results}`)) : "two photos";
  };

  it.each(
    titled([
      "Expected a request that the server takes, got 400: this model does not support image input. Change what it complains about.",
      "Expected a request, got 400: messages[2]: unknown variant `image_url`, expected `text`. Change it.",
      "Expected a request, got 400: stub is not a multimodal model. Change it.",
      "Expected a request, got 400: 'messages.2.content' must be a string. Change it.",
    ]),
  )("is left out, now and later, and told: %s", async (_case, words) => {
    const { agent, model } = agentOf(blind(words, look), { tools: [photo] });
    const run = agent.run("x");
    expect(await codes(run)).toEqual(["PICTURES_UNSUPPORTED"]);
    expect(await run.result).toMatchObject({ status: "finished", answer: "two photos" });
    const withPictures = model.calls.filter(({ messages }) => messages.some(({ images }) => images !== undefined));
    expect([withPictures.length, model.calls.length]).toEqual([1, 4]);
    expect(model.calls.at(-1)?.messages.at(-1)?.content).toBe("a photo\n[picture left out: the model does not take pictures]");
    expect(await agent.run("again").result).toMatchObject({ status: "finished" });
    expect(model.calls.filter(({ messages }) => messages.some(({ images }) => images !== undefined))).toHaveLength(1);
  });

  it("is not at fault where the refusal is of something else, or no picture was sent", async () => {
    const other = new ModelError("MODEL_BAD_REQUEST", "Expected a request, got 400: temperature is too high. Change it.");
    const { agent } = agentOf((_request, n) => (n === 0 ? calls(call("photo")) : Promise.reject(other)), { tools: [photo] });
    expect(await agent.run("x").result).toMatchObject({ status: "failed", error: { code: "MODEL_BAD_REQUEST" } });
    const none = agentOf(() => Promise.reject(new ModelError("MODEL_BAD_REQUEST", "Expected text, got an image. Change it.")));
    expect(await none.agent.run("x").result).toMatchObject({ status: "failed" });
    expect(none.model.calls).toHaveLength(1);
  });

  it("behind a mailbox is replayed alike", async () => {
    const [first, again] = await replayed({ tools: [photo] }, blind("got 400: no image input. Change it.", look));
    expect([first, again]).toEqual([
      ["finished", "two photos"],
      ["finished", "two photos"],
    ]);
  });
});

describe("reasoning", () => {
  const reasoning = { text: "I look.", parts: { reasoning_content: "I look." } };
  const thinking: ScriptedAnswer = (request) =>
    request.messages.some(({ role }) => role === "tool")
      ? { content: "seen", reasoning }
      : { ...calls(call("look", { q: "a" })), reasoning };

  it("goes back with the calls that it led to, counts as a part of the request, and replays alike", async () => {
    const { agent, model } = agentOf(thinking, { tools: [noting()] });
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "seen" });
    expect(model.calls[1]?.messages.map((message) => message.reasoning)).toEqual([undefined, reasoning, undefined]);
    const [first, again] = await replayed({ tools: [noting()] }, thinking);
    expect([first, again]).toEqual([
      ["finished", "seen"],
      ["finished", "seen"],
    ]);
  });

  it("never reaches another role", async () => {
    const model = scriptedModel((request, n) => (n < 2 ? thinking(request, n) : "heard"));
    const roles = [
      defineRole({ name: "Scout", reactMode: "agent", tools: [noting()], actions: [defineAction({ name: "Find" })] }),
      defineRole({ name: "Eda", watch: ["Find"], actions: [defineAction({ name: "Tell", prompt: (ctx) => ctx.text })] }),
    ];
    expect((await new Team({ roles, model }).run("What is where?").result).status).toBe("finished");
    expect(model.calls).toHaveLength(3);
    expect(JSON.stringify(model.calls[2])).not.toContain("I look.");
  });
});

describe("a refusal that nothing explains", () => {
  const odd = new ModelError("MODEL_BAD_REQUEST", "Expected a request, got 400: 4711. Change it.", { data: { isUnexplained: true } });
  const limited =
    (most: number): ScriptedAnswer =>
    ({ messages, ...rest }, n) => {
      if (isSummary({ messages, ...rest })) return "in short";
      if (JSON.stringify(messages).length > most) throw odd;
      return n < 18 ? calls(call("look", { q: `${n}` }, `c${n}`)) : "done";
    };

  it("of a much larger request is taken once as too long", async () => {
    const { agent, model } = agentOf(limited(9_000), { tools: [noting("look", () => "x".repeat(3_000))] });
    const run = agent.run("x");
    expect(await codes(run)).toEqual(["REQUEST_TOO_LONG"]);
    expect(await run.result).toMatchObject({ status: "failed", error: { code: "MODEL_BAD_REQUEST" } });
    expect(model.calls.length).toBeGreaterThan(4);
  });

  it("of the first request, and of one like the last, is the error", async () => {
    const first = agentOf(limited(1));
    expect(await first.agent.run("x").result).toMatchObject({ status: "failed", error: { code: "MODEL_BAD_REQUEST" } });
    const same = agentOf((_request, n) => (n === 0 ? calls(call("look", { q: "a" })) : Promise.reject(odd)), {
      tools: [noting("look", () => "")],
    });
    expect(await codes(same.agent.run("x".repeat(10_000)))).toEqual([]);
  });
});

describe("an answer", () => {
  it("is the last text that was said, where the work is ended without one", async () => {
    const script = [
      { ...calls(call("look", {}, "1")), content: "The answer is 42." },
      calls(call("terminate", { status: "success" }, "2")),
    ];
    expect(await agentOf(script, { tools: [noting()] }).agent.run("x").result).toMatchObject({
      status: "finished",
      answer: "The answer is 42.",
    });
  });

  it("is not that of an earlier task", async () => {
    const { agent } = agentOf(["The first answer.", calls(call("terminate", { status: "success" }, "2"))]);
    await agent.run("one").result;
    expect(await agent.run("two").result).toMatchObject({ status: "finished", answer: "" });
  });
});

describe("a write that was cut off", () => {
  it("is told to the model of the next task as one of which nobody knows whether it ran", async () => {
    const stop = new AbortController();
    const write = defineTool({
      name: "write",
      description: "",
      execute: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    const { agent, model } = agentOf([calls(call("write", {}, "w")), "went on"], { tools: [write] });
    expect(await agent.run("one", { signal: stop.signal }).result).toMatchObject({ status: "stopped" });
    await agent.run("two").result;
    const told = model.calls.at(-1)?.messages.find(({ role }) => role === "tool")?.content ?? "";
    expect(told).toMatch(/Nobody knows whether this call has run/);
  });
});
