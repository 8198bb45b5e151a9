import { describe, expect, it } from "vitest";
import { checkCrew, openWorkflow } from "../../../roles/index.ts";
import type { WorkflowOptions } from "../../../roles/crew/workflow.ts";
import { canonical, type ChatRequest, type Json, memoryJournal, type RunResult, Team, usd } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { memoryWorkspace, refusedSandbox } from "../../../src/workspace/index.ts";
import { cutsOf } from "../../long.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";

const ports = { workspace: memoryWorkspace(), sandbox: refusedSandbox("nothing runs in this test", "Choose a sandbox.") };
const usage = { inputTokens: 10, outputTokens: 5 };

/** A model that says what it was asked, and answers a schema with `{ ok: true }`. */
function echo({ messages }: ChatRequest): { content: string; usage: typeof usage } {
  const [asked = "", form] = (messages.at(-1)?.content ?? "").split("\n\nYour answer is one JSON value");
  if (asked.startsWith("fail")) throw new Error("the server is gone");
  return { content: form === undefined ? `<${asked}>` : '{ "ok": true }', usage };
}

const script = (body: string): string => `export const meta = { name: "Wanda", description: "a test" };\n${body}`;

interface Played {
  readonly team: Team;
  readonly result: RunResult;
  /** What the script returned. */
  readonly value: Json;
  readonly log: readonly string[];
  readonly asked: readonly string[];
}

async function played(body: string, message = "", o: Partial<WorkflowOptions> = {}, seed = 1): Promise<Played> {
  const model = scriptedModel(echo);
  const { name, roles } = await openWorkflow(script(body), { ...ports, ...o });
  const journal = memoryJournal();
  const team = new Team({ name, roles, model, journal, seed, budget: usd(1) });
  const result = await team.run(message === "" ? " " : message, { id: "r" }).result;
  const { instructContent, metadata = {} } = result.output ?? {};
  const asked = model.calls.map(({ messages }) => messages.at(-1)?.content ?? "");
  return { team, result, value: instructContent as Json, log: (metadata["log"] ?? []) as string[], asked };
}

const valueOf = async (body: string, message?: string, o?: Partial<WorkflowOptions>): Promise<Json> => {
  const { result, value } = await played(body, message, o);
  expect(result.error?.message).toBeUndefined();
  return value;
};

const failureOf = async (body: string, o?: Partial<WorkflowOptions>): Promise<string> => {
  const { result } = await played(body, "", o);
  expect(result.status).toBe("failed");
  return `${result.error?.code}: ${result.error?.message}`;
};

describe("the globals of a workflow", () => {
  it("agent gives the answer of an agent, or the value that fits its schema", async () => {
    const schema = '{ type: "object", required: ["ok"], properties: { ok: { type: "boolean" } } }';
    expect(await valueOf(`return [await agent("one"), await agent("two", { schema: ${schema} })];`)).toEqual(["<one>", { ok: true }]);
    const never = '{ type: "object", required: ["no"], properties: { no: { type: "string" } } }';
    expect(await valueOf(`try { await agent("two", { schema: ${never} }) } catch (e) { return e.message }`)).toMatch(/fits its schema/);
  });

  it("agent gives null where its model fails, and the log says why", async () => {
    const { value, log } = await played('return [await agent("fail"), await agent("b")];');
    expect(value).toEqual([null, "<b>"]);
    expect(log).toEqual([expect.stringMatching(/Agent 1 came to no answer/)]);
  });

  it("parallel gives the results in order, and null for a branch that throws", async () => {
    const body = 'return await parallel([() => agent("a"), () => { throw new Error("no") }, async () => agent("c")]);';
    const { value, log } = await played(body);
    expect(value).toEqual(["<a>", null, "<c>"]);
    expect(log).toEqual(["Branch 2 of parallel failed: no"]);
    expect(await failureOf('await parallel([agent("a")]);')).toMatch(/parallel\(\[\(\) => agent/);
    expect(await failureOf("await parallel(Array(5000).fill(() => 1));")).toMatch(/at most 4096 items, got 5000/);
  });

  it("pipeline takes each item through all stages, and drops one whose stage throws", async () => {
    const body = `return await pipeline(["a", "b", "c"], (item) => agent(item), (said, item, index) => {
      if (item === "b") throw new Error("no");
      return [said, item, index];
    });`;
    expect(await valueOf(body)).toEqual([["<a>", "a", 0], null, ["<c>", "c", 2]]);
  });

  it("phase and label name the steps of the record, and log is kept with the result", async () => {
    const body = 'phase("Find"); log("look"); await agent("a", { label: "first" }); await agent("b", { phase: "Else" });';
    const { team, log } = await played(body);
    expect(log).toEqual(["# Find", "look"]);
    const events = await eventsOf(team.journal, "r");
    const started = events.flatMap((event) => (event.type === "step.started" && event.in === undefined ? [event] : []));
    expect(started.map(({ name, request }) => [name, request])).toMatchObject([
      ["first", { prompt: "a", phase: "Find" }],
      ["agent 2", { prompt: "b", phase: "Else" }],
    ]);
  });

  it("budget counts output tokens, and no agent starts when they are used up", async () => {
    const body = `const seen = [];
      for (let n = 0; n < 3; n++) { seen.push([budget.spent(), budget.remaining()]); await agent("x" + n); }
      try { await agent("more") } catch (e) { return [budget.total, ...seen, e.message] }`;
    expect(await valueOf(body, "", { tokens: 12 })).toEqual([12, [0, 12], [5, 7], [10, 2], expect.stringMatching(/budget of 12/)]);
    expect(await valueOf("return [budget.total, String(budget.remaining())];")).toEqual([null, "Infinity"]);
  });

  it.each([
    ['{"a":[1]}', { a: [1] }],
    ["[1]", [1]],
    ["two words", "two words"],
    ["17", "17"],
    ["", null],
  ])("args of %j", async (message, args) => {
    expect(await valueOf("return args;", message)).toEqual(args);
  });

  it("Date and Math.random are the run's", async () => {
    const body = "return [Date.now(), new Date().getTime(), new Date(5).toISOString(), Math.random(), Math.random()];";
    const values = await valueOf(body);
    const [now, time, five, a, b] = values as [number, number, string, number, number];
    expect([now, five]).toEqual([time, "1970-01-01T00:00:00.005Z"]);
    expect(a).not.toBe(b);
    const again = await played(body);
    expect((again.value as readonly Json[]).slice(3)).toEqual([a, b]);
    expect((await again.team.replay("r").result).output?.instructContent).toEqual(again.value);
    expect(((await played(body, "", {}, 2)).value as readonly Json[])[3]).not.toBe(a);
  });

  it("a model that is named answers, and the workflow's own answers for a name that is not set", async () => {
    const models = { big: scriptedModel(["from the big one"]) };
    const { value, log } = await played('return [await agent("a", { model: "big" }), await agent("b", { model: "opus" })];', "", {
      models,
    });
    expect(value).toEqual(["from the big one", "<b>"]);
    expect(log).toEqual([expect.stringMatching(/No model is set for "opus"/)]);
  });

  it("WorkflowRun.W2 at most so many agents work at the same time", async () => {
    let [now, most] = [0, 0];
    const model = scriptedModel(async () => {
      most = Math.max(most, (now += 1));
      await new Promise((done) => setImmediate(done));
      now -= 1;
      return "a";
    });
    const body = script('return (await parallel(Array.from({ length: 9 }, (_, n) => () => agent("x" + n)))).length;');
    const { roles } = await openWorkflow(body, { ...ports, concurrency: 3 });
    const { output } = await new Team({ roles, model }).run("go").result;
    expect([output?.instructContent, most]).toEqual([9, 3]);
  });
});

describe("a bad script", () => {
  it.each([
    ["for(;;);", /WORKFLOW_LIMIT: .*computes without end/],
    ["await agent('a'); while (true) await null;", /WORKFLOW_LIMIT/],
    ["for (;;) try { await agent('a') } catch {}", /WORKFLOW_LIMIT: .*computes without end/],
    ["const all = []; for (;;) all.push(new Array(1000).fill(1));", /out of memory/],
    ["const f = () => f(); f();", /stack overflow/],
    ["return process.env;", /'process' is not defined\. A workflow has the language alone/],
    ["require('fs');", /'require' is not defined\. A workflow/],
    ["await new Promise(() => {});", /waits for something that never comes/],
    ["await parallel(Array.from({ length: 4000 }, (_, n) => () => agent('x' + n))); throw new Error('end');", /WORKFLOW_FAILED: .*end/],
    ["for (let n = 0; n < 10000; n++) await agent('x' + n);", /at most 20 calls of agent\(\) in one run/],
    ["await agent(5);", /Expected agent\(prompt\) to get a text/],
    ["await agent('x'.repeat(600000));", /WORKFLOW_FAILED: .*prompt/],
    ["await agent('x', { schema: 5 });", /WORKFLOW_FAILED: .*options\.schema/],
    ["await workflow('other');", /calls workflow\(\)/],
    ["return 'x'.repeat(3e6);", /WORKFLOW_FAILED: .*at most 900000 characters/],
    ["let o = {}; for (let i = 0; i < 1000; i++) o = { o }; return o;", /levels of nesting/],
    ["return { ['__proto__']: 1 };", /names the prototype/],
  ])("%s", async (body, expected) => {
    expect(await failureOf(body, { agents: 20 })).toMatch(expected);
  });

  it("ScriptThread.T1 is killed where the engine itself computes without end", async () => {
    const { ScriptThread } = await import("../../../src/workspace/script-thread.ts");
    const settings = { args: null, seed: [1, 2, 3, 4], start: 0, total: null, calls: 1 };
    const thread = new ScriptThread('"a".repeat(1e7).indexOf("a".repeat(5e6) + "b");', settings, { timeout: 1_000 });
    await expect(thread.begin()).rejects.toMatchObject({ code: "WORKFLOW_LIMIT" });
    await expect(thread.answer({ id: 1, at: 0, tokens: 0, value: 1 })).rejects.toMatchObject({ code: "WORKFLOW_LIMIT" });
    await thread.close();
  });

  it("does not reach Node.js by the constructors of what it gets", async () => {
    const ways = [
      "globalThis",
      "agent",
      "budget.spent",
      "(await agent('a'))",
      "(() => { try { null.x } catch (e) { return e } })()",
      "log",
    ];
    const code = "constructor.constructor('return typeof process + typeof require + typeof globalThis.host')()";
    const values = await valueOf(`return [${ways.map((way) => `${way}.${code}`).join()}];`);
    expect(values).toEqual(ways.map(() => "undefinedundefinedundefined"));
  });

  it("breaks itself alone where it changes what it is built of", async () => {
    const body = `Object.prototype.polluted = "yes"; Array.prototype.map = () => []; JSON.stringify = () => "{}"; JSON.parse = () => ({});
      Object.defineProperty(Object.prototype, "toJSON", { value: () => ({ kind: "ended", value: "forged" }) });
      return agent("a");`;
    await played(body);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(await valueOf('return agent("b");')).toBe("<b>");
  });

  it.each([
    ["no meta", "return 1;", /one export: const meta/],
    ["a meta that is computed", "export const meta = { name: 'a', description: f() }; return 1;", /one export: const meta/],
    ["a meta without description", "export const meta = { name: 'a' };", /one export: const meta/],
    ["a second export", "export const meta = { name: 'a', description: 'b' }; export const x = 1;", /one export: const meta/],
    [
      "an import",
      "export const meta = { name: 'a', description: 'b' };\nimport fs from 'fs';",
      /w\.js:2: expected a script without import/,
    ],
    [
      "a dynamic import",
      "export const meta = { name: 'a', description: 'b' };\n\nawait import('fs');",
      /w\.js:3: expected a script without import/,
    ],
    ["types", "export const meta = { name: 'a', description: 'b' }; const x: number = 1;", /JavaScript, got a fault/],
    ["a deep nest", `export const meta = { name: 'a', description: 'b' }; ${"(".repeat(100_000)}`, /JavaScript, got a fault/],
  ])("is refused before it runs: %s", async (_what, text, expected) => {
    const opened = openWorkflow(text, { ...ports, file: "w.js" });
    await expect(opened).rejects.toMatchObject({ code: "WORKFLOW_INVALID", message: expect.stringMatching(expected) as string });
  });
});

describe("the bound of a workflow", () => {
  const model = { id: "dear", price: { input: 1, output: 10 }, maxOutputTokens: 1_000 };

  it.each([
    ['await agent("a"); if (args) await agent("b");', 2],
    ['await parallel([() => agent("a"), async () => agent("b")]);', 2],
    ['await pipeline([1, 2, 3], (n) => agent("a" + n), (said) => agent(said));', 6],
    ['for (const n of [1, 2]) await agent("a");', 1_000],
    ['await pipeline(args, (n) => agent("a" + n));', 1_000],
    ["const ask = agent; await ask('a');", 1_000],
    ["return 1;", 0],
  ])("%s makes at most %i calls of agent", async (body, most) => {
    const { roles } = await openWorkflow(script(body), ports);
    // A call without tools, and three for a value that does not fit its schema.
    const report = await checkCrew({ roles, model, inputTokens: 1_000 });
    expect([report.faults, report.calls, report.cost]).toEqual([[], most * 4, most * 4 * 11_000]);
    expect(await checkCrew({ roles, model, inputTokens: 1_000, budget: usd(0.05) })).toMatchObject({
      cost: Math.min(50_000, most * 44_000),
    });
  });

  it("counts the steps of agents with tools, the given bound, and the dearest model", async () => {
    const dearest = scriptedModel(["a"], { id: "dearest", price: { input: 2, output: 20 } });
    const o = { ...ports, tools: ["look"], agents: 10, steps: 5, models: { big: dearest } } as const;
    const { roles } = await openWorkflow(script('while (args) await agent("a");'), o);
    const report = await checkCrew({ roles, model, inputTokens: 1_000 });
    expect([report.calls, report.cost]).toEqual([80, 80 * (2_000 + 20 * 16_384)]);
  });
});

describe("a workflow that is cut off", () => {
  const body = script(`const found = await pipeline(["a", "b", "c"], (item) => agent("find " + item), (said) => agent("check " + said));
    log(String(Math.random()));
    return [Date.now(), Math.random(), await agent("sum up " + found.join())];`);

  it("WorkflowRun.W1 ScriptThread.T2 continues from every prefix of its record to the same end, and repeats no recorded call", async () => {
    const { name, roles } = await openWorkflow(body, ports);
    const parts = { name, roles, seed: 1 };
    const journal = memoryJournal();
    const whole = await new Team({ ...parts, journal, model: scriptedModel(echo) }).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    for (const cut of cutsOf(events.length)) {
      const prefix = events.slice(0, cut);
      const models = new Set(events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [event.key] : [])));
      const answered = prefix.filter((event) => event.type === "step.ended" && models.has(event.key)).length;
      const model = scriptedModel(echo);
      const team = new Team({ ...parts, journal: await journalWith("r", prefix), model });
      const { status, output } = await team.run("go", { id: "r" }).result;
      expect([cut, status]).toEqual([cut, "finished"]);
      expect(model.calls.length).toBe(cut >= events.length - 1 ? 0 : 7 - answered);
      if (model.calls.length === 0) expect(output?.instructContent).toEqual(whole.output?.instructContent);
    }
  });

  it("is forked: what did not change is not paid again", async () => {
    const journal = memoryJournal();
    const first = await openWorkflow(body, ports);
    await new Team({ ...first, journal, seed: 1, model: scriptedModel(echo) } as never).run("go", { id: "r" }).result;
    const model = scriptedModel(echo);
    const changed = await openWorkflow(body.replace("sum up", "tell of"), ports);
    const { status } = await new Team({ name: changed.name, roles: changed.roles, journal, seed: 1, model }).fork("r", { at: 1, id: "f" })
      .result;
    expect([status, model.calls.length]).toEqual(["finished", 1]);
    const events = await eventsOf(journal, "f");
    expect(canonical(events)).toContain("tell of");
  });
});
