import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { JsonLines } from "../../src/cli/ndjson.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";

describe("JsonLines", () => {
  it("writes one line for each value, also where a text holds separators", async () => {
    const sink = new PassThrough({ encoding: "utf8" });
    const json = new JsonLines(sink);
    const values = [{ a: 1 }, { text: "one\ntwo\u2028three\u2029" }, null];
    for (const value of values) await json.write(value);
    const lines = String(sink.read())
      .trimEnd()
      .split(/[\n\u2028\u2029]/);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(values);
  });

  it("waits for a reader that is slow", async () => {
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

  it.each(["error", "close"])("does not wait for a reader that is gone (%s), then or later", async (event) => {
    const sink = new PassThrough({ highWaterMark: 1 });
    const json = new JsonLines(sink);
    const written = json.write("never read");
    sink.emit(event, new Error("gone"));
    await written;
    await json.write("never read either");
    expect(sink.readableLength).toBe(Buffer.byteLength('"never read"\n'));
  });
});
