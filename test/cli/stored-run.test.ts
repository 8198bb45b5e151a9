import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortId } from "../../src/cli/screen/text.ts";
import { findRun } from "../../src/cli/stored-run.ts";

const ids = ["mabc1234-00000001", "mabc1234-00000002", "mabc1299-00000003", "game"];

describe("findRun", () => {
  it("refuses a beginning of several, and names them, the newest first", () => {
    expect(() => findRun(ids, "mabc12")).toThrow(
      expect.objectContaining({
        code: "RUN_AMBIGUOUS",
        message: expect.stringContaining("mabc1299-00000003, mabc1234-00000002, mabc1234-00000001 have") as string,
      }) as Error,
    );
  });

  it.each(["x", "", "MABC", "mabc1234-000000011"])("refuses %j, which none has, and names those there are", (given) => {
    expect(() => findRun(ids, given)).toThrow(
      expect.objectContaining({ code: "RUN_UNKNOWN", message: expect.stringContaining("There are game, mabc1299") as string }) as Error,
    );
  });
});

describe("shortId", () => {
  it.each([
    ["mabc1299-00000003", "mabc1299"],
    ["mabc1234-00000001", "mabc1234-00000001"],
    ["game", "game"],
  ])("of %s is %s", (id, short) => {
    expect(shortId(id, ids)).toBe(short);
  });

  it("always means its run", () => {
    const id = fc.stringMatching(/^m[ab]{7}-[ab]{1,4}$/);
    fc.assert(
      fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 20 }), (all) => {
        for (const one of all) expect(findRun(all, shortId(one, all))).toBe(one);
      }),
    );
  });
});
