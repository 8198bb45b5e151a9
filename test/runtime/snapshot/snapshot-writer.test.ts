import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { SnapshotWriter } from "../../../src/runtime/snapshot/snapshot-writer.ts";

afterEach(() => {
  vi.doUnmock("../../../src/runtime/snapshot/snapshot.ts");
});

describe("SnapshotWriter.W4 a failure is a warning, once, and does not end the run", () => {
  test("also where the state cannot be written at all", async () => {
    let begun = 0;
    vi.doMock("../../../src/runtime/snapshot/snapshot.ts", () => ({
      writtenSnapshot: (): never => {
        begun += 1;
        throw new Error("no such state");
      },
    }));
    const warnings: string[] = [];
    const state = new RunState("r", true);
    const writer = new SnapshotWriter({
      state,
      owned: { journal: memoryJournal(), epoch: 1 },
      every: 1,
      clock: systemClock,
      warn: (_role, text) => void warnings.push(text),
    });
    const latest: RunEvent = { v: 1, runId: "r", seq: 0, time: 1, type: "round.ended", round: 0 };
    for (const seq of [1, 1, 2]) {
      state.seq = seq;
      writer.durable(seq, latest);
      await writer.rest();
    }
    expect(warnings).toEqual([expect.stringContaining("no such state")]);
    // At the second event nothing new had become durable.
    expect(begun).toBe(2);
  });
});
