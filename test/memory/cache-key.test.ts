import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cacheKey } from "../../src/memory/cache.ts";

describe("cacheKey", () => {
  it("is prefix, user and chat", () => {
    expect(cacheKey({ prefix: "assistant", userId: "alice", chatId: "session_123" })).toBe("assistant:alice:session_123");
  });

  it.each([
    [{ prefix: "a", userId: "b:c", chatId: "d" }, "a:b%3Ac:d"],
    [{ prefix: "a", userId: "../..", chatId: "." }, "a:%2E%2E%2F%2E%2E:%2E"],
    [{ prefix: "", userId: "", chatId: "" }, "%:%:%"],
    [{ prefix: "%", userId: "猫", chatId: "\ud83c" }, "%25:%E7%8C%AB:%ud83c"],
    [{ prefix: "it's", userId: "a b", chatId: "\u0000" }, "it%27s:a%20b:%00"],
  ])("escapes what could be taken for something else: %j", (parts, key) => {
    expect(cacheKey(parts)).toBe(key);
  });

  it("is another for other parts, has exactly two colons, and is plain", () => {
    const part = fc.oneof(fc.string({ unit: "binary", maxLength: 5 }), fc.constantFrom("", ":", "%", "%3A", "..", "%ud83c", "\ud83c"));
    const parts = fc.record({ prefix: part, userId: part, chatId: part });
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const same = a.prefix === b.prefix && a.userId === b.userId && a.chatId === b.chatId;
        const key = cacheKey(a);
        return (key === cacheKey(b)) === same && key.split(":").length === 3 && /^[A-Za-z0-9_~%:-]+$/.test(key);
      }),
    );
  });
});
