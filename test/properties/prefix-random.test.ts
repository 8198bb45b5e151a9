import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Company, expectPaidOnce, expectSameEnd, isRepeated, live, unordered } from "./lives.ts";
import { shuffled } from "./outside.ts";
import { rolesOf, teamSketch } from "./random-team.ts";

/** Longer runs are left out, because every one of their prefixes is lived. */
const LONGEST = 60;

/** Under eager it depends on what is heard together how often a step that always fails is tried with another that fails once. */
function dependsOnOrder(label: string): boolean {
  return isRepeated(label) || label.startsWith("refuse ");
}

describe("J1 random small teams", () => {
  test("under rounds, killed at every event", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
        const uncut = await live(company, [], shuffled(seed));
        fc.pre(uncut.events.length <= LONGEST);
        for (let cut = 0; cut <= uncut.events.length; cut += 1)
          await expectSameEnd(company, uncut, uncut.events.slice(0, cut), shuffled(seed + cut));
      }),
      { numRuns: 50 },
    );
  });

  test("under eager, killed at every event: the same is said, remembered and kept, in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, false), options: { scheduler: "eager" } };
        const uncut = await live(company, [], shuffled(seed));
        fc.pre(uncut.events.length <= LONGEST);
        for (let cut = 0; cut <= uncut.events.length; cut += 1) {
          const kept = uncut.events.slice(0, cut);
          const life = await live(company, kept, shuffled(seed + cut));
          expect(unordered(life)).toEqual(unordered(uncut));
          expectPaidOnce(uncut, kept, life, dependsOnOrder);
        }
      }),
      { numRuns: 30 },
    );
  });
});
