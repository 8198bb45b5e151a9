import { describe, expect, it } from "vitest";
import { stackNamed, stackOf, stacks } from "../../src/checks/stacks.ts";
import { errorOf } from "../workspace/scratch.ts";

describe("the stacks", () => {
  it("are found by name, and an unknown name is refused with the known ones", async () => {
    for (const stack of stacks) expect(stackNamed(stack.name)).toBe(stack);
    const error = await errorOf(async () => stackNamed("cobol\u001b"));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toContain('(node, page, python), got "cobol\\u{1b}"');
  });

  it.each([
    [["package.json", "src/cli.mjs"], "node"],
    [["index.html", "src/app.js", "package.json"], "page"],
    [["index.html", "server.js", "package.json"], "node"],
    [["pyproject.toml", "todo/__main__.py"], "python"],
    [["a.py", "b.py", "build.js"], "python"],
    [["README.md", "main.c"], undefined],
  ])("are recognised by files: %s", (files, name) => {
    expect(stackOf(files)).toBe(name);
  });
});
