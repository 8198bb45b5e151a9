import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelChoice } from "../../src/cli/model-settings.ts";
import { readFlags, setting, timeIn } from "../../src/cli/option-values.ts";
import { companySettings, runSettings } from "../../src/cli/settings.ts";

const invalid = expect.objectContaining({ code: "OPTION_INVALID" }) as Error;

it("has the defaults of the help", () => {
  expect(runSettings({}, {})).toEqual({
    model: { kind: "none", asked: undefined },
    isConfirmed: false,
    budget: 3_000_000,
    isBudgetExplicit: false,
    allowUnpriced: false,
    rounds: 150,
    out: undefined,
    force: false,
    seed: undefined,
    sandbox: "auto",
    codeReview: true,
    runTests: true,
    crew: { kind: "software-company" },
  });
});

describe("the value of an option", () => {
  it.each([
    ["budget", "0.50", 500_000],
    ["budget", ".5", 500_000],
    ["budget", "$2", 2_000_000],
    ["budget", " 1 ", 1_000_000],
    ["budget", "0.0000001", 1],
    ["rounds", "100000", 100_000],
    ["sandbox", "none", "none"],
    ["size", "s", "S"],
    ["price", "0.25,2", { input: 0.25, output: 2 }],
    ["price", "$1, $2, 0.5", { input: 1, output: 2, cachedInput: 0.5 }],
    ["dialect", "maxTokens=4096,stream=false", { maxTokens: 4_096, stream: false }],
    ["dialect", " format = json , omit=seed,omit=stop", { format: "json", omit: ["seed", "stop"] }],
    ["silence", "90", 90_000],
    ["silence", " 2m ", 120_000],
    ["silence", "1h", 3_600_000],
    ["silence", "0.5", 500],
    ["silence", "none", 0],
    ["port", "0", 0],
    ["from", "12", 12],
    ["olderThan", "30d", 2_592_000_000],
  ])("--%s %j is read", (name, text, value) => {
    expect(readFlags({ [name]: text })).toEqual({ [name]: value });
  });

  it.each([
    [
      "budget",
      ["abc", "", " ", "-1", "0", "NaN", "Infinity", "1e3", "0x10", "1,5", "3 dollars", "--rounds", "1000001", "1.", "\u001b[31m"],
    ],
    ["rounds", ["0", "-1", "1.5", "", "x", "1e2", "100001", "NaN", "99999999999999999999"]],
    ["price", ["", "1", "1,2,3,4", "a,b", "-1,2", "1;2", ",", "1,2,", "1,2,x"]],
    ["silence", ["", "soon", "-5", "1e9", "5 minutes", "2m30s", "Infinity", "\u001b[31m"]],
    ["dialect", ["", "stream", "stream=", "=1", "stream=maybe", "maxTokens=-1", "maxTokens=many", "window=0", "format=xml", "a=1,,b=2"]],
    ["sandbox", ["docker", ""]],
    ["reuse", ["some"]],
    ["port", ["65536", "x", ""]],
    ["out", ["", "  "]],
    ["seed", [""]],
    ["model", [" "]],
    ["baseUrl", [""]],
  ])("--%s is refused by its name", (name, texts) => {
    for (const text of texts) {
      expect(() => readFlags({ [name]: text }), text).toThrow(invalid);
      expect(() => readFlags({ [name]: text }), text).not.toThrow("\u001b");
    }
  });

  it.each([
    ["max_tokens=5", "maxTokens"],
    ["stream=false,formt=json", "format"],
    ["Tools=true", "tools"],
  ])("--dialect %s says which field was meant", (text, meant) => {
    expect(() => readFlags({ dialect: text })).toThrow(`Did you mean ${meant}?`);
  });

  it("has the names that MetaGPT's users type, and is not said twice", () => {
    expect(companySettings(readFlags({ investment: "5", nRound: "7" }))).toMatchObject({
      budget: 5_000_000,
      isBudgetExplicit: true,
      rounds: 7,
    });
    for (const twice of [
      { budget: "1", investment: "1" },
      { nRound: "1", rounds: "1" },
      { in: "a", projectPath: "a" },
    ])
      expect(() => readFlags(twice)).toThrow(expect.objectContaining({ code: "OPTION_CONFLICT" }) as Error);
  });

  it("comes from the option, else from its variable, else it is not set", () => {
    const env = { TROUPE_SILENCE: "10", TROUPE_CALL_LIMIT: "none", TROUPE_FIRST_BYTE: " " };
    expect([setting("silence", {}, env), setting("silence", { silence: 1 }, env)]).toEqual([10_000, 1]);
    expect([setting("callLimit", {}, env), setting("firstByte", {}, env)]).toEqual([0, undefined]);
    expect(() => setting("silence", {}, { TROUPE_SILENCE: "x" })).toThrow("Expected TROUPE_SILENCE");
  });

  it("is a whole amount of micro-dollars of 1 or more, or refused", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.nat().map(String)), (text) => {
        try {
          const { budget = 0 } = readFlags({ budget: text });
          expect(Number.isSafeInteger(budget) && budget >= 1).toBe(true);
        } catch (error) {
          expect(error).toMatchObject({ code: "OPTION_INVALID" });
        }
      }),
    );
    fc.assert(fc.property(fc.nat(999_999), (n) => timeIn("x", String(n)) === n * 1_000 && timeIn("x", `${n}s`) === n * 1_000));
  });
});

describe("modelChoice", () => {
  const key = { OPENAI_API_KEY: "sk-1234567890" };

  it("prefers its own variables, and options to both", () => {
    const own = { TROUPE_API_KEY: "own", TROUPE_BASE_URL: "http://own/v1", TROUPE_MODEL: "mine" };
    const env = { ...key, ...own, OPENAI_BASE_URL: "http://other/v1" };
    expect(modelChoice({}, env)).toMatchObject({
      model: { id: "mine", apiKey: "own", keyFrom: "TROUPE_API_KEY", baseURL: "http://own/v1" },
    });
    expect(modelChoice({ model: "given", baseUrl: "http://given/v1" }, env)).toMatchObject({
      model: { id: "given", baseURL: "http://given/v1" },
    });
  });
});
