import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { modelChoice } from "../../src/cli/model-settings.ts";
import { companySettings, type Flags, outputSettings, reuseOf, runSettings } from "../../src/cli/settings.ts";

describe("the defaults", () => {
  it("are those of the help", () => {
    expect(runSettings({}, {})).toEqual({
      model: { kind: "none", asked: undefined },
      isConfirmed: false,
      budget: 3_000_000,
      isBudgetExplicit: false,
      allowUnpriced: false,
      rounds: 60,
      out: undefined,
      force: false,
      seed: undefined,
      sandbox: "auto",
      codeReview: true,
      runTests: true,
      crew: { kind: "software-company" },
    });
  });
});

describe("companySettings", () => {
  it.each([
    ["3", 3_000_000],
    ["0.50", 500_000],
    [".5", 500_000],
    ["$2", 2_000_000],
    [" 1 ", 1_000_000],
    ["0.0000001", 1],
  ])("reads --budget %j as %i micro-dollars", (budget, amount) => {
    expect(companySettings({ budget })).toMatchObject({ budget: amount, isBudgetExplicit: true });
  });

  it.each(["abc", "", " ", "-1", "0", "NaN", "Infinity", "1e3", "0x10", "1,5", "3 dollars", "--rounds", "1000001", "1.", "\u001b[31m"])(
    "refuses --budget %j",
    (budget) => {
      expect(() => companySettings({ budget })).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
    },
  );

  it.each([
    ["1", 1],
    ["20", 20],
    ["100000", 100_000],
  ])("reads --rounds %j", (rounds, n) => {
    expect(companySettings({ rounds }).rounds).toBe(n);
  });

  it.each(["0", "-1", "1.5", "", "x", "1e2", "100001", "NaN", "99999999999999999999"])("refuses --rounds %j", (rounds) => {
    expect(() => companySettings({ rounds })).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("knows the names that MetaGPT's users type", () => {
    expect(companySettings({ investment: "5", nRound: "7" })).toMatchObject({ budget: 5_000_000, isBudgetExplicit: true, rounds: 7 });
  });

  it.each<Flags>([
    { budget: "1", investment: "1" },
    { rounds: "1", nRound: "1" },
  ])("refuses %j: the same thing said twice", (flags) => {
    expect(() => companySettings(flags)).toThrowError(expect.objectContaining({ code: "OPTION_CONFLICT" }));
  });

  it("reads which answers are used again, all unless said otherwise", () => {
    expect([reuseOf({}), reuseOf({ reuse: "all" }), reuseOf({ reuse: "none" })]).toEqual(["all", "all", "none"]);
    expect(() => reuseOf({ reuse: "some" })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }) as Error);
  });

  it.each(["auto", "bubblewrap", "none"])("reads --sandbox %s", (sandbox) => {
    expect(companySettings({ sandbox }).sandbox).toBe(sandbox);
  });

  it.each<Flags>([{ sandbox: "docker" }, { sandbox: "" }, { out: "" }, { out: "  " }, { seed: "" }])("refuses %j", (flags) => {
    expect(() => companySettings(flags)).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it("reads the switches", () => {
    const flags: Flags = { codeReview: false, runTests: false, force: true, allowUnpriced: true, seed: "42", out: "there" };
    expect(companySettings(flags)).toMatchObject({
      codeReview: false,
      runTests: false,
      force: true,
      allowUnpriced: true,
      seed: "42",
      out: "there",
    });
  });

  it("gives a whole amount of micro-dollars of 1 or more, or throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double().map(String), fc.nat().map(String)), (budget) => {
        let amount: number;
        try {
          amount = companySettings({ budget }).budget;
        } catch (error) {
          expect(error).toMatchObject({ code: "OPTION_INVALID" });
          return;
        }
        expect(Number.isSafeInteger(amount) && amount >= 1).toBe(true);
      }),
    );
  });
});

describe("modelChoice", () => {
  const key = { OPENAI_API_KEY: "sk-1234567890" };

  it("finds no model where there is neither a key nor a base URL", () => {
    expect(modelChoice({}, {})).toEqual({ kind: "none", asked: undefined });
    expect(modelChoice({ model: "gpt-5" }, {})).toEqual({ kind: "none", asked: "gpt-5" });
    expect(modelChoice({}, { TROUPE_MODEL: "gpt-5" })).toEqual({ kind: "none", asked: "gpt-5" });
  });

  it("takes an empty variable for an unset one", () => {
    expect(modelChoice({}, { OPENAI_API_KEY: "", TROUPE_BASE_URL: "  ", TROUPE_MODEL: "" })).toEqual({ kind: "none", asked: undefined });
  });

  it("uses the default model with a key", () => {
    expect(modelChoice({}, key)).toEqual({
      kind: "model",
      model: { id: "gpt-5-mini", apiKey: "sk-1234567890", keyFrom: "OPENAI_API_KEY", baseURL: undefined, price: undefined, timeouts: {} },
    });
  });

  it("prefers its own variables, and options to both", () => {
    const env = {
      ...key,
      TROUPE_API_KEY: "own",
      TROUPE_BASE_URL: "http://own/v1",
      OPENAI_BASE_URL: "http://other/v1",
      TROUPE_MODEL: "mine",
    };
    expect(modelChoice({}, env)).toMatchObject({
      model: { id: "mine", apiKey: "own", keyFrom: "TROUPE_API_KEY", baseURL: "http://own/v1" },
    });
    expect(modelChoice({ model: "given", baseUrl: "http://given/v1" }, env)).toMatchObject({
      model: { id: "given", baseURL: "http://given/v1" },
    });
  });

  it("needs no key where there is a base URL", () => {
    expect(modelChoice({ baseUrl: "http://127.0.0.1:11434/v1" }, {})).toMatchObject({
      kind: "model",
      model: { apiKey: undefined, keyFrom: undefined },
    });
  });

  it.each([
    ["0.25,2", { input: 0.25, output: 2 }],
    ["0,0", { input: 0, output: 0 }],
    ["$1, $2", { input: 1, output: 2 }],
  ])("reads --price %j", (price, expected) => {
    expect(modelChoice({ price }, key)).toMatchObject({ model: { price: expected } });
  });

  it.each(["", "1", "1,2,3,4", "a,b", "-1,2", "1;2", ","])("refuses --price %j, with or without a model", (price) => {
    expect(() => modelChoice({ price }, key)).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => modelChoice({ price }, {})).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  it.each<Flags>([{ model: " " }, { baseUrl: "" }])("refuses %j", (flags) => {
    expect(() => modelChoice(flags, key)).toThrowError(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("outputSettings", () => {
  it("reads how a command talks", () => {
    expect(outputSettings({ json: true, quiet: true, verbose: true, color: false })).toEqual({
      isJson: true,
      isQuiet: true,
      isVerbose: true,
      isColorOff: true,
    });
  });
});
