import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { apply, fold } from "../../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { tries } from "../../long.ts";
import { stateText } from "../../runtime/state-text.ts";
import { eventsOfRun, runSketch } from "./random-runs.ts";

/** The state after each event, and before the first, by the runtime alone. */
function statesOf(events: readonly RunEvent[]): readonly string[] {
  const state = new RunState("");
  const texts = [stateText(state)];
  for (const event of events) {
    apply(state, event);
    texts.push(stateText(state));
  }
  return texts;
}

/** Cuts a list at indexes of a list. */
function chunked<T>(list: readonly T[], sizes: readonly number[]): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = [];
  let at = 0;
  for (let nth = 0; at < list.length; nth += 1) {
    const size = sizes[nth % sizes.length] ?? list.length;
    chunks.push(list.slice(at, at + size));
    at += size;
  }
  return chunks;
}

describe("RunTimeline", () => {
  test(
    "property: RunTimeline.T1 RunTimeline.T2 every state is the runtime's, in any chunks and in any order of asking",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          runSketch,
          fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
          fc.constantFrom(1, 2, 7, 1_024),
          fc.array(fc.nat(), { minLength: 4, maxLength: 12 }),
          async (sketch, sizes, spacing, jumps) => {
            const events = await eventsOfRun(sketch);
            const expected = statesOf(events);
            const timeline = new RunTimeline({ spacing });
            for (const chunk of chunked(events, sizes)) {
              expect(timeline.add(chunk)).toBe(chunk.length);
              expect(stateText(timeline.now)).toBe(expected[timeline.length]);
              const seq = (jumps[timeline.length % jumps.length] ?? 0) % timeline.length;
              expect(stateText(timeline.stateAt(seq))).toBe(expected[seq + 1]);
            }
            for (let seq = -1; seq < events.length; seq += 1) expect(stateText(timeline.stateAt(seq))).toBe(expected[seq + 1]);
            for (let seq = events.length - 1; seq >= -1; seq -= 2) expect(stateText(timeline.stateAt(seq))).toBe(expected[seq + 1]);
            for (const jump of jumps)
              expect(stateText(timeline.stateAt((jump % (events.length + 1)) - 1))).toBe(expected[jump % (events.length + 1)]);
            expect(stateText(timeline.now)).toBe(stateText(fold(events)));
          },
        ),
        { numRuns: tries(5, 150) },
      );
    },
  );

  test("RunTimeline.T3 an event of a newer version, or one that does not fit, ends the timeline and leaves what came before", async () => {
    const [sketch] = fc.sample(runSketch, { numRuns: 1, seed: 7 });
    const events = await eventsOfRun(sketch as Parameters<typeof eventsOfRun>[0]);
    const last = events.at(-1) as RunEvent;
    const half = events.slice(0, Math.ceil(events.length / 2));
    for (const [bad, code] of [
      [{ ...last, seq: half.length, v: 99 }, "EVENT_NEWER"],
      [{ ...last, seq: half.length + 3 }, "JOURNAL_GAP"],
      [{ ...last, seq: half.length, type: "round.ended", round: 999 }, "JOURNAL_DAMAGED"],
      [{ ...last, seq: half.length, type: "act.ended", act: "Nobody#0~1", role: "Nobody", take: 1 }, "JOURNAL_DAMAGED"],
    ] as const) {
      const timeline = new RunTimeline();
      expect(timeline.add([...half, bad as RunEvent, ...events])).toBe(half.length);
      expect(timeline.trouble?.code).toBe(code);
      expect(stateText(timeline.now)).toBe(stateText(fold(half)));
      expect(stateText(timeline.stateAt(0))).toBe(stateText(fold(half.slice(0, 1))));
    }
  });

  test("events that are there already are skipped", async () => {
    const [sketch] = fc.sample(runSketch, { numRuns: 1, seed: 8 });
    const events = await eventsOfRun(sketch as Parameters<typeof eventsOfRun>[0]);
    const timeline = new RunTimeline();
    timeline.add(events.slice(0, 5));
    expect(timeline.add(events)).toBe(events.length - 5);
    expect(timeline.events(1, 3)).toEqual(events.slice(1, 4));
  });
});
