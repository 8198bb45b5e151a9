import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { OpenRun } from "../../../src/inspector/page/open-run.ts";
import type { RunEvent } from "../../../src/index.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { longRun } from "./long-run.ts";
import { sampleRun } from "./sample-run.ts";

const events = await sampleRun();

/** A time that stands, and moves by so many milliseconds when it is read. */
class SlowTime {
  #now = 0;
  readonly #step: number;
  readonly #waiting: (() => void)[] = [];

  constructor(step = 0) {
    this.#step = step;
  }

  readonly now = (): number => (this.#now += this.#step);
  readonly after = (_ms: number, work: () => void): void => void this.#waiting.push(work);

  /** Lets the pause end. False when nothing waited for it. */
  goOn(): boolean {
    const [work] = this.#waiting.splice(0, 1);
    work?.();
    return work !== undefined;
  }
}

describe("OpenRun", () => {
  it("has every event once, however pieces overlap (OpenRun.O1)", () => {
    const piece = fc.tuple(fc.nat(events.length), fc.nat(events.length));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const time = new SlowTime(15);
        const run = new OpenRun("sample", time);
        for (const [a, b] of pieces) run.take(events.slice(Math.min(a, b), Math.max(a, b)));
        run.take(events);
        while (time.goOn());
        expect(run.timeline.events().map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq));
        expect(run.count.value).toBe(events.length);
      }),
    );
  });

  it("folds a long run in slices of time, and tells once for each (OpenRun.O3)", () => {
    const long = longRun(2_000);
    const time = new SlowTime(5);
    const run = new OpenRun("long", time);
    const told: number[] = [];
    run.count.subscribe((count) => told.push(count));
    run.take(long);
    expect(run.count.value).toBeGreaterThan(0);
    expect(run.count.value).toBeLessThan(1_000);
    expect(run.known.value).toBe(long.length);
    const first = run.count.value;
    run.scrubbed.value = 3;
    expect(run.shown.value).toBe(3);
    let slices = 1;
    while (time.goOn()) slices += 1;
    expect(run.count.value).toBe(long.length);
    expect(told.length).toBeLessThanOrEqual(slices + 1);
    expect(told[1]).toBe(first);
    expect(fold(long)).toEqual(run.timeline.now);
  });

  it("takes what comes fast with one slice", () => {
    const time = new SlowTime();
    const run = new OpenRun("sample", time);
    const told: number[] = [];
    run.count.subscribe((count) => told.push(count));
    for (const event of events) run.take([event]);
    while (time.goOn());
    expect(told).toEqual([0, 1, events.length]);
  });

  it("keeps what is readable of a damaged run", () => {
    const time = new SlowTime();
    const run = new OpenRun("sample", time);
    run.take(events.map((event) => (event.seq === 4 ? ({ seq: 4 } as RunEvent) : event)));
    while (time.goOn());
    expect(run.count.value).toBe(4);
    expect(run.known.value).toBe(4);
    expect(run.connection.value.state).toBe("refused");
  });

  it("takes nothing after a gap", () => {
    const run = new OpenRun("sample");
    run.take(events.slice(1));
    expect(run.count.value).toBe(0);
  });

  it("shows the newest event, or the one the scrubber stands on (OpenRun.O2)", () => {
    const time = new SlowTime();
    const run = new OpenRun("sample", time);
    expect(run.shown.value).toBe(-1);
    run.take(events.slice(0, 3));
    expect(run.shown.value).toBe(2);
    run.scrubbed.value = 1;
    run.take(events);
    while (time.goOn());
    expect(run.shown.value).toBe(1);
    run.scrubbed.value = 1_000;
    expect(run.shown.value).toBe(events.length - 1);
    run.scrubbed.value = undefined;
    expect(run.shown.value).toBe(events.length - 1);
  });
});
