// @module-tag science
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import type { Figure } from "../../src/research/figures/study.ts";

const studies = readdirSync(new URL("../../examples/research/", import.meta.url))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replace(/\.ts$/, ""));

it("the studies of the shelf find at least 12 exact and 10 stochastic results, with fresh seeds", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const found: (Figure & { readonly study: string })[] = [];
  for (const study of studies) {
    const { figures } = (await import(`../../examples/research/${study}.ts`)) as { readonly figures: readonly Figure[] };
    found.push(...figures.map((figure) => ({ ...figure, study })));
  }
  print.mockRestore();
  const missed = found.filter(({ holds }) => !holds);
  const isExact = ({ standardError }: Figure): boolean => standardError === undefined;
  // The teams answer from a record of their own, and the distances of the money model are drawn.
  const exact = found.filter((figure) => isExact(figure) && !["teams", "money"].includes(figure.study));
  expect(missed).toEqual([]);
  expect(exact.length).toBeGreaterThanOrEqual(12);
  expect(found.filter((figure) => !isExact(figure)).length).toBeGreaterThanOrEqual(10);
  expect(new Set(found.map(({ name }) => name)).size).toBe(found.length);
});
