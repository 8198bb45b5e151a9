import { describe, expect, it } from "vitest";
import { planningTool } from "../../src/tools/planning.ts";
import { call, read } from "./tool-kit.ts";
import { titled } from "../titled.ts";

const build = {
  command: "create",
  plan_id: "build",
  title: "Build it",
  steps: ["design", "code", "test"],
};

async function board(...commands: readonly Record<string, unknown>[]) {
  const tool = planningTool();
  for (const args of [build, ...commands]) await call(tool, args as never);
  return tool;
}

const mark = (step: number, status: string, more: object = {}) => ({ command: "mark_step", step, status, ...more });

describe("planning", () => {
  it("shows a plan with its steps and how far they are", async () => {
    const tool = await board(mark(1, "completed"), mark(2, "in_progress", { notes: "half done" }), mark(3, "blocked"));
    expect(await read(tool, { command: "get" })).toBe(
      "Plan build (active): Build it\nProgress: 1 of 3 completed\n1. [✓] design\n2. [→] code\n   notes: half done\n3. [!] test",
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

  it("takes notes away when they are empty, and keeps them when they are not said", async () => {
    const tool = await board(mark(1, "in_progress", { notes: "n" }), mark(1, "blocked"));
    expect(await read(tool, { command: "get" })).toContain("notes: n");
    expect(await read(tool, { command: "mark_step", step: 1, notes: "" })).toContain("1. [!] design\n2.");
  });

  it.each(
    titled([
      { command: "create", plan_id: "build", title: "again", steps: ["x"] },
      { command: "create", plan_id: "x", title: "no steps", steps: [] },
      { command: "create", plan_id: "x", title: "none" },
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
