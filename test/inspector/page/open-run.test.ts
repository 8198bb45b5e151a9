import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenRun } from "../../../src/inspector/page/open-run.ts";
import { sampleRun } from "./sample-run.ts";

const events = await sampleRun();

describe("OpenRun", () => {
  it("has every event once, however pieces overlap (OpenRun.O1)", () => {
    const piece = fc.tuple(fc.nat(events.length), fc.nat(events.length));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const run = new OpenRun("sample");
        for (const [a, b] of pieces) run.take(events.slice(Math.min(a, b), Math.max(a, b)));
        run.take(events);
        expect(run.timeline.events().map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
        expect(run.count.value).toBe(events.length);
      }),
    );
  });

  it("takes nothing after a gap", () => {
    const run = new OpenRun("sample");
    run.take(events.slice(1));
    expect(run.count.value).toBe(0);
  });

  it("shows the newest event, or the one the scrubber stands on (OpenRun.O2)", () => {
    const run = new OpenRun("sample");
    expect(run.shown.value).toBe(-1);
    run.take(events.slice(0, 3));
    expect(run.shown.value).toBe(2);
    run.scrubbed.value = 1;
    run.take(events);
    expect(run.shown.value).toBe(1);
    run.scrubbed.value = 1_000;
    expect(run.shown.value).toBe(events.length - 1);
    run.scrubbed.value = undefined;
    expect(run.shown.value).toBe(events.length - 1);
  });
});
