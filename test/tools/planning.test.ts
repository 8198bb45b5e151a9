import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boardPlan, marked, planningTool, type StepStatus } from "../../src/tools/planning.ts";
import { call, read } from "./tool-kit.ts";
import { titled } from "../titled.ts";

const build = {
  command: "create",
  plan_id: "build",
  title: "Build it",
  steps: ["design", { text: "code", after: [1] }, { text: "test", after: [2] }],
};

async function board(...commands: readonly Record<string, unknown>[]) {
  const tool = planningTool();
  for (const args of [build, ...commands]) await call(tool, args as never);
  return tool;
}

const mark = (step: number, status: StepStatus, more: object = {}) => ({ command: "mark_step", step, status, ...more });

describe("planning", () => {
  it("shows a plan with its steps, what they wait for and how far they are", async () => {
    const tool = await board(mark(1, "completed"), mark(2, "in_progress", { notes: "half done" }), mark(3, "blocked"));
    expect(await read(tool, { command: "get" })).toBe(
      "Plan build (active): Build it\nProgress: 1 of 3 completed\n1. [✓] design\n2. [→] code (after 1)\n   notes: half done\n3. [!] test (after 2)",
    );
  });

  it("keeps several plans, one active", async () => {
    const tool = await board({ command: "create", plan_id: "other", title: "Other", steps: ["x"] });
    expect(await read(tool, { command: "list" })).toBe("  build: Build it (0 of 3 completed)\n* other: Other (0 of 1 completed)");
    await read(tool, { command: "set_active", plan_id: "build" });
    await read(tool, mark(1, "completed"));
    expect(await read(tool, { command: "list" })).toBe("* build: Build it (1 of 3 completed)\n  other: Other (0 of 1 completed)");
    expect(await read(tool, { command: "delete", plan_id: "build" })).toContain("No plan is active");
    expect(await call(tool, { command: "get" })).toMatchObject({ outcome: "failed" });
    expect(await read(tool, { command: "get", plan_id: "other" })).toContain("Other");
  });

  it("keeps status and notes of a step whose words are the same, wherever it moves", async () => {
    const tool = await board(mark(1, "completed", { notes: "see doc" }));
    const text = await read(tool, { command: "update", steps: ["ask", "code", "design"] });
    expect(text).toContain("1. [ ] ask\n2. [ ] code\n3. [✓] design\n   notes: see doc");
  });

  it("opens a kept step again that now waits for an open one", async () => {
    const tool = await board(mark(1, "completed"));
    expect(await read(tool, { command: "update", steps: ["ask", { text: "design", after: [1] }] })).toContain("2. [ ] design (after 1)");
  });

  it("takes notes away when they are empty, and keeps them when they are not said", async () => {
    const tool = await board(mark(1, "in_progress", { notes: "n" }), mark(1, "blocked"));
    expect(await read(tool, { command: "get" })).toContain("notes: n");
    expect(await read(tool, { command: "mark_step", step: 1, notes: "" })).toContain("1. [!] design\n2.");
  });

  it("BoardPlan.B1 begins and completes no step before what it waits for", async () => {
    const tool = await board();
    for (const status of ["in_progress", "completed"] as const) {
      expect(await call(tool, mark(2, status))).toMatchObject({ outcome: "failed", result: { error: expect.stringContaining("step 1") } });
    }
    expect(await read(tool, { command: "get" })).toContain("2. [ ] code");
  });

  it("BoardPlan.B2 opens again what depends on a step that is opened again", async () => {
    const tool = await board(mark(1, "completed"), mark(2, "completed"), mark(3, "completed"));
    expect(await read(tool, mark(1, "in_progress"))).toContain("Progress: 0 of 3 completed\n1. [→] design\n2. [ ] code");
  });

  it("puts steps in an order they can be done in, under the numbers they were given", async () => {
    const tool = planningTool();
    const text = await read(tool, { command: "create", plan_id: "p", title: "t", steps: [{ text: "last", after: [2] }, "first"] });
    expect(text).toContain("2. [ ] first\n1. [ ] last (after 2)");
  });

  it.each(
    titled([
      { command: "create", plan_id: "build", title: "again", steps: ["x"] },
      { command: "create", plan_id: "x", title: "no steps", steps: [] },
      { command: "create", plan_id: "x", title: "none" },
      {
        command: "create",
        plan_id: "x",
        title: "cycle",
        steps: [
          { text: "a", after: [2] },
          { text: "b", after: [1] },
        ],
      },
      { command: "create", plan_id: "x", title: "itself", steps: [{ text: "a", after: [1] }] },
      { command: "create", plan_id: "x", title: "unknown", steps: [{ text: "a", after: [9] }] },
      { command: "update" },
      { command: "update", steps: [] },
      { command: "get", plan_id: "__proto__" },
      { command: "delete" },
      { command: "set_active", plan_id: "nope" },
      { command: "mark_step", step: 4, status: "completed" },
      { command: "mark_step", status: "completed" },
      { command: "mark_step", step: 1 },
    ]),
  )("refuses with words and changes nothing: %s", async (_case, args) => {
    const tool = await board();
    const before = await read(tool, { command: "list" });
    expect(await call(tool, args as never)).toMatchObject({
      outcome: "failed",
      result: { error: expect.stringMatching(/^(Expected|The plan|Step)/) },
    });
    expect([await read(tool, { command: "list" }), (await call(tool, { command: "get", plan_id: "build" })).outcome]).toEqual([
      before,
      "ok",
    ]);
  });

  it("keeps the plans of one session from another", async () => {
    const tool = planningTool();
    const [mine, yours] = [{}, {}];
    await call(tool, build, { session: mine });
    expect(await read(tool, { command: "list" }, { session: yours })).toBe("There are no plans.");
    expect(await read(planningTool(), { command: "list" })).toBe("There are no plans.");
    expect(await read(tool, { command: "list" }, { session: mine })).toContain("build");
  });

  it("bounds how many plans there are", async () => {
    const tool = planningTool();
    for (let n = 0; n < 20; n++) await call(tool, { ...build, plan_id: `p${n}` });
    expect(await call(tool, { ...build, plan_id: "more" })).toMatchObject({ outcome: "failed" });
  });
});

it("BoardPlan.B1 BoardPlan.B3 never has a step completed before what it depends on", () => {
  const status = fc.constantFrom<StepStatus>("not_started", "in_progress", "completed", "blocked");
  const moves = fc.array(fc.tuple(fc.integer({ min: 1, max: 6 }), status), { maxLength: 30 });
  const after = fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 3 }), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(after, moves, (graph, marks) => {
      let plan = boardPlan(
        "t",
        graph.map((before, place) => ({ text: `s${place}`, after: before.filter((step) => step <= place) })),
      );
      for (const [step, now] of marks) {
        try {
          plan = marked(plan, step, now, undefined);
          expect(plan.steps.find((known) => known.step === step)?.status).toBe(now);
        } catch (error) {
          expect(error).toMatchObject({ code: "PLAN_NOT_READY" });
        }
        const done = new Set(plan.steps.filter((known) => known.status === "completed").map((known) => known.step));
        for (const known of plan.steps) if (done.has(known.step)) expect(known.after.filter((other) => !done.has(other))).toEqual([]);
      }
    }),
  );
});
