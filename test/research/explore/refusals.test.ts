import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAction, defineRole, type Environment, retry, type Role } from "../../../src/index.ts";
import { explore, type ExploreOptions } from "../../../src/research/index.ts";
import { philosophers, worldOf } from "./worlds.ts";

const still = (name: string): Role => defineRole({ name, watch: [], step: () => undefined });
const echo = defineRole({
  name: "Echo",
  watch: [],
  state: z.object({ heard: z.number().default(0) }),
  step: ({ heard }) => ({ heard: heard + 1 }),
});
const plain = worldOf([echo], ["Echo"]);

describe("explore refuses", () => {
  it.each([
    ["an unknown option, by the word that was meant", { proprety: () => true }, "OPTION_UNKNOWN", /property/],
    ["an unknown fault, by the word that was meant", { faults: { crashes: ["A"] } }, "OPTION_UNKNOWN", /crash/],
    ["a pair that is none", { faults: { lose: ["A"] } }, "OPTION_INVALID", /Ann->Bob/],
    ["no schedule", { schedules: 0 }, "OPTION_INVALID", /1 or more/],
    ["an unknown way", { by: "states" }, "OPTION_INVALID", /"orders"/],
    ["a property that returns a number", { property: () => 1 }, "EXPLORE_PROPERTY", /got number/],
    ["a property that returns a promise", { property: async () => true }, "EXPLORE_PROPERTY", /got a promise/],
    ["a done that returns a promise", { done: async () => true }, "EXPLORE_PROPERTY", /got a promise/],
    ["a done that returns nothing", { done: () => undefined }, "EXPLORE_PROPERTY", /true or false/],
    [
      "a property of an unknown role",
      { property: ({ state }: { state(role: string): unknown }) => state("Nobody") === 1 },
      "ROLE_UNKNOWN",
      /Known: Echo/,
    ],
  ])("%s", async (_what, options, code, text) => {
    await expect(explore(plain, options as unknown as ExploreOptions)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(text) as unknown,
    });
  });

  it("a claim that never returns or throws, with its schedule", { tags: ["science", "long"] }, async () => {
    const forever = { property: ({ state }) => Number(state("Echo")["heard"]) === 0 || endless() } satisfies ExploreOptions;
    await expect(explore(plain, forever)).rejects.toMatchObject({
      code: "EXPLORE_PROPERTY",
      data: { schedule: ["outside to Echo, UserRequirement: begin"] },
    });
    const throwing = { done: () => raise("no goal") } satisfies ExploreOptions;
    await expect(explore(plain, throwing)).rejects.toMatchObject({
      code: "EXPLORE_PROPERTY",
      message: expect.stringMatching(/no goal/) as unknown,
    });
    // The calls of one schedule take longer together than one of them may.
    const busy = (): boolean => {
      const until = performance.now() + 60;
      while (performance.now() < until);
      return true;
    };
    const { endedBy } = await explore(philosophers(3, "ordered"), { property: busy, schedules: 8 });
    expect(endedBy).toBe("schedules");
  });

  it("a world that is no environment, or does not pass on its options", async () => {
    await expect(explore(() => ({}) as Environment)).rejects.toMatchObject({ code: "EXPLORE_WORLD" });
    await expect(explore(() => plain({}))).rejects.toMatchObject({
      code: "EXPLORE_WORLD",
      message: expect.stringMatching(/pass on/) as unknown,
    });
  });

  it("a world that is another one each time, by the first difference", async () => {
    let count = 0;
    const counting = defineRole({
      name: "Echo",
      watch: [],
      step: (_state, _message, out) => void out.say(`number ${(count += 1)}`, { sendTo: "Ann" }),
    });
    await expect(explore(worldOf([counting, still("Ann")], ["Echo"]))).rejects.toMatchObject({
      code: "EXPLORE_DIFFERS",
      message: expect.stringMatching(/number 1.*number 2/s) as unknown,
    });
    let worlds = 0;
    const changing = (given: object): Environment => worldOf([echo, still("Ann")], (worlds += 1) === 1 ? ["Echo"] : ["Ann"])(given);
    await expect(explore(changing)).rejects.toMatchObject({ code: "EXPLORE_DIFFERS" });
    // The first schedules are equal: a later one misses a step that was possible.
    let calls = 0;
    const changes = defineRole({
      name: "First",
      watch: [],
      step(_state, _message, out) {
        for (const to of (calls += 1) > 4 ? ["Ann"] : ["Ann", "Bob"]) out.say("go", { sendTo: to });
      },
    });
    const sayer = (name: string): Role => defineRole({ name, watch: [], step: (_s, _m, out) => void out.say("go", { sendTo: "Echo" }) });
    await expect(explore(worldOf([changes, sayer("Ann"), sayer("Bob"), echo], ["First"]))).rejects.toMatchObject({
      code: "EXPLORE_DIFFERS",
    });
  });
});

describe("explore reports", () => {
  const kinds = async (roles: readonly Role[], firstTo: readonly string[], options: ExploreOptions = {}): Promise<readonly string[]> => {
    const { findings } = await explore(worldOf(roles, firstTo), options);
    return findings.map(({ kind, text, schedule }) => `${kind} ${schedule.length}: ${text}`);
  };
  const sayer = (say: string, sendTo: string): Role =>
    defineRole({ name: "Ann", watch: [], step: (_s, _m, out) => void out.say(say, { sendTo }) });

  it("a property that throws as broken, with its words", async () => {
    const found = await kinds([echo], ["Echo"], { property: ({ state }) => Number(state("Echo")["heard"]) === 0 || raise("heard it") });
    expect(found).toEqual([expect.stringMatching(/^violation 1: .*heard it/)]);
  });

  it("a question without an answer, a message to nobody, a role that nothing wakes", async () => {
    expect(await kinds([sayer("Is it done?", "Bob"), still("Bob")], ["Ann"])).toEqual([
      expect.stringMatching(/^unanswered 2: Ann asks Bob/),
    ]);
    expect(await kinds([sayer("done", "Bert"), still("Bob")], ["Ann", "Bob"])).toEqual([
      expect.stringMatching(/^lost 1: .*no role is Bert/),
    ]);
    expect(await kinds([sayer("done", "<none>"), still("Bob")], ["Ann"])).toEqual([expect.stringMatching(/^asleep 1: Bob/)]);
    // Bob had no chance: the first finding ended the exploration, which has two orders at Ann.
    const caller = defineRole({ name: "Cid", watch: [], step: (_s, _m, out) => void out.say("go", { sendTo: "Ann" }) });
    const cut = await kinds([sayer("done", "Bert"), caller, still("Bob")], ["Ann", "Cid"], { findings: 1 });
    expect(cut).toEqual([expect.stringMatching(/^lost/)]);
  });

  it("a question to a person that nobody answers, unless answers are given", async () => {
    const Ask = defineAction({ name: "Ask", run: async (ctx) => ctx.human.ask("Shall we?") });
    const roles = [defineRole({ name: "Ann", actions: [Ask] })];
    expect(await kinds(roles, ["Ann"])).toEqual([expect.stringMatching(/^unanswered 1: Ann asks a person/)]);
    expect(await kinds(roles, ["Ann"], { answers: () => ["yes", "no"] })).toEqual([]);
  });

  it("a role that fails, and none where its failure is retried or is a fault of the schedule", async () => {
    let tries = 0;
    const failing = (policy: object): Role =>
      defineRole({ name: "Ann", ...policy, watch: [], step: () => ((tries += 1) % 2 === 1 ? raise("broken") : undefined) });
    expect(await kinds([defineRole({ name: "Ann", watch: [], step: () => raise("broken") })], ["Ann"])).toEqual([
      expect.stringMatching(/^failed 1: .*broken/),
    ]);
    expect(await kinds([failing({ onFailure: retry(1) })], ["Ann"])).toEqual([]);
    const Think = defineAction({ name: "Think", prompt: () => "Think." });
    expect(await kinds([defineRole({ name: "Ann", actions: [Think] })], ["Ann"], { faults: { fail: ["*"] } })).toEqual([]);
  });

  it("a circle, by its first round", async () => {
    const roles = ["Ann", "Bob"].map((name, index) =>
      defineRole({ name, watch: [], step: (_state, _message, out) => void out.say("you", { sendTo: index === 0 ? "Bob" : "Ann" }) }),
    );
    expect(await kinds(roles, ["Ann"], { depth: 30, schedules: 8 })).toEqual([
      "endless 3: The last 2 steps lead back to where they began.",
    ]);
  });

  it("no circle of which a fault is a part, because faults are bounded", async () => {
    const sender = defineRole({
      name: "Ann",
      watch: [],
      step(_state, _message, out) {
        out.say("data", { sendTo: "Echo" });
        out.say("again?", { sendTo: "Bob" });
      },
    });
    const again = defineRole({ name: "Bob", watch: [], step: (_s, _m, out) => void out.say("again", { sendTo: "Ann" }) });
    const found = await kinds([sender, again, echo], ["Ann"], { depth: 20, schedules: 50, faults: { lose: ["*->Echo"] } });
    expect(found).toEqual([expect.stringMatching(/^endless .*had not ended/)]);
  });

  it("all answers that the schema of a model allows, and those that are given", async () => {
    const answers = new Set<string>();
    const form = z.object({
      verdict: z.enum(["good", "bad"]),
      sure: z.boolean(),
      note: z.string().nullable(),
      more: z.union([z.literal(1), z.literal("x")]),
    });
    const Judge = defineAction({ name: "Judge", output: form, prompt: () => "Judge.", sendTo: () => ["Bob"] });
    const report = await explore(worldOf([defineRole({ name: "Ann", actions: [Judge] }), echo], ["Ann"]), {
      property: ({ messages }) => messages.every(({ instructContent }) => answers.add(JSON.stringify(instructContent)) !== undefined),
      answers: () => [{ verdict: "good", sure: true, note: "mine", more: 1 }],
    });
    expect([report.isComplete, answers.size]).toEqual([true, 17]);
    expect([...answers].every((answer) => form.safeParse(JSON.parse(answer)).success)).toBe(true);
  });

  it("before it starts that it will not be complete, and afterwards what it covered", async () => {
    const notices: (string | undefined)[] = [];
    const report = await explore(philosophers(6, "ordered"), {
      schedules: 1_000_000_000,
      ms: 0,
      progress: ({ notice }) => void notices.push(notice),
    });
    expect(notices[0]).toMatch(/hardly be complete/);
    expect([report.isComplete, report.endedBy]).toEqual([false, "ms"]);
    expect(report.text).toMatch(/^Not complete: its limit of time ended it/);
  });

  it("what it covered until its signal, at whichever moment it comes", async () => {
    const control = new AbortController();
    const report = await explore(philosophers(5, "ordered"), { signal: control.signal, progress: () => control.abort() });
    expect([report.isComplete, report.endedBy, report.schedules > 0]).toEqual([false, "signal", true]);
    for (const by of ["orders", "random"] as const) {
      for (const when of [1, 2, 3]) {
        const [inWorld, inStep] = [new AbortController(), new AbortController()];
        let [worlds, steps] = [0, 0];
        const world = (given: object): Environment => ((worlds += 1) === when && inWorld.abort(), philosophers(3, "ordered")(given));
        expect((await explore(world, { by, signal: inWorld.signal })).endedBy).toBe("signal");
        const aborting = defineRole({
          name: "Ann",
          watch: [],
          step: (_s, _m, out) => ((steps += 1) === when && inStep.abort(), void out.say("go", { sendTo: "Echo" })),
        });
        expect((await explore(worldOf([aborting, echo], ["Ann", "Echo"]), { by, signal: inStep.signal })).endedBy).toBe("signal");
      }
    }
  });

  it("a finite estimate of schedules that no number can count", async () => {
    const names = Array.from({ length: 180 }, (_, nth) => `N${nth}`);
    const sayers = names.map((name) => defineRole({ name, watch: [], step: (_s, _m, out) => void out.say("go", { sendTo: "Echo" }) }));
    const report = await explore(worldOf([...sayers, echo], names), { schedules: 1, depth: 1_000 });
    expect([report.isComplete, Number.isFinite(report.estimate)]).toEqual([false, true]);
  });
});

function endless(): never {
  for (;;);
}

function raise(text: string): never {
  throw new Error(text);
}
