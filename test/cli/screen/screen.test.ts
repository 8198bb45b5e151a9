import { describe, expect, it } from "vitest";
import type { Flags } from "../../../src/cli/options.ts";
import { Screen } from "../../../src/cli/screen/screen.ts";
import { outputSettings } from "../../../src/cli/settings.ts";
import { createMessage, type Run } from "../../../src/index.ts";
import type { Observed } from "../../../src/runtime/record/event.ts";
import { SimulatedClock } from "../../../src/testing/simulated-clock.ts";
import { fakeHost, type FakeOptions } from "../fake-host.ts";
import { middleOfARun, PROFILES } from "../recorded-run.ts";
import { Terminal } from "../terminal.ts";

/** A screen that watches a run of which a test tells what happens. */
function watching(flags: Flags, options: FakeOptions = {}) {
  const clock = new SimulatedClock(5_000);
  const host = fakeHost({ clock, ...options });
  const terminal = new Terminal();
  host.stderr.on("data", (text: string) => terminal.write(text));
  const screen = new Screen(host, outputSettings(flags));
  const listeners = new Map<string, (observed: Observed) => void>();
  const run = { on: (type: string, listener: (observed: Observed) => void) => listeners.set(type, listener) } as unknown as Run;
  screen.watch(run, { rounds: 20, budget: 3_000_000, profiles: PROFILES });
  const tell = (all: readonly Observed[]): void => all.forEach((observed) => listeners.get(observed.type)?.(observed));
  return { host, clock, screen, terminal, tell };
}

describe("a screen that is no terminal", () => {
  it("Screen.S1 tells one line for each change, with the time since the run began", async () => {
    const { host, clock, tell } = watching({});
    await clock.advance(61_000);
    tell(middleOfARun);
    await clock.advance(0);
    expect(host.stderr.text.split("\n").slice(0, 2)).toEqual([
      "[1:01] Alice, Product Manager  WritePrd",
      "[1:01] Alice, Product Manager  said WritePrd; so far $0.0012, 1.2k tokens",
    ]);
    expect(clock.pending).toBe(0);
  });
});

describe("a screen on a terminal", () => {
  it("Screen.S1 draws what happens in place, and keeps lines above it", async () => {
    const { clock, screen, terminal, tell } = watching({}, { isTTY: true });
    tell(middleOfARun);
    screen.say("something to keep");
    await clock.advance(2_000);
    expect(terminal.screen[0]).toBe("something to keep");
    expect(terminal.screen[3]).toMatch(/^ {2}\S Alex, Engineer {2}/);
    expect(terminal.screen.at(-1)).toContain("round 2 of 20");
    expect(terminal.screen.at(-1)).toContain("0:02");
    screen.end();
    expect(clock.pending).toBe(0);
  });

  it("makes room for a prompt and draws again after it, also when that fails", async () => {
    const { clock, screen, terminal } = watching({}, { isTTY: true });
    await clock.advance(100);
    await expect(screen.aside(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
    await screen.aside(async () => {
      await clock.advance(0);
      expect(terminal.isCursorHidden).toBe(false);
      expect(clock.pending).toBe(0);
    });
    await clock.advance(0);
    expect(terminal.isCursorHidden).toBe(true);
    screen.end();
  });

  it.each([{ CI: "true" }, { TERM: "dumb" }])("Screen.S1 is not drawn on with %j", async (env) => {
    const { host, clock, tell } = watching({}, { isTTY: true, env });
    tell(middleOfARun);
    await clock.advance(1_000);
    expect(host.stderr.text).not.toMatch(/\u001b\[(\?25l|\d*A)/);
    expect(host.stderr.text).toContain("[0:00] Alice, Product Manager  WritePrd");
  });
});

describe("the end of the process", () => {
  it("Screen.S3 is waited for by one listener of a screen that shows a second run, and by none once that has ended", () => {
    const host = fakeHost({ isTTY: true });
    const waiting = new Set<() => void>();
    const onExit = (listener: () => void): (() => boolean) => {
      waiting.add(listener);
      return () => waiting.delete(listener);
    };
    const screen = new Screen({ ...host, onExit }, outputSettings({}));
    const run = { on: () => undefined } as unknown as Run;
    const options = { rounds: 1, budget: undefined, profiles: PROFILES };
    screen.watch(run, options);
    screen.watch(run, options);
    expect(waiting.size).toBe(1);
    screen.end();
    expect(waiting.size).toBe(0);
  });
});

describe("a quiet screen", () => {
  it("says nothing but what must be said", async () => {
    const { host, clock, screen, tell } = watching({ quiet: true }, { isTTY: true });
    tell(middleOfARun);
    screen.say("by the way");
    screen.print(["an error"]);
    await clock.advance(1_000);
    expect(host.stderr.text).toBe("an error\n");
  });
});

describe("a warning", () => {
  it("Screen.S2 that a person must see is printed once, unless quiet", async () => {
    for (const [flags, told, unseen] of [
      [{}, "the model is away\n", 0],
      [{ verbose: true }, "warning: the model is away\n", 0],
      [{ quiet: true }, "", 1],
    ] as const) {
      const { screen, host, clock } = watching(flags);
      screen.logger.error("the model is away");
      await clock.advance(0);
      expect(host.stderr.text.replace(/\u001b\[\d*m/g, "").trimStart()).toBe(told);
      expect(screen.unseenWarnings.size).toBe(unseen);
    }
  });

  it("Screen.S2 is counted, and shown when verbose", async () => {
    const counting = watching({});
    counting.screen.warn("a dead letter");
    const showing = watching({ verbose: true });
    showing.screen.warn("a dead\u001b[2J letter");
    await showing.clock.advance(0);
    counting.screen.warn("a dead letter");
    expect([counting.host.stderr.text, counting.screen.unseenWarnings]).toEqual(["", new Map([["a dead letter", 2]])]);
    expect([showing.host.stderr.text, showing.screen.unseenWarnings.size]).toEqual(["warning: a dead\\u{1b}[2J letter\n", 0]);
  });
});

describe("a conversation", () => {
  const said = (sentFrom: string, content: string, speech?: string): Observed =>
    ({
      ...{ type: "act.ended", act: `${sentFrom}#0`, role: sentFrom, round: 0, take: 1, memory: [], working: [] },
      said: [{ message: createMessage(content, { sentFrom, causeBy: "Act", speech }), to: ["Bob", sentFrom] }],
    }) as unknown as Observed;

  it("shows who says what to whom, and no step", () => {
    const { host, tell } = watching({ talk: true } as Flags);
    tell([...middleOfARun, said("Alice", "# A long document\n\nIts text.", "I am done. I doubt \u001b[2J nothing.")]);
    const lines = host.stderr.text.split("\n");
    expect(lines.slice(-4)).toEqual(["", "Alice, Product Manager to Bob", "  I am done. I doubt \\u{1b}[2J nothing.", ""]);
    expect(host.stderr.text).not.toContain("[0:");
  });

  it("shows the first paragraph of a message without a speech, and its action where there is none", () => {
    const { host, tell } = watching({ talk: true } as Flags);
    tell([said("Alice", "## The user's words\n\nA bridge.\n\nA road."), said("Alice", '{"a": 1}')]);
    expect(host.stderr.text).toBe(
      ["", "Alice, Product Manager to Bob", "  A bridge.", "", "Alice, Product Manager to Bob", "  (Act)", ""].join("\n"),
    );
  });
});
