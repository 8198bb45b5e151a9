import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareRuns } from "../../../src/inspector/view/run-comparison.ts";
import { defineRole, memoryJournal, Team } from "../../../src/index.ts";
import { simulatedClock } from "../../../src/testing/index.ts";
import { eventsOf } from "../../team/recorded.ts";
import { causeChain, type CauseNode } from "../../../src/inspector/view/cause-chain.ts";
import { densityOf, lanesIn } from "../../../src/inspector/view/lanes.ts";
import { roleGraph, roleView } from "../../../src/inspector/view/role-graph.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { spendingAt } from "../../../src/inspector/view/spending.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { tries } from "../../long.ts";
import { changingSketch, eventsOfChangingRun, eventsOfRun, runSketch } from "./random-runs.ts";

/** Random runs, and random runs whose team changes. */
const runs = fc.oneof(runSketch.map(eventsOfRun), changingSketch.map(eventsOfChangingRun)).map(async (events) => {
  const timeline = new RunTimeline();
  timeline.add(await events);
  return timeline;
});

describe("views of a run", () => {
  test("property: every window of the lanes is that part of the whole drawing", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.nat(), fc.nat(), fc.nat(), async (timeline, a, b, c) => {
        const run = await timeline;
        const [from, until, shown] = [a, b, c].map((n) => n % run.length) as [number, number, number];
        const whole = lanesIn(run, { from: 0, until: run.length - 1, shown });
        const part = lanesIn(run, { from, until, shown });
        const last = Math.min(until, shown);
        expect(part.bars).toEqual(whole.bars.filter((bar) => bar.from <= last && bar.until >= from));
        expect(part.arrows).toEqual(whole.arrows.filter((arrow) => arrow.from <= last && arrow.to >= from));
        expect(whole.bars).toHaveLength(run.record.activations.filter((one) => one.from <= shown).length);
        const bins = densityOf(run, 7);
        const entries = run.record.activations.length + run.record.sent.length;
        expect(bins.reduce((sum, bin) => sum + bin.entries, 0)).toBe(entries);
      }),
      { numRuns: tries(5, 150) },
    );
  });

  test("property: graph, role panels and spending at an event are those of a run that ends there", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.nat(), async (timeline, a) => {
        const run = await timeline;
        const seq = a % run.length;
        const cut = new RunTimeline();
        cut.add(run.events(0, seq));
        expect(roleGraph(run, seq)).toEqual(roleGraph(cut, seq));
        expect(spendingAt(run, seq)).toEqual(spendingAt(cut, seq));
        const state = fold(run.events(0, seq));
        for (const role of state.roles.values()) {
          const view = roleView(run.stateAt(seq), role.name);
          expect(view).toMatchObject({ state: role.custom, activations: role.n, mailbox: { count: role.waiting } });
          expect(view?.mailbox.part(1, role.waiting)).toEqual(role.news().slice(1));
          const remembered = role.memory.get().toReversed();
          expect(view?.memory.count).toBe(remembered.length);
          for (const [first, last] of [
            [0, remembered.length],
            [1, 2],
            [2, 2],
            [0, -1],
          ] as const)
            expect(view?.memory.part(first, last)).toEqual(remembered.slice(first, last + 1));
        }
        expect(roleView(state, "Nobody")).toBeUndefined();
      }),
      { numRuns: tries(4, 120) },
    );
  });

  test("a chain of very many effects is cut", async () => {
    const journal = memoryJournal();
    const roles = Array.from({ length: 250 }, (_, n) => defineRole({ name: `Role ${n}`, react: () => undefined }));
    await new Team({ name: "hall", roles, journal }).run("go", { id: "wide" }).result;
    const run = new RunTimeline();
    run.add(await eventsOf(journal, "wide"));
    const { nodes, isCut } = causeChain(run, { kind: "message", index: 0 });
    expect([nodes.length, isCut]).toEqual([201, true]);
  });

  test("property: a chain of causes goes from what was taken to what was said, and back", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runs, fc.nat(), async (timeline, a) => {
        const run = await timeline;
        const { sent, activations } = run.record;
        if (sent.length === 0) return;
        const start = { kind: "message", index: a % sent.length } as const;
        const chain = causeChain(run, start);
        const seqOf = ({ kind, index }: CauseNode): number => (kind === "message" ? sent[index]?.seq : activations[index]?.from) ?? NaN;
        expect(chain.messages.has(start.index)).toBe(true);
        expect(new Set(chain.nodes.map(({ kind, index }) => `${kind} ${index}`)).size).toBe(chain.nodes.length);
        for (const node of chain.nodes) if (node.steps < 0) expect(seqOf(node)).toBeLessThanOrEqual(sent[start.index]?.seq ?? -1);
        for (const { index } of chain.activations.values()) {
          const { took = [], said = [] } = activations[index] ?? {};
          expect([...took, ...said].some((message) => chain.messages.has(message))).toBe(true);
        }
        for (let shown = 0; shown < run.length; shown += 1) {
          const { nodes } = causeChain(run, start, shown);
          expect(nodes.filter((node) => node.steps > 0 && seqOf(node) > shown)).toEqual([]);
        }
        // Without a cut the chain of an earlier cause has the message among its effects.
        const [first] = chain.nodes;
        if (chain.isCut || first?.kind !== "message") return;
        const back = causeChain(run, { kind: "message", index: first.index });
        expect(back.isCut || back.messages.has(start.index)).toBe(true);
      }),
      { numRuns: tries(6, 150) },
    );
  });
});

test("a fork takes as long as its own events", async () => {
  const [journal, clock] = [memoryJournal(), simulatedClock(0)];
  const team = new Team({ roles: [defineRole({ name: "Ann", watch: ["UserRequirement"], step: () => undefined })], journal, clock });
  await team.run("go", { id: "r" }).result;
  await clock.advance(60_000);
  await team.fork("r", { id: "f" }).result;
  const run = new RunTimeline();
  run.add(await eventsOf(journal, "f"));
  expect(compareRuns(run, run).left.ms).toBe(0);
});
