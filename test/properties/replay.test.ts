import fc from "fast-check";
import { describe, test } from "vitest";
import { type Company, live } from "./lives.ts";
import { shuffled } from "./outside.ts";
import { publishers } from "./publishers.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { expectSameAgain } from "./replayed.ts";
import { sixRoles } from "./six-roles.ts";
import { tries } from "../long.ts";

/** The places at which a record is cut: spread over a long one, each time others. */
function placesIn(length: number, seed: number, most: number): readonly number[] {
  const stride = Math.ceil(length / most);
  return Array.from({ length: length - 1 }, (_, nth) => nth + 1).filter((cut) => cut % stride === seed % stride);
}

describe.each(["rounds", "eager"] as const)("J2 under %s every record happens again, whole or cut", (scheduler) => {
  const companies: readonly (readonly [string, Company["roles"]])[] = [
    ["six roles", (outside) => sixRoles(outside, { pipelines: 3, steps: 2, laps: 2 })],
    ["publishers", publishers],
  ];
  test.each(companies)("of %s", { tags: "numbers" }, async (_name, roles) => {
    const company: Company = { roles, options: { scheduler } };
    const { events } = await live(company, [], shuffled("whole"));
    for (let length = events.length; length >= 1; length -= tries(13, 5)) await expectSameAgain(company, events.slice(0, length));
  });

  test.each(companies)("of %s that were killed and went on", async (_name, roles) => {
    const company: Company = { roles, options: { scheduler } };
    let { events } = await live(company, [], shuffled("whole"));
    for (const part of [0.3, 0.5, 0.5, 0.6, 0.9]) {
      ({ events } = await live(company, events.slice(0, Math.ceil(part * events.length)), shuffled(part)));
      await expectSameAgain(company, events);
    }
  });

  test("of random small teams", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, true), options: { scheduler } };
        const uncut = await live(company, [], shuffled(seed));
        const killed = await live(company, uncut.events.slice(0, 1 + (seed % uncut.events.length)), shuffled(seed + 1));
        await expectSameAgain(company, uncut.events);
        await expectSameAgain(company, killed.events);
        for (const cut of placesIn(uncut.events.length, seed, 10)) await expectSameAgain(company, uncut.events.slice(0, cut));
      }),
      { numRuns: tries(3, 40) },
    );
  });
});
