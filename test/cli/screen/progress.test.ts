import { describe, expect, it } from "vitest";
import { noProgress, type Progress, progressAfter } from "../../../src/cli/screen/progress.ts";
import type { Observed, RunEventBody, RunNotice } from "../../../src/runtime/record/event.ts";
import { answered, asks, middleOfARun, recorded, says, started, takesBack, tells, word } from "../recorded-run.ts";

function after(observed: readonly Observed[]): Progress {
  return observed.reduce(progressAfter, noProgress);
}

function afterBodies(...bodies: readonly (RunEventBody | RunNotice)[]): Progress {
  return after(recorded([started(), ...bodies]));
}

const alexWorks: RunNotice = { type: "role.active", role: "Alex", news: 1 };

describe("progressAfter", () => {
  it("sums what calls cost and used, tries that failed included", () => {
    expect(after(middleOfARun)).toMatchObject({ rounds: 1, isMidRound: true, spent: 1_700, unpriced: 0, tokens: 1_200 });
  });

  it("counts in full what was in flight when the process died", () => {
    const uncertain = [
      { act: "Alex#0~1", key: "k", hold: 300 },
      { act: "Alex#0~1", key: "l", hold: 0 },
    ];
    expect(after(recorded([started(), answered("Alex", { cost: 500 }), { type: "run.resumed", uncertain }]))).toMatchObject({ spent: 800 });
  });

  it("shows who works on what", () => {
    expect(after(middleOfARun).roles).toEqual([
      { name: "Alice", work: undefined, isOpen: false, last: { kind: "said", text: "WritePrd" }, tokens: 1_200 },
      {
        name: "Alex",
        work: {
          action: undefined,
          step: {
            key: "k",
            kind: "model",
            name: "gpt-5-mini",
            topic: "WriteCode: src/game.js",
            try: 2,
            streamed: 5_000,
            isRetrying: false,
          },
        },
        isOpen: true,
        last: undefined,
        tokens: 0,
      },
      { name: "Edward", work: undefined, isOpen: false, last: undefined, tokens: 0 },
    ]);
  });

  it("counts the text of the question it shows alone, and none that was taken back", () => {
    const both = [alexWorks, asks("Alex", "one", { key: "1" }), asks("Alex", "two", { key: "2" })] as const;
    const told = afterBodies(
      ...both,
      tells("Alex", "xxx", { key: "1" }),
      tells("Alex", "yy", { key: "2" }),
      tells("Alex", "z", { key: "1" }),
    );
    expect(told.roles[1]?.work?.step).toMatchObject({ topic: "two", streamed: 2 });
    const taken = afterBodies(...both, tells("Alex", "yy", { key: "2" }), takesBack("Alex", { key: "1" }), takesBack("Alex", { key: "2" }));
    expect(taken.roles[1]?.work?.step).toMatchObject({ streamed: 0 });
  });

  it("leaves a role at work whose last activation is told late", () => {
    const progress = afterBodies(alexWorks, { type: "role.idle", role: "Alex" }, alexWorks, says("Alex", word("WriteCode")));
    expect(progress.roles[1]).toMatchObject({ work: {}, last: { text: "WriteCode" } });
  });

  it("never shows a role at work for a step that is told after it went to rest", () => {
    const progress = afterBodies(alexWorks, { type: "role.idle", role: "Alex" }, asks("Alex", "X"), tells("Alex", "x"));
    expect(progress.roles[1]?.work).toBeUndefined();
  });
});
