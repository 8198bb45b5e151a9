import { describe, expect, it } from "vitest";
import type { Progress } from "../../../src/cli/screen/progress.ts";
import type { RunEventBody, RunNotice } from "../../../src/runtime/record/event.ts";
import { answered, asks, middleOfARun, progressOf, recorded, says, started, takesBack, tells, word } from "../recorded-run.ts";

function afterBodies(...bodies: readonly (RunEventBody | RunNotice)[]): Progress {
  return progressOf(recorded([started(), ...bodies]));
}

const alexWorks: RunNotice = { type: "role.active", role: "Alex", news: 1 };

describe("Progress", () => {
  it("sums what calls cost and used, tries that failed included", () => {
    expect(progressOf(middleOfARun)).toMatchObject({ rounds: 1, isMidRound: true, spent: 1_700, unpriced: 0, tokens: 1_200 });
  });

  it("counts in full what was in flight when the process died", () => {
    const uncertain = [
      { act: "Alex#0~1", key: "k", hold: 300 },
      { act: "Alex#0~1", key: "l", hold: 0 },
    ];
    expect(progressOf(recorded([started(), answered("Alex", { cost: 500 }), { type: "run.resumed", uncertain }]))).toMatchObject({
      spent: 800,
    });
  });

  it("shows who works on what", () => {
    expect([...progressOf(middleOfARun).roles.values()]).toEqual([
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
            task: undefined,
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
    expect(told.roles.get("Alex")?.work?.step).toMatchObject({ topic: "two", streamed: 2 });
    const taken = afterBodies(...both, tells("Alex", "yy", { key: "2" }), takesBack("Alex", { key: "1" }), takesBack("Alex", { key: "2" }));
    expect(taken.roles.get("Alex")?.work?.step).toMatchObject({ streamed: 0 });
  });

  it("leaves a role at work whose last activation is told late", () => {
    const progress = afterBodies(alexWorks, { type: "role.idle", role: "Alex" }, alexWorks, says("Alex", word("WriteCode")));
    expect(progress.roles.get("Alex")).toMatchObject({ work: {}, last: { text: "WriteCode" } });
  });

  it("never shows a role at work for a step that is told after it went to rest", () => {
    const progress = afterBodies(alexWorks, { type: "role.idle", role: "Alex" }, asks("Alex", "X"), tells("Alex", "x"));
    expect(progress.roles.get("Alex")?.work).toBeUndefined();
  });
});
