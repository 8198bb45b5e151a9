import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { redact, redactor } from "../../src/kernel/mask.ts";

describe("redactor", () => {
  it("property: no given secret survives, whatever stands around it", () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9_-]{6,60}$/);
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (key, before, after) => {
        expect(redactor([key])(`${before}${key}${after}${key}`)).not.toContain(key);
      }),
    );
  });

  it("a secret inside another leaves nothing of the longer one", () => {
    expect(redactor(["canary", "canary-long-form"])("say canary-long-form and canary")).toBe("say [secret] and [secret]");
  });

  it("masks what looks like a key, whoever's it is", () => {
    const texts = ["sk-proj-abcdefghijklmnop1234", "Bearer abc.def-123", "AIzaSyA1234567890abcdefghijk", "gsk_abcdefghijklmnop1234"];
    for (const text of texts) expect(redact(`Incorrect: ${text}.`)).not.toContain(text.slice(-8));
  });

  it("keeps ordinary words, drops control characters, and is short", () => {
    expect(redact("Rate limit reached for gpt-4o-mini in organization org-1.")).toBe(
      "Rate limit reached for gpt-4o-mini in organization org-1.",
    );
    expect(redact("a\u001b[31mred\u0007\r\nb\u009b")).toBe("a [31mred b");
    expect(redact("x".repeat(1_000_000)).length).toBeLessThanOrEqual(501);
  });

  it("short secrets tear no holes", () => {
    expect(redactor(["", "a", "none"])("banana, and none of it")).toBe("banana, and none of it");
  });
});
