import { expect, test } from "vitest";
import { causeChain } from "../../../src/inspector/view/cause-chain.ts";
import { messageDetail } from "../../../src/inspector/view/detail.ts";
import { lanesIn, tickAt } from "../../../src/inspector/view/lanes.ts";
import { roleGraph, roleView } from "../../../src/inspector/view/role-graph.ts";
import { compareRuns } from "../../../src/inspector/view/run-comparison.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import * as terms from "../../../src/inspector/view/run-terms.ts";
import { faultyRun } from "../page/faulty-run.ts";

async function timeline(): Promise<RunTimeline> {
  const run = new RunTimeline();
  run.add(await faultyRun());
  return run;
}

test("RunRecord.I1 a message that the edges lost, rewrote, doubled or delayed is reported on each of its deliveries", async () => {
  const run = await timeline();
  const said = run.record.sent.findIndex(({ message }) => message.content === "It is true.");
  const recipients = messageDetail(run, said)?.recipients.map(({ role, fate, fault, due }) => ({ role, fate, fault, due }));
  const reads = { content: "It is false." };
  const by = ["liar", "duplicate"];
  expect(recipients).toMatchObject([
    { role: "Bob", fate: "lost", fault: { by: ["lossy"] }, due: undefined },
    { role: "Cid", fate: "taken", fault: { by, reads } },
    { role: "Cid", fate: "taken", fault: { by, copy: 1, reads } },
  ]);
  const { arrows, ticks } = lanesIn(run, { from: 0, until: run.length - 1 });
  const delayed = arrows
    .filter(({ delivery }) => delivery.due !== undefined)
    .map(({ delivery, fate }) => [delivery.role, delivery.due, fate]);
  expect(delayed).toEqual([
    ["Ann", 2.5, "taken"],
    ["Ann", 3, "taken"],
    ["Ann", 3, "taken"],
  ]);
  expect(ticks.map(({ tick }) => tick)).toEqual([2.5, 3]);
  const [first] = ticks;
  expect(run.event(first?.seq ?? -1)).toMatchObject({ type: "clock.advanced", tick: 2.5 });
  expect(lanesIn(run, { from: 0, until: (first?.seq ?? 0) - 1 }).ticks).toEqual([]);
  const graph = roleGraph(run, run.length - 1);
  expect(graph.edges.map(({ from, to, messages, lost }) => [from, to, messages, lost])).toEqual([
    ["", "Ann", 1, 0],
    ["Ann", "Bob", 1, 1],
    ["Ann", "Cid", 2, 0],
    ["Ann", "Ann", 1, 0],
    ["Cid", "Ann", 2, 0],
  ]);
});

test("copies of a message are one cause", async () => {
  const run = await timeline();
  const said = run.record.sent.findIndex(({ message }) => message.content === "It is true.");
  expect(causeChain(run, { kind: "message", index: said }).uncertain.has(said)).toBe(false);
});

test("the tick of an event is that of the state after it, and a role knows what is on the way to it", async () => {
  const run = await timeline();
  for (let seq = 0; seq < run.length; seq += 1) expect(tickAt(run, seq)).toBe(run.stateAt(seq).tick);
  const [first, second] = run.record.ticks;
  const delayedAfter = (seq = 0): unknown => roleView(run.stateAt(seq), "Ann")?.delayed;
  expect(delayedAfter((first?.seq ?? 0) - 1)).toEqual({ count: 3, next: 2.5 });
  expect(delayedAfter(first?.seq)).toEqual({ count: 2, next: 3 });
  expect(delayedAfter(second?.seq)).toEqual({ count: 0, next: undefined });
  expect(roleView(run.stateAt((first?.seq ?? 0) - 1), "Bob")?.delayed.count).toBe(0);
  const { left } = compareRuns(run, run);
  expect([left.scheduler, left.faults]).toEqual(["events", "1 lost, 2 delayed, 1 copied, 2 rewritten"]);
});

test("the terms of a run are told in words", async () => {
  const { now } = await timeline();
  expect(terms.schedulerOf(now)).toBe("events");
  expect(now.edges.map(terms.edgeText).slice(0, 2)).toEqual(["lossy, share 0.5, on Ann->Bob", "liar, on Ann->Cid"]);
  expect(terms.faultCountsText(now.faults)).toBe("1 lost, 2 delayed, 1 copied, 2 rewritten");
  expect(terms.momentOf(now.clock, now.tick)).toBe("time 3");
  expect(terms.schedulerText({ scheduler: "poisson", parameters: { rate: 0.5 }, arrival: "sender" })).toBe(
    "poisson, rate 0.5, arrivals by sender",
  );
  expect(terms.schedulerText({ scheduler: "mine", parameters: "x".repeat(100) })).toBe(`mine, ${"x".repeat(79)}…`);
  expect([0.1 + 0.2, 1234.5678, 1e-9, 12].map(terms.tickText)).toEqual(["0.3", "1234.6", "1e-9", "12"]);
  const lost = { to: "Bob", by: ["drop"], arrives: [] };
  expect(terms.faultsText([lost, lost, { ...lost, to: "Cid", by: ["drop", "delay"] }])).toBe(
    "drop to Bob (2 times), drop and delay to Cid",
  );
  expect([{ cause: "moved" as const }, { forked: true as const }, {}].map(terms.resumeText)).toEqual([
    "moved from another process",
    "a fork begins here",
    "",
  ]);
});
