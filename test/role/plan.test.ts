import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PlanError } from "../../src/kernel/errors.ts";
import { Plan } from "../../src/role/plan.ts";
import type { Task, TaskFields } from "../../src/agent/task.ts";
import { tries } from "../long.ts";

function task(id: string, ...dependsOn: string[]): TaskFields {
  return { id, dependsOn, instruction: `do ${id}` };
}

function planOf(...tasks: TaskFields[]): Plan {
  return new Plan({ goal: "g", tasks });
}

function ids(tasks: readonly Task[]): string[] {
  return tasks.map(({ id }) => id);
}

function statuses(plan: Plan): Record<string, string> {
  return Object.fromEntries(plan.tasks.map(({ id, status }) => [id, status]));
}

function refusal(change: () => unknown): PlanError {
  try {
    change();
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
  throw new Error("the change was not refused");
}

/** A diamond: b and c after a, d after both. */
function diamond(): Plan {
  return planOf(task("a"), task("b", "a"), task("c", "a"), task("d", "b", "c"));
}

function finish(plan: Plan, count: number): void {
  for (let n = 0; n < count; n++) plan.finishCurrentTask(`result ${n}`);
}

describe("Plan", () => {
  test("what is given out is the caller's own, and its tasks cannot be changed", () => {
    const given = [task("a"), task("b", "a")];
    const plan = new Plan({ goal: "g", tasks: given });
    plan.tasks.reverse();
    plan.finishedTasks.push(...plan.tasks);
    given.pop();
    expect(ids(plan.tasks)).toEqual(["a", "b"]);
    const [first] = plan.tasks as unknown as [{ status: string; dependsOn: string[] }];
    expect(() => (first.status = "done")).toThrow(TypeError);
    expect(() => first.dependsOn.push("b")).toThrow(TypeError);
  });

  test("Plan.P1 tasks are sorted; those whose order is free stay as written", () => {
    expect(ids(planOf(task("c"), task("a"), task("b")).tasks)).toEqual(["c", "a", "b"]);
    expect(ids(planOf(task("d", "b", "c"), task("c", "a"), task("b", "a"), task("a")).tasks)).toEqual(["a", "b", "c", "d"]);
    expect(ids(planOf(task("x"), task("late", "early"), task("y"), task("early")).tasks)).toEqual(["x", "early", "late", "y"]);
  });
});

describe("what a plan refuses", () => {
  test("[MetaGPT: a cycle came back silently in some order] a cycle is named as a path", () => {
    const error = refusal(() => planOf(task("x"), task("a", "b"), task("b", "x", "c"), task("c", "a")));
    expect(error.code).toBe("PLAN_CYCLE");
    expect(error.data).toEqual({ cycle: ["a", "b", "c", "a"] });
    expect(error.message).toContain("a -> b -> c -> a");
  });

  test("the message of a long cycle stays short, its data whole", () => {
    const ring = Array.from({ length: 1000 }, (_, n) => task(`t${n}`, `t${(n + 1) % 1000}`));
    const error = refusal(() => planOf(...ring));
    expect(error.message.length).toBeLessThan(400);
    expect((error.data as { cycle: string[] }).cycle).toHaveLength(1001);
  });

  test("[MetaGPT: an assertion, or nothing at all] an unknown task cannot be reset or replaced", () => {
    for (const change of [() => diamond().resetTask("ghost"), () => diamond().replaceTask(task("ghost"))]) {
      expect(refusal(change).code).toBe("PLAN_UNKNOWN_TASK");
      expect(refusal(change).data).toEqual({ task: "ghost" });
    }
  });

  test("Plan.P4 a refused change leaves the plan as it was", () => {
    const plan = diamond();
    finish(plan, 2);
    const before = JSON.stringify(plan);
    const changes = [
      () => plan.addTasks([task("a"), task("n", "ghost")]),
      () => plan.addTasks([task("a", "b"), task("b", "a")]),
      () => plan.addTasks([task("a"), task("a")]),
      () => plan.appendTask(task("n", "a", "ghost")),
      () => plan.appendTask(task("d")),
      () => plan.replaceTask(task("a", "d")),
      () => plan.replaceTask(task("b", "ghost")),
      () => plan.replaceTask(task("ghost")),
      () => plan.resetTask("ghost"),
    ];
    for (const change of changes) {
      expect(refusal(change)).toBeInstanceOf(PlanError);
      expect(JSON.stringify(plan)).toBe(before);
      expect(plan.currentTask?.id).toBe("c");
    }
  });
});

describe("changing a plan", () => {
  test("[MetaGPT: replacing a task lost its type] replaceTask keeps what is not given, and reopens all that depend on it", () => {
    const plan = planOf({ ...task("a"), type: "code", assignee: "Bob" }, task("b", "a"), task("c", "b"), task("free"));
    finish(plan, 4);
    plan.replaceTask({ id: "a", instruction: "do a better" });
    expect(plan.getTask("a")).toEqual({
      id: "a",
      dependsOn: [],
      instruction: "do a better",
      type: "code",
      assignee: "Bob",
      status: "open",
    });
    expect(statuses(plan)).toEqual({ a: "open", b: "open", c: "open", free: "done" });
    plan.replaceTask({ id: "a", instruction: "x", type: "text", assignee: "Eve", dependsOn: ["free"] });
    expect(plan.getTask("a")).toMatchObject({ type: "text", assignee: "Eve", dependsOn: ["free"] });
    expect(ids(plan.tasks)).toEqual(["free", "a", "b", "c"]);
  });

  test("[MetaGPT: a recursion never ended on a cycle] 10,000 tasks in a chain are sorted, reset and finished without recursion", () => {
    const chain = Array.from({ length: 10_000 }, (_, n) => (n === 0 ? task("t0") : task(`t${n}`, `t${n - 1}`)));
    const plan = new Plan({ goal: "long", tasks: chain.toReversed() });
    expect(plan.currentTask?.id).toBe("t0");
    while (!plan.isFinished) plan.finishCurrentTask();
    plan.resetTask("t1");
    expect(plan.finishedTasks).toHaveLength(1);
    for (let n = 0; n < 2000; n++) plan.appendTask(task(`more${n}`, `t${n}`));
    expect(plan.tasks).toHaveLength(12_000);
    expect(refusal(() => plan.replaceTask(task("t0", "t9999"))).code).toBe("PLAN_CYCLE");
  });
});

describe("Plan against a plain model", () => {
  interface Plain {
    id: string;
    dependsOn: string[];
    instruction: string;
    done: boolean;
  }

  const fieldsOf = ({ done: _done, ...fields }: Plain): Omit<Plain, "done"> => fields;

  /** Returns whether a task is reached from itself, by trying every road. */
  function isOnCycle(tasks: readonly Plain[], id: string): boolean {
    const seen = new Set<string>();
    const reach = (from: string): void => {
      for (const next of tasks.find((each) => each.id === from)?.dependsOn ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        reach(next);
      }
    };
    reach(id);
    return seen.has(id);
  }

  function expectedCode(tasks: readonly Plain[]): string[] {
    const known = tasks.map(({ id }) => id);
    const codes: string[] = [];
    if (new Set(known).size < known.length) codes.push("PLAN_DUPLICATE_ID");
    if (tasks.some(({ dependsOn }) => dependsOn.some((id) => !known.includes(id)))) codes.push("PLAN_UNKNOWN_DEPENDENCY");
    if (known.some((id) => isOnCycle(tasks, id))) codes.push("PLAN_CYCLE");
    return codes;
  }

  /** All that depend on one, by asking again and again. */
  function dependentsOf(tasks: readonly Plain[], id: string): Set<string> {
    const affected = new Set([id]);
    for (let grew = true; grew;) {
      grew = false;
      for (const each of tasks) {
        if (affected.has(each.id) || !each.dependsOn.some((needed) => affected.has(needed))) continue;
        affected.add(each.id);
        grew = true;
      }
    }
    return affected;
  }

  const id = fc.nat(7).map((n) => `t${n}`);
  const plain = fc.record({
    id,
    dependsOn: fc.array(id, { maxLength: 2 }),
    instruction: fc.constantFrom("x", "y"),
    done: fc.constant(false),
  });
  const tasks = fc.oneof(fc.array(plain, { maxLength: 8 }), fc.uniqueArray(plain, { maxLength: 8, selector: (each) => each.id }));

  function expectSorted(plan: Plan): void {
    const placed = new Set<string>();
    for (const each of plan.tasks) {
      for (const needed of each.dependsOn) expect(placed.has(needed)).toBe(true);
      placed.add(each.id);
    }
  }

  test("Plan.P1 property: a list is refused for what is wrong with it, or sorted", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(tasks, (list) => {
        const codes = expectedCode(list);
        if (codes.length > 0) {
          const error = refusal(() => planOf(...list.map(fieldsOf)));
          expect(codes).toContain(error.code);
          if (error.code === "PLAN_CYCLE") {
            const { cycle } = error.data as { cycle: string[] };
            expect(cycle.at(-1)).toBe(cycle[0]);
            for (const [n, from] of cycle.slice(0, -1).entries()) {
              expect(list.find((each) => each.id === from)?.dependsOn).toContain(cycle[n + 1]);
            }
          }
          return;
        }
        const plan = planOf(...list.map(fieldsOf));
        expect(ids(plan.tasks).toSorted()).toEqual(list.map((each) => each.id).toSorted());
        expectSorted(plan);
        // A sorted plan is not moved.
        expect(ids(planOf(...plan.tasks).tasks)).toEqual(ids(plan.tasks));
      }),
      { numRuns: tries(167, 2_000) },
    );
  });

  test("Plan.P2 Plan.P3 Plan.P4 property: any sequence of changes leaves what the plain model says", { tags: "numbers" }, () => {
    const change = fc.oneof(
      { weight: 3, arbitrary: fc.record({ append: plain }) },
      { weight: 2, arbitrary: fc.record({ replace: plain }) },
      { weight: 2, arbitrary: fc.record({ reset: id }) },
      { weight: 5, arbitrary: fc.constant("finish" as const) },
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
        const plan = planOf();
        let model: Plain[] = [];
        for (const each of changes) {
          const before = JSON.stringify(plan);
          if (each === "finish") {
            const current = plan.currentTask;
            expect(plan.finishCurrentTask("r")?.id).toBe(current?.id);
            for (const kept of model) if (kept.id === current?.id) kept.done = true;
          } else if ("reset" in each) {
            if (model.some((kept) => kept.id === each.reset)) {
              plan.resetTask(each.reset);
              const affected = dependentsOf(model, each.reset);
              for (const kept of model) if (affected.has(kept.id)) kept.done = false;
            } else expect(refusal(() => plan.resetTask(each.reset)).code).toBe("PLAN_UNKNOWN_TASK");
          } else {
            const given = "append" in each ? each.append : each.replace;
            const isKnown = model.some((kept) => kept.id === given.id);
            const next = "append" in each ? [...model, { ...given }] : model.map((kept) => (kept.id === given.id ? { ...given } : kept));
            const apply = (): void => {
              const fields = fieldsOf(given);
              if ("append" in each) plan.appendTask(fields);
              else plan.replaceTask(fields);
            };
            const codes = "replace" in each && !isKnown ? ["PLAN_UNKNOWN_TASK"] : expectedCode(next);
            if (codes.length > 0) {
              expect(codes).toContain(refusal(apply).code);
              expect(JSON.stringify(plan)).toBe(before);
            } else {
              apply();
              model = next;
              const affected = dependentsOf(model, given.id);
              for (const kept of model) if (affected.has(kept.id)) kept.done = false;
            }
          }
          expectSorted(plan);
          expect(statuses(plan)).toEqual(Object.fromEntries(model.map((kept) => [kept.id, kept.done ? "done" : "open"])));
          expect(plan.isFinished).toBe(model.every((kept) => kept.done));
          expect(plan.currentTask).toBe(plan.tasks.find((kept) => kept.status === "open"));
          expect(ids(plan.finishedTasks)).toEqual(ids(plan.tasks.filter((kept) => kept.status === "done")));
          // No task is current before what it depends on is done.
          for (const needed of plan.currentTask?.dependsOn ?? []) expect(plan.getTask(needed)?.status).toBe("done");
        }
      }),
      { numRuns: tries(67, 800) },
    );
  });
});

describe("Plan as JSON", () => {
  test("is plain, and complete", () => {
    const plan = new Plan({ goal: "make it", tasks: [task("a"), task("b", "a")] });
    finish(plan, 1);
    expect(JSON.parse(JSON.stringify(plan))).toEqual({
      goal: "make it",
      tasks: [
        { id: "a", dependsOn: [], instruction: "do a", status: "done", result: "result 0" },
        { id: "b", dependsOn: ["a"], instruction: "do b", status: "open" },
      ],
    });
  });

  test.each([
    ["nothing", undefined, "PLAN_INVALID", "expected object"],
    ["no goal", { tasks: [] }, "PLAN_INVALID", "goal"],
    ["a task without an instruction", { goal: "g", tasks: [{ id: "a" }] }, "PLAN_INVALID", "tasks[0].instruction"],
    ["a status that is none", { goal: "g", tasks: [{ ...task("a"), status: "half" }] }, "PLAN_INVALID", "tasks[0].status"],
    ["a cycle", { goal: "g", tasks: [task("a", "b"), task("b", "a")] }, "PLAN_CYCLE", "a -> b -> a"],
  ])("refuses %s", (_what, json, code, named) => {
    const error = refusal(() => Plan.fromJSON(json));
    expect(error.code).toBe(code);
    expect(error.message).toContain(named);
  });
});
