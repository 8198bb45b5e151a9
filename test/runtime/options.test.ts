import { describe, expect, test } from "vitest";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import { Team } from "../../src/team/team.ts";
import type { MicroUsd } from "../../src/model/money.ts";

const wrong: [string, Omit<EnvironmentOptions, "memory">, string][] = [
  ["concurrency 0", { concurrency: 0 }, "OPTION_INVALID"],
  ["concurrency 1.5", { concurrency: 1.5 }, "OPTION_INVALID"],
  ["concurrency Infinity", { concurrency: Infinity }, "OPTION_INVALID"],
  ["concurrency as a text", { concurrency: "4" as unknown as number }, "OPTION_INVALID"],
  ["a message limit of 0", { messageLimit: 0 }, "OPTION_INVALID"],
  ["an unknown scheduler", { scheduler: "chaos" as "eager" }, "SCHEDULER_UNKNOWN"],
  ["a scheduler that every object has", { scheduler: "constructor" as "eager" }, "SCHEDULER_UNKNOWN"],
  ["an unknown failure policy", { onFailure: "shrug" as "skip" }, "OPTION_INVALID"],
  ["retries that are none", { onFailure: { retry: 0, then: "stop" } }, "OPTION_INVALID"],
  ["a seed that is no number", { seed: Number.NaN }, "OPTION_INVALID"],
];

describe("options that can never work are refused before anything is begun", () => {
  test.each(wrong)("%s", (_what, options, code) => {
    expect(() => new Environment(options)).toThrow(expect.objectContaining({ code }));
    expect(() => new Team(options)).toThrow(expect.objectContaining({ code }));
  });

  test.each<[string, MicroUsd]>([
    ["less than nothing", -1 as MicroUsd],
    ["no number", Number.NaN as MicroUsd],
    ["a part of a micro-dollar", 0.5 as MicroUsd],
  ])("a budget of %s", (_what, budget) => {
    expect(() => new Team({ budget })).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
    expect(() => new Team().invest(budget)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });

  test("the message says which option, what was expected and what came", () => {
    expect(() => new Environment({ concurrency: -3 })).toThrow(/concurrency.*1 or more.*-3/);
  });

  test("a seed may be a number or a text, and is told; without one it is fresh", () => {
    expect(new Environment({ seed: 7 }).seed).toBe("7");
    expect(new Environment({ seed: "seven" }).seed).toBe("seven");
    expect(new Environment().seed).not.toBe(new Environment().seed);
  });
});
