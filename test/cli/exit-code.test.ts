import { describe, expect, it } from "vitest";
import { EXIT_CODES, exitCodeOf, interruptionCode } from "../../src/cli/errors.ts";
import type { RunStatus } from "../../src/runtime/record/event.ts";

describe("the table of exit codes", () => {
  it("names each code once, in order", () => {
    const codes = EXIT_CODES.map(({ code }) => code);
    expect(codes).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 129, 130, 143]);
    expect(EXIT_CODES.every(({ meaning }) => meaning.length > 0)).toBe(true);
  });
});

describe("exitCodeOf", () => {
  it.each<[RunStatus, number]>([
    ["finished", 0],
    ["failed", 1],
    ["budget", 3],
    ["rounds", 4],
    ["waiting", 5],
    ["stopped", 1],
  ])("gives a run that is %s the code %i", (status, code) => {
    expect(exitCodeOf({ status })).toBe(code);
  });

  it.each(["passed", "not run", "none", undefined])("calls a finished run done when its tests are %s", (tests) => {
    expect(exitCodeOf({ status: "finished", tests })).toBe(0);
  });

  it("tells failing tests of a finished run, and of no other", () => {
    expect(exitCodeOf({ status: "finished", tests: "failed" })).toBe(6);
    expect(exitCodeOf({ status: "rounds", tests: "failed" })).toBe(4);
    expect(exitCodeOf({ status: "budget", tests: "failed" })).toBe(3);
  });

  it.each(["MODEL_AUTH", "MODEL_QUOTA", "MODEL_NOT_FOUND", "MODEL_UNREACHABLE", "MODEL_RATE_LIMIT", "MODEL_SERVER", "MODEL_TIMEOUT"])(
    "tells %s as trouble with the provider",
    (errorCode) => {
      expect(exitCodeOf({ status: "failed", errorCode })).toBe(7);
    },
  );

  it.each(["OUTPUT_INVALID", "MODEL_REFUSED", "MODEL_TRUNCATED", "WORKSPACE_FULL", "ACTION_FAILED"])(
    "tells %s as a failure",
    (errorCode) => {
      expect(exitCodeOf({ status: "failed", errorCode })).toBe(1);
    },
  );

  it("tells an error without a code as a failure", () => {
    expect(exitCodeOf({ status: "failed" })).toBe(1);
  });

  it("gives a stopped run the code of what stopped it", () => {
    expect(exitCodeOf({ status: "stopped", interruption: "SIGINT" })).toBe(130);
    expect(exitCodeOf({ status: "stopped", interruption: "SIGTERM" })).toBe(143);
    expect(exitCodeOf({ status: "stopped", interruption: "SIGHUP" })).toBe(129);
    expect(exitCodeOf({ status: "stopped", interruption: "pipe" })).toBe(0);
  });

  it("calls a run done that was through when the interruption came", () => {
    expect(exitCodeOf({ status: "finished", interruption: "SIGINT" })).toBe(0);
  });

  it("uses only codes of the table", () => {
    const known = new Set(EXIT_CODES.map(({ code }) => code));
    for (const status of ["finished", "failed", "budget", "rounds", "waiting", "stopped"] as const) {
      for (const tests of ["passed", "failed"]) {
        for (const interruption of ["SIGINT", "SIGTERM", "SIGHUP", "pipe", undefined] as const) {
          expect(known).toContain(exitCodeOf({ status, tests, interruption, errorCode: "MODEL_AUTH" }));
          expect(known).toContain(interruptionCode(interruption ?? "SIGINT"));
        }
      }
    }
  });
});
