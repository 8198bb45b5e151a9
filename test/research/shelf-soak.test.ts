import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import type { Figure } from "../../src/research/index.ts";

const studies = readdirSync(new URL("../../examples/research/", import.meta.url))
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replace(/\.ts$/, ""));

it("the studies of the shelf find at least 12 exact and 10 stochastic results, with fresh seeds", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const print = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const found: Figure[] = [];
  for (const study of studies) {
    const { figures } = (await import(`../../examples/research/${study}.ts`)) as { readonly figures: readonly Figure[] };
    found.push(...figures);
  }
  print.mockRestore();
  const missed = found.filter(({ holds }) => !holds);
  const exact = found.filter(({ standardError }) => standardError === undefined);
  expect(missed).toEqual([]);
  expect(exact.length).toBeGreaterThanOrEqual(12);
  expect(found.length - exact.length).toBeGreaterThanOrEqual(10);
  expect(new Set(found.map(({ name }) => name)).size).toBe(found.length);
});
