import { describe, expect, test } from "vitest";
import { Action, defineAction, type HumanPort, Role, type RoleOptions, TroupeError } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { expectTyped, lived, Mail, odd } from "./odd-role.ts";

const Foreign = defineAction({ name: "Foreign", run: () => "done by somebody else" });

describe("a think that chooses no action", () => {
  test.each<[string, unknown, RegExp]>([
    ["a name", "Mail", /think of role Ann.*got "Mail"/],
    ["an empty object", {}, /think of role Ann.*got \{\}/],
    ["a number", 0, /think of role Ann.*got 0/],
    ["false", false, /think of role Ann.*got false/],
    ["a list of actions", [Mail], /think of role Ann/],
    ["an action's class", class Later {}, /think of role Ann.*got the class Later/],
    ["an action of nobody's", Foreign, /think of role Ann.*Mail.*got Foreign/],
  ])("%s", async (_what, chosen, message) => {
    expectTyped(await lived({ actions: [Mail], think: () => odd(chosen) }), "THINK_RESULT", message);
  });

  test("another action under the name of one of its own", async () => {
    const impostor = defineAction({ name: "Mail", run: () => "forged" });
    expectTyped(await lived({ actions: [Mail], think: () => impostor }), "ACTION_DUPLICATE", /"Mail"/);
  });

  test("nothing ends it, said either way", async () => {
    for (const nothing of [undefined, null]) {
      const { result } = await lived({ actions: [Mail], think: () => odd(nothing) });
      expect([result.status, result.messages.length]).toEqual(["finished", 2]);
    }
  });

  test("a fresh instance of a class it has is its own", async () => {
    class Note extends Action {
      override run = (): string => "noted";
    }
    let turns = 0;
    const { result } = await lived({
      actions: [new Note()],
      think: () => ((turns += 1), turns === 1 ? new Note() : undefined),
    });
    expect(result.messages.map(({ content }) => content)).toContain("noted");
  });

  test("a react that passes on what is no action", async () => {
    for (const wrong of ["Mail", null, {}, 7]) {
      const role: Partial<RoleOptions> = { react: async (rc) => new Role().act(rc, odd(wrong)) };
      expectTyped(await lived(role), "ACTION_INVALID", /act of role Ann/);
    }
  });
});

describe("a message that is none", () => {
  test.each<[string, unknown, RegExp]>([
    ["a text", "hello", /got "hello"\..*rc\.message/],
    ["null", null, /got null/],
    ["a number", 7, /got 7/],
    ["an object", { content: "hello" }, /got \{"content":"hello"\}/],
  ])("%s is not published", async (_what, wrong, message) => {
    expectTyped(await lived({ react: (rc) => void rc.publish(odd(wrong)) }), "MESSAGE_INVALID", message);
  });
});

describe("a planner that is given no plan", () => {
  const planner: Partial<RoleOptions> = { actions: [Mail], reactMode: "plan_and_act" };
  const task = { id: "a", instruction: "do a" };

  test.each<[string, unknown, string, RegExp]>([
    ["null", null, "PLAN_INVALID", /planTasks of role Ann.*list.*got null\..*id.*instruction/],
    ["nothing", undefined, "PLAN_INVALID", /planTasks of role Ann.*got undefined/],
    ["a text", "do it", "PLAN_INVALID", /planTasks of role Ann.*got "do it"/],
    ["a number", 7, "PLAN_INVALID", /planTasks of role Ann.*got 7/],
    ["an object with tasks", { tasks: [task] }, "PLAN_INVALID", /planTasks of role Ann.*got \{"tasks"/],
    ["a task that is null", [task, null], "PLAN_INVALID", /tasks\[1\] of planTasks of role Ann.*got null/],
    ["a task that is a text", ["do a"], "PLAN_INVALID", /tasks\[0\] of planTasks of role Ann.*got "do a"/],
    ["a task without an id", [{ instruction: "do a" }], "PLAN_INVALID", /tasks\[0\].*id/],
    ["an id that is a number", [{ ...task, id: 1 }], "PLAN_INVALID", /tasks\[0\].*id.*got \{/],
    ["a task without an instruction", [{ id: "a" }], "PLAN_INVALID", /tasks\[0\].*instruction/],
    ["dependencies that are a text", [task, { ...task, id: "b", dependsOn: "a" }], "PLAN_INVALID", /tasks\[1\].*dependsOn/],
    ["dependencies that are a number", [{ ...task, dependsOn: 7 }], "PLAN_INVALID", /tasks\[0\].*dependsOn/],
    ["a dependency that is null", [{ ...task, dependsOn: [null] }], "PLAN_INVALID", /tasks\[0\].*dependsOn/],
    ["a status that is none", [{ ...task, status: "half" }], "PLAN_INVALID", /tasks\[0\].*status/],
    ["a type that is null", [{ ...task, type: null }], "PLAN_INVALID", /tasks\[0\].*type/],
    ["an unknown dependency", [{ ...task, dependsOn: ["z"] }], "PLAN_UNKNOWN_DEPENDENCY", /task a .* no task z/],
    ["a cycle", [{ ...task, dependsOn: ["a"] }], "PLAN_CYCLE", /a -> a/],
    ["one id twice", [task, task], "PLAN_DUPLICATE_ID", /a came twice/],
  ])("planTasks gives %s", async (_what, tasks, code, message) => {
    expectTyped(await lived({ ...planner, planTasks: () => odd(tasks) }), code, message);
  });

  test.each<[string, string]>([
    ["garbage", "%%%"],
    ["null", "null"],
    ["a bare list", "[7]"],
    ["tasks that are null", '{"tasks":null}'],
    ["no tasks", '{"tasks":[]}'],
    ["a task that is null", '{"tasks":[null]}'],
    ["a task without an id", '{"tasks":[{"dependsOn":[],"instruction":"do a"}]}'],
  ])("its model answers %s", async (_what, reply) => {
    expectTyped(await lived(planner, { model: scriptedModel(() => reply) }), "OUTPUT_INVALID", /schema/);
  });

  test("an action that puts what is no task into the plan fails, and the run's record stays whole", async () => {
    for (const wrong of [{ id: 7, instruction: "x" }, { id: "b" }]) {
      const spoil = defineAction({ name: "Spoil", run: (ctx) => ctx.plan.appendTask(odd(wrong)) });
      const spoiled = await lived({ ...planner, actions: [spoil], maxReactLoop: 1, planTasks: () => [task] });
      expectTyped(spoiled, "PLAN_INVALID", /a task \{ id, instruction \}/);
    }
  });

  test("a plan that is none cannot be set", async () => {
    for (const wrong of [null, [], { tasks: [] }, "plan"]) {
      expectTyped(await lived({ react: (rc) => void (rc.plan = odd(wrong)) }), "PLAN_INVALID", /plan of role Ann.*got/);
    }
  });
});

describe("a person who answers no text", () => {
  const asks: Partial<RoleOptions> = { react: async (rc) => rc.message(await rc.human.ask("Ship it?")) };
  const answers = (answer: unknown): HumanPort => odd(() => answer);

  test.each<[string, unknown, RegExp]>([
    ["a number", 42, /got 42/],
    ["nothing", undefined, /got undefined/],
    ["null", null, /got null/],
    ["yes as a boolean", true, /got true/],
    ["an object", { answer: "yes" }, /got \{"answer":"yes"\}/],
    ["a list", ["yes"], /got \["yes"\]/],
    ["a promise of a number", Promise.resolve(7), /got 7/],
    ["a function", () => "yes", /got a function/],
  ])("%s", async (_what, answer, message) => {
    const bad = await lived(asks, { human: answers(answer) });
    expectTyped(bad, "ANSWER_INVALID", message);
    expect(bad.result.error?.message).toMatch(/Ann.*string/);
  });

  test.each<[string, unknown, RegExp]>([
    ["an error", new Error("the line broke"), /the line broke/],
    ["a text", "gone home", /gone home/],
    ["an object", { reason: "lunch" }, /\{"reason":"lunch"\}/],
    ["null", null, /null/],
    ["undefined", undefined, /undefined/],
  ])("one who throws %s", async (_what, thrown, message) => {
    const human: HumanPort = () => {
      throw thrown;
    };
    expectTyped(await lived(asks, { human }), "HUMAN_FAILED", message);
    expectTyped(await lived(asks, { human: () => Promise.reject(odd<Error>(thrown)) }), "HUMAN_FAILED", message);
  });

  test("an error of this package comes as it is", async () => {
    const { result } = await lived(asks, {
      human: () => {
        throw new TroupeError("OFFICE_CLOSED", "Expected office hours.");
      },
    });
    expect(result.error?.code).toBe("OFFICE_CLOSED");
  });

  test("an empty text is an answer", async () => {
    const { result } = await lived(asks, { human: () => "" });
    expect([result.status, result.messages.length]).toEqual(["finished", 3]);
  });

  test("the failure policy decides: skip leaves it, retry asks again, also where a person plays the role", async () => {
    const { result } = await lived({ ...asks, onFailure: "skip" }, { human: answers(7) });
    expect(result.status).toBe("finished");
    expect(result.deadLetters).toMatchObject([{ message: { content: "go" }, reason: { role: "Ann", error: { code: "ANSWER_INVALID" } } }]);
    const given: unknown[] = [7, "yes"];
    const again = await lived({ ...asks, onFailure: { retry: 1, then: "stop" } }, { human: () => odd(given.shift()) });
    expect(again.result.messages.map(({ content }) => content)).toContain("yes");
    const played = await lived({ human: true, actions: [defineAction({ name: "Decide" })] }, { human: answers({ yes: 1 }) });
    expectTyped(played, "ANSWER_INVALID", /Ann.*string/);
  });
});
