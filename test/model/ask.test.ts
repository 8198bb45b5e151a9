import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { AbortedError, OutputError, UsageError } from "../../src/kernel/errors.ts";
import { jsonRoundTrip } from "../../src/kernel/json.ts";
import { randomStream } from "../../src/kernel/random.ts";
import { directSteps, type StepDoor, type StepPort, type StepSpec, type Attempts } from "../../src/kernel/step.ts";
import { type AskInput, askModel, chatStep } from "../../src/model/ask.ts";
import type { ChatModel, ChatResponse } from "../../src/model/chat-model.ts";
import { modelError } from "../../src/model/failure.ts";
import { type ScriptedModel, scriptedModel } from "../../src/testing/scripted-model.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { errorOf, RecordedAttempts, until, WITH_NEXT_STEP } from "./call-setup.ts";

/** A door that records: what it has seen once under a request it answers without the effect. */
class Recorder implements StepPort {
  readonly specs: StepSpec[] = [];
  readonly attempts = new RecordedAttempts();
  readonly record = new Map<string, unknown>();
  readonly abort = new AbortController();

  async step<T>(spec: StepSpec, effect: (door: StepDoor) => Promise<T>): Promise<T> {
    this.specs.push(spec);
    const key = JSON.stringify(jsonRoundTrip(spec.request));
    if (this.record.has(key)) {
      spec.onRecorded?.({ act: "", key, try: 1, cost: 0 });
      return this.record.get(key) as T;
    }
    const { attempts } = this;
    const door: StepDoor = { key: "k", mode: "live", signal: this.abort.signal, attempts, step: (inner, work) => this.step(inner, work) };
    const value = jsonRoundTrip(await effect(door));
    this.record.set(key, value);
    return value;
  }
}

const policy = { clock: simulatedClock(), random: randomStream("ask") };
const messages = [{ role: "user", content: "Say something." }] as const;

function setup(model: ChatModel, more: Partial<AskInput> = {}): { readonly recorder: Recorder; readonly input: AskInput } {
  const recorder = new Recorder();
  return { recorder, input: { steps: recorder, model, messages, policy, ...more } };
}

const Plan = z.object({ title: z.string(), hours: z.number().optional() });

describe("askModel for text", () => {
  it("is the text of the answer, through a door of no record too", async () => {
    const answer = await askModel({ ...setup(scriptedModel(["Hello."])).input, steps: directSteps(new AbortController().signal) });
    expectTypeOf(answer).toEqualTypeOf<string>();
    expect(answer).toBe("Hello.");
  });

  it("is one metered step under what decides the answer, and nothing else", async () => {
    const model: ChatModel = { ...scripted(["Hello."]), id: "scripted", extra: { reasoning_effort: "low" } };
    const { input, recorder } = setup(model, {
      temperature: 0.5,
      maxTokens: 10,
      seed: 3,
      stop: ["END"],
      extra: { top_k: 2 },
      onDelta: () => {},
    });
    await askModel(input);
    expect(recorder.specs).toEqual([
      {
        kind: "model",
        name: "scripted",
        metered: true,
        onRecorded: expect.any(Function) as unknown,
        request: {
          model: "scripted",
          messages,
          temperature: 0.5,
          maxTokens: 10,
          seed: 3,
          stop: ["END"],
          extra: { reasoning_effort: "low", top_k: 2 },
        },
      },
    ]);
  });

  it("records the raw answer", async () => {
    const { input, recorder } = setup(scriptedModel([{ content: "Hi", usage: { inputTokens: 1, outputTokens: 2 } }]));
    await askModel(input);
    expect([...recorder.record.values()]).toEqual([
      { content: "Hi", toolCalls: [], finishReason: "stop", usage: { inputTokens: 1, outputTokens: 2 } },
    ]);
  });

  it("has a limit under a budget, which is no part of the address", async () => {
    const model = scriptedModel(["a", "b"], { price: { input: 1, output: 1 } });
    const { input, recorder } = setup(model);
    await askModel(input);
    await askModel({ ...input, policy: { ...input.policy, requirePrice: true }, messages: [{ role: "user", content: "other" }] });
    expect(model.calls.map(({ maxTokens }) => maxTokens)).toEqual([undefined, 16_384]);
    for (const { request } of recorder.specs) expect(request).not.toHaveProperty("maxTokens");
  });

  it("tells text as it comes; from the record all of it at once", async () => {
    const heard: string[] = [];
    const { input } = setup(scriptedModel(["A reply longer than one piece."]), { onDelta: (text) => void heard.push(text) });
    await askModel(input);
    expect(heard.length).toBeGreaterThan(1);
    expect(heard.join("")).toBe("A reply longer than one piece.");
    heard.length = 0;
    expect(await askModel(input)).toBe("A reply longer than one piece.");
    expect(heard).toEqual(["A reply longer than one piece."]);
  });

  it("stops by its own signal and by the step's", async () => {
    for (const which of ["own", "step"] as const) {
      const own = new AbortController();
      const model = scriptedModel([() => new Promise(() => {})]);
      const { input, recorder } = setup(model, { signal: own.signal });
      const work = errorOf(askModel(input));
      await until(() => model.calls.length === 1, "the call");
      (which === "own" ? own : recorder.abort).abort(new AbortedError(which));
      expect((await work).message).toContain(which);
      expect(recorder.record.size).toBe(0);
    }
  });
});

/** A scripted model as a plain object, whose members can be changed. */
function scripted(replies: Parameters<typeof scriptedModel>[0]): { -readonly [K in keyof ChatModel]: ChatModel[K] } {
  const model = scriptedModel(replies);
  return { id: model.id, price: { input: 1, output: 1 }, chat: (r, o) => model.chat(r, o), stream: (r, o) => model.stream(r, o) };
}

describe("askModel for a text that its length limit cut", () => {
  const cut = (content: string): { content: string; finishReason: "length"; usage: { inputTokens: number; outputTokens: number } } => ({
    content,
    finishReason: "length",
    usage: { inputTokens: 1, outputTokens: 1 },
  });

  it("goes on, without doubling the seam, and the text of all parts is heard", async () => {
    const heard: string[] = [];
    const model = scriptedModel([cut("# Title\n\nThe first part of it"), cut(" part of it, and the sec"), "ond."]);
    const text = await askModel({ ...setup(model).input, onDelta: (piece) => void heard.push(piece) });
    expect(text).toBe("# Title\n\nThe first part of it, and the second.");
    expect(heard.join("")).toContain("ond.");
    expect(model.calls.map(({ messages: all }) => all.length)).toEqual([1, 3, 3]);
    expect(model.calls[2]?.messages[1]).toEqual({ role: "assistant", content: "# Title\n\nThe first part of it, and the sec" });
  });

  it("gives up after three parts more, and when the rest brings nothing new", async () => {
    const endless = scriptedModel((_request, n) => cut(`part ${n} `));
    expect(await errorOf(askModel(setup(endless).input))).toMatchObject({
      code: "MODEL_TRUNCATED",
      data: { text: "part 0 part 1 part 2 part 3 " },
    });
    expect(endless.calls).toHaveLength(4);
    const anew = scriptedModel(() => cut("The same forty characters and more, each time anew."));
    expect(await errorOf(askModel(setup(anew).input))).toMatchObject({ code: "MODEL_TRUNCATED" });
    expect(anew.calls).toHaveLength(2);
  });

  it("does not go on where the caller set the limit, or where nothing came", async () => {
    for (const [content, maxTokens] of [
      ["Half", 5],
      ["", undefined],
    ] as const) {
      const model = scriptedModel(() => cut(content));
      expect(await errorOf(askModel({ ...setup(model).input, maxTokens }))).toMatchObject({ code: "MODEL_TRUNCATED" });
      expect(model.calls).toHaveLength(1);
    }
  });

  it("asks again in a shorter form where a value is wanted, also when nothing came, and then the shortest", async () => {
    const endless = ["one", "two", "three", "four"].map((n) => cut(`{"title": "${n}`));
    for (const [replies, maxTokens] of [
      [[cut(""), cut("")], undefined],
      [[cut('{"title": '), cut('{"titl')], 5],
      [[...endless, cut(" \n ")], undefined],
    ] as const) {
      const model = scriptedModel([...replies, '{"title": "T"}']);
      expect(await askModel({ ...setup(model).input, maxTokens, schema: Plan })).toEqual({ title: "T" });
      const [last, before] = [model.calls.at(-1)?.messages ?? [], model.calls.at(-2)?.messages ?? []];
      expect(before.at(-1)?.content).toMatch(/the reply: reached its length limit before it was whole\nGive the shortest JSON object/);
      expect(last.at(-1)?.content).toMatch(/reached its length limit[\s\S]*This is the last time/);
      expect(last.every(({ content }) => content?.trim() !== "")).toBe(true);
    }
  });

  it("ends after three that are cut, with the fault of a value that does not fit", async () => {
    const model = scriptedModel(() => cut(""));
    expect(await errorOf(askModel({ ...setup(model).input, schema: Plan }))).toMatchObject({
      code: "OUTPUT_INVALID",
      data: { issues: [{ message: expect.stringContaining("length limit") as string }] },
    });
    expect(model.calls).toHaveLength(3);
  });

  it("takes the text of all parts back when the value in it does not fit", async () => {
    const voided: string[] = [];
    let n = 0;
    const recorder = new Recorder();
    const steps: StepPort = {
      step: (spec, effect) => recorder.step(spec, (door) => effect({ ...door, attempts: numbered(door.attempts, `s${n++}`) })),
    };
    const model = scriptedModel([cut('{"title": '), "5}", '{"title": "T"}']);
    const input = { ...setup(model).input, steps, onDelta: () => {}, onVoid: ({ step }: { step: string }) => void voided.push(step) };
    expect(await askModel({ ...input, schema: Plan })).toEqual({ title: "T" });
    expect(voided).toEqual(["s0", "s1"]);
  });
});

describe("a metered call", () => {
  it("has the idempotency key of its try, and may be done elsewhere", async () => {
    const keys: (string | undefined)[] = [];
    const reply = (content: string): ChatResponse => ({ content, toolCalls: [], finishReason: "stop" });
    const model: ChatModel = { ...scriptedModel([]), streams: false, chat: async (_request, { key }) => (keys.push(key), reply("here")) };
    const meter = { opened: () => undefined, settled: () => undefined, recorded: () => undefined };
    const asked = (more: Partial<Attempts>): Promise<string> => {
      const { input, recorder } = setup(model, { meter });
      const step: StepPort["step"] = (spec, effect) => recorder.step(spec, (door) => effect({ ...door, attempts: { ...free, ...more } }));
      return askModel({ ...input, steps: { step } });
    };
    expect(await asked({ key: "k" })).toBe("here");
    // The effect of a model call is its reply.
    expect(await asked({ run: async <T>() => reply("there") as T })).toBe("there");
    expect(keys).toEqual(["k"]);
  });
});

const free: Attempts = { open: () => Promise.resolve(), settle: () => undefined };

/** Attempts whose try belongs to a step of the given key. */
function numbered(attempts: Attempts, key: string): Attempts {
  return {
    current: { act: "a", key, try: 1 },
    budget: undefined,
    open: (hold, o) => attempts.open(hold, o),
    settle: (outcome) => attempts.settle(outcome),
  };
}

describe("askModel for a value", () => {
  it("gives the value, typed, and asks for it by schema", async () => {
    const model = scriptedModel(['{"title": "T", "hours": null}']);
    const { input, recorder } = setup(model);
    const plan = await askModel({ ...input, schema: Plan });
    expectTypeOf(plan).toEqualTypeOf<{ title: string; hours?: number | undefined }>();
    expect(plan).toEqual({ title: "T" });
    expect(model.calls[0]?.schema).toMatchObject({
      type: "schema",
      name: "reply",
      schema: { required: ["title", "hours"], additionalProperties: false },
    });
    expect(recorder.specs[0]?.request).toMatchObject({ schema: { type: "object", required: ["title"] } });
  });

  it("how the format travels is no part of the address", async () => {
    const refusing: ScriptedModel = scriptedModel((request) =>
      request.schema?.type === "text"
        ? '```json\n{"title": "T"}\n```'
        : modelError("MODEL_FORMAT_UNSUPPORTED", "no", { data: { mayHaveRun: false } }),
    );
    const other = setup(refusing);
    expect(await askModel({ ...other.input, schema: Plan })).toEqual({ title: "T" });
    const enforced = setup(scriptedModel(['{"title": "T"}'], { id: "scripted" }));
    await askModel({ ...enforced.input, schema: Plan });
    expect(other.recorder.specs.map((spec) => spec.request)).toEqual(enforced.recorder.specs.map((spec) => spec.request));
    // One step, two tries, of which one never ran.
    expect(other.recorder.specs).toHaveLength(1);
    expect(other.recorder.attempts.line).toBe("none:0! usage:0");
    expect(refusing.calls.map((call) => call.schema?.type)).toEqual(["schema", "text"]);
    expect(refusing.calls[0]?.messages).toEqual(messages);
    expect(refusing.calls[1]?.messages[0]?.content).toContain("JSON Schema");
  });

  it("asks once more, as a second step that shows what is wrong", async () => {
    const model = scriptedModel(['{"title": 3}', '{"title": "mended"}']);
    const { input, recorder } = setup(model);
    expect(await askModel({ ...input, schema: Plan })).toEqual({ title: "mended" });
    expect(recorder.specs).toHaveLength(2);
    expect(model.calls[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "user"]);
    expect(model.calls[1]?.messages[1]?.content).toBe('{"title": 3}');
    expect(model.calls[1]?.messages[2]?.content).toContain("title: Invalid input: expected string, received number (got 3)");
  });

  it("asks twice more, the second time for the shortest form, without the first bad reply", async () => {
    const model = scriptedModel(["no", '{"title": 3}', '{"title": "mended"}']);
    expect(await askModel({ ...setup(model).input, schema: Plan })).toEqual({ title: "mended" });
    const [, second, third] = model.calls;
    expect(third?.messages.map(({ content }) => content?.slice(0, 12))).toEqual(["Say somethin", '{"title": 3}', "That reply, "]);
    expect(third?.messages[2]?.content).toMatch(/title: Invalid input.*shortest JSON object/s);
    expect(second?.messages[0]).toEqual(third?.messages[0]);
  });

  it("gives up after the third reply, and keeps text, issues and usage", async () => {
    const model = scriptedModel([
      { content: "no", usage: { inputTokens: 10, outputTokens: 1 } },
      { content: "no again", usage: { inputTokens: 10, outputTokens: 1 } },
      { content: '{"title": []}', usage: { inputTokens: 20, outputTokens: 2, cachedTokens: 5 } },
      "never asked",
    ]);
    const error = await errorOf(askModel({ ...setup(model).input, schema: Plan }));
    expect(error).toBeInstanceOf(OutputError);
    expect(error).toMatchObject({
      code: "OUTPUT_INVALID",
      data: {
        text: '{"title": []}',
        issues: [{ path: "title", got: "an array of 0" }],
        usage: { inputTokens: 40, outputTokens: 4, cachedTokens: 5 },
      },
    });
    expect(error.message).toMatch(WITH_NEXT_STEP);
    expect(model.calls).toHaveLength(3);
  });

  it("a reply cut by its limit is continued as text, joined and read", async () => {
    const model = scriptedModel([{ content: '{"title": "T', finishReason: "length" }, '```json\nwo", "hours": 2}\n```']);
    const { input, recorder } = setup(model);
    expect(await askModel({ ...input, schema: Plan })).toEqual({ title: "Two", hours: 2 });
    expect(model.calls.map(({ schema }) => schema?.type)).toEqual(["schema", undefined]);
    expect(recorder.specs).toHaveLength(2);
    // From the record nothing is asked.
    expect(await askModel({ ...input, schema: Plan })).toEqual({ title: "Two", hours: 2 });
    expect(model.calls).toHaveLength(2);
  });

  it("a schema that JSON cannot carry is refused before anything is asked", async () => {
    const model = scriptedModel(["never asked"]);
    await expect(askModel({ ...setup(model).input, schema: z.object({ at: z.date() }) })).rejects.toBeInstanceOf(UsageError);
    expect(model.calls).toHaveLength(0);
  });
});

describe("chatStep", () => {
  const tools = [{ name: "clock", description: "Tells the time.", parameters: { type: "object" } }];
  const call = { id: "c1", type: "function", function: { name: "clock", arguments: "{}" } } as const;

  it("gives the whole answer, calls of tools included, and has the tools in its address", async () => {
    const { input, recorder } = setup(scriptedModel([{ toolCalls: [call] }]));
    const answer = await chatStep({ messages: input.messages, tools, toolChoice: "required" }, input);
    expect(answer).toMatchObject({ finishReason: "tool_calls", toolCalls: [call] });
    expect(recorder.specs[0]?.request).toMatchObject({ tools, toolChoice: "required" });
  });
});
