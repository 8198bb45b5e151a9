import fc from "fast-check";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { jsonLine, JsonLines } from "../../src/cli/output.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";

/** Deletes, ends of lines, orders to a terminal, and what turns a text round or hides in it. */
const hidden = ["\u007f", "\u0085", "\u009b", "\u200b", "\u202e", "\u2066", "\ufeff", "\u2028", "\u2029", "\u{e0001}"];

describe("JsonLines", () => {
  it("writes what is not seen as escapes that mean the same", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), fc.constantFrom(...hidden), (value, character) => {
        const line = jsonLine({ value, [character]: `a${character}b` });
        expect(line).not.toMatch(/[^\P{Cc}\n]|\p{Cf}|[\u2028\u2029]/u);
        expect(line.indexOf("\n")).toBe(line.length - 1);
        expect(JSON.parse(line)).toEqual(JSON.parse(JSON.stringify({ value, [character]: `a${character}b` })));
      }),
    );
    expect(jsonLine("a\u202eb\u{e0001}\u009b")).toBe('"a\\u202eb\\udb40\\udc01\\u009b"\n');
  });

  it("Lines.L1 waits for a reader that is slow", async () => {
    const sink = new PassThrough({ highWaterMark: 10, encoding: "utf8" });
    const json = new JsonLines(sink);
    let isThrough = false;
    const written = json.write({ text: "longer than the buffer" }).then(() => (isThrough = true));
    await nextMacrotask();
    expect(isThrough).toBe(false);
    sink.resume();
    await written;
    expect(isThrough).toBe(true);
  });

  it.each(["error", "close"])(
    "Lines.L2 does not wait for a reader that is gone (%s), then or later, and writes nothing more",
    async (event) => {
      const sink = new PassThrough({ highWaterMark: 1 });
      const json = new JsonLines(sink);
      const written = json.write("never read");
      sink.emit(event, new Error("gone"));
      await written;
      await json.write("never read either");
      expect(sink.readableLength).toBe(Buffer.byteLength('"never read"\n'));
    },
  );
});
