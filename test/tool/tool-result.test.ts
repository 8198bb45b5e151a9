import { describe, expect, it, test } from "vitest";
import { cutText } from "../../src/tool/shown-text.ts";
import { plainResult } from "../../src/tool/plain-result.ts";
import { combineResults, isFailure, resultText, toolFailure, toolOutput } from "../../src/tool/tool-result.ts";

const picture = { mediaType: "image/png", data: "iVBORw0KGgo=" };

describe("a result as a model reads it", () => {
  it.each([
    ["a text", toolOutput("Hello World"), "Hello World"],
    ["a failure", toolFailure("time is up"), "Error: time is up"],
    ["a failure that had printed something", toolFailure("exit code 1", { output: "warning: x" }), "Error: exit code 1\nwarning: x"],
    ["an object, where the original throws a TypeError", toolOutput({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}'],
    ["the number 0, where the original takes it for nothing", toolOutput(0), "0"],
    ["false", toolOutput(false), "false"],
    ["null", toolOutput(null), "null"],
    ["nothing", {}, "(no output)"],
    ["an empty text", toolOutput(""), "(no output)"],
    ["data alone", { data: { rows: 2 } }, '{\n  "rows": 2\n}'],
    ["data beside a text", toolOutput("2 rows", { data: { rows: 2 } }), "2 rows"],
    ["a note of the system", toolOutput("x", { system: "restart it" }), "x\nNote: restart it"],
    ["a failure without words", toolFailure(""), "Error: the tool failed and said nothing"],
  ])("%s", (_, result, text) => {
    expect(resultText(result)).toBe(text);
  });

  it("is cut where that is asked for, and says so", () => {
    expect(resultText(toolOutput("x".repeat(50_000)), 12_000)).toContain("\n[cut: 12,000 of 50,000 characters shown]\n");
  });
});

test("an empty error is a failure, an output of nothing is none", () => {
  expect(isFailure(toolFailure(""))).toBe(true);
  expect([toolOutput(0), toolOutput(""), toolOutput(false), {}].map(isFailure)).toEqual([false, false, false, false]);
});

describe("two results", () => {
  it("keep both pictures, where the original throws", () => {
    const other = { mediaType: "image/jpeg", data: "/9j/4AAQ" };
    expect(combineResults(toolOutput("a", { images: [picture] }), toolOutput("b", { images: [other] }))).toEqual({
      output: "a\nb",
      images: [picture, other],
    });
  });

  it("join texts, errors and notes, and failed when one of them did", () => {
    const both = combineResults(toolOutput("a", { system: "s" }), toolFailure("e", { output: { b: 1 }, system: "t" }));
    expect(both).toEqual({ output: 'a\n{\n  "b": 1\n}', error: "e", system: "s\nt" });
    expect(combineResults({}, {})).toEqual({});
    expect(combineResults(toolOutput({ a: 1 }, { data: 1 }), {})).toEqual({ output: { a: 1 }, data: 1 });
    expect(combineResults({ data: 1 }, { data: 2 })).toEqual({ data: [1, 2] });
  });
});

describe("a text that is cut", () => {
  it("keeps its beginning and its end and says how much is shown", () => {
    const text = `${"a".repeat(100)}${"b".repeat(100)}`;
    expect(cutText(text, 10)).toBe("aaaaaaa\n[cut: 10 of 200 characters shown]\nbbb");
    expect(cutText(text, 200)).toBe(text);
  });

  it("never tears a character apart", () => {
    const text = "😀".repeat(100);
    for (let limit = 1; limit < 20; limit++)
      expect(cutText(text, limit)).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/);
  });

  it("tells thousands apart in numbers of any length", () => {
    expect(cutText("x".repeat(1_234_567), 100)).toContain("100 of 1,234,567 characters");
  });
});

const cycle: Record<string, unknown> = { name: "loop" };
cycle["self"] = cycle;
const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

describe("the results of tools", () => {
  it.each<[string, unknown, unknown]>([
    ["a text", "x", { output: "x" }],
    ["nothing", undefined, {}],
    ["a result", { output: "x", system: "s" }, { output: "x", system: "s" }],
    ["an object with an output and more: it is the output", { output: "x", exitCode: 0 }, { output: { output: "x", exitCode: 0 } }],
    ["an object with data alone: it is the output", { data: [1] }, { output: { data: [1] } }],
    ["an error that is no text: it is the output", { error: 404 }, { output: { error: 404 } }],
    ["a list", [1, "a"], { output: [1, "a"] }],
    ["a cycle", cycle, { output: { name: "loop", self: "[cycle]" } }],
    ["a bigint", { n: 12n }, { output: { n: "12" } }],
    ["binary", new Uint8Array(3), { output: "[binary: 3 bytes]" }],
    ["a buffer", { file: Buffer.from("abc") }, { output: { file: "[binary: 3 bytes]" } }],
    ["a function", () => 1, { output: "[function]" }],
    ["a symbol", Symbol("s"), { output: "[symbol]" }],
    ["members that are undefined", { a: undefined, b: [undefined] }, { output: { b: [null] } }],
    ["numbers that JSON has not", [Number.NaN, Infinity], { output: ["NaN", "Infinity"] }],
    ["a date", { at: new Date(0) }, { output: { at: "1970-01-01T00:00:00.000Z" } }],
    ["an error as a value", { e: new Error("broken") }, { output: { e: "broken" } }],
    ["a map", new Map([["a", 1]]), { output: [["a", 1]] }],
    ["a promise inside", { p: Promise.resolve(1) }, { output: { p: "[promise: it was not awaited]" } }],
    ["a key that names the prototype", JSON.parse('{"__proto__": {"x": 1}, "a": 1}'), { output: { a: 1 } }],
    ["a revoked proxy", revoked, { error: expect.stringContaining("cannot be read") }],
    [
      "a getter that throws",
      {
        get a() {
          throw new Error("no");
        },
      },
      { output: "[cannot be read: no]" },
    ],
    ["a toJSON that throws null", { toJSON: () => thrownNull() }, { output: "[cannot be read: null]" }],
    ["half a character and the character 0", "a\ud800b\u0000c", { output: "a\ufffdb\ufffdc" }],
  ])("%s", (_, answer, result) => {
    expect(plainResult(answer, 1_000)).toEqual(result);
  });

  it("is never longer than the limit and the words that say so", () => {
    const long = "x".repeat(100_000);
    const wide = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, n]));
    for (const answer of [long, { a: long }, wide, [wide], { output: wide }, { error: long }, { output: long, error: long }]) {
      const text = resultText(plainResult(answer, 1_000));
      expect(text).toMatch(/\[cut: [\d,]+ (?:of [\d,]+ )?characters shown/);
      expect(text.length).toBeLessThan(2 * (1_000 + 100));
    }
  });

  it("is not looked at further than it is shown: an endless list ends", () => {
    const endless = new Set([1]);
    const growing = {
      *[Symbol.iterator]() {
        for (let n = 0; ; n++) yield n;
      },
    };
    Object.setPrototypeOf(growing, Set.prototype);
    expect(resultText(plainResult(growing, 100)).length).toBeLessThan(300);
    expect(plainResult(endless, 100)).toEqual({ output: [1] });
  });

  it("keeps pictures that are some, and says what it left out", () => {
    const images = [
      picture,
      { url: "https://x.test/a.png" },
      { url: "file:///etc/passwd" },
      { mediaType: "text/html", data: "PGI+" },
      { mediaType: "image/png", data: "no base64!" },
      null,
    ];
    expect(plainResult({ output: "x", images }, 100)).toEqual({
      output: "x",
      images: [picture, { url: "https://x.test/a.png" }],
      system: "4 pictures were left out: they are too large, too many, or none.",
    });
    expect(plainResult({ images: Array.from({ length: 40 }, () => picture) }, 100).images).toHaveLength(16);
  });

  it("leaves out data for programs that is too long, and says so", () => {
    expect(plainResult({ output: "x", data: "d".repeat(1_000_001) }, 100)).toEqual({
      output: "x",
      system: "The data is longer than 1000000 characters and was left out.",
    });
  });

  it("is not drowned by levels", () => {
    let deep: unknown = 1;
    for (let n = 0; n < 100_000; n++) deep = [deep];
    expect(resultText(plainResult(deep, 100_000))).toContain("[more]");
  });
});

function thrownNull(): never {
  // oxlint-disable-next-line typescript/only-throw-error
  throw null;
}
