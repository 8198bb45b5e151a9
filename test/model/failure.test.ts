import { describe, expect, it } from "vitest";
import { AbortedError, ModelError, UsageError } from "../../src/kernel/errors.ts";
import { errorData, failureOf, mayHaveRun, modelError } from "../../src/model/failure.ts";
import { WITH_NEXT_STEP } from "./call-setup.ts";

function caused(message: string, code: string | undefined, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  return code === undefined ? error : Object.assign(error, { code });
}

const before = { began: false };
const within = { began: true };

describe("failureOf", () => {
  it.each(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"])("%s: never reached, so it costs nothing", (code) => {
    const error = failureOf("m", new TypeError("fetch failed", { cause: caused("connect", code) }), before) as ModelError;
    expect([error.code, error.retryable, mayHaveRun(error)]).toEqual(["MODEL_UNREACHABLE", true, false]);
  });

  it("a reset before the answer may have cost something", () => {
    const error = failureOf("m", new TypeError("fetch failed", { cause: caused("read ECONNRESET", "ECONNRESET") }), before) as ModelError;
    expect([error.code, error.retryable, mayHaveRun(error)]).toEqual(["MODEL_UNREACHABLE", true, true]);
  });

  it("a reset inside the answer is a cut", () => {
    const error = failureOf(
      "m",
      new TypeError("terminated", { cause: caused("other side closed", "UND_ERR_SOCKET") }),
      within,
    ) as ModelError;
    expect([error.code, error.retryable, mayHaveRun(error)]).toEqual(["MODEL_CUT", true, true]);
    expect((failureOf("m", new TypeError("terminated"), within) as ModelError).code).toBe("MODEL_CUT");
  });

  it.each(["ETIMEDOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"])("%s: the network's own patience", (code) => {
    expect((failureOf("m", caused("x", code), before) as ModelError).code).toBe("MODEL_TIMEOUT");
  });

  it("text that is no JSON", () => {
    let thrown: unknown;
    try {
      JSON.parse("<html>");
    } catch (error) {
      thrown = error;
    }
    expect((failureOf("m", thrown, before) as ModelError).code).toBe("MODEL_PROTOCOL");
  });

  it.each([new Error("boom"), "a string", undefined, { status: 3 }])(
    "%s: whatever else is thrown is one error, not tried again",
    (thrown) => {
      const error = failureOf("m", thrown, before) as ModelError;
      expect([error.code, error.retryable, mayHaveRun(error)]).toEqual(["MODEL_FAILED", false, true]);
    },
  );

  it.each([
    [caused("x", "ECONNREFUSED"), before],
    [caused("x", "ECONNRESET"), before],
    [caused("x", "ECONNRESET"), within],
    [caused("x", "ETIMEDOUT"), before],
    [new SyntaxError("x"), before],
    [new Error("x"), before],
  ])("what became of %s says what to do", (thrown, when) => {
    expect(failureOf("m", thrown, when).message).toMatch(WITH_NEXT_STEP);
  });

  it("errors of the tree pass as they are", () => {
    for (const error of [new AbortedError(), new UsageError("X", "x"), modelError("MODEL_CUT", "x")])
      expect(failureOf("m", error, before)).toBe(error);
  });

  it("copies causes without what vendors hang on them, and without secrets", () => {
    const deep = Object.assign(caused("the key canary-1234 was refused", "ECONNRESET"), { headers: { authorization: "canary-1234" } });
    const error = failureOf("m", new TypeError("fetch failed", { cause: deep }), {
      began: false,
      mask: (text) => text.replaceAll("canary-1234", "[secret]"),
    });
    const cause = (error.cause as Error).cause as Error & { code?: string; headers?: unknown };
    expect([cause.message, cause.code, cause.headers]).toEqual(["the key [secret] was refused", "ECONNRESET", undefined]);
    expect(error.message).not.toContain("canary-1234");
  });

  it("a ring of causes ends", () => {
    const ring = new Error("round");
    ring.cause = ring;
    expect((failureOf("m", ring, before) as ModelError).code).toBe("MODEL_FAILED");
  });
});

describe("modelError", () => {
  it("knows by its code whether trying again helps", () => {
    expect(modelError("MODEL_RATE_LIMIT", "x").retryable).toBe(true);
    expect(modelError("MODEL_REFUSED", "x").retryable).toBe(false);
    expect(modelError("MODEL_RATE_LIMIT", "x", { retryable: false }).retryable).toBe(false);
  });

  it("its data can be read even when it has none", () => {
    expect(errorData(modelError("MODEL_CUT", "x"))).toEqual({});
    expect(errorData(new ModelError("MODEL_CUT", "x", { data: "odd" }))).toEqual({});
  });
});

describe("an error of a model that says nothing but its code", () => {
  it("may have cost something, unless its code says that the model never ran", () => {
    expect(mayHaveRun(new ModelError("MODEL_TIMEOUT", "late"))).toBe(true);
    expect(mayHaveRun(new ModelError("MODEL_RATE_LIMIT", "later"))).toBe(false);
    expect(mayHaveRun(new ModelError("MODEL_RATE_LIMIT", "later", { data: { mayHaveRun: true } }))).toBe(true);
  });
});
