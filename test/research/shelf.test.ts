import { expect, it, vi } from "vitest";

it("a study of the shelf prints its figures, and meets the literature", async () => {
  const print = vi.spyOn(console, "log").mockImplementation(() => {});
  const { figures } = await import("../../examples/research/blackboard.ts");
  expect(figures.filter(({ holds }) => !holds)).toEqual([]);
  expect(String(print.mock.lastCall?.[0]).split("\n")).toHaveLength(figures.length + 1);
});
