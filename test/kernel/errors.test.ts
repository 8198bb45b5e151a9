import { describe, expect, test } from "vitest";
import {
  AbortedError,
  ActionError,
  BudgetError,
  CacheError,
  ContextClosedError,
  ControlError,
  DifferenceError,
  errorRecord,
  JournalError,
  MemoryError,
  ModelError,
  MovedError,
  NotJsonError,
  OutputError,
  PlanError,
  QueueFullError,
  StepError,
  stepErrorFrom,
  TimeoutError,
  TroupeError,
  UsageError,
  WaitingError,
  WorkspaceError,
} from "../../src/kernel/errors.ts";

const samples: readonly TroupeError[] = [
  new NotJsonError("$.a", "function"),
  new UsageError("SOME_USAGE", "x"),
  new PlanError("PLAN_CYCLE", "x"),
  new QueueFullError(3),
  new TimeoutError("the call", 5),
  new ContextClosedError("Alice#1~1", "memory.add"),
  new StepError("SOME_STEP", "x"),
  new ActionError("ACTION_FAILED", "x"),
  new CacheError("CACHE_UNREACHABLE", "x"),
  new ModelError("RATE_LIMIT", "x", { retryable: true }),
  new OutputError("OUTPUT_INVALID", "x", { data: { text: "?" } }),
  new WorkspaceError("OUTSIDE", "x"),
  new JournalError("STALE_EPOCH", "x"),
  new MemoryError("MEMORY_CLOSED", "x"),
  new ControlError("CONTROL", "x"),
  new AbortedError(),
  new BudgetError({ needed: 5, left: 1, budget: 3 }),
  new MovedError("run-1"),
  new WaitingError({ questionId: "q1", question: "Go on?", role: "Alice" }),
  new DifferenceError("DIFFERENT", "x"),
];

describe("the error tree", () => {
  test.each(samples.map((sample) => [sample.name, sample] as const))("%s is known by its class, its code and its brand", (name, sample) => {
    expect(sample).toBeInstanceOf(Error);
    expect(sample).toBeInstanceOf(TroupeError);
    expect(sample.constructor.name).toBe(name);
    expect(sample.code).toMatch(/^[A-Z]+(_[A-Z]+)*$/);
    expect(TroupeError.isInstance(sample)).toBe(true);
    expect(Object.keys(sample)).not.toContain("brand");
  });

  test("an error of a second copy of the package is known too", () => {
    const foreign = Object.assign(new Error("x"), { [Symbol.for("troupe.error")]: true });
    expect(TroupeError.isInstance(foreign)).toBe(true);
  });

  test("messages say what was expected, what came and what to do", () => {
    expect(new NotJsonError("$.a", "function").message).toMatch(/Expected.*\$\.a.*got function.*Return/);
    expect(new QueueFullError(3).message).toMatch(/Expected.*3.*full.*Raise/);
    expect(new BudgetError({ needed: 5, left: 1, budget: 3 }).message).toMatch(/\$0\.000005.*\$0\.000001 of \$0\.000003.*Raise/);
    expect(new ContextClosedError("Alice#1~1", "memory.add").message).toMatch(/memory\.add.*Alice#1~1.*Await/);
  });
});

describe("an error as others see it", () => {
  const hostile = "\u001b[2J\u0085\u202egnp.exe\u2066\r\u200b\u2028\ufeff";

  test("holds nothing that steers a terminal or hides a part of its message, whatever text stands in it", () => {
    const error = new UsageError("RUN_ID_INVALID", `Expected a run id, got ${hostile}.`);
    expect(error.message).toBe("Expected a run id, got \\x1b[2J\\x85\\u202egnp.exe\\u2066\\x0d\\u200b\\u2028\\ufeff.");
    expect(error.stack).not.toContain("\u001b");
    expect(new UsageError("A", error.message).message).toBe(error.message);
  });

  test("is written as JSON with its message, its data and what is behind it, without stacks", () => {
    const cause = new TypeError("below", { cause: "the ground" });
    const error = new ModelError("MODEL_CUT", "It broke.", { cause, data: { tries: 2 }, retryable: true });
    expect(JSON.parse(JSON.stringify({ error }))).toEqual({
      error: {
        name: "ModelError",
        code: "MODEL_CUT",
        message: "It broke.",
        data: { tries: 2 },
        retryable: true,
        cause: {
          name: "TypeError",
          code: "ERROR",
          message: "below",
          cause: { name: "Error", code: "THROWN", message: expect.stringContaining("the ground") as string },
        },
      },
    });
  });
});

describe("stepErrorFrom", () => {
  test.each([
    ["ModelError", ModelError],
    ["OutputError", OutputError],
    ["WorkspaceError", WorkspaceError],
    ["StepError", StepError],
    ["TypeError", StepError],
  ])("a recorded %s is thrown as the error it was, or as a failed step", (name, expected) => {
    const record = { name, code: "SOME_CODE", message: "as told", data: { n: 1 } };
    const error = stepErrorFrom(record);
    expect(error.constructor).toBe(expected);
    expect(error).toMatchObject({ code: "SOME_CODE", message: "as told", data: { n: 1 } });
  });

  test("a record of what it throws is thrown as the same again", () => {
    for (const sample of samples) {
      const thrown = stepErrorFrom(errorRecord(sample));
      expect(errorRecord(stepErrorFrom(errorRecord(thrown)))).toEqual(errorRecord(thrown));
    }
  });
});
