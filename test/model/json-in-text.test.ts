import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJson } from "../../src/model/json-in-text.ts";
import { MAX_DEPTH } from "../../src/model/json-reader.ts";
import { tries } from "../long.ts";

const first = (text: string): unknown => findJson(text).values[0]?.value;

/** A JSON value without the one key that is dropped on purpose, and without -0, which JSON has no word for. */
const json = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));
const composite = fc
  .oneof(fc.dictionary(fc.string(), json), fc.array(json))
  .filter((value) => !JSON.stringify(value).includes("__proto__"));

describe("findJson reads what is JSON", () => {
  it("property: any object or array, as JSON.parse does", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(composite, fc.constantFrom(undefined, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(first(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: tries(100, 1_200) },
    );
  });

  it("property: and the same behind a space, whatever is wrong with it", { tags: "numbers" }, () => {
    const nested = (depth: number): string => `${"[".repeat(depth)}1${"]".repeat(depth)}`;
    const whole = fc.oneof(
      composite.map((value) => JSON.stringify(value)),
      fc.constantFrom(
        '{"__proto__":{"a":1},"b":2}',
        '{"\\u005f_proto__":1,"b":2}',
        '{"a":1,"a":2,"1":3}',
        "[1e999]",
        "[-0,1e5]",
        "{}",
        "[]",
        "[1]]",
      ),
      fc.constantFrom(
        nested(MAX_DEPTH),
        nested(MAX_DEPTH + 1),
        `[${nested(MAX_DEPTH)}]`,
        '["\\ud800"]',
        '["\n"]',
        "{'a':1}",
        "{}{}",
        "[1]#[2]",
      ),
    );
    const spoiled = fc.tuple(whole, fc.nat(), fc.constantFrom(undefined, "", "x", '"', "\\", "{", "]", ",", "\n"), fc.boolean());
    fc.assert(
      fc.property(spoiled, ([text, place, other, isCut]) => {
        const at = place % text.length;
        const read = other === undefined ? text : text.slice(0, at) + other + text.slice(isCut ? at + 1 : at);
        const { values, broken } = findJson(` ${read}`);
        const shifted = values.map(({ value, start, end }) => ({ value, start: start - 1, end: end - 1 }));
        expect(findJson(read).values).toEqual(shifted);
        expect(JSON.stringify(findJson(read).values)).toBe(JSON.stringify(shifted));
        expect(findJson(read).broken).toEqual(broken && { ...broken, start: broken.start - 1, end: broken.end - 1, at: broken.at - 1 });
      }),
      { numRuns: tries(100, 4_000) },
    );
  });

  it("property: also fenced, with a byte order mark, and with prose around", { tags: "numbers" }, () => {
    const prose = fc.string().map((words) => words.replace(/[{}[\]"'`]/g, " "));
    fc.assert(
      fc.property(composite, prose, prose, (value, before, after) => {
        const text = JSON.stringify(value);
        expect(first(`\uFEFF${before}\n\`\`\`json\n${text}\n\`\`\`\n${after}`)).toEqual(JSON.parse(text));
        expect(first(`${before} ${text} ${after}`)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each(['"text"', "42", "-1.5e3", "true", "null", " \n 7 \n"])("a reply that is nothing but %s", { tags: "numbers" }, (text) => {
    expect(findJson(text).values).toHaveLength(1);
    expect(first(text)).toEqual(JSON.parse(text));
  });

  it("code fences inside strings do not end anything", { tags: "numbers" }, () => {
    const value = { readme: "Run:\n```sh\nnpm start\n```\nDone {not json} [x]" };
    expect(first(`Here you are:\n\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``)).toEqual(value);
  });
});

describe("findJson mends", () => {
  it.each([
    ["trailing commas", '{"a": [1, 2,], "b": 3,}', { a: [1, 2], b: 3 }],
    ["line comments", '{"a": 1, // one\n"b": 2 # two\n}', { a: 1, b: 2 }],
    ["block comments", '{/* first */"a": /* the value */ 1}', { a: 1 }],
    ["single quotes", "{'a': 'it is', 'b': ['x']}", { a: "it is", b: ["x"] }],
    ["bare keys", "{a: 1, b_2: 2, $c: 3}", { a: 1, b_2: 2, $c: 3 }],
    ["Python's literals", "{'a': True, 'b': False, 'c': None}", { a: true, b: false, c: null }],
    ["raw line breaks in strings", '{"code": "line one\nline two\tend"}', { code: "line one\nline two\tend" }],
    [
      "invalid escapes",
      String.raw`{"re": "\d+\s", "q": "it\'s", "u": "\u12 \uZZZZ"}`,
      { re: String.raw`\d+\s`, q: "it's", u: String.raw`\u12 \uZZZZ` },
    ],
    ["a byte order mark", '\uFEFF{"a": 1}', { a: 1 }],
    ["numbers of other languages", '{"a": +1, "b": .5, "c": 5.}', { a: 1, b: 0.5, c: 5 }],
    ["a fence that is never closed", '```json\n{"a": 1}', { a: 1 }],
    ["a fence of another name", '```javascript\n{"a": 1}\n```', { a: 1 }],
    ["escapes as JSON means them", String.raw`{"a": "\n\t\"\\\/\u00e4\ud83c\udfad"}`, { a: '\n\t"\\/ä🎭' }],
  ])("%s", { tags: "numbers" }, (_what, text, expected) => {
    expect(first(text)).toEqual(expected);
  });

  it("property: any value that was damaged in ways that can be mended is whole again", { tags: "numbers" }, () => {
    // Values whose strings hold no quotes or backslashes: what damage does to those cannot be told from what was meant.
    const text = fc.stringMatching(/^[A-Za-z0-9 äöü,:{}[\]\n.#-]{0,20}$/);
    const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/).filter((name) => name !== "__proto__");
    const { value: damaged } = fc.letrec<{ value: { clean: unknown; text: string }; leaf: { clean: unknown; text: string } }>((tie) => ({
      leaf: fc.oneof(
        fc.tuple(text, fc.constantFrom('"', "'")).map(([clean, quote]) => ({ clean, text: `${quote}${clean}${quote}` })),
        fc.integer().map((clean) => ({ clean, text: String(clean) })),
        fc.constantFrom(
          { clean: true, text: "True" },
          { clean: false, text: "false" },
          { clean: null, text: "None" },
          { clean: null, text: "null" },
        ),
      ),
      value: fc.oneof(
        { maxDepth: 3 },
        tie("leaf"),
        fc
          .tuple(fc.array(tie("value"), { maxLength: 4 }), fc.constantFrom("", " ", "\n", " /* note */ "), fc.boolean())
          .map(([items, space, trailing]) => ({
            clean: items.map((item) => item.clean),
            text: `[${space}${items.map((item) => item.text).join(`,${space}`)}${trailing && items.length > 0 ? "," : ""}]`,
          })),
        fc
          .tuple(
            fc.uniqueArray(fc.tuple(key, tie("value")), { maxLength: 4, selector: ([name]) => name }),
            fc.constantFrom('"', "'", ""),
            fc.constantFrom("", "\n// note\n"),
            fc.boolean(),
          )
          .map(([members, quote, comment, trailing]) => ({
            clean: Object.fromEntries(members.map(([name, member]) => [name, member.clean])),
            text: `{${comment}${members.map(([name, member]) => `${quote}${name}${quote}: ${member.text}`).join(", ")}${trailing && members.length > 0 ? "," : ""}}`,
          })),
      ),
    }));
    fc.assert(
      fc.property(damaged, fc.constantFrom("", "Here: ", "\uFEFF", "```json\n"), (value, before) => {
        // Wrapped, so that what is looked for is the longest value in the text.
        expect(first(`${before}{"it": ${value.text}}`)).toEqual({ it: value.clean });
      }),
      { numRuns: tries(150, 1_000) },
    );
  });

  it("prose with brackets around", { tags: "numbers" }, () => {
    expect(first('As said in [the docs](http://a.b) and [note], for {placeholder} use: {"a": 1}. See [#12] and [1].')).toEqual({ a: 1 });
    expect(first('{thinking} I will answer [briefly]. {"answer": "yes"}')).toEqual({ answer: "yes" });
  });

  it("thoughts before the answer are no answer", { tags: "numbers" }, () => {
    expect(first('<think>Maybe {"a": 1, "longer": "than the answer by far"}?</think>\n{"a": 2}')).toEqual({ a: 2 });
    expect(first('<thinking>\n{"a": 1}</thinking>{"a": 2}')).toEqual({ a: 2 });
    expect(first('{"a": "<think>{}</think>"}')).toEqual({ a: "<think>{}</think>" });
  });

  it("drops __proto__ keys at every level, and pollutes nothing", { tags: "numbers" }, () => {
    const value = first('{"__proto__": {"polluted": 1}, "a": {"__proto__": {"polluted": 1}, "b": 1}, "constructor": "kept"}');
    expect(JSON.stringify(value)).toBe('{"a":{"b":1},"constructor":"kept"}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("of several values the longest comes first", { tags: "numbers" }, () => {
    const found = findJson('For example {"a": 1}. So: {"a": 2, "b": "the real one"} or []');
    expect(found.values.map(({ value }) => value)).toEqual([{ a: 2, b: "the real one" }, { a: 1 }, []]);
    expect(found.broken).toBeUndefined();
  });

  it("the last of two equal keys counts, as in JSON.parse", { tags: "numbers" }, () => {
    expect(first('{"a": 1, "a": 2}')).toEqual({ a: 2 });
  });
});

describe("findJson never invents", () => {
  it.each(["-", "1e", "1e-", "-1.5E+", "1."])("a number cut short after %j is truncated, not malformed", { tags: "numbers" }, (cut) => {
    expect(findJson(`{"a": ${cut}`).broken?.reason).toBe("truncated");
    expect(findJson(`{"a": ${cut}x}`).broken?.reason).not.toBe("truncated");
  });

  it("property: a JSON text cut anywhere is truncated, never a value", { tags: "numbers" }, () => {
    fc.assert(
      fc.property(composite, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (value, where) => {
        const text = JSON.stringify(value);
        const cut = text.slice(0, Math.max(1, Math.floor(text.length * where)));
        const found = findJson(cut);
        expect(found.values).toEqual([]);
        expect(found.broken?.reason).toBe("truncated");
      }),
      { numRuns: tries(150, 1_000) },
    );
  });

  it("nothing inside a broken object is taken for an answer", { tags: "numbers" }, () => {
    const found = findJson('{"files": [{"path": "a"}, {"path": "b"}], "oops": nonsense, "more": {"path": "c"}}');
    expect(found.values).toEqual([]);
    expect(found.broken).toMatchObject({ reason: "malformed", start: 0, end: 83 - 1 });
  });

  it("after a broken object a good one is still seen, and the broken one is told", { tags: "numbers" }, () => {
    const found = findJson('{"path": <path>} and then {"path": "a/b"}');
    expect(found.values.map(({ value }) => value)).toEqual([{ path: "a/b" }]);
    expect(found.broken).toMatchObject({ reason: "malformed", start: 0, end: 16 });
  });

  it.each([
    "",
    "   ",
    "No JSON here.",
    "just [some words] and {more}",
    "nope",
    "NaN",
    "undefined",
    "12 apples",
    '"one" and "two"',
    '{"a" 1}',
  ])("finds nothing in %j", { tags: "numbers" }, (text) => {
    expect(findJson(text).values).toEqual([]);
  });

  it.each(["[1, NaN]", "[1, Infinity]", "[1, undefined]", "[1 2]", "[1, 1e999]", '{"a": 1 "b": 2}'])(
    "does not read %s",
    { tags: "numbers" },
    (text) => {
      expect(findJson(text).values).toEqual([]);
      expect(findJson(text).broken).toBeDefined();
    },
  );

  it("refuses what is nested too deep, and reads what is just deep enough", () => {
    const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
    expect(findJson(nested(MAX_DEPTH)).values).toHaveLength(1);
    expect(findJson(nested(MAX_DEPTH + 1)).broken).toMatchObject({ reason: "too deep" });
    expect(findJson(nested(MAX_DEPTH + 1)).values).toEqual([]);
  });

  it("property: never throws and never loops, whatever the text", { tags: "numbers" }, () => {
    const soup = fc
      .array(fc.constantFrom(..."{}[]\"':,\\a1 \n\u0000".split(""), "//", "/*", "*/", "#", "```", "true", "None", "<think>"), {
        maxLength: 200,
      })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(soup, (text) => {
        const { values, broken } = findJson(text);
        for (const { start, end } of values) expect(end).toBeGreaterThan(start);
        if (broken !== undefined) expect(broken.end).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: tries(100, 4_000) },
    );
  });
});

describe("findJson reads megabytes in one go", () => {
  const size = tries(500_000, 10_000_000);
  const fill = (unit: string): string => unit.repeat(Math.ceil(size / unit.length));
  // Each of these made a reader that starts over at every bracket or quote run for hours. That the test ends is what it shows.
  it.each([
    ["opening brackets", fill("[")],
    ["opening braces", fill("{")],
    ["opened members", fill('{"a":')],
    ["opened items", fill("[1,")],
    ["quotes", fill('"')],
    ["quotes in an object", `{"a":"${fill('\\"')}`],
    ["backslashes", `{"a":"${fill("\\\\")}"}`],
    ["brackets that close at once", fill("[]")],
    ["half objects", fill('{"a":x}')],
    ["braces in prose", fill("{x} ")],
    ["comments", `[${fill("/**/")}1]`],
    ["comment openings", `[1 ${fill("/*")}`],
    ["spaces", `[${fill(" ")}1]`],
    ["quotes that never match", fill("['")],
    ["one long string", `{"a":"${fill("x")}"}`],
    ["thoughts without an end", `<think>${fill("<think>")}`],
    ["digits", `[${fill("1")}x]`],
  ])("%s", { tags: "numbers" }, (_what, text) => {
    const { values, broken } = findJson(text);
    expect(values.length + (broken === undefined ? 0 : 1)).toBeLessThanOrEqual(17);
  });

  it("and a good one of that size", { tags: "numbers" }, () => {
    const value = { files: Array.from({ length: size / 500 }, (_, n) => ({ path: `src/${n}.ts`, text: 'const x = "y";\n'.repeat(30) })) };
    const text = `Here it is:\n${JSON.stringify(value)}`;
    expect(text.length).toBeGreaterThan(size);
    expect(first(text)).toEqual(value);
  });
});
