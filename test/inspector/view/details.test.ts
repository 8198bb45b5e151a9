import fc from "fast-check";
import { expect, test } from "vitest";
import { activationDetail, messageDetail, stepDetail } from "../../../src/inspector/view/detail.ts";
import { compareRuns } from "../../../src/inspector/view/run-comparison.ts";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { tries } from "../../long.ts";
import { changingSketch, eventsOfChangingRun, eventsOfRun, runSketch } from "./random-runs.ts";

test("property: a detail at an event is that of a run that ends there", { tags: "numbers" }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(runSketch.map(eventsOfRun), changingSketch.map(eventsOfChangingRun)), fc.nat(), async (events, a) => {
      const run = new RunTimeline();
      run.add(await events);
      const seq = a % run.length;
      const cut = new RunTimeline();
      cut.add(run.events(0, seq));
      for (const index of run.record.activations.keys()) expect(activationDetail(run, index, seq)).toEqual(activationDetail(cut, index));
      for (const index of run.record.sent.keys()) expect(messageDetail(run, index, seq)).toEqual(messageDetail(cut, index));
      for (const index of cut.record.steps.keys()) expect(stepDetail(run, index, seq)).toEqual(stepDetail(cut, index));
    }),
    { numRuns: tries(6, 150) },
  );
});

test(
  "property: details have every event of a step and every recipient of a message; a run equals itself",
  { tags: "numbers" },
  async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, async (sketch) => {
        const run = new RunTimeline();
        run.add(await eventsOfRun(sketch));
        const { record } = run;
        for (const { index, tries: count, ok, cost } of record.steps) {
          const detail = stepDetail(run, index);
          expect(detail?.tries).toHaveLength(count);
          expect(detail?.tries.reduce((sum, one) => sum + (one.cost ?? 0), 0)).toBe(cost);
          if (ok === true) expect(detail?.answer).toBeDefined();
        }
        for (const { index, message, isRemoved } of record.sent) {
          const detail = messageDetail(run, index);
          expect(detail?.parents.map(({ id }) => id)).toEqual(message.parents);
          expect(detail?.recipients.length).toBe(isRemoved ? 0 : record.sent[index]?.deliveries.length);
        }
        for (const { index, end } of record.activations) expect(activationDetail(run, index)?.changes !== undefined).toBe(end === "ended");
        expect(compareRuns(run, run)).toMatchObject({ first: undefined, left: { known: run.now.ledger.spent } });
      }),
      { numRuns: tries(4, 100) },
    );
  },
);
