import { describe, expect, it } from "vitest";
import { plainLine } from "../../../src/cli/screen/rows.ts";
import { noProgress, progressAfter } from "../../../src/cli/screen/progress.ts";
import type { Observed } from "../../../src/runtime/record/event.ts";
import { asks, does, fails, middleOfARun, PROFILES, recorded, says, started, word } from "../recorded-run.ts";

function lines(observed: readonly Observed[]): readonly string[] {
  let progress = noProgress;
  return observed.flatMap((one) => {
    progress = progressAfter(progress, one);
    return plainLine(progress, one, PROFILES) ?? [];
  });
}

describe("plainLine", () => {
  it("tells a run line by line", () => {
    expect(lines(middleOfARun)).toMatchInlineSnapshot(`
      [
        "Alice, Product Manager  WritePrd",
        "Alice, Product Manager  said WritePrd; so far $0.0012, 1.2k tokens",
        "Alex, Engineer  WriteCode: src/game.js",
        "Alex, Engineer  try 1 failed (MODEL_SERVER)",
      ]
    `);
  });

  it("tells what takes long and not what is over at once", () => {
    const steps = recorded([
      started(),
      does("Edward", "run tests", { files: {} }),
      does("Edward", "commit", { message: "m" }),
      does("Edward", "write file", { path: "a", content: "" }),
      does("Edward", "ask", { question: "?" }, "human"),
    ]);
    expect(lines(steps)).toEqual(["Edward, QA Engineer  run tests", "Edward, QA Engineer  asks a person"]);
  });

  it("tells failures, and whether they are tried again", () => {
    const failures = recorded([started(), fails("Alex", "no disk", "retry"), fails("Alex", "no \u0007disk"), says("Alex")]);
    expect(lines(failures)).toEqual(["Alex, Engineer  failed, tries again: no disk", "Alex, Engineer  failed: no \\u{7}disk"]);
  });

  it("does not call a try failed that was cut short", () => {
    const cut = { act: "Alex#0~1", key: "k", try: 1, ok: false, retry: true, cost: 500, basis: "hold", at: 0 } as const;
    expect(lines(recorded([started(), { type: "step.ended", ...cut }]))).toEqual([]);
  });

  it("tells an action by what it does, not once more by its name", () => {
    const begun = recorded([
      started(),
      { type: "action.started", role: "Alex", action: "WriteCode" },
      asks("Alex", "WriteCode: src/game.js"),
    ]);
    expect(lines(begun)).toEqual(["Alex, Engineer  WriteCode: src/game.js"]);
  });

  it("tells nothing of cost before there is any", () => {
    expect(lines(recorded([started(), says("Alex", word("WriteCode"))]))).toEqual(["Alex, Engineer  said WriteCode"]);
  });

  it("is one line, whatever the model called its files", () => {
    const line = lines(recorded([started(), does("Alex", "x\ny\u2028z\u001b]0;title\u0007", { files: {} })])).join();
    expect(line).not.toMatch(/[\p{Cc}\p{Zl}]/u);
  });
});
