import { describe, expect, it } from "vitest";
import { partsOf, stackNamed, stackOf, stacks } from "../../src/checks/stacks.ts";
import { pageCriterion } from "./page-project.ts";
import { criterionOf } from "./project.ts";
import { errorOf } from "../workspace/scratch.ts";

describe("the stacks", () => {
  it("are found by name, and an unknown name is refused with the known ones", async () => {
    for (const stack of stacks) expect(stackNamed(stack.name)).toBe(stack);
    const error = await errorOf(async () => stackNamed("cobol\u001b"));
    expect(error.code).toBe("OPTION_INVALID");
    expect(error.message).toContain('(node, page, python, other), got "cobol\\u{1b}"');
  });

  it.each([
    [["package.json", "src/cli.mjs"], "node"],
    [["index.html", "src/app.js", "package.json"], "page"],
    [["index.html", "server.js", "package.json"], "node"],
    [["pyproject.toml", "todo/__main__.py"], "python"],
    [["a.py", "b.py", "build.js"], "python"],
    [["README.md", "main.c"], undefined],
    [["Makefile", "main.c"], "other"],
    [["go.mod", "main.go", "web/app.js", "web/b.js", "package.json"], "other"],
    [["justfile", "package.json", "a.mjs"], "node"],
  ])("are recognised by files: %s", (files, name) => {
    expect(stackOf(files)).toBe(name);
  });

  it("of a product are its own, and a page where a criterion opens one", () => {
    const names = (stack: "node" | "page", ...criteria: Parameters<typeof partsOf>[0]["criteria"]): string[] =>
      partsOf({ stack, criteria }).map(({ name }) => name);
    const [run, click] = [criterionOf("A1", [{ run: ["node"] }]), pageCriterion("A2", { do: "reload" })];
    expect([names("node", run), names("node", run, click), names("page", run, click)]).toEqual([["node"], ["node", "page"], ["page"]]);
  });
});
