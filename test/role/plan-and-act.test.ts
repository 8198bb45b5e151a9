import { describe, expect, test } from "vitest";
import { type Action, defineAction } from "../../src/role/action.ts";
import { defineRole, type RoleOptions } from "../../src/role/role.ts";
import type { Environment } from "../../src/runtime/environment.ts";
import { scriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.ts";
import { contents, remembered, town } from "../runtime/town.ts";

const Dig = defineAction({ name: "Dig", description: "makes a hole", run: (ctx) => `dug ${ctx.task?.instruction}` });
const Fill = defineAction({ name: "Fill", run: (ctx) => `filled ${ctx.task?.id}: ${ctx.task?.instruction}` });

function planner(options: Omit<RoleOptions, "name" | "reactMode"> = {}, model?: ScriptedModel): Environment {
  const logger = { debug() {}, info() {}, error() {}, warn() {} };
  const role = defineRole({ actions: [Dig, Fill], ...options, name: "Ann", reactMode: "plan_and_act" });
  return town([role], { logger, ...(model === undefined ? {} : { model }) });
}

function planOf(...tasks: readonly (readonly [id: string, dependsOn: readonly string[], type?: string])[]): string {
  return JSON.stringify({
    tasks: tasks.map(([id, dependsOn, type]) => ({ id, dependsOn, instruction: `do ${id}`, ...(type === undefined ? {} : { type }) })),
  });
}

describe("plan_and_act with tasks of its own", () => {
  test("takes them in the order of their dependencies, each by the action its type names, else the first", async () => {
    const environment = planner({
      planTasks: () => [
        { id: "c", dependsOn: ["b", "a"], instruction: "the end", type: "Fill" },
        { id: "a", instruction: "the start", type: "Fill" },
        { id: "b", dependsOn: ["a"], instruction: "the middle", type: "NoSuchAction" },
      ],
    });
    environment.publishMessage("a garden");
    const { output } = await environment.run();
    expect(output?.content).toBe("filled a: the start\n\ndug the middle\n\nfilled c: the end");
    expect(output?.causeBy).toBe("Fill");
    expect(environment.getRole("Ann")?.plan).toMatchObject({ goal: "a garden", isFinished: true });
    expect(environment.getRole("Ann")?.plan.tasks.map(({ id, status }) => [id, status])).toEqual([
      ["a", "done"],
      ["b", "done"],
      ["c", "done"],
    ]);
  });

  test("remembers each task's message and the last word, and empties its working memory", async () => {
    const environment = planner({ planTasks: () => [{ id: "a", instruction: "one" }] });
    environment.publishMessage("go");
    await environment.run();
    expect(remembered(environment, "Ann")).toEqual(["go", "dug one", "dug one"]);
    expect(environment.getRole("Ann")?.workingMemory.size).toBe(0);
  });

  test("later tasks see the results of earlier ones in plan and working memory", async () => {
    const look = defineAction({ name: "Look", run: (ctx) => `${ctx.plan.finishedTasks.length}/${ctx.workingMemory.size}` });
    const environment = planner({ actions: [look], planTasks: () => ["a", "b", "c"].map((id) => ({ id, instruction: id })) });
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("0/0\n\n1/1\n\n2/2");
  });

  test("tasks that an action adds are taken too, up to the bound", async () => {
    let taken = 0;
    const endless: Action = defineAction({
      name: "Endless",
      run: (ctx) => {
        taken += 1;
        ctx.plan.appendTask({ id: `more${taken}`, instruction: "again" });
        return String(taken);
      },
    });
    const environment = planner({
      actions: [endless],
      planTasks: () => [
        { id: "a", instruction: "" },
        { id: "b", instruction: "" },
      ],
    });
    const warned: string[] = [];
    environment.on("warning", ({ text }) => warned.push(text));
    environment.publishMessage("go");
    const { status } = await environment.run();
    expect([status, taken]).toEqual(["finished", 6]);
    expect(warned.join()).toContain("tasks left");
    expect(environment.getRole("Ann")?.plan.isFinished).toBe(false);
  });

  test("Drafts.D2 an activation that fails half way leaves the plan as it was", async () => {
    const fails = defineAction({ name: "Fails", run: () => Promise.reject(new Error("rain")) });
    const environment = planner({
      actions: [Dig, fails],
      planTasks: () => [
        { id: "a", instruction: "" },
        { id: "b", instruction: "", type: "Fails" },
      ],
    });
    environment.publishMessage("go");
    expect((await environment.run()).status).toBe("failed");
    expect(environment.getRole("Ann")?.plan.toJSON()).toEqual({ goal: "", tasks: [] });
    expect(remembered(environment, "Ann")).toEqual([]);
  });
});

describe("plan_and_act with a model", () => {
  test("asks it for a plan once, naming goal and actions", async () => {
    const model = scriptedModel([planOf(["a", []], ["b", ["a"], "Fill"])]);
    const environment = planner({}, model);
    environment.publishMessage("a pond");
    expect((await environment.run()).output?.content).toBe("dug do a\n\nfilled b: do b");
    const prompt = model.calls[0]?.messages.at(-1)?.content ?? "";
    expect(prompt).toContain("a pond");
    expect(prompt).toContain("- Dig: makes a hole\n- Fill");
    expect(model.calls).toHaveLength(1);
  });

  test("a bad graph is asked again with what was wrong with it", async () => {
    const model = scriptedModel([planOf(["a", ["b"]], ["b", ["a"]]), planOf(["a", []], ["a", []]), planOf(["a", []])]);
    const environment = planner({}, model);
    environment.publishMessage("go");
    expect((await environment.run()).output?.content).toBe("dug do a");
    const [, second, third] = model.calls.map((call) => call.messages.at(-1)?.content ?? "");
    expect(second).toContain("a -> b -> a");
    expect(third).toContain("came twice");
  });

  test("a model that plans nothing but bad graphs fails the activation after three", async () => {
    const model = scriptedModel(() => planOf(["a", ["nowhere"]]));
    const environment = planner({}, model);
    environment.publishMessage("go");
    const { status, error } = await environment.run();
    expect([status, error?.code, model.calls.length]).toEqual(["failed", "PLAN_UNKNOWN_DEPENDENCY", 3]);
  });
});

describe("what a task is told", () => {
  const Write = defineAction({ name: "Write", description: "Write a page." });
  const tasks = [
    { id: "end", dependsOn: ["b", "a"], instruction: "write it up", type: "Write" },
    { id: "a", instruction: "the start" },
    { id: "b", dependsOn: ["a"], instruction: "the middle" },
  ];

  test("the goal, the results of the tasks it depends on, and its instruction", async () => {
    const model = scriptedModel(["a page"]);
    const environment = planner({ actions: [Dig, Write], planTasks: () => tasks }, model);
    environment.publishMessage("a garden");
    await environment.run();
    expect(model.calls.map((call) => call.messages.at(-1)?.content)).toEqual([
      "Write a page.\n\nGoal:\na garden\n\nResult of task b (the middle):\ndug the middle\n\n" +
        "Result of task a (the start):\ndug the start\n\nTask end:\nwrite it up",
    ]);
  });
});

describe("a plan that takes more than one activation", () => {
  const Note = defineAction({ name: "Note", run: (ctx) => `${ctx.task?.id}<${ctx.text.replaceAll("\n", " ")}>` });
  const ids = ["a", "b", "c"];

  /** Tells Ann one thing after another; what she said to each. */
  async function whenTold(environment: Environment, ...news: readonly string[]): Promise<(string | undefined)[]> {
    const said: (string | undefined)[] = [];
    for (const text of news) {
      environment.publishMessage(text);
      said.push((await environment.run()).output?.content);
    }
    return said;
  }

  test("says the results of its own tasks only, and plans once", async () => {
    const model = scriptedModel([planOf(["a", []], ["b", []], ["c", []])]);
    const environment = planner({ maxReactLoop: 2 }, model);
    environment.publishMessage("go");
    await environment.run();
    environment.publishMessage("go on");
    const { outputs } = await environment.run();
    expect(contents(outputs)).toEqual(["dug do a\n\ndug do b", "dug do c"]);
    expect(model.calls).toHaveLength(1);
  });

  test("tells all its later news to the tasks that follow, and then makes a new plan without it", async () => {
    const environment = planner({ actions: [Note], maxReactLoop: 1, planTasks: () => ids.map((id) => ({ id, instruction: `do ${id}` })) });
    await whenTold(environment, "a pond", "rounder", "deeper", "a hill");
    expect(remembered(environment, "Ann").filter((text, place, all) => text.endsWith(">") && text !== all[place - 1])).toEqual([
      "a<Goal: a pond  Task a: do a>",
      "b<Goal: a pond  Newest information: rounder  Task b: do b>",
      "c<Goal: a pond  Newest information: rounder  deeper  Task c: do c>",
      "a<Goal: a hill  Task a: do a>",
    ]);
    expect(environment.getRole("Ann")?.plan.goal).toBe("a hill");
    expect(environment.getRole("Ann")?.workingMemory.size).toBe(0);
  });

  test("a task that is opened and done again is said again", async () => {
    const again = defineAction({
      name: "Again",
      run: (ctx) => {
        if (ctx.task?.id === "b" && ctx.plan.getTask("a")?.result === "a1") ctx.plan.resetTask("a");
        return `${ctx.task?.id}${ctx.news[0]?.content}`;
      },
    });
    const environment = planner({ actions: [again], maxReactLoop: 1, planTasks: () => ["a", "b"].map((id) => ({ id, instruction: id })) });
    expect(await whenTold(environment, "1")).toEqual(["a1"]);
    const replies = await whenTold(environment, "2", "3", "4");
    expect(replies[1]).toBe("a3");
    expect(environment.getRole("Ann")?.plan.tasks.map((task) => task.result)).toEqual(["a3", "b4"]);
  });
});
