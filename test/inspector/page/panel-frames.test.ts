import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { edgeLines, graphLayout } from "../../../src/inspector/page/panels/graph.tsx";
import { arrowPath, barAfterKey, barPlace, type LaneFrame, tickLines, xOf } from "../../../src/inspector/page/panels/lane-drawing.tsx";
import { type Bar, lanesIn } from "../../../src/inspector/view/lanes.ts";
import type { GraphNode } from "../../../src/inspector/view/role-graph.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { faultyRun } from "./faulty-run.ts";
import { longRun } from "./long-run.ts";

const timeline = new RunTimeline();
timeline.add(longRun(400));
const frameOf = (from: number, span: number): LaneFrame => ({ from, span, width: 900, top: 0 });

describe("the drawing of lanes", () => {
  test("property: bars stay in the frame and can be hit, and arrows go from event to event", () => {
    fc.assert(
      fc.property(fc.nat({ max: 350 }), fc.integer({ min: 10, max: 400 }), (from, span) => {
        const frame = frameOf(from, span);
        const { bars, arrows } = lanesIn(timeline, { from, until: from + span - 1 });
        for (const bar of bars) {
          const { left, width } = barPlace(frame, bar);
          expect(left).toBeGreaterThanOrEqual(0);
          expect(left).toBeLessThanOrEqual(frame.width);
          expect(width).toBeGreaterThanOrEqual(7);
        }
        for (const arrow of arrows) {
          expect(arrowPath(frame, arrow)).toMatch(/^M-?[\d.]+ -?[\d.]+[CL][-\d. ]+(?:L[-\d. ]+)?$/);
          expect(xOf(frame, arrow.to)).toBeGreaterThanOrEqual(xOf(frame, arrow.from));
        }
      }),
    );
  });

  test("arrow keys reach every bar from every other one", () => {
    const drawing = lanesIn(timeline, { from: 100, until: 260 });
    const start = drawing.bars[0] as Bar;
    const reached = new Set([start]);
    for (const bar of reached)
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]) {
        const next = barAfterKey(drawing, bar, key);
        if (next !== undefined) reached.add(next);
      }
    expect(reached.size).toBe(drawing.bars.length);
    expect(barAfterKey(drawing, start, "a")).toBeUndefined();
  });
});

describe("the clock above the lanes", () => {
  test("has a line for each tick that has room, and labels that do not cover each other", () => {
    const ticks = [3, 4, 9, 20, 200].map((seq, nth) => ({ seq, tick: nth }));
    const lines = tickLines(frameOf(0, 100), ticks).map(({ tick, x, isLabelled }) => [tick.seq, Math.round(x), isLabelled]);
    expect(lines).toEqual([
      [4, 45, true],
      [9, 90, false],
      [20, 189, true],
      [200, 1_809, false],
    ]);
    expect(
      tickLines(
        frameOf(0, 400),
        [10, 12, 14].map((seq) => ({ seq, tick: seq })),
      ).map(({ tick }) => tick.seq),
    ).toEqual([10, 14]);
  });

  test("a lost message stops halfway to its recipient", async () => {
    const lossy = new RunTimeline();
    lossy.add(await faultyRun());
    const { arrows } = lanesIn(lossy, { from: 0, until: lossy.length - 1 });
    const lost = arrows.find(({ fate }) => fate === "lost");
    expect(lost && arrowPath({ from: 0, span: 20, width: 400, top: 0 }, lost)).toBe("M50 32L55 46.7");
  });
});

describe("the drawing of the graph", () => {
  test.each([1, 2, 8, 40])("%i roles do not cover each other, and lie in the field", (count) => {
    const nodes = Array.from({ length: count }, (_, nth) => ({ name: `Role ${nth}` }) as GraphNode);
    const layout = graphLayout({ nodes, edges: [] });
    const points = nodes.map(({ name }) => layout.points.get(name) ?? { x: -1, y: -1 });
    for (const [nth, a] of points.entries()) {
      expect(a.x).toBeGreaterThan(84);
      expect(a.x).toBeLessThan(layout.width - 84);
      expect(a.y).toBeGreaterThan(37);
      expect(a.y).toBeLessThan(layout.height - 37);
      for (const b of points.slice(nth + 1)) expect(Math.abs(a.x - b.x) >= 168 || Math.abs(a.y - b.y) >= 74).toBe(true);
    }
    const edge = { from: "Role 0", to: "Role 0", messages: 1, lost: 0, causes: [], isSubscribed: true };
    const [own, outside, nobody] = edgeLines(layout, [edge, { ...edge, from: "" }, { ...edge, from: "Nobody" }]);
    expect(own?.path).toMatch(/^M/);
    expect(outside?.path).toMatch(/^M-?[\d.]+ -?[\d.]+Q[-\d. ]+$/);
    expect(nobody).toBeUndefined();
  });

  test.each([2, 4, 6])("labels of all lines between %i roles do not cover each other, and lie in the field", (count) => {
    const names = Array.from({ length: count }, (_, nth) => `Role ${nth}`);
    const layout = graphLayout({ nodes: names.map((name) => ({ name }) as GraphNode), edges: [] });
    const edges = names.flatMap((from) => names.map((to) => ({ from, to, messages: 1, lost: 0, causes: [], isSubscribed: true })));
    const labels = edgeLines(layout, edges).map((line) => line?.label ?? { x: 0, y: 0 });
    expect(labels).toHaveLength(count * count);
    for (const [nth, a] of labels.entries()) {
      expect(a.y).toBeGreaterThan(10);
      expect(a.y).toBeLessThan(layout.height - 10);
      for (const b of labels.slice(nth + 1)) expect(Math.hypot(a.x - b.x, a.y - b.y)).toBeGreaterThanOrEqual(18);
    }
  });
});
