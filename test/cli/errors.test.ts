import { describe, expect, it } from "vitest";
import { errorLines, errorReport } from "../../src/cli/error-report.ts";
import { exitCodeOf, exitCodeOfError, type Interruption, type RunOutcome } from "../../src/cli/errors.ts";
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
  const providers = ["AUTH", "QUOTA", "NOT_FOUND", "UNREACHABLE", "RATE_LIMIT", "SERVER", "TIMEOUT"].map((code) => `MODEL_${code}`);
  const failures = ["OUTPUT_INVALID", "MODEL_REFUSED", "MODEL_TRUNCATED", "WORKSPACE_FULL", "ACTION_FAILED"];
  const interruptions = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, pipe: 0 } as const;

  it.each<[RunOutcome, number]>([
    [{ status: "moved" }, 8],
    [{ status: "finished" }, 0],
    [{ status: "finished", tests: "failed" }, 6],
    [{ status: "failed" }, 1],
    [{ status: "budget", tests: "failed" }, 3],
    [{ status: "rounds", tests: "failed" }, 4],
    [{ status: "waiting" }, 5],
    [{ status: "stopped" }, 1],
    ...providers.map((errorCode): [RunOutcome, number] => [{ status: "failed", errorCode }, 7]),
    ...failures.map((errorCode): [RunOutcome, number] => [{ status: "failed", errorCode }, 1]),
    ...Object.entries(interruptions).map(([name, code]): [RunOutcome, number] => [
      { status: "stopped", interruption: name as Interruption },
      code,
    ]),
  ])("gives %j the code %i", (outcome, code) => {
    expect(exitCodeOf(outcome)).toBe(code);
  });
});
