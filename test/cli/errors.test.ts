import { describe, expect, it } from "vitest";
import { errorLines, errorReport } from "../../src/cli/error-report.ts";
import { exitCodeOf, exitCodeOfError } from "../../src/cli/errors.ts";
import { styleFor } from "../../src/cli/screen/text.ts";
import {
  AbortedError,
  BudgetError,
  JournalError,
  ModelError,
  OutputError,
  TroupeError,
  UsageError,
  WorkspaceError,
} from "../../src/kernel/errors.ts";
import type { ResultStatus } from "../../src/runtime/run-result.ts";
import { titled } from "../titled.ts";

const plain = { style: styleFor(false), isVerbose: false };

describe("errorReport", () => {
  it("tells what it has no plan for as such, without a stack", () => {
    const told = errorReport(new TypeError("x is not a function"), {});
    expect(told).toMatchObject({ code: "UNEXPECTED", isControl: false });
    expect(errorLines(told, plain)).toHaveLength(1);
    expect(errorLines(told, plain).join()).toContain("TypeError: x is not a function");
    expect(errorLines(told, plain).join()).not.toContain("errors.test");
  });

  it("shows stacks and causes when verbose, every line safe for a terminal", () => {
    const cause = new Error("the disk\u001b[31m is full");
    const told = errorReport(new WorkspaceError("WORKSPACE_FULL", "Expected room.", { cause }), {});
    const lines = errorLines(told, { ...plain, isVerbose: true });
    expect(lines[0]).toBe("error: Expected room. (WORKSPACE_FULL)");
    expect(lines.join("\n")).toContain("caused by Error: the disk\\u{1b}[31m is full");
    expect(lines.join("\n")).toContain("errors.test");
    expect(lines.join("")).not.toMatch(/\p{Cc}/u);
  });

  it("hides keys: those of the environment, and what looks like one", () => {
    const env = { OPENAI_API_KEY: " hidden-value-1 ", MY_TOKEN: "hidden-value-2", HOME: "/home/somebody" };
    const error = new UsageError("X", "got hidden-value-1, hidden-value-2 and sk-abcdefghijklmnopqrst in /home/somebody", {
      cause: new Error("hidden-value-1"),
    });
    const told = errorReport(error, env);
    const all = errorLines(told, { ...plain, isVerbose: true }).join("\n");
    expect(all).not.toMatch(/hidden-value|sk-abcdef/);
    expect(all).toContain("/home/somebody");
  });

  it("hides an address with a password, and the password, wherever the environment has it", () => {
    const env = { TROUPE_JOURNAL: " postgres://me:hunt%20er2@h/x ", MIRROR: "postgres://h/x?password=hunter3", PAGE: "https://h/x" };
    const said = "got postgres://me:hunt%20er2@h/x, hunt%20er2, hunt er2, hunter3 and https://h/x";
    expect(errorReport(new UsageError("X", said), env).message).toBe("got [secret], [secret], [secret], [secret] and https://h/x");
  });

  it("tells an interruption as none of an error's", () => {
    const lines = errorLines(errorReport(new AbortedError("Ctrl-C was pressed"), {}), plain);
    expect(lines).toEqual(["Stopped: Ctrl-C was pressed."]);
  });

  it.each([
    [
      { needed: 17_295, left: 5_000, budget: 30_000 },
      "The next model call may cost up to $0.0173, but $0.0050 of the budget of $0.03 is left.",
    ],
    [{ needed: 17_295, left: 0, budget: 30_000 }, "The next model call may cost up to $0.0173, but the budget of $0.03 is used up."],
    [{ needed: 0, left: -451_144, budget: 500_000 }, "Expected money for the next model call, but the budget of $0.50 is used up."],
  ])("tells of %j in dollars", (data, text) => {
    expect(errorLines(errorReport(new BudgetError(data), {}), plain)).toEqual([text]);
  });
});

describe("exitCodeOfError", () => {
  it.each(
    titled([
      [new UsageError("X", "x"), 2],
      [new WorkspaceError("WORKSPACE_NOT_EMPTY", "x"), 2],
      [new JournalError("RUN_OWNED", "x"), 2],
      [new TroupeError("DRIVER_REFUSED", "x"), 2],
      [new ModelError("MODEL_AUTH", "x"), 7],
      [new ModelError("MODEL_REFUSED", "x"), 1],
      [new OutputError("OUTPUT_INVALID", "x"), 1],
      [new AbortedError(), 130],
      [new BudgetError({ needed: 1, left: 0, budget: 0 }), 130],
      [new TypeError("x"), 1],
      ["text", 1],
    ]),
  )("of %s", (_case, error, code) => {
    expect(exitCodeOfError(error)).toBe(code);
  });
});

describe("exitCodeOf", () => {
  it.each<[ResultStatus, number]>([
    ["moved", 8],
    ["finished", 0],
    ["failed", 1],
    ["budget", 3],
    ["rounds", 4],
    ["waiting", 5],
    ["stopped", 1],
  ])("gives a run that is %s the code %i", (status, code) => {
    expect(exitCodeOf({ status })).toBe(code);
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

  it("gives a stopped run the code of what stopped it", () => {
    expect(exitCodeOf({ status: "stopped", interruption: "SIGINT" })).toBe(130);
    expect(exitCodeOf({ status: "stopped", interruption: "SIGTERM" })).toBe(143);
    expect(exitCodeOf({ status: "stopped", interruption: "SIGHUP" })).toBe(129);
    expect(exitCodeOf({ status: "stopped", interruption: "pipe" })).toBe(0);
  });
});
