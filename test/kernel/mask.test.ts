import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskSecrets } from "../../src/kernel/mask.ts";

describe("masking", () => {
  it("hides given secrets wherever they stand in JSON text, quotes and backslashes included", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 6 }), fc.string(), fc.string(), (secret, before, after) => {
        const text = JSON.stringify({ prompt: `${before}${secret}${after}` });
        const masked = maskSecrets([secret])(text);
        expect(masked).not.toContain(JSON.stringify(secret).slice(1, -1));
        expect(() => JSON.parse(masked)).not.toThrow();
      }),
    );
  });

  it("hides a secret as it is, and the whole of one that begins like another", () => {
    expect(maskSecrets(['pa"ss\\word1'])('x pa"ss\\word1')).toBe("x [secret]");
    expect(maskSecrets(["abcdef", "abcdef-123-tail"])("abcdef-123-tail")).toBe("[secret]");
  });

  it("hides what looks like a provider's key without being told", () => {
    const masked = maskSecrets([])("key sk-proj-abcdefghijklmnop1234 and ghp_abcdefghijklmnop1234");
    expect(masked).toBe("key [secret] and [secret]");
  });

  it("leaves ordinary text alone, also when a secret is too short to be one", () => {
    expect(maskSecrets(["a", "12345"])("a task-oriented plan, 12345 words")).toBe("a task-oriented plan, 12345 words");
  });
});
