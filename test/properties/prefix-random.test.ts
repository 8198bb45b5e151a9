import fc from "fast-check";
import { describe, test } from "vitest";
import { type Company, expectSameEnd, expectSameSaid, isRepeated, live } from "./lives.ts";
import { shuffled } from "./outside.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { tries } from "../long.ts";

/** Of longer runs not every prefix is lived, but so many. */
const LONGEST = tries(10, 60);

/** The places at which a run of so many events is cut: everywhere, or spread over a long one, each time others. */
function placesIn(length: number, seed: number): readonly number[] {
  const everywhere = Array.from({ length: length + 1 }, (_, cut) => cut);
  const stride = Math.ceil(everywhere.length / LONGEST);
  return everywhere.filter((cut) => cut % stride === seed % stride);
}

/** Under eager it depends on what is heard together how often a step that always fails is tried with another that fails once. */
function dependsOnOrder(label: string): boolean {
  return isRepeated(label) || label.startsWith("refuse ");
}

describe("random small teams", () => {
  test("under rounds, killed at every event", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
        const uncut = await live(company, [], shuffled(seed));
        for (const cut of placesIn(uncut.events.length, seed))
          await expectSameEnd(company, uncut, uncut.events.slice(0, cut), shuffled(seed + cut));
      }),
      { numRuns: tries(5, 100) },
    );
  });

  test("under eager, killed at every event: the same is said, remembered and kept, in whatever order", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, false), options: { scheduler: "eager" } };
        const uncut = await live(company, [], shuffled(seed));
        for (const cut of placesIn(uncut.events.length, seed))
          await expectSameSaid(company, uncut, uncut.events.slice(0, cut), shuffled(seed + cut), dependsOnOrder);
      }),
      { numRuns: tries(4, 60) },
    );
  });
});
