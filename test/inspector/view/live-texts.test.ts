import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LiveTexts } from "../../../src/inspector/view/live-texts.ts";
import { RunRecord } from "../../../src/inspector/view/run-record.ts";
import type { RunEvent } from "../../../src/index.ts";

const call = { role: "Ann", act: "Ann#0~1", step: "think" } as const;
const piece = (nth: number, at: number, text: string) => ({ type: "model.delta", ...call, try: nth, at, text }) as const;
const ended = (nth: number) => ({ type: "step.ended", act: call.act, key: call.step, try: nth }) as RunEvent;

describe("LiveTexts", () => {
  it("LiveTexts.X1 LiveTexts.X2 has what a try has said, marks what is missing, and keeps nothing of a try that is over", () => {
    const said = fc.record({ do: fc.constant("say"), text: fc.string({ minLength: 1 }), isLost: fc.boolean() });
    const over = fc.record({ do: fc.constantFrom("void", "end"), text: fc.constant(""), isLost: fc.constant(false) });
    fc.assert(
      fc.property(fc.array(fc.oneof({ weight: 6, arbitrary: said }, over)), (steps) => {
        const texts = new LiveTexts();
        let [nth, length, seen, lost] = [1, 0, "", false];
        for (const { do: does, text, isLost } of steps) {
          if (does === "say") {
            if (!isLost) {
              texts.hear(piece(nth, length, text), new RunRecord());
              seen += (lost && seen !== "" ? " … " : "") + text;
              expect(texts.of(call.act, call.step)).toMatchObject({ try: nth, text: seen, length: length + text.length });
            }
            lost = isLost || (lost && seen === "");
            length += text.length;
          } else {
            if (does === "void") texts.hear({ type: "model.void", ...call, try: nth }, new RunRecord());
            else texts.settle(ended(nth));
            [nth, length, seen, lost] = [nth + 1, 0, "", false];
            expect(texts.of(call.act, call.step)).toBeUndefined();
          }
          expect(texts.last(call.act)).toEqual(texts.of(call.act, call.step));
        }
      }),
    );
  });

  it("LiveTexts.X1 says that the beginning is missing", () => {
    const texts = new LiveTexts();
    texts.hear(piece(1, 5, "late"), new RunRecord());
    expect(texts.of(call.act, call.step)).toMatchObject({ text: "late", isCut: true });
    texts.hear(piece(1, 9, "r"), new RunRecord());
    expect(texts.of(call.act, call.step)).toMatchObject({ text: "later", isCut: true });
    texts.hear(piece(1, 20, "on"), new RunRecord());
    expect(texts.of(call.act, call.step)?.text).toBe("later … on");
  });

  it("LiveTexts.X2 drops what an earlier try or an answered step says, and all texts when the run ends", () => {
    const texts = new LiveTexts();
    expect(texts.hear(piece(2, 0, "two"), new RunRecord())).toBe(true);
    expect(texts.hear(piece(1, 0, "one"), new RunRecord())).toBe(false);
    expect(texts.settle(ended(1))).toBe(false);
    expect(texts.of(call.act, call.step)?.text).toBe("two");
    expect(texts.settle({ type: "run.ended", status: "stopped" } as RunEvent)).toBe(true);
    expect(texts.of(call.act, call.step)).toBeUndefined();
  });

  it("LiveTexts.X3 keeps so many characters and so many calls", () => {
    const texts = new LiveTexts();
    texts.hear(piece(1, 0, "x".repeat(99_999)), new RunRecord());
    texts.hear(piece(1, 99_999, "yyy"), new RunRecord());
    expect(texts.of(call.act, call.step)).toMatchObject({ isCut: true, length: 100_002 });
    expect(texts.of(call.act, call.step)?.text).toBe(`${"x".repeat(99_997)}yyy`);
    for (let n = 0; n < 100; n += 1) texts.hear({ ...piece(1, 0, "z"), step: `${n}` }, new RunRecord());
    expect(texts.of(call.act, call.step)).toBeUndefined();
    expect(texts.of(call.act, "0")?.text).toBe("z");
  });
});
