import { beforeEach, describe, expect, it } from "vitest";
import { LiveRegion, type Size } from "../../../src/cli/screen/screen.ts";
import { SimulatedClock } from "../../../src/testing/simulated-clock.ts";
import { FakeStream } from "../fake-host.ts";
import { Terminal } from "../terminal.ts";

let clock: SimulatedClock;
let sink: FakeStream;
let terminal: Terminal;
let lines: readonly string[];
let draws: { readonly size: Size; readonly tick: number }[];
let region: LiveRegion;

beforeEach(() => {
  clock = new SimulatedClock();
  sink = new FakeStream(true);
  terminal = new Terminal();
  sink.on("data", (text: string) => terminal.write(text));
  lines = ["one", "two"];
  draws = [];
  region = new LiveRegion(sink, clock, (size, tick) => {
    draws.push({ size, tick });
    return lines;
  });
});

describe("LiveRegion", () => {
  it("LiveRegion.L1 draws at most every 100 ms, however long it takes", async () => {
    region.start();
    await clock.advance(10_050);
    expect(draws.map(({ tick }) => tick)).toEqual(Array.from({ length: 101 }, (_, n) => n));
    region.start();
    expect(draws).toHaveLength(101);
  });

  it("LiveRegion.L2 erases as many lines as a narrower terminal made of them", async () => {
    lines = ["x".repeat(70), "y"];
    region.start();
    await clock.advance(0);
    sink.text = "";
    sink.columns = 30;
    await clock.advance(100);
    expect(sink.text).toContain("\u001b[4A");
  });

  it("LiveRegion.L3 hides the cursor while it draws on, and never after", async () => {
    region.start();
    await clock.advance(0);
    expect(terminal.isCursorHidden).toBe(true);
    region.suspend();
    await clock.advance(0);
    expect(terminal.isCursorHidden).toBe(false);
    region.start();
    region.stop();
    await clock.advance(0);
    expect(terminal.isCursorHidden).toBe(false);
    region.start();
    region.restore();
    await clock.advance(0);
    expect(terminal.isCursorHidden).toBe(false);
    expect(clock.pending).toBe(0);
  });

  it("LiveRegion.L4 leaves the last column and the last line free", () => {
    sink.columns = 50;
    sink.rows = 10;
    region.start();
    expect(draws[0]?.size).toEqual({ width: 49, height: 9 });
  });
});
