import { expect, it } from "vitest";
import { CallCount } from "../../src/cli/commands/runs-show.ts";
import type { RunEvent, StepEnded, StepStarted } from "../../src/runtime/record/event.ts";

const act = "Rita#0~1";

function event(body: StepStarted | StepEnded): RunEvent {
  return { v: 1, runId: "r", seq: 0, time: 0, ...body };
}

function started(key: string, name: string, rest: Partial<StepStarted> = {}): RunEvent {
  return event({ type: "step.started", act, key, kind: "tool", name, asked: 0, try: 1, hold: 0, request: null, ...rest });
}

function ended(key: string, cost: number | null, rest: Partial<StepEnded> = {}): RunEvent {
  return event({ type: "step.ended", act, key, try: 1, ok: true, cost, basis: "usage", at: 0, ...rest });
}

function usesOf(events: readonly RunEvent[]): ReturnType<CallCount["tools"]> {
  const count = new CallCount();
  for (const one of events) count.add(one);
  return count.tools();
}

it("CallCount.C2 gives the cost of a step to the innermost call around it, and counts only calls", () => {
  const events = [
    started("a", "outer"),
    started("a.m", "gpt", { kind: "model", in: "a" }),
    ended("a.m", 5),
    started("a.t", "inner", { in: "a" }),
    started("a.t.m", "gpt", { kind: "model", in: "a.t" }),
    ended("a.t.m", 7),
    ended("a.t", 0),
    ended("a", 0),
    started("m", "gpt", { kind: "model" }),
    ended("m", 11),
  ];
  expect(usesOf(events)).toMatchObject([
    { role: "Rita", tool: "outer", calls: 1, failed: 0, cost: { known: 5 } },
    { role: "Rita", tool: "inner", calls: 1, failed: 0, cost: { known: 7 } },
  ]);
});

it("CallCount.C3 counts a call once, at the end of its last try, and the costs of all tries", () => {
  const tries = [
    started("a", "archive"),
    ended("a", 3, { ok: false, retry: true }),
    started("a", "archive", { try: 2 }),
    ended("a", null, { ok: false, retry: true, try: 2 }),
    started("a", "archive", { try: 3 }),
    ended("a", 4, { try: 3 }),
  ];
  expect(usesOf(tries.slice(0, -1))).toMatchObject([{ calls: 0, failed: 0 }]);
  expect(usesOf(tries)).toMatchObject([{ calls: 1, failed: 0, cost: { known: 7, unpriced: 1 } }]);
});
