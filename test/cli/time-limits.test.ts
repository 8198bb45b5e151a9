import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelChoice } from "../../src/cli/model-settings.ts";
import { defaultLimit } from "../../src/cli/command-options.ts";
import { timeIn, timeLimits } from "../../src/cli/time-limits.ts";

describe("a time limit", () => {
  it.each([
    ["90", 90_000],
    ["90s", 90_000],
    [" 2m ", 120_000],
    ["1h", 3_600_000],
    ["0.5", 500],
    ["0", 0],
    ["none", 0],
  ])("of %j is %i ms", (text, ms) => {
    expect(timeIn("--silence", text)).toBe(ms);
  });

  it.each(["", "soon", "-5", "1e9", "5 minutes", "2m30s", "Infinity", "\u001b[31m"])("of %j is refused by its name", (text) => {
    expect(() => timeIn("--silence", text)).toThrow(/^Expected --silence to be seconds or a time such as 90s, .* got /);
    expect(() => timeIn("--silence", text)).not.toThrow("\u001b");
  });

  it("property: whole seconds read as they are written", () => {
    fc.assert(fc.property(fc.nat(999_999), (n) => timeIn("x", String(n)) === n * 1_000 && timeIn("x", `${n}s`) === n * 1_000));
  });

  it("comes from the option, else from the environment, else is not set", () => {
    const env = { TROUPE_SILENCE: "10", TROUPE_CALL_LIMIT: "none", TROUPE_FIRST_BYTE: " " };
    expect(timeLimits({}, {})).toEqual({});
    expect(timeLimits({ silence: "20" }, env)).toEqual({ silence: 20_000, call: 0 });
    expect(() => timeLimits({}, { TROUPE_SILENCE: "x" })).toThrow("Expected TROUPE_SILENCE");
  });

  it("is part of the model that is chosen, and has a default in words", () => {
    const choice = modelChoice({ firstByte: "20m", price: "1,2,0.5" }, { OPENAI_API_KEY: "k" });
    expect(choice).toMatchObject({ model: { timeouts: { firstByte: 1_200_000 }, price: { input: 1, output: 2, cachedInput: 0.5 } } });
    expect([defaultLimit("firstByte"), defaultLimit("silence"), defaultLimit("call")]).toEqual(["10m", "5m", "2h"]);
    for (const price of ["1", "1,2,", "1,2,x", "1,2,3,4"]) expect(() => modelChoice({ price }, { OPENAI_API_KEY: "k" })).toThrow("--price");
  });
});
