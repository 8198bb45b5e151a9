import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { nextMacrotask, sleep, systemClock } from "../../src/kernel/clock.ts";
import { AbortedError } from "../../src/kernel/errors.ts";
import { directSteps, type StepPort, type StepSpec } from "../../src/kernel/step.ts";
import { steppedModel } from "../../src/model/ask.ts";
import { simulatedClock } from "../../src/testing/simulated-clock.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { resultText, toolMessage } from "../../src/tool/tool-result.ts";
import type { ToolNotice } from "../../src/tool/call-options.ts";
import { callTool } from "../../src/tool/call-tools.ts";
import { defineTool, type Tool, type ToolContext } from "../../src/tool/tool.ts";
import { ToolCollection } from "../../src/tool/tool-collection.ts";
import { until } from "../model/call-setup.ts";
import { unhandledIn } from "../unhandled.ts";
import { call, calling } from "./calling.ts";

function tool(execute: Tool["execute"], more: Partial<Parameters<typeof defineTool>[0]> = {}): Tool {
  return defineTool({ name: "work", description: "", execute, ...more } as never);
}

async function textOf(execute: Tool["execute"]): Promise<string> {
  const called = await callTool(call("work"), calling([tool(execute)]));
  return `${called.outcome}: ${resultText(called.result)}`;
}

describe("RunTool.N4 what a tool starts and does not await", () => {
  const fails = (): Promise<never> => Promise.reject(new Error("declined"));

  test.each<[string, (ctx: ToolContext) => unknown]>([
    ['step "charge"', (ctx) => void ctx.step({ kind: "step", name: "charge", request: {} }, fails)],
    ['step "charge"', (ctx) => void ctx.step({ kind: "step", name: "charge", request: {} }, fails).then((value) => value)],
    ["ask", (ctx) => void ctx.ask?.("well?")],
    ["model.chat", (ctx) => void ctx.model?.chat({ messages: [{ role: "user", content: "hello" }] }, { signal: ctx.signal })],
  ])("%s fails the call by its name, and ends no process", async (name, start) => {
    const unhandled = await unhandledIn(async () => {
      for (const execute of [(ctx: ToolContext) => void start(ctx), async (ctx: ToolContext) => void start(ctx)]) {
        const model = (steps: { readonly step: StepPort["step"] }): ReturnType<typeof steppedModel> =>
          steppedModel(
            scriptedModel(() => fails()),
            { steps, policy: { clock: systemClock, random: () => 0 } },
          );
        const called = await callTool(call("work"), calling([tool((_args, ctx) => execute(ctx))], { ask: fails, model }));
        expect(called.outcome).toBe("failed");
        expect(resultText(called.result)).toContain(name);
        expect(resultText(called.result)).toContain("await");
      }
    });
    expect(unhandled).toEqual([]);
  });
});

describe("a call", () => {
  it("gives the tool its arguments and the model its result", async () => {
    const add = defineTool({
      name: "add",
      description: "",
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const called = await callTool(call("add", { a: 1, b: 2 }), calling([add]));
    expect(called).toEqual({ call: call("add", { a: 1, b: 2 }), outcome: "ok", result: { output: 3 }, ends: false });
    expect(toolMessage(called)).toEqual({ role: "tool", content: "3", name: "add", toolCallId: "call_1" });
  });

  it("of a tool that is gone, never was, or is what every object has, is answered with those there are", async () => {
    const tools = new ToolCollection([tool(() => "x")]);
    const options = calling(tools);
    for (const name of ["gone", "constructor", "__proto__", "toString", "", "x".repeat(100_000)]) {
      const { outcome, result } = await callTool(call(name), options);
      expect(outcome).toBe("unknown");
      expect(resultText(result)).toMatch(/^Error: there is no tool ".*There are: work\.$/);
      expect(resultText(result).length).toBeLessThan(500);
    }
    tools.remove("work");
    expect(resultText((await callTool(call("work"), options)).result)).toMatch(/There are no tools\. Answer in words\./);
  });

  it("ends the work when the tool says so and succeeded, and only then", async () => {
    const ending = (execute: Tool["execute"]) => callTool(call("work"), calling([tool(execute, { ends: true })]));
    expect((await ending(() => "done")).ends).toBe(true);
    expect((await ending(() => ({ error: "not yet" }))).ends).toBe(false);
    expect((await callTool(call("work"), calling([tool(() => "x")]))).ends).toBe(false);
  });
});

describe("the outcome of a tool comes back as a result", () => {
  it.each<[string, Tool["execute"], string | RegExp]>([
    ["says that it failed", () => ({ error: "no such file" }), "failed: Error: no such file"],
    ["throws at once", () => raised(new Error("broken")), "failed: Error: broken"],
    ["throws later", () => Promise.reject(new TypeError("broken")), "failed: Error: broken"],
    ["throws null", () => raised(null), "failed: Error: null"],
    ["throws undefined", () => raised(undefined), "failed: Error: undefined"],
    ["throws a text", () => raised("oh"), "failed: Error: oh"],
    [
      "throws what cannot be read",
      () => raised(new Proxy({}, { getPrototypeOf: () => raised("trap") })),
      /^failed: Error: an error that cannot be read/,
    ],
    ["throws a long story", () => raised(new Error("x".repeat(1_000_000))), /\[cut: 12,000 of 1,000,000 characters shown\]/],
    ["gives a cycle", cycle as never, /^ok: \{[^]*\[cycle\]/],
    ["gives a function", (() => () => 1) as never, "ok: [function]"],
    ["gives a bigint", (() => 10n) as never, "ok: 10"],
    ["gives bytes", (() => Buffer.alloc(5)) as never, "ok: [binary: 5 bytes]"],
    [
      "gives a promise inside that fails, which would end the process",
      (() => ({ p: Promise.reject(new Error("alone")) })) as never,
      /^ok: [^]*\[promise: it was not awaited\]/,
    ],
    ["gives nothing", () => undefined, "ok: (no output)"],
    ["prints without end", () => "y\n".repeat(5_000_000), /\[cut: 12,000 of 10,000,000 characters shown\]/],
    [
      "gives a promise that is none",
      (() => ({
        get then() {
          return raised(new Error("trap"));
        },
      })) as never,
      "failed: Error: trap",
    ],
  ])("%s", async (_, execute, text) => {
    expect(await textOf(execute)).toMatch(typeof text === "string" ? new RegExp(`^${text.replace(/[[\]()]/g, "\\$&")}$`) : text);
  });
});

describe("time", () => {
  it("is up for a tool that hangs; what it does later is its own", async () => {
    const clock = simulatedClock();
    const told: ToolNotice[] = [];
    let late: ToolContext | undefined;
    const { promise, reject } = pending();
    const hanging = tool(
      (_, ctx) => {
        late = ctx;
        return promise;
      },
      { timeout: 5_000 },
    );
    const called = callTool(call("work"), calling([hanging], { clock, tell: (notice) => void told.push(notice) }));
    await clock.advance(5_000);
    expect((await called).outcome).toBe("timeout");
    expect(resultText((await called).result)).toMatch(/did not end within 5 seconds and was stopped/);
    expect(late?.signal.aborted).toBe(true);
    expect(clock.pending).toBe(0);
    reject(new Error("late"));
    late?.progress("late");
    await expect(late?.step({ kind: "x", name: "late", request: 0 }, () => Promise.resolve(1))).rejects.toMatchObject({
      code: "CONTEXT_CLOSED",
    });
    await nextMacrotask();
    expect(told.map(({ type }) => type)).toEqual(["tool.started", "tool.ended"]);
  });

  it("RunTool.N1 stands still while a person is asked", async () => {
    const clock = simulatedClock();
    const asking = tool(async (_, ctx) => `she said ${await ctx.human?.ask("Which one?")}`, { timeout: 1_000 });
    const answer = pending<string>();
    const asked: unknown[] = [];
    const called = callTool(call("work"), {
      ...calling([asking], { clock, role: "Alice" }),
      ask: (question) => {
        asked.push(question);
        return answer.promise;
      },
    });
    await clock.advance(1_000_000);
    answer.resolve("the red one");
    expect(resultText((await called).result)).toBe("she said the red one");
    expect(asked).toEqual([{ id: expect.any(String) as string, text: "Which one?", role: "Alice" }]);
  });

  it("RunTool.N1 stands still while a model is asked, and goes on between", async () => {
    const clock = simulatedClock();
    const model = scriptedModel(() => "said", { latency: () => 500_000, clock });
    const asking = tool(
      async (_, ctx) => {
        const said = await ctx.model?.chat({ messages: [{ role: "user", content: "?" }] }, { signal: ctx.signal });
        await sleep(clock, 999);
        return said?.content ?? "";
      },
      { timeout: 1_000 },
    );
    const policy = { clock, random: () => 0 };
    const called = callTool(call("work"), { ...calling([asking], { clock }), model: (steps) => steppedModel(model, { steps, policy }) });
    await until(() => model.calls.length === 1, "the call of the model");
    await clock.advance(500_000);
    await clock.advance(999);
    expect(resultText((await called).result)).toBe("said");
  });

  it("of a tool that ends in it leaves no timer behind", async () => {
    const clock = simulatedClock();
    for (const execute of [() => "x", () => raised("x"), () => Promise.resolve("x"), () => Promise.reject(new Error("x"))]) {
      await callTool(call("work"), calling([tool(execute)], { clock }));
    }
    expect(clock.pending).toBe(0);
  });

  it("counts from when the tool began, also what it took before it first waited", async () => {
    const clock = simulatedClock();
    let busy = 0;
    const late = { now: () => clock.now() + busy, timer: (ms: number, fire: () => void) => clock.timer(ms, fire) };
    const called = callTool(
      call("work"),
      calling(
        [
          tool(
            () => {
              busy = 900;
              return pending().promise;
            },
            { timeout: 1_000 },
          ),
        ],
        { clock: late },
      ),
    );
    await clock.advance(100);
    expect((await called).outcome).toBe("timeout");
  });
});

describe("a tool that answers at once", () => {
  it("costs no timer", async () => {
    let timers = 0;
    const clock = simulatedClock();
    const counted = { now: () => clock.now(), timer: (ms: number, fire: () => void) => (timers++, clock.timer(ms, fire)) };
    expect((await callTool(call("work"), calling([tool(() => "x")], { clock: counted }))).outcome).toBe("ok");
    expect(timers).toBe(0);
  });

  it("RunTool.N2 is not told of a stop after its end", async () => {
    const stop = new AbortController();
    let late: ToolContext | undefined;
    await callTool(call("work"), calling([tool((_args, ctx) => ((late = ctx), "x"))], { signal: stop.signal }));
    stop.abort();
    expect(late?.signal.aborted).toBe(false);
  });

  it.each<[string, () => unknown]>([
    ["gives something", () => "x"],
    ["throws", () => raised("x")],
    ["gives a promise that fails", () => Promise.reject(new Error("x"))],
  ])("is an interruption when it stopped the run itself, though it %s", async (_, then) => {
    const stop = new AbortController();
    let heard = false;
    const stopping = tool((_args, ctx) => {
      ctx.signal.addEventListener("abort", () => (heard = true));
      stop.abort();
      return then() as string;
    });
    await expect(callTool(call("work"), calling([stopping], { signal: stop.signal }))).rejects.toBeInstanceOf(AbortedError);
    expect(heard).toBe(true);
  });

  it("has one key and one model for one call", async () => {
    let made = 0;
    const model = () => (made++, scriptedModel([]));
    const asking = tool((_args, ctx) => [
      ctx.key === ctx.key && ctx.key !== "",
      ctx.model === ctx.model,
      Object.keys({ ...ctx }).includes("signal"),
    ]);
    const { result } = await callTool(call("work"), calling([asking], { model }));
    expect([result.output, made]).toEqual([[true, true, true], 1]);
  });
});

describe("an error that stops a run is thrown", () => {
  it("a signal, while the tool runs: the tool is told", async () => {
    const stop = new AbortController();
    let ctx: ToolContext | undefined;
    const hanging = tool((_, context) => {
      ctx = context;
      return pending().promise;
    });
    const called = callTool(call("work"), calling([hanging], { signal: stop.signal }));
    await nextMacrotask();
    stop.abort();
    await expect(called).rejects.toBeInstanceOf(AbortedError);
    expect(ctx?.signal.aborted).toBe(true);
  });

  it("a signal that came before: the tool does not begin, whosever signal it was", async () => {
    let ran = false;
    const others = { signal: AbortSignal.abort(), steps: directSteps(new AbortController().signal) };
    await expect(callTool(call("work"), calling([tool(() => (ran = true))], others))).rejects.toBeInstanceOf(AbortedError);
    const called = callTool(call("work"), calling([tool(() => (ran = true))], { signal: AbortSignal.abort() }));
    await expect(called).rejects.toBeInstanceOf(AbortedError);
    expect(ran).toBe(false);
  });

  it("and listeners are taken off signals that live on", async () => {
    const { signal } = new AbortController();
    let listening = 0;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    signal.addEventListener = (...args: Parameters<typeof add>) => void (add(...args), listening++);
    signal.removeEventListener = (...args: Parameters<typeof remove>) => void (remove(...args), listening--);
    for (const execute of [() => "x", (_: unknown, ctx: ToolContext) => Promise.resolve(String(ctx.signal.aborted))]) {
      const options = calling([tool(execute)], { signal });
      for (let n = 0; n < 10; n++) await callTool(call("work"), options);
    }
    expect(listening).toBeLessThanOrEqual(0);
  });
});

test.each([
  ["one that reads: again after a crash, and anew in a fork", { effect: "read" }, { idempotent: true, again: false, fresh: true }],
  ["one that writes: neither", {}, { idempotent: false, again: false, fresh: false }],
  ["one that says so", { again: true, idempotent: true, fresh: true }, { idempotent: true, again: true, fresh: true }],
] as const)("a tool is recorded as what it is: %s", async (_, more, expected) => {
  const asked: StepSpec[] = [];
  const { signal } = new AbortController();
  const direct = directSteps(signal);
  const steps: StepPort = { step: (spec, effect) => (asked.push(spec), direct.step(spec, effect)) };
  await callTool(call("work", { a: 1 }), calling([tool(() => "x", more)], { steps, signal }));
  expect(asked).toEqual([{ kind: "tool", name: "work", request: { name: "work", args: { a: 1 } }, ...expected }]);
});

test("a tool is told of in the order things happen", async () => {
  const told: string[] = [];
  const telling = tool((_, { progress }) => {
    progress("half");
    progress("x".repeat(100_000));
    return "done";
  });
  const tell = (notice: ToolNotice): void =>
    void told.push(notice.type === "tool.progress" ? `${notice.type} ${notice.text.length}` : notice.type);
  await callTool(call("work", { a: 1 }), calling([telling], { tell }));
  expect(told).toEqual(["tool.started", "tool.progress 4", "tool.progress 2000", "tool.ended"]);
});

test("a tool gets a model that goes through the call's own door, where there is one", async () => {
  const model = scriptedModel(["42"]);
  const thinking = tool(async (_, ctx) => {
    const reply = await ctx.model?.chat({ messages: [{ role: "user", content: "?" }] }, { signal: ctx.signal });
    return reply?.content ?? "no model";
  });
  const doors: unknown[] = [];
  const through = { model: (door: unknown) => (doors.push(door), model) };
  expect(resultText((await callTool(call("work"), { ...calling([thinking]), ...through })).result)).toBe("42");
  expect(doors).toHaveLength(1);
  expect(resultText((await callTool(call("work"), calling([thinking]))).result)).toBe("no model");
});

function cycle(): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

function raised(what: unknown): never {
  throw what;
}

function pending<T = never>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve: (value: T) => void = () => {};
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
