import { describe, expect, it } from "vitest";
import { graphOfThought, planAndSolve, react, reflexion, treeOfThought } from "../../src/agent/index.ts";
import type { ChatRequest } from "../../src/model/chat-model.ts";
import { agentOf, call, calls, eventsOf, noting } from "./setup.ts";

const told = (request: ChatRequest): string => request.messages.map((message) => message.content ?? "").join("\n");

describe("ReAct by text", () => {
  const text = react({ actions: "text" });

  it("runs actions written as JSON, mended where they can be, and takes text for an answer", async () => {
    const look = noting();
    const { agent } = agentOf(["I look. ```json\n{name: 'look', args: {q: 'here',}}\n```", "found"], { tools: [look], net: text });
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "found" });
    expect(look.seen).toEqual(["here"]);
  });

  it("tells the model of an action that cannot be read, instead of taking it for the answer", async () => {
    const look = noting();
    const { agent, model } = agentOf(['{"name": "look", "args": {"q": "he', '{"name": "look", "args": {"q": "here"}}', "found"], {
      tools: [look],
      net: text,
    });
    const run = agent.run("x");
    expect((await eventsOf(run)).some((event) => event.type === "warning" && event.code === "REPLY_UNUSABLE")).toBe(true);
    expect(await run.result).toMatchObject({ status: "finished", answer: "found", steps: 3 });
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("cannot be read");
    expect(look.seen).toEqual(["here"]);
  });

  it("gives up after three such actions in a row", async () => {
    const { agent, model } = agentOf(() => '{"name": "look", "args": {', { tools: [noting()], net: text });
    expect(await agent.run("x").result).toMatchObject({ status: "failed", error: { code: "AGENT_REPLY_UNUSABLE" } });
    expect(model.calls).toHaveLength(3);
  });

  it("observes an unknown tool instead of passing it over", async () => {
    const { agent, model } = agentOf(['{"name": "nothing_there", "args": {}}', "so be it"], { tools: [noting()], net: text });
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: "so be it" });
    expect(model.calls[1]?.messages.at(-1)?.content).toMatch(/nothing_there(.|\n)*Error: (.|\n)*look/);
  });

  it("takes JSON that names no tool for a part of the answer, and the first action alone", async () => {
    const look = noting();
    const first = agentOf(['{"name": "Alice", "age": 3}'], { tools: [look], net: text });
    expect(await first.agent.run("x").result).toMatchObject({ status: "finished", answer: '{"name": "Alice", "age": 3}' });
    const second = agentOf(['{"name":"look","args":{"q":"1"}} Result: yes. {"name":"look","args":{"q":"2"}}', "ok"], {
      tools: [look],
      net: text,
    });
    expect(await second.agent.run("x").result).toMatchObject({ status: "finished" });
    expect(look.seen).toEqual(["1"]);
  });

  it("by default takes a text that is nothing but an action for one, as models write it that were not made for tools", async () => {
    const look = noting();
    const { agent } = agentOf(
      ['```json\n{"name": "look", "arguments": {"q": "here"}}\n```', 'The object {"name": "look", "args": {}} is mine.'],
      { tools: [look] },
    );
    expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: 'The object {"name": "look", "args": {}} is mine.' });
    expect(look.seen).toEqual(["here"]);
  });
});

describe("Reflexion", () => {
  it("judges, reflects, and tries again from the task and what was learned", async () => {
    const look = noting();
    const replies = [calls(call("look", { q: "a" })), "wrong", "I was hasty. Next time I count.", "right"];
    const { agent, model } = agentOf(replies, {
      tools: [look],
      net: reflexion({
        evaluate: ({ text }) => (text === "right" ? { pass: true, feedback: "" } : { pass: false, feedback: "it is wrong" }),
      }),
    });
    expect(await agent.run("the task").result).toMatchObject({ status: "finished", answer: "right" });
    expect(told(model.calls[2] as ChatRequest)).toContain("it is wrong");
    expect(model.calls[3]?.messages.map((message) => message.role)).toEqual(["user", "user"]);
    expect(told(model.calls[3] as ChatRequest)).toContain("I was hasty. Next time I count.");
    expect(told(model.calls[3] as ChatRequest)).not.toContain("wrong");
  });

  it("ends after so many tries, and says that no answer passed", async () => {
    const { agent, model } = agentOf((_request, n) => (n % 2 === 0 ? `answer ${n}` : `reflection ${n}`), {
      net: reflexion({ tries: 3, evaluate: () => ({ pass: false, feedback: "no" }) }),
    });
    expect(await agent.run("x").result).toMatchObject({ status: "failed", answer: "answer 4", error: { code: "AGENT_GAVE_UP" } });
    expect(model.calls).toHaveLength(5);
  });

  it("lets the model judge where nobody else does, and also what terminate gave", async () => {
    const { agent, model } = agentOf([calls(call("terminate", { status: "success", answer: "42" })), '{"pass": true, "feedback": ""}'], {
      net: reflexion(),
    });
    expect(await agent.run("the task").result).toMatchObject({ status: "finished", answer: "42" });
    expect(told(model.calls[1] as ChatRequest)).toMatch(/the task(.|\n)*42/);
  });
});

describe("plan and solve", () => {
  const net = planAndSolve();

  it("plans, carries the steps out one by one with tools, and concludes", async () => {
    const look = noting();
    const { agent, model } = agentOf(
      ['{"steps": ["find the parts", "add them"]}', calls(call("look", { q: "parts" })), "2 and 3", "5", "The sum is 5."],
      { tools: [look], net },
    );
    expect(await agent.run("add the parts").result).toMatchObject({ status: "finished", answer: "The sum is 5." });
    expect(look.seen).toEqual(["parts"]);
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("step 1 of 2 of the plan and no other: find the parts");
    expect(model.calls[3]?.messages.at(-1)?.content).toContain("step 2 of 2 of the plan and no other: add them");
    expect(JSON.stringify(await agent.memory.dump())).not.toContain("Carry out step");
  });

  it("ends with terminate in the middle, and takes the only step's result for the answer", async () => {
    const first = agentOf(['{"steps": ["a", "b"]}', calls(call("terminate", { status: "success", answer: "early" }))], { net });
    expect(await first.agent.run("x").result).toMatchObject({ status: "finished", answer: "early" });
    const byText = '{"name": "terminate", "args": {"status": "success", "answer": "early"}}';
    for (const actions of ["auto", "text"] as const) {
      const { agent } = agentOf(['{"steps": ["a", "b"]}', byText], { net: planAndSolve({ actions }) });
      expect(await agent.run("x").result).toMatchObject({ status: "finished", answer: expect.stringContaining("early") as string });
    }
    const second = agentOf(['{"steps": ["a"]}', "done"], { net });
    expect(await second.agent.run("x").result).toMatchObject({ status: "finished", answer: "done", steps: 2 });
  });

  it("fails when there is no plan, also after asking again", async () => {
    const { agent, model } = agentOf(() => "I have no plan", { net });
    expect(await agent.run("x").result).toMatchObject({ status: "failed", error: { code: "OUTPUT_INVALID" } });
    expect(model.calls).toHaveLength(3);
  });
});

describe("tree of thoughts", () => {
  /** Proposes `x1`, `x2`, ... after a path, and thinks most of thoughts that end with 2. */
  const thinker = (request: ChatRequest): string => {
    const asked = told(request);
    if (asked.includes("Propose"))
      return JSON.stringify({
        thoughts: ["1", "2", "3"].map((n) => `${/\d\. (\S+)\nPropose|$/.exec(asked.replaceAll("\n\n", "\n"))?.[1] ?? "x"}${n}`),
      });
    if (asked.includes("Judge")) return JSON.stringify({ score: /2\n\nJudge/.test(asked) ? 9 : 3 });
    return `the answer by ${[...asked.matchAll(/\d\. (\S+)/g)].map((match) => match[1]).join(" ")}`;
  };

  it("follows the best ways to their depth and answers by the very best", async () => {
    const { agent, model } = agentOf(thinker, { net: treeOfThought({ branches: 3, width: 2, depth: 3 }) });
    const result = await agent.run("a riddle").result;
    expect(result).toMatchObject({ status: "finished", answer: "the answer by x2 x22 x222", steps: 7 });
    expect(model.calls.length).toBeLessThanOrEqual(3 * 2 * (1 + 3) + 1);
  });

  it("is bounded by the steps of the agent too", async () => {
    const { agent } = agentOf(thinker, { net: treeOfThought({ depth: 50 }), maxSteps: 5 });
    expect(await agent.run("a riddle").result).toMatchObject({ status: "max_steps", steps: 5 });
    expect(() => treeOfThought({ width: 0 })).toThrow(expect.objectContaining({ code: "NET_INVALID" }));
  });

  it("follows the best way when all are bad, and warns", async () => {
    const { agent } = agentOf((request) => (told(request).includes("Judge") ? '{"score": 0}' : thinker(request)), {
      net: treeOfThought({ depth: 1 }),
    });
    const run = agent.run("a riddle");
    expect((await eventsOf(run)).some((event) => event.type === "warning" && event.code === "NO_WAY")).toBe(true);
    expect(await run.result).toMatchObject({ status: "finished" });
  });
});

describe("graph of thoughts", () => {
  it("generates, scores, keeps, improves and brings together, and answers by the best", async () => {
    const asked: string[] = [];
    const { agent } = agentOf(
      (request) => {
        const words = told(request);
        const kind = /Propose|Judge|Find what is wrong|Bring these|Following/.exec(words)?.[0] ?? "";
        asked.push(kind);
        if (kind === "Propose") return '{"thoughts": ["a", "b", "c"]}';
        if (kind === "Judge") return JSON.stringify({ score: words.includes("a+b") ? 10 : words.includes("1. c") ? 1 : 5 });
        if (kind === "Find what is wrong") return JSON.stringify({ thought: words.includes("Thought:\na") ? "better a" : "better b" });
        return kind === "Bring these" ? JSON.stringify({ thought: "a+b" }) : `by ${/1\. (.*)/.exec(words)?.[1]}`;
      },
      { net: graphOfThought() },
    );
    expect(await agent.run("sort this").result).toMatchObject({ status: "finished", answer: "by a+b", steps: 8 });
    const counts = Object.fromEntries([...new Set(asked)].map((kind) => [kind, asked.filter((one) => one === kind).length]));
    expect(counts).toEqual({ Propose: 1, Judge: 3 + 3, "Find what is wrong": 2, "Bring these": 1, Following: 1 });
    const graph = (await agent.memory.note("graph.thoughts")) as { thoughts: { text: string; parents: number[] }[] };
    expect(graph.thoughts.map(({ text, parents }) => `${text} <- ${parents.join()}`)).toEqual([
      "a <- ",
      "b <- ",
      "c <- ",
      "better a <- 0",
      "better b <- 1",
      "a+b <- 3,4",
    ]);
  });

  it("never has more thoughts at hand than it may", async () => {
    const { agent, model } = agentOf(
      (request) =>
        told(request).includes("Propose")
          ? JSON.stringify({ thoughts: Array.from({ length: 9 }, (_, n) => `t${model.calls.length}.${n}`) })
          : "answer",
      {
        net: graphOfThought({
          width: 4,
          operations: [
            { do: "generate", count: 9 },
            { do: "generate", count: 9 },
            { do: "generate", count: 9 },
          ],
        }),
      },
    );
    expect(await agent.run("x").result).toMatchObject({ status: "finished" });
    expect(model.calls).toHaveLength(1 + 4 + 4 + 1);
  });
});
