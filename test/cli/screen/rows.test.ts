import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { styleFor, widthOf, withoutCodes } from "../../../src/cli/screen/text.ts";
import { Progress } from "../../../src/cli/screen/progress.ts";
import { checksIn, type Frame, plainLine, progressLines } from "../../../src/cli/screen/rows.ts";
import type { Observed, RunEventBody, RunNotice } from "../../../src/runtime/record/event.ts";
import { answered, asks, does, fails, middleOfARun, PROFILES, progressOf, recorded, started } from "../recorded-run.ts";

const frame: Frame = {
  width: 79,
  height: 23,
  style: styleFor(false),
  age: 42_000,
  tick: 0,
  rounds: 20,
  budget: 3_000_000,
  hasEnded: false,
  profiles: PROFILES,
};

function drawn(observed: readonly Observed[], o: Partial<Frame> = {}): string {
  return progressLines(progressOf(observed), { ...frame, ...o }).join("\n");
}

describe("progressLines", () => {
  it("draws a row for each role and what it cost so far, at 80 columns", () => {
    expect(drawn(middleOfARun)).toMatchInlineSnapshot(`
      "
        ✓ Alice, Product Manager  WritePrd                                   1.2k tok
        ⠋ Alex, Engineer          WriteCode: src/game.js, try 2, ~1.3k tok
        · Edward, QA Engineer     waits
        $0.0017 of $3.00 · round 2 of 20 · 1.2k tokens · 0:42"
    `);
  });

  it("names the roles that had no work in one line when all has ended, and not before", () => {
    const done = new Progress();
    const last = { kind: "said", text: "Specify" } as const;
    for (const name of ["Ann", "Ben", "Cid"])
      done.roles.set(name, { name, work: undefined, isOpen: false, last: name === "Ann" ? last : undefined, tokens: 0 });
    const lines = progressLines(done, { ...frame, hasEnded: true });
    expect(lines.slice(1, 3)).toEqual(["  ✓ Ann  Specify", "  · had no work: Ben, Cid"]);
    expect(progressLines(done, frame).filter((line) => line.includes("waits"))).toHaveLength(2);
  });

  it("tells a question by its own heading, and a step of another kind with the action it is of", () => {
    const begun: RunNotice[] = [
      { type: "role.active", role: "Alex", news: 1 },
      { type: "action.started", role: "Alex", action: "DebugError" },
    ];
    const rowOf = (step: RunEventBody): string => drawn(recorded([started(), ...begun, step])).split("\n")[2] ?? "";
    expect(rowOf(asks("Alex", "FixCode: src/game.js"))).toContain("  FixCode: src/game.js");
    expect(rowOf(does("Alex", "read files", {}))).toContain("  DebugError: read files");
  });

  it("leaves out profiles and tokens where it is narrow", () => {
    expect(drawn(middleOfARun, { width: 39 })).toMatchInlineSnapshot(`
      "
        ✓ Alice   WritePrd
        ⠋ Alex    WriteCode: src/game.js, tr…
        · Edward  waits
        $0.0017 of $3.00 · round 2 of 20"
    `);
  });

  it("shows a failure in its row, as one line without codes for the terminal", () => {
    const failed = recorded([started(), fails("Alex", "no\ndisk \u001b[31mleft")]);
    expect(drawn(failed).split("\n")[2]).toMatchInlineSnapshot(`"  ✗ Alex, Engineer          failed: no disk \\u{1b}[31mleft"`);
  });

  it("says $? for a price nobody knows, and no cap where none binds", () => {
    expect(
      progressLines(Object.assign(progressOf(middleOfARun), { spent: 0, unpriced: 2 }), { ...frame, budget: undefined }).at(-1),
    ).toContain("  $? · round 2");
  });

  it("shows those at work first where there are more roles than lines", () => {
    const text = drawn(middleOfARun, { height: 5 });
    expect(text).toContain("Alex");
    expect(text).toContain("and 2 more");
    expect(text).not.toContain("Alice");
  });

  it("draws no line wider than its frame, whatever names and texts are", () => {
    const wild = fc.string({ unit: "grapheme", maxLength: 60 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.tuple(wild, wild), { maxLength: 6 }),
        fc.boolean(),
        (width, roles, isColored) => {
          const names = roles.map(([name], n) => ({ name: `${name}${n}`, text: roles[n]?.[1] ?? "" }));
          const events = recorded([
            {
              type: "run.started",
              team: "t",
              roles: names.map(({ name }) => ({ name, fingerprint: "f", traits: {}, state: {} })),
              seed: "s",
              scheduler: "rounds",
            },
            ...names.map(({ name, text }) => fails(name, text)),
          ]);
          const lines = progressLines(progressOf(events), { ...frame, width, style: styleFor(isColored), profiles: new Map() });
          for (const line of lines) expect(widthOf(withoutCodes(line))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});

function plainLines(observed: readonly Observed[]): readonly string[] {
  const progress = new Progress();
  return observed.flatMap((one) => {
    progress.add(one);
    return plainLine(progress, one, PROFILES) ?? [];
  });
}

describe("plainLine", () => {
  it("tells a run line by line", () => {
    expect(plainLines(middleOfARun)).toMatchInlineSnapshot(`
      [
        "Alice, Product Manager  WritePrd",
        "Alice, Product Manager  said WritePrd; so far $0.0012, 1.2k tokens",
        "Alex, Engineer  WriteCode: src/game.js",
        "Alex, Engineer  try 1 failed (MODEL_SERVER)",
      ]
    `);
  });
});

describe("checksIn", () => {
  const active: RunNotice = { type: "role.active", role: "Alex", news: 1 };
  const suite = { language: "javascript", kind: "failed", total: 5, passed: 3, failed: 2, skipped: 0 };
  const check = (request: object): RunEventBody => does("Alex", "verify project", { criteria: [], ...request });
  const whoseOf = (...steps: readonly RunEventBody[]): string | undefined => {
    const seen = progressOf(recorded([started(), active, ...steps]));
    const [end] = recorded([
      { ...answered("Alex", { key: "verify project" }), value: { verdicts: [], suites: [suite], faults: [] } } as RunEventBody,
    ]);
    return end && checksIn(seen, end, PROFILES)?.whose;
  };

  it("says whose tests they are: of the task, or of the whole once there are tasks", () => {
    expect(whoseOf(check({}))).toBe("");
    expect(whoseOf(check({ task: "T2" }))).toBe(" of task T2");
    expect(whoseOf(check({ task: "T\u001b[2J" }))).toBe(" of task T\\u{1b}[2J");
    expect(whoseOf(check({ task: "T2" }), check({}))).toBe(" of the whole");
    expect(whoseOf(does("Alex", "tidy up", { task: "T2" }), check({}))).toBe("");
  });
});
