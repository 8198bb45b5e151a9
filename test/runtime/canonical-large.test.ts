import { expect, it } from "vitest";
import { canonicalLines } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";

it("tells an activation of ten thousand steps without looking at each of them for each of them", () => {
  const at = { v: 1, runId: "r", time: 0, type: "step.started", act: "A#0~1", kind: "step", try: 1, hold: 0, request: null } as const;
  let looks = 0;
  const events = Array.from({ length: 10_000 }, (_, n) => {
    const step = { ...at, seq: n, key: `k${n}.0`, name: "s", asked: 9_999 - n };
    return Object.defineProperty(step, "in", { get: () => void (looks += 1), enumerable: true }) as unknown as RunEvent;
  });
  expect(canonicalLines(events).length).toBe(10_002);
  expect(looks).toBeLessThan(100_000);
});
