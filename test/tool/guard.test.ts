import { describe, expect, it, test } from "vitest";
import { z } from "zod";
import { Agent, callTool, defineTool, type Tool } from "../../src/agent/index.ts";
import type { Json } from "../../src/kernel/json.ts";
import { type ChatModel, defineAction, defineRole, type Guard, guard, memoryJournal, Team } from "../../src/index.ts";
import { scriptedModel, simulatedClock } from "../../src/testing/index.ts";
import { call, calls } from "../agent/setup.ts";
import { eventsOf } from "../team/recorded.ts";

interface Ended {
  readonly answer: string | undefined;
  readonly code: string | undefined;
}

const Answer = defineAction({ name: "Answer", prompt: (ctx) => ctx.text });
const typed = z.object({ city: z.string() });
const AnswerTyped = defineAction({ name: "AnswerTyped", output: typed, prompt: (ctx) => ctx.text });

/** The owners of guards that have a task and an answer. */
const owners: Readonly<Record<string, (model: ChatModel, guards: readonly Guard[], task: string) => Promise<Ended>>> = {
  async agent(model, guards, task) {
    const { status, answer, error } = await new Agent({ name: "Ada", model, guards }).run(task).result;
    return { answer: status === "finished" ? answer : undefined, code: (error as { code?: string } | undefined)?.code };
  },
  "role that is an agent": async (model, guards, task) =>
    ended(new Team({ roles: [defineRole({ name: "Ada", reactMode: "agent", guards })], model }), task),
  role: async (model, guards, task) => ended(new Team({ roles: [defineRole({ name: "Ada", actions: [Answer], guards })], model }), task),
  action: async (model, guards, task) => {
    const Own = defineAction({ name: "Own", prompt: (ctx) => ctx.text, guards });
    return ended(new Team({ roles: [defineRole({ name: "Ada", actions: [Own] })], model }), task);
  },
  team: async (model, guards, task) => ended(new Team({ roles: [defineRole({ name: "Ada", actions: [Answer] })], model, guards }), task),
};

async function ended(team: Team, task: string): Promise<Ended> {
  const { output, error } = await team.run(task).result;
  return { answer: output?.content, code: error?.code };
}

const noSecret = (on: "input" | "output", more: object = {}): Guard =>
  guard({ name: "no secrets", on, check: ({ text }) => (text.includes("secret") ? "It has a secret." : undefined), ...more });

describe.each(Object.entries(owners))("a guard of a %s", (_owner, run) => {
  it("lets pass what it does not refuse", async () => {
    const model = scriptedModel(["fine"]);
    expect(await run(model, [noSecret("input"), noSecret("output")], "hello")).toEqual({ answer: "fine", code: undefined });
  });

  it("stops a refused input before the model is asked", async () => {
    const model = scriptedModel(["fine"]);
    expect(await run(model, [noSecret("input")], "a secret")).toEqual({ answer: undefined, code: "GUARD_REFUSED" });
    expect(model.calls).toHaveLength(0);
  });

  it("beside the model lets nothing come of a refused input", async () => {
    const model = scriptedModel(["fine"]);
    expect(await run(model, [noSecret("input", { beside: true })], "a secret")).toEqual({ answer: undefined, code: "GUARD_REFUSED" });
    expect(await run(scriptedModel(["fine"]), [noSecret("input", { beside: true })], "hello")).toEqual({ answer: "fine", code: undefined });
  });

  it("rewrites the input and the output", async () => {
    const model = scriptedModel(({ messages }) => `You said ${messages.at(-1)?.content ?? ""}`);
    const redacted = (on: "input" | "output", word: string): Guard =>
      guard({ name: `no ${word}`, on, check: ({ text }) => ({ rewrite: text.replaceAll(word, "...") }) });
    expect((await run(model, [redacted("input", "secret"), redacted("output", "said")], "a secret")).answer).toMatch(
      /^You \.\.\. .*a \.\.\.$/,
    );
    expect(JSON.stringify(model.calls)).not.toContain("secret");
  });

  it("has the model answer again, with the reason", async () => {
    const model = scriptedModel(["a secret", "fine"]);
    expect(await run(model, [noSecret("output", { then: "retry" })], "hello")).toEqual({ answer: "fine", code: undefined });
    expect(model.calls[1]?.messages.at(-1)?.content).toContain("It has a secret.");
    const stubborn = scriptedModel(() => "a secret");
    expect(await run(stubborn, [noSecret("output", { then: "retry" })], "hello")).toEqual({ answer: undefined, code: "GUARD_REFUSED" });
    expect(stubborn.calls).toHaveLength(3);
  });

  it.each([
    ["throws", () => Promise.reject(new Error("broken"))],
    ["returns something else", () => 7 as never],
    ["rewrites into nothing", () => ({ rewrite: undefined }) as never],
    ["rewrites into what is no JSON", () => ({ rewrite: () => "x" }) as never],
    ["rewrites into more than a record takes", () => ({ rewrite: "x".repeat(1_000_001) })],
    ["has a longer reason than a record takes", () => "x".repeat(1_000_001)],
  ])("that %s lets nothing pass", async (_what, check) => {
    expect(await run(scriptedModel(["fine"]), [guard({ name: "g", on: "output", check })], "hello")).toEqual({
      answer: undefined,
      code: "GUARD_FAILED",
    });
  });
});

describe("a guard", () => {
  it("that hangs lets nothing pass", async () => {
    const clock = simulatedClock();
    const hanging = guard({ name: "g", on: "output", timeout: 1_000, check: () => new Promise(() => undefined) });
    const run = new Agent({ name: "Ada", model: scriptedModel(["fine"]), guards: [hanging], clock }).run("hello");
    await clock.advance(1_000);
    expect((await run.result).error).toMatchObject({ code: "GUARD_FAILED" });
  });

  it("leaves nothing of a rewritten answer in what the role says", async () => {
    const output = z.strictObject({ city: z.string() });
    const secret = guard({ name: "g", on: "output", check: () => ({ rewrite: { city: "..." } }) });
    const parts = { name: "Answer", output, run: () => ({ city: "Oslo" }) };
    const spoken = defineAction({ ...parts, speech: ({ city }) => `It is ${city}.` });
    const given = defineAction({ ...parts, run: (ctx) => ctx.message("", { instructContent: { city: "Oslo" }, speech: "It is Oslo." }) });
    for (const [action, speech] of [
      [spoken, "It is ...."],
      [given, undefined],
    ] as const) {
      const team = new Team({ roles: [defineRole({ name: "Ann", actions: [action], guards: [secret] })] });
      expect((await team.run("go").result).output?.speech).toBe(speech);
    }
  });

  it("that rewrites an answer into what its schema refuses fails", async () => {
    const bad = guard({ name: "g", on: "output", check: () => ({ rewrite: { town: "Oslo" } }) });
    const good = guard({ name: "g", on: "output", check: ({ value }) => ({ rewrite: { city: `${(value as { city: string }).city}!` } }) });
    for (const [action, reactMode] of [
      [AnswerTyped, undefined],
      [AnswerTyped, "agent"],
    ] as const) {
      const run = async (guards: readonly Guard[]) => {
        const role = defineRole({ name: "Ada", actions: [action], guards, ...(reactMode && { reactMode }) });
        return new Team({ roles: [role], model: scriptedModel(['{"city":"Oslo"}']) }).run("where?").result;
      };
      expect((await run([bad])).error?.code).toBe("GUARD_FAILED");
      const right = await run([good]);
      expect(right.error).toBeUndefined();
      expect(right.output?.instructContent).toEqual({ city: "Oslo!" });
    }
  });

  it("asks a person, whose answer counts after a restart", async () => {
    const journal = memoryJournal();
    const team = (): Team => {
      const guards = [noSecret("output", { then: "ask" })];
      return new Team({
        roles: [defineRole({ name: "Ada", actions: [Answer], guards })],
        model: scriptedModel(["a secret"], { id: "m" }),
        journal,
      });
    };
    const first = await team().run("hello", { id: "a" }).result;
    expect([first.status, first.questions[0]?.text.includes("It has a secret.")]).toEqual(["waiting", true]);
    const run = await team().answer("a", first.questions[0]?.id ?? "", "yes");
    expect((await run.result).output?.content).toBe("a secret");
    const denied = await team().run("hello", { id: "b" }).result;
    expect((await (await team().answer("b", denied.questions[0]?.id ?? "", "no")).result).error?.code).toBe("GUARD_REFUSED");
  });

  it("may ask a model, and its verdict is recorded and not asked for again", async () => {
    const journal = memoryJournal();
    const judge = scriptedModel([{ content: '{"harmful":false}' }], { id: "judge" });
    const guards = [
      guard({
        name: "harm",
        on: "input",
        check: async ({ ask, text }) =>
          (await ask(text, { model: judge, schema: z.object({ harmful: z.boolean() }) })).harmful ? "harmful" : undefined,
      }),
    ];
    const team = (): Team =>
      new Team({ roles: [defineRole({ name: "Ada", actions: [Answer], guards })], model: scriptedModel(["fine"], { id: "m" }), journal });
    expect((await team().run("hello", { id: "a" }).result).output?.content).toBe("fine");
    expect((await team().replay("a").result).error).toBeUndefined();
    expect(judge.calls).toHaveLength(1);
    const names = (await eventsOf(journal, "a")).flatMap((event) => (event.type === "step.started" ? [event.name] : []));
    expect(names[0]).toBe("guard harm");
  });
});

describe("a guard of calls", () => {
  const sent: string[] = [];
  const mail = (guards: readonly Guard[] = []) =>
    defineTool({
      name: "mail",
      description: "Sends.",
      parameters: z.object({ to: z.string() }),
      guards,
      execute: ({ to }) => {
        sent.push(to);
        return `sent to ${to}`;
      },
    });
  interface Ran {
    readonly status: string;
    readonly code: string | undefined;
    readonly sent: readonly string[];
    readonly seen: string | null | undefined;
  }
  const run = async (guards: readonly Guard[], own: readonly Guard[] = []): Promise<Ran> => {
    sent.length = 0;
    const model = scriptedModel([calls(call("mail", { to: "ann" })), "done"]);
    const { status, error } = await new Agent({ name: "Ada", model, tools: [mail(own)], guards }).run("write").result;
    return {
      status,
      code: (error as { code?: string } | undefined)?.code,
      sent: [...sent],
      seen: model.calls[1]?.messages.at(-1)?.content,
    };
  };
  const onCall = (more: object): Guard => guard({ name: "g", on: "call", check: () => "not to her", ...more });

  it("refuses a call: the model reads why, or the run stops", async () => {
    expect(await run([onCall({ then: "retry" })])).toMatchObject({
      status: "finished",
      sent: [],
      seen: expect.stringContaining("not to her"),
    });
    expect(await run([onCall({})])).toMatchObject({ status: "failed", code: "GUARD_REFUSED", sent: [] });
  });

  it("rewrites the arguments into what the schema takes", async () => {
    const to = (args: object): Guard => guard({ name: "g", on: "call", check: () => ({ rewrite: args as never }) });
    expect(await run([to({ to: "ben" })])).toMatchObject({ status: "finished", sent: ["ben"] });
    expect(await run([to({ to: 7 })])).toMatchObject({ status: "failed", code: "GUARD_FAILED", sent: [] });
  });

  it("of a tool judges its arguments and its result", async () => {
    const own = (on: "input" | "output", more: object): Guard => guard({ name: "g", on, check: () => "no", ...more });
    expect(await run([], [own("input", { then: "stop" })])).toMatchObject({ status: "failed", code: "GUARD_REFUSED", sent: [] });
    expect(await run([], [own("output", { then: "retry" })])).toMatchObject({
      status: "finished",
      sent: ["ann"],
      seen: expect.not.stringContaining("sent to"),
    });
    const rewriting = guard({ name: "g", on: "output", check: ({ text }) => ({ rewrite: text.replace("ann", "...") }) });
    expect(await run([], [rewriting])).toMatchObject({ seen: "sent to ..." });
  });

  it("judges the arguments that a person wants instead", async () => {
    const notBen = guard({
      name: "g",
      on: "call",
      then: "retry",
      check: (ctx) => (ctx.call?.args["to"] === "ben" ? "not him" : undefined),
    });
    const { outcome } = await callTool(call("mail", { to: "ann" }), {
      tools: [{ ...mail(), permission: "ask" }],
      guards: [notBen],
      approve: () => ({ args: { to: "ben" } }),
    });
    expect(outcome).toBe("denied");
  });

  it("waits for the guards beside the model before a tool runs", async () => {
    const beside = guard({ name: "g", on: "input", beside: true, check: () => "no" });
    expect(await run([beside])).toMatchObject({ status: "failed", code: "GUARD_REFUSED", sent: [] });
  });

  it("holds for calls that a program makes", async () => {
    const { outcome } = await callTool(call("mail", { to: "ann" }), { tools: [mail()], guards: [onCall({ then: "retry" })] });
    expect(outcome).toBe("denied");
  });
});

describe("a guard of the output", () => {
  const ends = (data: object): Tool =>
    defineTool({
      name: "submit",
      description: "Ends.",
      ends: true,
      parameters: z.object({}),
      execute: () => ({ output: "a secret", data: data as Json }),
    });

  it.each([
    ["says that it cannot do the task", { status: "failure" }],
    ["looks like a hand-off", { isPassedOn: true }],
  ])("judges an answer that %s", async (_what, data) => {
    const model = scriptedModel([calls(call("submit"))]);
    const { answer, error } = await new Agent({ name: "Ada", model, tools: [ends(data)], guards: [noSecret("output")] }).run("hello")
      .result;
    expect([answer, (error as { code?: string }).code]).toEqual(["", "GUARD_REFUSED"]);
  });
});

describe("guard refuses", () => {
  const check = (): undefined => undefined;

  test.each([
    ["nothing", undefined, "ARGUMENT_INVALID"],
    ["no check", { name: "g", on: "input" }, "OPTION_INVALID"],
    ["an unknown option", { name: "g", on: "input", check, els: 1 }, "OPTION_UNKNOWN"],
    ["a retry of an input", { name: "g", on: "input", check, then: "retry" }, "OPTION_INVALID"],
    ["an output beside", { name: "g", on: "output", check, beside: true }, "OPTION_INVALID"],
  ])("%s", (_what, options, code) => {
    expect(() => guard(options as never)).toThrow(expect.objectContaining({ code }));
  });

  test("and a role, a team and an agent refuse what is no guard", () => {
    expect(() => defineRole({ name: "A", actions: [Answer], guards: [(() => undefined) as never] })).toThrow(/guard/);
    expect(() => new Team({ guards: [{}] as never })).toThrow(/guard/);
    expect(() => new Agent({ name: "A", model: scriptedModel([]), guards: "g" as never })).toThrow(/guard/);
  });
});
