import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CappedText } from "../../src/workspace/process.ts";

describe("CappedText", () => {
  it("gives the whole text when it fits, however it is cut into chunks", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.array(fc.integer({ min: 1, max: 5 })), (text, sizes) => {
        const bytes = Buffer.from(text);
        const capped = new CappedText(bytes.length);
        let at = 0;
        for (const size of [...sizes, bytes.length]) {
          capped.add(bytes.subarray(at, at + size));
          at += size;
        }
        expect(capped.text).toBe(text);
        expect(capped.isCut).toBe(false);
      }),
    );
  });

  it("never keeps more than the limit and the mark, and says so once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 50 }), fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1 }), (limit, chunks) => {
        const capped = new CappedText(limit);
        for (const chunk of chunks) capped.add(Buffer.from(chunk));
        const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
        const mark = `\n[output cut after ${limit} bytes]\n`;
        expect(capped.isCut).toBe(total > limit);
        expect(capped.text.length).toBeLessThanOrEqual(limit + mark.length);
        expect(capped.text.split(mark).length).toBe(total > limit ? 2 : 1);
      }),
    );
  });

  it("cuts no character in half", () => {
    const capped = new CappedText(5);
    capped.add(Buffer.from("ab𝒜𝒜"));
    expect(capped.text).toBe("ab\n[output cut after 5 bytes]\n");
  });
});
