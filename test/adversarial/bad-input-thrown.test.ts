import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { ActionError, defineAction, type RoleContext } from "../../src/index.ts";
import { act } from "../../src/role/act.ts";
import { lived, odd } from "./odd-role.ts";

describe("a value that is thrown in an activation", () => {
  const circle: { self?: unknown } = {};
  circle.self = circle;

  test.each<[string, unknown, RegExp]>([
    ["an error", new RangeError("rain"), /failed: rain\. /],
    ["an error without a message", new RangeError(""), /failed: RangeError\. /],
    ["an error whose message is no text", Object.assign(new Error("x"), { message: 5 }), /failed: 5\. /],
    ["an error of the machine", Object.assign(new Error("no such file"), { code: "ENOENT" }), /failed: no such file\. /],
    ["an object", { a: 1 }, /thrown: \{"a":1\}\. /],
    ["a text", "x", /thrown: x\. /],
    ["null", null, /thrown: null\. /],
    ["undefined", undefined, /thrown: undefined\. /],
    ["a number", 7, /thrown: 7\. /],
    ["a big integer", 7n, /thrown: 7n\. /],
    ["a symbol", Symbol("s"), /thrown: a symbol\. /],
    ["a function", () => 1, /thrown: a function\. /],
    ["a cycle", circle, /thrown: an object that is no JSON\. /],
    ["a map", new Map([[1, 2]]), /thrown: an object of the kind Map\. /],
    ["an endless list", Array.from({ length: 20_000 }, (_, n) => n), /thrown: \[0,1,2,.*\.\.\. \(\d+ characters\)\. /],
  ])("%s: one code in event and result, and words that can be read", async (_what, thrown, message) => {
    const { result, events } = await lived({
      react: () => {
        throw thrown;
      },
    });
    expect(result.error).toMatchObject({ code: "ACTION_FAILED", data: { role: "Ann" } });
    expect(result.error?.message).toMatch(/^An action of Ann failed: /);
    expect(result.error?.message).toMatch(message);
    expect(result.error?.message).not.toContain("[object");
    expect(result.error?.message.length).toBeLessThan(600);
    expect(Object.is(result.error?.cause, thrown)).toBe(true);
    const failed = events.find((event) => event.type === "act.failed");
    expect(failed).toMatchObject({ error: { code: "ACTION_FAILED" } });
    expect(result.error?.message).toContain(failed?.error.message);
    expect(events.at(-1)).toMatchObject({ type: "run.ended", error: { code: "ACTION_FAILED", message: result.error?.message } });
    expect(result.messages.map(({ content }) => content)).toEqual(["go", "a letter"]);
  });

  test("an error that cannot be looked at is told by its code, and is no cause: it may hold anything", async () => {
    const unreadable = Object.defineProperty(new Error("x"), "message", {
      get: () => {
        throw new Error("boom");
      },
    });
    const { result, events } = await lived({ react: () => Promise.reject(unreadable) });
    expect(result.error).toMatchObject({
      code: "ACTION_FAILED",
      message: expect.stringMatching(/^An action of Ann failed: Error\. /) as string,
    });
    expect(events.find((event) => event.type === "act.failed")).toMatchObject({ error: { code: "ACTION_FAILED", message: "Error" } });
  });

  test("skipped, the dead letter tells the code and the words too", async () => {
    const failing = defineAction({ name: "Fail", run: () => Promise.reject(odd<Error>({ status: 503 })) });
    const { result } = await lived({ actions: [failing], onFailure: "skip" });
    expect(result.deadLetters).toMatchObject([
      { reason: { kind: "failed", error: { code: "ACTION_FAILED", message: expect.stringContaining('{"status":503}') as string } } },
    ]);
  });

  test("the action and a step that failed in it are named, and the error is one of an action", async () => {
    const cause = new RangeError("no page 7");
    const fetching = defineAction({
      name: "Fetch",
      run: async (ctx) => {
        await ctx.step("get page", {}, () => Promise.reject(new Error("404"))).catch(() => {});
        throw cause;
      },
    });
    const { result } = await lived({ actions: [fetching] });
    expect(result.error).toBeInstanceOf(ActionError);
    expect(result.error).toMatchObject({ code: "ACTION_FAILED", data: { role: "Ann", action: "Fetch", step: "get page" }, cause });
    expect(result.error?.message).toMatch(/^Action Fetch of Ann, in which step "get page" had failed, failed: no page 7\./);
  });

  test("an action that ended well is not blamed for what its role throws after it", async () => {
    const fine = defineAction({ name: "Fine", run: () => "fine" });
    const react = async (rc: RoleContext): Promise<never> => {
      await act(rc, fine);
      throw new Error("later");
    };
    const { result } = await lived({ actions: [fine], react });
    expect(result.error?.data).toEqual({ role: "Ann" });
  });

  const secret = "hunter2-hunter2";

  test.each<[string, unknown]>([
    ["where it is shown", { key: secret }],
    ["as a key", { [secret]: 1 }],
    ["as a key beyond what is shown", { far: ["x".repeat(1000), { [secret]: 1 }] }],
    ["in a map", new Map([["key", new Set([secret])]])],
    ["beyond what is shown", { far: ["x".repeat(1000), secret] }],
    ["in an error", new Error(`wrong password: ${secret}`)],
    ["in what an error carries", Object.assign(new Error("refused"), { request: { headers: { authorization: secret } } })],
    ["in an error's cause", new Error("refused", { cause: new Error(secret) })],
  ])("a secret in what is thrown, %s, is told by none of them", async (_what, thrown) => {
    const react = (): never => {
      throw thrown;
    };
    const { result, events } = await lived({ react }, { secrets: [secret] });
    expect(result.error).toMatchObject({ code: "ACTION_FAILED" });
    expect(inspect([result, events], { depth: Infinity, showHidden: true })).not.toContain(secret);
  });
});
