import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply, fold } from "../../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import type { RunState } from "../../../src/runtime/record/run-state.ts";
import { continuesFrom, restored, snapshotOf } from "../../../src/runtime/snapshot/snapshot.ts";
import { tries } from "../../effort.ts";
import { eventsOfRun, runSketch } from "../../inspector/view/random-runs.ts";
import { stateText } from "../state-text.ts";

/** The state as a journal on disk gives it back, and the events after it applied. */
function reopened(state: RunState, last: RunEvent, rest: readonly RunEvent[]): RunState | undefined {
  const stored = JSON.parse(JSON.stringify(snapshotOf(state, last))) as ReturnType<typeof snapshotOf>;
  const found = restored(state.runId, stored);
  if (found === undefined || !continuesFrom(found, last)) return undefined;
  for (const event of rest) apply(found.state, event);
  return found.state;
}

describe("a snapshot", () => {
  test("property: Snapshot.S1 at every cut of any run it restores the fold, and the later events lead to the same state", async () => {
    await fc.assert(
      fc.asyncProperty(runSketch, async (sketch) => {
        const events = await eventsOfRun(sketch);
        const whole = stateText(fold(events));
        const state = fold([]);
        for (const [place, event] of events.entries()) {
          apply(state, event);
          const found = reopened(state, event, []);
          if (found === undefined) throw new Error(`no state after event ${place}, ${event.type}`);
          expect(stateText(found)).toBe(stateText(state));
          expect(snapshotOf(found, event)).toEqual(snapshotOf(state, event));
          expect(stateText(reopened(state, event, events.slice(place + 1)) ?? found)).toBe(whole);
        }
      }),
      { numRuns: tries(1, 150) },
    );
  });
});
