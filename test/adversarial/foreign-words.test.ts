import { describe, expect, test } from "vitest";
import { Agent, defineTool, PlanningFlow } from "../../src/agent/index.ts";
import { createMessage, defineAction, defineRole, Environment, Team, UsageError } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const model = scriptedModel(() => "ok");
const Write = defineAction({ name: "Write", prompt: ({ text }) => text });
const ann = defineRole({ name: "Ann", actions: [Write] });
const team = (): Team => new Team({ roles: [ann], model });
const agent = (): Agent => new Agent({ name: "a", model });
const flow = (): PlanningFlow => new PlanningFlow({ model, executors: { a: () => agent() } });

/** The places where newcomers write the words of another framework. */
const doors = {
  team: (given: object) => new Team({ ...given }),
  run: (given: object) => team().run("go", { ...given }),
  role: (given: object) => defineRole({ name: "Ann", ...given }),
  action: (given: object) => defineAction({ name: "Write", ...given }),
  tool: (given: object) => defineTool({ name: "t", description: "", execute: () => 1, ...given }),
  agent: (given: object) => new Agent({ name: "a", model, ...given }),
  message: (given: object) => createMessage("x", { ...given }),
};

async function refusalOf(open: () => unknown): Promise<UsageError> {
  try {
    await open();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
  throw new Error("nothing thrown");
}

describe("a word of another framework is answered with the word here", () => {
  test.each([
    ["team", "agents", "roles"],
    ["team", "nodes", "roles"],
    ["team", "llm", "model"],
    ["team", "checkpointer", "journal"],
    ["team", "context", "deps"],
    ["run", "max_steps", "rounds"],
    ["run", "recursion_limit", "rounds"],
    ["run", "maxTurns", "rounds"],
    ["run", "thread_id", "id"],
    ["run", "investment", "budget"],
    ["role", "instructions", "goal and constraints"],
    ["role", "system_prompt", "goal and constraints"],
    ["role", "role", "profile"],
    ["role", "backstory", "description"],
    ["role", "max_react_loop", "maxReactLoop"],
    ["role", "tasks", "actions"],
    ["role", "cause_by", "watch"],
    ["role", "guardrails", "guards"],
    ["role", "retries", "onFailure"],
    ["team", "steps", "roles"],
    ["run", "threadId", "id"],
    ["run", "session", "id"],
    ["run", "runtimeContext", "context"],
    ["team", "interrupt_before", "human"],
    ["action", "execute", "run"],
    ["action", "handler", "run"],
    ["action", "outputSchema", "output"],
    ["action", "output_pydantic", "output"],
    ["action", "handoffs", "sendTo"],
    ["action", "send_to", "sendTo"],
    ["tool", "inputSchema", "parameters"],
    ["tool", "args_schema", "parameters"],
    ["tool", "handler", "execute"],
    ["agent", "instructions", "systemPrompt"],
    ["agent", "max_steps", "maxSteps"],
    ["agent", "stopWhen", "maxSteps"],
    ["agent", "responseFormat", "output"],
    ["agent", "outputGuardrails", "guards"],
    ["tool", "requireApproval", "permission"],
    ["message", "cause_by", "causeBy"],
    ["message", "sent_from", "sentFrom"],
    ["message", "to", "sendTo"],
    ["message", "sendTO", "sendTo"],
  ] as const)("%s: %s is %s", async (door, word, meant) => {
    const error = await refusalOf(() => doors[door]({ [word]: "x" }));
    expect(error).toMatchObject({ code: "OPTION_UNKNOWN", data: { option: word, meant } });
    expect(error.message).toContain(`Did you mean ${meant}?`);
  });

  test.each([
    ["team", "instructions", "goal and constraints of a role"],
    ["team", "tasks", "actions of a role"],
    ["role", "handoffs", "handoff(role)"],
    ["agent", "handoffs", "handoff(role)"],
    ["role", "allowDelegation", "watch of the role that takes over"],
    ["action", "retryPolicy", "retry(3)"],
    ["tool", "suspendSchema", "ask of ctx.human"],
    ["run", "stream", "model.delta"],
    ["team", "telemetry", "traceRun"],
    ["role", "outputSchema", "output of an action"],
    ["message", "images", "images of ask"],
    ["agent", "backstory", "description"],
    ["agent", "checkpointer", "journal of a team"],
    ["run", "llm", "model of a team"],
  ] as const)("%s: the place of %s is named: %s", async (door, word, place) => {
    const { message } = await refusalOf(() => doors[door]({ [word]: "x" }));
    expect(message).toContain(place);
    expect(message).not.toContain("Leave it out");
  });
});

test("a name is no part of another one in the middle of its words", async () => {
  const { message } = await refusalOf(() => doors.tool({ bendsEasily: "x" })); // a tool has the option `ends`
  expect(message).toContain("Leave it out");
});

test.each<readonly [string, () => unknown, string]>([
  ["an agent in the tools of an agent", () => doors.agent({ tools: [agent()] }), "asTool"],
  ["a role in the tools of a role", () => doors.role({ tools: [ann] }), "asTool"],
  ["an agent in the roles of a team", () => doors.team({ roles: [agent()] }), "reactMode"],
])("%s is answered with what makes one of the other", async (_what, open, way) => {
  expect((await refusalOf(open)).message).toContain(way);
});

describe("a field that no message has is refused wherever a message is given", () => {
  const strange = { content: "x", sendTO: ["Ann"] } as never;
  const whole = (): never => ({ ...createMessage("x"), sendTO: ["Ann"] }) as never;
  const acting = async (run: Parameters<typeof defineAction>[0]["run"]): Promise<void> => {
    const role = defineRole({ name: "Ann", actions: [defineAction({ name: "Write", run: run as never })] });
    const { error } = await new Team({ roles: [role] }).run("go").result;
    if (error !== undefined) throw error;
  };
  const stepping = async (
    step: (out: { say(text: string, more: object): unknown; after(delay: number, text: string, more: object): unknown }) => void,
  ) => {
    const role = defineRole({ name: "Ann", step: (_state, _message, out) => step(out as never) });
    const { error } = await new Team({ roles: [role] }).run(createMessage("go", { sendTo: "Ann" })).result;
    if (error !== undefined) throw error;
  };

  test.each<readonly [string, () => unknown]>([
    ["createMessage", () => createMessage("x", strange)],
    ["the idea of a run", () => team().run(strange)],
    ["submit", () => team().submit(strange)],
    ["send", () => team().send("r", strange)],
    ["add of resume", () => team().resume("r", { add: [strange] })],
    ["publishMessage", () => new Environment().addRole(ann).publishMessage(strange)],
    ["publish of a run", async () => void (await team().run("go").publish(strange))],
    ["ctx.message", () => acting((ctx) => ctx.message("x", strange))],
    ["ctx.issue", () => acting((ctx) => ctx.issue(whole()))],
    ["ctx.publish", () => acting((ctx) => void ctx.publish(whole()))],
    ["ctx.publishAfter", () => acting((ctx) => void ctx.publishAfter(2, whole()))],
    ["the result of an action", () => acting(() => whole())],
    ["out.say", () => stepping((out) => void out.say("x", { sendTO: "Ann" }))],
    ["out.after", () => stepping((out) => void out.after(2, "x", { sendTO: "Ann" }))],
  ])("%s", async (_door, open) => {
    await expect((async () => void (await open()))()).rejects.toMatchObject({
      code: "OPTION_UNKNOWN",
      data: { option: "sendTO", meant: "sendTo" },
    });
  });
});

describe("the type of an event that does not exist is refused", () => {
  const emitters = {
    run: () => team().run("go"),
    environment: () => new Environment(),
  };

  test.each([
    ["run", "tool.started", "step.started"],
    ["run", "token", "model.delta"],
    ["run", "end", "run.ended"],
    ["environment", "error", "act.failed"],
    ["environment", "mesage", "message"],
    ["environment", "run_started", "run.started"],
  ] as const)("on of %s: %s is %s", async (emitter, word, meant) => {
    const error = await refusalOf(() => emitters[emitter]().on(word as never, () => undefined));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", data: { meant } });
    expect(error.message).toContain(`Did you mean ${meant}?`);
  });

  test("so is a listener that is no function", () => {
    expect(() => new Environment().on("warning", undefined as never)).toThrow(/listener .* to be a function/);
  });
});

describe("what is no model is recognised", () => {
  const foreign = {
    aiSdk: { specificationVersion: "v3", modelId: "gpt-5", doGenerate: () => 1, doStream: () => 1 },
    langChain: { model: "gpt-5", lc_namespace: ["x"], invoke: () => 1, stream: () => 1, bindTools: () => 1 },
    agentsSdk: { getResponse: () => 1, getStreamedResponse: () => 1 },
    openaiClient: { chat: { completions: { create: () => 1 } } },
    anthropicClient: { messages: { create: () => 1 } },
  };

  describe.each<readonly [string, (given: unknown) => unknown]>([
    ["new Team", (given) => new Team({ model: given as never })],
    ["models of a team", (given) => new Team({ models: { Ann: given as never } })],
    ["new Environment", (given) => new Environment({ model: given as never })],
    ["a role", (given) => new Environment().addRole(defineRole({ name: "Ann", model: given as never }))],
    ["new Agent", (given) => new Agent({ name: "a", model: given as never })],
  ])("%s", (_door, open) => {
    test.each([
      ["a model of the AI SDK", foreign.aiSdk, 'a model of the AI SDK ("gpt-5"). Make one by an adapter: openai({ model: "gpt-5" })'],
      ["a model of LangChain", foreign.langChain, 'a model of LangChain ("gpt-5")'],
      ["a model of the Agents SDK", foreign.agentsSdk, "a model of the OpenAI Agents SDK."],
      ["a client of openai", foreign.openaiClient, "a client of the package openai."],
      ["a client of Anthropic", foreign.anthropicClient, "a client of the package @anthropic-ai/sdk."],
      ["a name", "openai/gpt-5", 'Make one by an adapter: openai({ model: "gpt-5" })'],
      ["a name of another vendor", "anthropic/claude", 'openai({ model: "claude", baseURL: "..." })'],
      ["a function", () => model, "a function. Call it"],
      ["a promise", Promise.resolve(model), "a promise. Await it."],
    ])("%s", async (_what, given, says) => {
      expect((await refusalOf(() => open(given))).message).toContain(says);
    });
  });
});

describe("the members of a result, read from the run, say where they are", () => {
  test.each<readonly [string, () => object, readonly string[]]>([
    ["team.run", () => team().run("go"), ["status", "output", "messages", "cost", "content"]],
    ["team.resume", () => team().resume("r"), ["status"]],
    ["agent.run", () => agent().run("go"), ["status", "answer", "output", "text"]],
    ["flow.run", () => flow().run("go"), ["status", "answer", "output"]],
  ])("%s", async (_door, begin, members) => {
    const run = await (async () => begin())();
    for (const name of members) {
      expect(() => (run as Record<string, unknown>)[name], name).toThrow(/Write \(await \w+\.run\(\w+\)\.result\)\.\w+/);
      expect(Object.keys(run)).not.toContain(name);
    }
    await (run as { result: Promise<unknown> }).result;
  });
});
