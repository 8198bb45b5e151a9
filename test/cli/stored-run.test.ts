import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortId } from "../../src/cli/screen/text.ts";
import { findRun } from "../../src/cli/stored-run.ts";

const ids = ["mabc1234-00000001", "mabc1234-00000002", "mabc1299-00000003", "game"];

describe("findRun", () => {
  it.each([
    ["mabc1299-00000003", "mabc1299-00000003"],
    ["mabc129", "mabc1299-00000003"],
    ["mabc1234-00000001", "mabc1234-00000001"],
    ["g", "game"],
  ])("takes %j for %s", (given, id) => {
    expect(findRun(ids, given)).toBe(id);
  });

  it("takes an id that is the beginning of another for itself", () => {
    expect(findRun(["game", "game-2"], "game")).toBe("game");
  });

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

  it("names no more than can be read, and shows what a terminal would obey", () => {
    const many = Array.from({ length: 20 }, (_, n) => `run${n}\u001b[2J`);
    for (const given of ["run", "\u001b[2J"]) {
      const message = messageOf(() => findRun(many, given));
      expect(message).toMatch(/run19\\u\{1b\}\[2J, .* and 14 more/);
      expect(message).not.toContain("\u001b");
    }
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

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("expected it to throw");
}
