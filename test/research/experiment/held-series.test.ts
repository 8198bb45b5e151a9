import { describe, expect, it } from "vitest";
import { heldSeries, mean, type Row } from "../../../src/research/index.ts";

/** Two runs of which one ends early; a second column has a value every second round. */
const series: readonly Row[] = [
  ...[1, 2].map((round) => ({ cell: 0, rep: 0, seed: "a", round, share: 0.1 * round, load: round === 2 ? 7 : null })),
  ...[1, 2, 3, 4].map((round) => ({ cell: 0, rep: 1, seed: "b", round, share: 0.2 * round, load: round % 2 === 0 ? round : null })),
];

describe("a held series", () => {
  it("has every run in every round, with its last values from its end on", () => {
    const held = heldSeries(series);
    expect(held).toHaveLength(8);
    expect(held.filter(({ rep, round }) => rep === 0 && Number(round) > 2)).toEqual([
      { cell: 0, rep: 0, seed: "a", round: 3, share: 0.2, load: null },
      { cell: 0, rep: 0, seed: "a", round: 4, share: 0.2, load: 7 },
    ]);
    expect(mean(held.filter(({ round }) => round === 4).map(({ share }) => Number(share)))).toBeCloseTo(0.5, 12);
  });

  it("refuses rows that are none of a series", () => {
    expect(() => heldSeries([{ cell: 0, rep: 0, share: 1 }])).toThrowError(/cell, rep and round/);
  });
});
