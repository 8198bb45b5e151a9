import { expect, test } from "vitest";
import { systemClock } from "../../../src/kernel/clock.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { RunState } from "../../../src/runtime/record/run-state.ts";
import { SnapshotWriter } from "../../../src/runtime/snapshot/snapshot.ts";

test("SnapshotWriter.W4 a state that cannot be written at all is a warning, once", async () => {
  const warnings: string[] = [];
  const state = Object.assign(new RunState("r", true), { about: () => "no data" });
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
  expect(warnings).toEqual([expect.stringContaining("could not be cloned")]);
});
