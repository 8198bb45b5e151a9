import fc from "fast-check";
import { parseEvent } from "../../../src/runtime/record/parse-event.ts";
import { describe, expect, test } from "vitest";
import { RunTimeline } from "../../../src/inspector/view/run-timeline.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { eraserOf, erasing, namesIn } from "../../../src/runtime/record/erased-event.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import type { RunState } from "../../../src/runtime/record/run-state.ts";
import { changingSketch, eventsOfChangingRun, eventsOfRun, runSketch } from "../../inspector/view/random-runs.ts";

function shapeOf(state: RunState): unknown {
  const roles = [...state.roles.values()].map(({ name, n, waiting, isHired, memory }) => [name, n, waiting, isHired, memory.size]);
  const { round, tick, delivered, activations, phase, ledger } = state;
  return { roles, round, tick, delivered, activations, status: phase.phase === "ended" ? phase.status : "running", spent: ledger.spent };
}

function wordsIn(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    const sent = event.type === "message" ? [event] : event.type === "act.ended" ? event.said : [];
    return sent.flatMap(({ message: { content, speech = "" } }) => [content, speech]).filter((content) => content.length > 3);
  });
}

function expectErased(events: readonly RunEvent[]): void {
  const { all, count } = eraserOf("key", 1);
  const erased = events.map(erasing(all, namesIn(events)));
  expect(shapeOf(fold(erased))).toEqual(shapeOf(fold(events)));
  for (const event of erased) expect(parseEvent(JSON.parse(JSON.stringify(event)))).toBeTruthy();
  const timeline = new RunTimeline();
  const { v, runId, time } = erased.at(-1) as RunEvent;
  timeline.add([...erased, { v, runId, seq: erased.length, time, type: "run.erased", texts: count() }]);
  expect(timeline.trouble).toBeUndefined();
  const text = JSON.stringify(erased);
  expect(wordsIn(events).filter((words) => text.includes(JSON.stringify(words)))).toEqual([]);
}

describe("an erased record", () => {
  test("property: folds to a state of the same shape, fits the schema and the short form, and has no word of a message", async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, async (sketch) => expectErased(await eventsOfRun(sketch))),
      { numRuns: 12 },
    );
    await fc.assert(
      fc.asyncProperty(changingSketch, async (sketch) => expectErased(await eventsOfChangingRun(sketch))),
      { numRuns: 6 },
    );
  });

  test("keeps what does not repeat a text, where others have recalled it", () => {
    const { repeating } = eraserOf("key", 1);
    const { text } = repeating(["My code is 4711.", "ok"]);
    expect(['{"text":"ok"}', "that is ok", "ok", 'He said: {"text":"My code is 4711."}', "4711"].map((one) => text(one) !== one)).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
  });
});
