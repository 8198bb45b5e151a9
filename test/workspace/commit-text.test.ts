import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commitMessage, emailOf, personName } from "../../src/workspace/commit-text.ts";
import { titled } from "../titled.ts";

describe("commitMessage", () => {
  it("puts trailers into a paragraph of their own", () => {
    expect(commitMessage("Write the code\n\nFor the game.", { "Troupe-Message": "m1", "Troupe-Run": "r1" })).toBe(
      "Write the code\n\nFor the game.\n\nTroupe-Message: m1\nTroupe-Run: r1\n",
    );
  });

  it("keeps hostile texts printable, and trailers on one line each", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, text, (message, key, value) => {
        const made = commitMessage(message, { [key]: value, "Troupe-Message": "m1" });
        expect(made).not.toMatch(/[^\P{Cc}\n]/u);
        expect(made.split("\n").slice(-4)[0]).toBe("");
        expect(made.endsWith("\nTroupe-Message: m1\n")).toBe(true);
      }),
    );
  });
});

describe("names of authors", () => {
  it.each(
    titled([
      ["Engineer", "Engineer", "engineer@troupe.invalid"],
      ["Product Manager", "Product Manager", "product-manager@troupe.invalid"],
      ["Eve <eve@evil.test>\nCommitter: x", "Eve  eve@evil.test  Committer: x", "eve-eve-evil-test-committer-x@troupe.invalid"],
      ["工程师", "工程师", "role@troupe.invalid"],
      ["...", "Role", "role@troupe.invalid"],
      ["", "Role", "role@troupe.invalid"],
    ]),
  )("of %s", (_case, given, name, email) => {
    expect(personName(given)).toBe(name);
    expect(emailOf(given)).toBe(email);
  });
});
