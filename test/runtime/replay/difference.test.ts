import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { RoleContext } from "../../../src/role/context.ts";
import type { Said } from "../../../src/role/role.ts";
import { canonical, canonicalLines } from "../../../src/runtime/record/canonical.ts";
import {
  difference,
  differenceText,
  requestDifference,
  requestDifferenceText,
  type RunDifference,
} from "../../../src/runtime/replay/difference.ts";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { scriptedModel } from "../../../src/testing/scripted-model.ts";
import type { TeamOptions } from "../../../src/team/team-options.ts";
import { manyRuns } from "../many-runs.ts";
import { lived } from "../one-role.ts";

const prompt = (word: string): string => ["You are a poet.", "Write of:", word, "Rhyme.", "Be short.", "End."].join("\n");

/** A poet asks a model, then a stone, and says what came. */
function poet(word: string, more: { readonly stone?: string; readonly state?: number } = {}): (rc: RoleContext) => Promise<Said> {
  return async (rc) => {
    const poem = await rc.ask(prompt(word), { system: "Rhyme!" });
    const stone = await rc.step("ask the stone", { stone: more.stone ?? "grey" }, () => Promise.resolve("it is silent"));
    rc.state["mood"] = more.state ?? 1;
    return rc.message(`${poem}; ${stone}`);
  };
}

async function told(react: (rc: RoleContext) => Promise<Said>, answer = "a poem", options: TeamOptions = {}): Promise<RunEvent[]> {
  return (await lived(react, { model: scriptedModel(() => answer), ...options })).events;
}

function found(a: Iterable<RunEvent>, b: Iterable<RunEvent>): RunDifference {
  const d = difference(a, b);
  return d ?? expect.unreachable("they are equal");
}

describe("two runs that did the same", () => {
  test("do not differ", async () => {
    expect(difference(await told(poet("rain")), await told(poet("rain")))).toBeUndefined();
    expect(difference([], [])).toBeUndefined();
  });

  test("are those whose canonical logs are equal, and no others", async () => {
    const runs = [...(await manyRuns()).values()];
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.nat(), fc.nat(), (one, other, n, m) => {
        const [left = [], right = []] = [runs[one % runs.length], runs[other % runs.length]];
        const [a, b] = [left.slice(0, 1 + (n % left.length)), right.slice(0, 1 + (m % right.length))];
        const d = difference(a, b);
        expect(d === undefined).toBe(canonical(a) === canonical(b));
        if (d === undefined) return;
        const lines = [canonicalLines(a), canonicalLines(b)];
        expect(lines[0]?.slice(0, d.line - 1)).toEqual(lines[1]?.slice(0, d.line - 1));
        expect(lines[0]?.[d.line - 1]).not.toBe(lines[1]?.[d.line - 1]);
        const back = found(b, a);
        expect([back.line, back.left, back.right]).toEqual([d.line, d.right, d.left]);
        expect(differenceText(d).length).toBeLessThan(10_000);
      }),
    );
  });
});

describe("the first difference", () => {
  test("of a prompt is told by the two requests side by side", async () => {
    const d = found(await told(poet("rain")), await told(poet("snow")));
    expect(d).toMatchObject({
      line: 3,
      entry: { type: "step", kind: "model", name: "scripted", act: "Ann#0~1", role: "Ann" },
      request: {
        path: "messages[1].content",
        message: { index: 1, left: "user", right: "user" },
        passage: { line: 3, from: 1, left: ["You are a poet.", "Write of:", "rain", "Rhyme.", "Be short."] },
      },
    });
    expect(d.request?.passage?.right[2]).toBe("snow");
    expect(differenceText(d)).toBe(
      [
        'The runs differ at line 3 of their canonical logs: the model step "scripted" of Ann#0~1.',
        "at messages[1].content, message 2 (user), line 3",
        "left:",
        "  1 | You are a poet.",
        "  2 | Write of:",
        "> 3 | rain",
        "  4 | Rhyme.",
        "  5 | Be short.",
        "right:",
        "  1 | You are a poet.",
        "  2 | Write of:",
        "> 3 | snow",
        "  4 | Rhyme.",
        "  5 | Be short.",
      ].join("\n"),
    );
  });

  test("of an answer, a state or another step is told by its place", async () => {
    const rain = await told(poet("rain"));
    const answer = found(rain, await told(poet("rain"), "another poem"));
    expect(answer.at).toMatchObject({ path: "value.content", left: "a poem", right: "another poem" });
    expect(answer.request).toBeUndefined();
    expect(differenceText(answer)).toContain('at value.content\nleft: "a poem"\nright: "another poem"');
    const stone = found(rain, await told(poet("rain", { stone: "red" })));
    expect([stone.entry.name, stone.at?.path]).toEqual(["ask the stone", "request.stone"]);
    const state = found(rain, await told(poet("rain", { state: 2 })));
    expect(state.entry).toEqual({ type: "act.ended", act: "Ann#0~1", role: "Ann" });
    expect(state.at).toMatchObject({ path: "state.set.mood", left: 1, right: 2 });
    expect(differenceText(state)).toContain("at state.set.mood\nleft: 1\nright: 2");
    expect(found(rain, await told(poet("rain"), "a poem", { seed: "other" }))).toMatchObject({ line: 1, at: { path: "seed" } });
  });

  test("of a run that ended before is that it has nothing", async () => {
    const rain = await told(poet("rain"));
    const d = found(rain.slice(0, 2), rain);
    expect([d.left, d.entry.name]).toEqual([undefined, "scripted"]);
    expect(d.right).toMatchObject({ type: "step" });
    expect(differenceText(d)).toContain("left: nothing: its record ends before\nright: the model step");
    expect(found(rain, rain.slice(0, 2)).right).toBeUndefined();
    expect(found(rain.slice(0, -1), rain)).toMatchObject({ left: undefined, right: { type: "run.ended" } });
  });
});

describe("the text of a difference", () => {
  let hostile: RunDifference;

  beforeAll(async () => {
    const word = `\u001b[2J\u0007\u202e\u009b31m${"x".repeat(100_000)}`;
    hostile = found(await told(poet(`${word}rain${word}`)), await told(poet(`${word}snow${word}`)));
  });

  test("is bounded, and shows of a long line what is different in it", () => {
    const text = differenceText(hostile);
    expect(text.length).toBeLessThan(4_000);
    const line = "\u0000".repeat(1_000);
    const worst = requestDifference([line, line, `${line}a`, line, line].join("\n"), [line, line, `${line}b`, line, line].join("\n"));
    expect(requestDifferenceText(worst ?? expect.unreachable(), ["left", "right"])).toHaveLength(8_000);
    expect(text).toMatch(/> 3 \| \.\.\.x+rain/);
    expect(text).toMatch(/> 3 \| \.\.\.x+snow/);
  });

  test("has no character that a terminal would obey", async () => {
    const word = "\u001b[2J\u0007\u202e\u009b31m\r";
    const name = `step ${word}\nof another`;
    const stepping =
      (request: string) =>
      async (rc: RoleContext): Promise<Said> =>
        void (await rc.step(name, { request }, () => Promise.resolve(word)));
    const texts = [
      differenceText(hostile),
      differenceText(found(await told(stepping(`${word}a`)), await told(stepping(`${word}b`)))),
      differenceText(found(await told(stepping(word)), [])),
    ];
    for (const text of texts) expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(texts[1]).toContain("\\u{1b}[2J");
  });
});
