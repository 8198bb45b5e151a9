import { describe, expect, it } from "vitest";
import { aboutFor, aboutOf, readAbout, recordedSettings, type RunAbout } from "../../src/cli/about.ts";
import { recordedModel } from "../../src/cli/model-choice.ts";
import { companySettings } from "../../src/cli/settings.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { refusedSandbox } from "../../src/workspace/index.ts";

const KEY = "sk-canary-0123456789abcdefghij";
const beginning = {
  version: "1.2.3",
  idea: `Build it with ${KEY}`,
  folder: "/home/me/project",
  settings: companySettings({ rounds: 7, seed: "s", sandbox: "none", codeReview: false }),
  chosen: {
    model: scriptedModel([], { id: "my-own", price: { input: 1, output: 2 } }),
    baseURL: "http://127.0.0.1:8080/v1/?key=hidden#hidden",
    demo: undefined,
    secrets: [KEY],
    modelOf: (id: string) => scriptedModel([], { id }),
  },
  sandbox: refusedSandbox("x", "y"),
  seal: "sealed",
};
const about = aboutOf("r", aboutFor(beginning));

describe("the data that is kept with a run", () => {
  it("is everything that is needed to go on with it, and never a key", () => {
    expect(about).toEqual({
      command: "troupe",
      version: "1.2.3",
      idea: "Build it with [secret]",
      out: "/home/me/project",
      model: { id: "my-own", baseURL: "http://127.0.0.1:8080/v1", price: { input: 1, output: 2 } },
      seed: "s",
      rounds: 7,
      codeReview: false,
      runTests: true,
      sandbox: "none",
      sandboxKind: "refused",
      allowUnpriced: false,
      crew: { kind: "software-company" },
      seal: "sealed",
    });
    expect(JSON.stringify(about)).not.toMatch(/hidden|canary/);
  });

  it.each([
    ["nothing", null],
    ["a text", "troupe"],
    ["a program's own", { command: "mine" }],
    ["a relative folder", { ...about, out: "project" }],
    ["a base URL that is none", { ...about, model: { id: "m", baseURL: "file:///etc/passwd" } }],
    ["rounds that are none", { ...about, rounds: 0 }],
    ["a price below zero", { ...about, model: { id: "m", price: { input: -1, output: 1 } } }],
    ["a sandbox that is none", { ...about, sandbox: "docker" }],
  ])("is not read from %s", (_what, kept) => {
    expect(readAbout(kept as never)).toBeUndefined();
    expect(() => aboutOf("r", kept as never)).toThrow(expect.objectContaining({ code: "RUN_FOREIGN" }) as Error);
  });
});

describe("how a run goes on", () => {
  const state = { round: 3, budget: 500_000, bounds: {} };

  it.each([
    [0, 7],
    [6, 7],
    [7, 14],
    [10, 17],
  ])("gives one that has had %i rounds %i in all", (round, rounds) => {
    expect(recordedSettings(about, { round, budget: undefined, bounds: {} }, {}).rounds).toBe(rounds);
    expect(recordedSettings(about, { round, budget: undefined, bounds: { rounds: 7 } }, {}).rounds).toBe(rounds);
  });

  it.each([1, 3])("refuses --rounds %s, which are used up", (rounds) => {
    expect(() => recordedSettings(about, state, { rounds })).toThrow(expect.objectContaining({ code: "ROUNDS_USED" }) as Error);
  });
});

describe("the model of a run that goes on", () => {
  const reached = (flags = {}, env = {}, was: RunAbout = about): unknown => recordedModel(was, flags, env);

  it("is the same, where it was, with the key of today", () => {
    expect(reached({}, { OPENAI_API_KEY: KEY, TROUPE_MODEL: "other" })).toEqual({
      kind: "model",
      model: {
        id: "my-own",
        apiKey: KEY,
        keyFrom: "OPENAI_API_KEY",
        baseURL: "http://127.0.0.1:8080/v1",
        price: { input: 1, output: 2 },
        timeouts: {},
        others: {},
        folders: [],
        secrets: [KEY],
      },
    });
  });

  it("is reached elsewhere where an option says so, and with what only the environment knows of the same place", () => {
    expect(reached({ baseUrl: "http://other/v1" })).toMatchObject({ model: { baseURL: "http://other/v1" } });
    expect(reached({}, { TROUPE_BASE_URL: "http://127.0.0.1:8080/v1?key=k" })).toMatchObject({
      model: { baseURL: "http://127.0.0.1:8080/v1?key=k" },
    });
    expect(reached({}, { TROUPE_BASE_URL: "http://other/v1" })).toMatchObject({ model: { baseURL: "http://127.0.0.1:8080/v1" } });
  });

  it("is reached by the package of its provider where it was, whatever server the environment names", () => {
    const was: RunAbout = { ...about, model: { id: "anthropic/claude-test" } };
    const server = { TROUPE_BASE_URL: "http://other/v1" };
    expect(reached({}, { ...server, ANTHROPIC_API_KEY: KEY }, was)).toMatchObject({
      model: { baseURL: undefined, keyFrom: "ANTHROPIC_API_KEY", apiKey: undefined, secrets: [KEY] },
    });
    expect(reached({ baseUrl: "http://asked/v1" }, server, was)).toMatchObject({ model: { baseURL: "http://asked/v1" } });
    expect(reached({ model: "gpt-5" }, server, was)).toMatchObject({ model: { baseURL: "http://other/v1" } });
  });

  it("costs what it did, unless it is another or an option says so", () => {
    expect(reached({ price: { input: 3, output: 4 } })).toMatchObject({ model: { price: { input: 3, output: 4 } } });
    expect(reached({ model: "another" })).toMatchObject({ model: { id: "another", price: undefined } });
  });
});
