import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { namesInEdges, pairsOf } from "../../../src/runtime/edges/edge-policy.ts";

const covered = (pairs: readonly string[] | undefined, from: string, to: string): boolean =>
  pairsOf({ name: "test", ...(pairs === undefined ? {} : { pairs }) }).covers(from, to);

describe("the pairs of a policy", () => {
  test.each<readonly [readonly string[] | undefined, string, string, boolean]>([
    [undefined, "p1", "p2", true],
    [undefined, "p1", "p1", false],
    [["*->*"], "p1", "p2", true],
    [["*->*"], "p1", "p1", false],
    [["p1->p1"], "p1", "p1", true],
    [["p1->*"], "p1", "p2", true],
    [["p1->*"], "p1", "p1", false],
    [["p1->*"], "p2", "p1", false],
    [["p1 -> p2"], "p1", "p2", true],
    [["p1<->p2"], "p2", "p1", true],
    [["p1<->*"], "p3", "p1", true],
    [["p1<->*"], "p3", "p2", false],
    [["p*->q*r"], "p77", "qr", true],
    [["p*->q*r"], "p77", "q", false],
    [["p1->p2", "p3->p4"], "p3", "p4", true],
    [["p1->p2", "p3->p4"], "p1", "p4", false],
    [["aba*aba->*"], "aba", "p", false],
    [["p*-><self>"], "p1", "p1", true],
    [["p*-><self>"], "p1", "p2", false],
    [["p*-><self>"], "q", "q", false],
    [["p1-><self>"], "p1", "p1", true],
    [["p*->p*"], "p1", "p1", false],
    [[], "p1", "p2", false],
  ])("%j covers %s to %s: %s", (pairs, from, to, expected) => {
    expect(covered(pairs, from, to)).toBe(expected);
  });

  test.each(["", "p1", "->", "p1->", "->p1", "p1->p2->p3", "p1<->", "<self>->p1", "p1<-><self>"])("%j is refused", (pair) => {
    expect(() => pairsOf({ name: "test", pairs: [pair] })).toThrow(expect.objectContaining({ code: "EDGE_INVALID" }));
  });

  test("property: a star stands for any text, as in a regular expression", () => {
    const side = fc.string({ unit: fc.constantFrom("a", "b", "*", ".", "("), minLength: 1, maxLength: 6 });
    const name = fc.string({ unit: fc.constantFrom("a", "b", ".", "("), minLength: 1, maxLength: 8 });
    const escaped = (text: string): string => text.replaceAll(/[.(]/g, String.raw`\$&`).replaceAll("*", ".*");
    fc.assert(
      fc.property(side, name, (pattern, from) => {
        const fits = new RegExp(`^${escaped(pattern)}$`, "s").test(from);
        expect(covered([`${pattern}->other`], from, "other")).toBe(fits);
      }),
    );
  });

  test("name roles, some of them by a text with a star", () => {
    expect(
      namesInEdges([{ name: "x", pairs: ["p1->*", "p*<->p2"] }, { name: "y" }, { name: "z", pairs: ["p1->p3", "p1-><self>"] }]),
    ).toEqual(["p1", "p*", "p2", "p3"]);
  });
});
