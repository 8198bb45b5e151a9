import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

it("the guide goes from a question to a plot in at most thirty lines of code, imports included", () => {
  const guide = readFileSync(new URL("../../../docs/guides/experiments.md", import.meta.url), "utf8");
  const blocks = [...guide.matchAll(/^```ts examples\/35-experiment\.ts#(\w+)\n([\s\S]*?)^```$/gm)];
  expect(blocks.map(([, region]) => region)).toEqual(["coins", "run", "plot", "verify"]);
  const lines = blocks.slice(0, 3).flatMap(([, , code = ""]) => code.split("\n").filter((line) => line.trim() !== ""));
  expect(lines.length).toBeLessThanOrEqual(30);
});
