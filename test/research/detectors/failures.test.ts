import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineTool } from "../../../src/agent/index.ts";
import { createMessage, defineAction, defineRole, Environment, memoryJournal, type Role, type RunEvent, Team } from "../../../src/index.ts";
import type { EdgePolicy } from "../../../src/runtime/edges/edge-policy.ts";
import { failuresIn, FailureWatch, watchFailures } from "../../../src/research/index.ts";
import { FAILURE_MODES, type FailureFinding } from "../../../src/research/detectors/detectors.ts";
import { scriptedModel, type ScriptedReply } from "../../../src/testing/index.ts";
import type { ScriptedAnswer } from "../../../src/testing/scripted-model.ts";

interface Planted {
  readonly roles: readonly Role[];
  readonly replies?: readonly ScriptedReply[] | ScriptedAnswer;
  readonly rounds?: number;
  readonly edges?: readonly EdgePolicy[];
}

/** The log of a run that begins with a message to the first role. */
async function logOf({ roles, replies = [], rounds = 20, edges = [] }: Planted): Promise<readonly RunEvent[]> {
  const team = new Team({ roles, model: scriptedModel(replies), journal: memoryJournal(), seed: 1, edges });
  const events: RunEvent[] = [];
  for await (const event of team.run("go", { rounds })) events.push(event);
  return events;
}

const namesIn = (found: readonly FailureFinding[]): readonly string[] => found.map(({ failure }) => failure);

/** A role that asks the model about its news, and sends the answer on. */
const speaker = (name: string, sendTo: string | undefined, watch?: readonly string[]): Role =>
  defineRole({
    name,
    ...(watch === undefined ? {} : { watch: [...watch] }),
    actions: [
      defineAction({ name: `Speak${name}`, prompt: ({ text }) => text, ...(sendTo === undefined ? {} : { sendTo: () => [sendTo] }) }),
    ],
  });

describe("a planted failure", () => {
  it("Cycles.C1 step repetition: one agent calls a tool thrice with equal answers; no new answer", async () => {
    const call = (id: string): ScriptedReply => ({
      toolCalls: [{ id, type: "function", function: { name: "search", arguments: '{"query":"bridge"}' } }],
    });
    const planted = (isNew: boolean): Planted => {
      let hits = 0;
      const search = defineTool({
        name: "search",
        description: "Searches.",
        parameters: z.object({ query: z.string() }),
        effect: "read",
        execute: async () => (isNew ? `hit ${(hits += 1)}` : "nothing"),
      });
      const research = defineAction({ name: "Research", run: () => undefined });
      return {
        roles: [defineRole({ name: "Rita", actions: [research], reactMode: "agent", tools: [search], maxReactLoop: 9 })],
        replies: [call("a"), call("b"), call("c"), "done"],
      };
    };
    const found = failuresIn(await logOf(planted(false)));
    expect(found).toMatchObject([{ failure: "step-repetition", mode: "FM-1.3 step repetition", roles: ["Rita"] }]);
    expect(found[0]?.text).toBe("Rita repeated a call of the tool search 3 times, with equal requests and equal answers.");
    expect(failuresIn(await logOf(planted(true)))).toEqual([]);
  });

  it("none: equal calls of a tool take different objects, which differ in their ids alone", async () => {
    let taken = 0;
    const take = defineTool({
      name: "take",
      description: "Takes the next order.",
      parameters: z.object({}),
      effect: "read",
      execute: async () => ({ id: (taken += 1) }),
    });
    const call = (id: string): ScriptedReply => ({ toolCalls: [{ id, type: "function", function: { name: "take", arguments: "{}" } }] });
    const work = defineAction({ name: "Work", run: () => undefined });
    const clerk = defineRole({ name: "Cleo", actions: [work], reactMode: "agent", tools: [take], maxReactLoop: 9 });
    expect(failuresIn(await logOf({ roles: [clerk], replies: [call("a"), call("b"), call("c"), "done"] }))).toEqual([]);
    expect(taken).toBe(3);
  });

  it("ping-pong and no termination: two roles thank each other until the rounds are used up", async () => {
    const roles = [speaker("Ada", "Ben"), speaker("Ben", "Ada", [])];
    const found = failuresIn(await logOf({ roles, replies: () => "Thank you!", rounds: 12 }));
    expect(new Set(namesIn(found))).toEqual(new Set(["step-repetition", "ping-pong", "no-termination"]));
    expect(found.find(({ failure }) => failure === "ping-pong")).toMatchObject({
      roles: ["Ada", "Ben"],
      messages: [expect.any(String), expect.any(String)],
    });
    expect(found.at(-1)).toMatchObject({ failure: "no-termination", roles: ["Ada", "Ben"] });
  });

  it("none: two roles talk for as long, and say something new each time", async () => {
    const roles = [speaker("Ada", "Ben"), speaker("Ben", "Ada", [])];
    expect(failuresIn(await logOf({ roles, replies: (_, n) => `argument ${n}`, rounds: 12 }))).toEqual([]);
  });

  it("a lost request: to an address that no role has, and a question that is never answered", async () => {
    expect(failuresIn(await logOf({ roles: [speaker("Ada", "Tess")], replies: ["Test it."] }))).toMatchObject([
      { failure: "lost-request", roles: ["Ada"], text: expect.stringMatching(/^Ada wrote \S+ to Tess, and the team has no such role\.$/) },
    ]);
    const asked = [speaker("Ada", "Ben"), speaker("Ben", undefined, [])];
    const found = failuresIn(await logOf({ roles: asked, replies: ["Is it done?", "I like bridges."] }));
    expect(found).toMatchObject([{ failure: "lost-request", roles: ["Ada", "Ben"] }]);
    const answering = [speaker("Ada", "Ben"), defineRole({ name: "Ben", watch: [], react: (rc) => rc.message("Yes.", { sendTo: "Ada" }) })];
    expect(failuresIn(await logOf({ roles: answering, replies: (_, n) => (n === 0 ? "Is it done?" : "Good."), rounds: 3 }))).toEqual([]);
  });

  it("a lost request: one that a full mailbox dropped", async () => {
    const loud = defineAction({
      name: "Loud",
      run: async (ctx) => {
        await ctx.ask("say something");
        ctx.publish(createMessage("one", { sendTo: "Ben" }));
        return createMessage("two", { sendTo: "Ben" });
      },
    });
    const ben = defineRole({ name: "Ben", watch: [], mailbox: { limit: 1, overflow: "drop-oldest" }, react: () => undefined });
    const found = failuresIn(await logOf({ roles: [defineRole({ name: "Ada", actions: [loud] }), ben], replies: ["well"] }));
    expect(found).toMatchObject([{ failure: "lost-request", roles: ["Ada", "Ben"], text: expect.stringMatching(/full mailbox/) }]);
  });

  it("a lost request: one that the edges lost, unless it is repeated, or answered all the same", async () => {
    const insist = defineAction({
      name: "Insist",
      run: async (ctx) => {
        const text = await ctx.ask("say something");
        return [1, 2].map(() => createMessage(text, { sendTo: "Ben" }));
      },
    });
    const ada = defineRole({ name: "Ada", actions: [insist] });
    const ben = defineRole({ name: "Ben", watch: [], react: () => undefined });
    const eager = defineRole({ name: "Ben", react: (rc) => rc.message("It is done.", { sendTo: "Ada" }) });
    const lossy = (most: number): EdgePolicy => {
      let lost = 0;
      return { name: "lossy", decide: ({ from }) => (from === "Ada" && (lost += 1) <= most ? { kind: "drop" } : undefined) };
    };
    const foundAt = async (roles: readonly Role[], most: number): Promise<readonly FailureFinding[]> =>
      failuresIn(await logOf({ roles, replies: ["Do it."], edges: [lossy(most)], rounds: 3 }));
    expect(await foundAt([speaker("Ada", "Ben"), ben], 1)).toMatchObject([
      { roles: ["Ada", "Ben"], text: expect.stringMatching(/which the edges lost/) },
    ]);
    expect(namesIn(await foundAt([ada, ben], 2))).toEqual(["lost-request", "lost-request"]);
    expect(await foundAt([ada, ben], 1)).toEqual([]);
    expect(namesIn(await foundAt([ada, eager], 2))).toEqual([]);
  });

  it("an ignored message: its recipient reads it, keeps nothing of it and does nothing", async () => {
    const think = defineAction({ name: "Think", prompt: () => "think" });
    const deaf = defineRole({
      name: "Ben",
      watch: [],
      actions: [think],
      observe: (rc) => rc.inbox.filter(({ content }) => content === "hello"),
    });
    const ada = defineRole({
      name: "Ada",
      state: z.object({ said: z.number().default(0) }),
      react: (rc) => {
        rc.state.said += 1;
        if (rc.state.said > 2) return undefined;
        return [rc.message(rc.state.said === 1 ? "hello" : "stop", { sendTo: "Ben" }), rc.message("on", { sendTo: "<self>" })];
      },
    });
    const found = failuresIn(await logOf({ roles: [ada, deaf], replies: ["hm"] }));
    expect(found).toMatchObject([
      { failure: "ignored-message", roles: ["Ada", "Ben"], text: expect.stringMatching(/keeps nothing of it/) },
    ]);
  });

  it("an ignored message: one that its recipient remembers, once, and not where it acts later", async () => {
    const quiet = defineRole({
      name: "Ben",
      watch: [],
      actions: [defineAction({ name: "Think", prompt: () => "think" })],
      react: async (rc) => (rc.inbox.some(({ content }) => content === "now") ? void (await rc.ask("think")) : undefined),
    });
    const ada = (more: boolean): Role =>
      defineRole({
        name: "Ada",
        react: async (rc) => {
          const isFirst = (await rc.ask("what to say?")) === "first";
          if (isFirst) return [rc.message("hello", { sendTo: "Ben" }), rc.message("on", { sendTo: "<self>" })];
          return more ? rc.message("now", { sendTo: "Ben" }) : undefined;
        },
      });
    const all = { roles: "all" } as const;
    const replies = ["first", "second", "hm"];
    const found = failuresIn(await logOf({ roles: [ada(false), quiet], replies }), all);
    expect(found).toMatchObject([
      { failure: "ignored-message", roles: ["Ada", "Ben"], text: expect.stringMatching(/did nothing after it/) },
    ]);
    expect(failuresIn(await logOf({ roles: [ada(true), quiet], replies }), all)).toEqual([]);
  });

  it("step repetition: six equal calls are reported twice", async () => {
    const again = defineRole({
      name: "Ada",
      react: async (rc) => ((await rc.ask("Well?")) === "no" ? rc.message("on", { sendTo: "<self>" }) : undefined),
    });
    const found = failuresIn(await logOf({ roles: [again], replies: () => "no", rounds: 7 }));
    expect(namesIn(found).filter((name) => name === "step-repetition")).toHaveLength(2);
  });

  it("an open plan: the run finishes while a task is open", async () => {
    const plans = defineRole({
      name: "Pia",
      react: async (rc) => {
        await rc.ask("what to do?");
        rc.plan.appendTask({ id: "bake", instruction: "Bake it." });
      },
    });
    expect(failuresIn(await logOf({ roles: [plans], replies: ["bake"] }))).toMatchObject([{ failure: "open-plan", roles: ["Pia"] }]);
  });
});

describe("a watch", () => {
  const tick = defineRole({ name: "Clock", react: (rc) => rc.message("tick", { sendTo: "<self>" }) });

  it("FailureWatch.F2 judges roles without a model only with roles: all", async () => {
    const pair = ["Ping", "Pong"].map((name) =>
      defineRole({ name, watch: [], react: (rc) => rc.message("ball", { sendTo: name === "Ping" ? "Pong" : "Ping" }) }),
    );
    const starter = defineRole({ name: "Starter", react: (rc) => rc.message("serve", { sendTo: "Ping" }) });
    const log = await logOf({ roles: [starter, ...pair, tick], rounds: 15 });
    expect(failuresIn(log)).toEqual([]);
    expect(namesIn(failuresIn(log, { roles: "all" }))).toContain("ping-pong");
  });

  it("FailureWatch.F1 reports the same for a live run as for its log", async () => {
    const live: FailureFinding[] = [];
    const office = new Environment({ seed: 1, model: scriptedModel(() => "Thank you!") });
    office.addRoles([speaker("Ada", "Ben"), speaker("Ben", "Ada", [])]);
    const log: RunEvent[] = [];
    const end = watchFailures(office, (finding) => live.push(finding));
    for (const type of [
      "run.started",
      "message",
      "act.started",
      "step.started",
      "step.ended",
      "act.ended",
      "round.ended",
      "run.ended",
    ] as const)
      office.on(type, (event) => void log.push(event));
    office.publishMessage(createMessage("go", { sendTo: "Ada" }));
    await office.run({ rounds: 6 });
    expect(namesIn(live)).toContain("ping-pong");
    expect(live).toEqual(failuresIn(log));
    end();
    const { length } = live;
    await office.run({ rounds: 6 });
    expect(live).toHaveLength(length);
  });

  it("warns on the observers of an environment and of a run where it is asked to", async () => {
    const roles = [speaker("Ada", "Tess")];
    const warning = expect.stringMatching(/^Ada wrote \S+ to Tess, and the team has no such role\.$/) as string;
    const heard: string[] = [];
    const office = new Environment({ seed: 1, model: scriptedModel(["Test it."]) }).addRoles(roles);
    office.on("warning", ({ text }) => heard.push(text));
    watchFailures(office, ({ text }) => office.warn(text));
    office.publishMessage(createMessage("go", { sendTo: "Ada" }));
    await office.run();
    expect(heard).toContainEqual(warning);
    const run = new Team({ roles, model: scriptedModel(["Test it."]) }).run("go");
    const told: string[] = [];
    run.on("warning", ({ text }) => told.push(text));
    watchFailures(run, ({ text }) => run.warn(text));
    await run.result;
    expect(told).toContainEqual(warning);
  });

  it("refuses a gap, and options that mean nothing", async () => {
    const log = await logOf({ roles: [tick], rounds: 2 });
    expect(() => failuresIn(log.slice(1))).toThrow(/Expected event 0/);
    expect(() => new FailureWatch({ repeats: 1 })).toThrow(/whole number from 2/);
    expect(() => new FailureWatch({ roles: "some" as never })).toThrow(/"models" or "all"/);
  });

  it("has a mode of the taxonomy for every failure", () => {
    expect(Object.values(FAILURE_MODES).every((mode) => /^FM-[1-3]\.\d /.test(mode))).toBe(true);
  });
});
