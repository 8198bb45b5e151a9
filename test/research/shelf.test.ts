import { expect, it, vi } from "vitest";

it("a study of the shelf prints its figures, and meets the literature", async () => {
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const { figures } = await import("../../examples/research/blackboard.ts");
  const [text] = print.mock.lastCall ?? [];
  print.mockRestore();
  expect(figures.filter(({ holds }) => !holds)).toEqual([]);
  expect(String(text).trimEnd().split("\n")).toHaveLength(figures.length + 1);
});
