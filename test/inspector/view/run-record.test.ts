import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DeliveryFact } from "../../../src/inspector/view/run-facts.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { sentMessage } from "../../../src/runtime/edges/arrivals.ts";
import { lastOf } from "../../../src/inspector/view/run-record.ts";
import { tries } from "../../long.ts";
import { changingSketch, eventsOfChangingRun, eventsOfRun, runSketch } from "./random-runs.ts";

async function timelineOf(sketch: Parameters<typeof eventsOfRun>[0]): Promise<RunTimeline> {
  const timeline = new RunTimeline();
  timeline.add(await eventsOfRun(sketch));
  expect(timeline.trouble).toBeUndefined();
  return timeline;
}

function deliveriesOf({ record: { deliveries } }: RunTimeline): readonly DeliveryFact[] {
  return Array.from({ length: deliveries.size }, (_, index) => deliveries.at(index) as DeliveryFact);
}

/** The messages that the tables have in mailboxes are those that the runtime's state has there, after every event. */
function expectDeliveriesOfState(timeline: RunTimeline): void {
  const deliveries = deliveriesOf(timeline).filter(({ isDouble }) => !isDouble);
  for (let seq = 0; seq < timeline.length; seq += 1) {
    const isOver = (end: number | undefined): boolean => end !== undefined && end <= seq;
    for (const role of timeline.stateAt(seq).roles.values()) {
      const there = deliveries.filter(
        (delivery) => delivery.role === role.name && isOver(delivery.delivered) && !isOver(delivery.consumed ?? delivery.dropped),
      );
      const ids = there.map(({ id }) => id);
      expect(ids).toHaveLength(role.waiting);
      expect(new Set(ids)).toEqual(new Set(role.news().map(({ id }) => id)));
    }
  }
}

describe("RunRecord", () => {
  test(
    "property: DeliveryTable.W1 the delivered messages are those in the mailboxes of the runtime's state, after every event",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(runSketch, async (sketch) => {
          const timeline = await timelineOf(sketch);
          expectDeliveriesOfState(timeline);
        }),
        { numRuns: tries(4, 150) },
      );
    },
  );

  test(
    "property: DeliveryTable.W3 a retired role has no message on its way, and its activation that was cut off is given up",
    { tags: "numbers" },
    async () => {
      let dead = 0;
      await fc.assert(
        fc.asyncProperty(changingSketch, async (sketch) => {
          const timeline = new RunTimeline();
          timeline.add(await eventsOfChangingRun(sketch));
          expect(timeline.trouble).toBeUndefined();
          expectDeliveriesOfState(timeline);
          const { record, now } = timeline;
          const letters = now.dead.filter(({ reason }) => reason.kind === "retired");
          expect(deliveriesOf(timeline).filter(({ isDead }) => isDead)).toHaveLength(letters.length);
          expect(record.activations.filter(({ end }) => end === "open")).toHaveLength(now.open.size);
          dead += letters.length;
        }),
        { numRuns: tries(12, 200), seed: 3 },
      );
      expect(dead).toBeGreaterThan(0);
    },
  );

  test(
    "property: RunRecord.I1 RunRecord.I2 an activation took what its mailbox had first, and the indexes in a table stay",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(runSketch, async (sketch) => {
          const events = await eventsOfRun(sketch);
          const timeline = new RunTimeline();
          for (const event of events) {
            const { steps, activations } = timeline.record;
            const known = [steps.at(-1), activations.at(-1)];
            timeline.add([event]);
            expect([steps[known[0]?.index ?? -1], activations[known[1]?.index ?? -1]]).toEqual(known);
          }
          for (const { from, role, took, act } of timeline.record.activations) {
            const opening = timeline.event(from);
            const take = opening !== undefined && "take" in opening ? opening.take : 0;
            const news =
              timeline
                .stateAt(from - 1)
                .roles.get(role)
                ?.news(take) ?? [];
            // Copies and rewritten messages stand for the one that was sent.
            expect(
              took.map((index) => timeline.record.sent[index]?.message),
              act,
            ).toEqual(news.map(sentMessage));
          }
          for (const [index, step] of timeline.record.steps.entries()) expect(step.index).toBe(index);
        }),
        { numRuns: tries(4, 150) },
      );
    },
  );

  test("property: DeliveryTable.W2 a window has every delivery that touches it, and no other", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, fc.nat(), fc.nat(), async (sketch, a, b) => {
        const timeline = await timelineOf(sketch);
        const [from, until] = [a % timeline.length, b % timeline.length].toSorted((x, y) => x - y) as [number, number];
        const touching = deliveriesOf(timeline).filter((delivery) => delivery.from <= until && lastOf(delivery) >= from);
        expect([...timeline.record.deliveries.between(from, until)]).toEqual(touching);
      }),
      { numRuns: tries(4, 150) },
    );
  });

  test("property: costs, tokens and calls are those of the runtime's ledger", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, async (sketch) => {
        const { record, now } = await timelineOf({ ...sketch, diesAt: null });
        const sum = (of: (step: (typeof record.steps)[number]) => number): number =>
          record.steps.reduce((total, step) => total + of(step), 0);
        expect(sum(({ cost }) => cost)).toBe(now.ledger.spent);
        expect(sum(({ inputTokens }) => inputTokens)).toBe(now.ledger.usage.inputTokens);
        expect(record.activations.reduce((total, { cost }) => total + cost, 0)).toBe(now.ledger.spent);
        expect(record.activations.filter(({ end }) => end === "ended" || end === "dead")).toHaveLength(now.activations);
        expect(record.activations.filter(({ end }) => end === "open")).toHaveLength(now.open.size);
      }),
      { numRuns: tries(4, 100) },
    );
  });
});
