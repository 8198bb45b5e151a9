import { describe, expect, it } from "vitest";
import { errorRecord, ModelError, StepError, stepErrorFrom, UsageError } from "../../src/kernel/errors.ts";

describe("an error as plain data", () => {
  it("is the same error when it is thrown again, whether it may be retried included", () => {
    const error = new ModelError("MODEL_SERVER", "it broke", { retryable: true, data: { status: 500 } });
    const again = stepErrorFrom(errorRecord(error));
    expect(again).toBeInstanceOf(ModelError);
    expect(again).toMatchObject({ code: "MODEL_SERVER", message: "it broke", data: { status: 500 }, retryable: true });
    expect(stepErrorFrom(errorRecord(new ModelError("MODEL_AUTH", "no")))).toMatchObject({ retryable: false });
  });

  it("shows control characters instead of sending them", () => {
    expect(errorRecord(new Error("\u001b[2Jgone\nnext")).message).toBe("\\x1b[2Jgone\nnext");
  });

  it("leaves out data that is no JSON, and keeps the rest", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(errorRecord(new UsageError("X", "x", { data: cycle }))).toEqual({ name: "UsageError", code: "X", message: "x" });
  });

  it("says of what is no error that it is none", () => {
    const record = errorRecord("a\u0007b");
    expect(record).toMatchObject({ code: "THROWN" });
    expect(record.message).toContain("a\\x07b");
    expect(stepErrorFrom(record)).toBeInstanceOf(StepError);
  });
});
