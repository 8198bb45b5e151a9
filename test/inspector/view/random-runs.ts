import fc from "fast-check";
import type { RunEvent } from "../../../src/runtime/record/event.ts";
import { live } from "../../properties/lives.ts";
import { shuffled } from "../../properties/outside.ts";
import { rolesOf, teamSketch } from "../../properties/random-team.ts";

/** How a random run is made: its team, its scheduler, the bound of its mailboxes, and where its first process dies. */
export const runSketch = fc.record({
  team: teamSketch,
  scheduler: fc.constantFrom("rounds" as const, "eager" as const),
  mailbox: fc.constantFrom(undefined, { limit: 1, overflow: "drop-oldest" as const }, { limit: 2, overflow: "block" as const }),
  seed: fc.nat(),
  diesAt: fc.option(fc.nat({ max: 60 })),
});

/** Lives a random run, in one process or in two, and returns its events. */
export async function eventsOfRun({
  team,
  scheduler,
  mailbox,
  seed,
  diesAt,
}: typeof runSketch extends fc.Arbitrary<infer T> ? T : never): Promise<readonly RunEvent[]> {
  const options = { scheduler, ...(mailbox === undefined ? {} : { mailbox }) };
  const company = { roles: (outside: Parameters<typeof rolesOf>[1]) => rolesOf(team, outside, true), options };
  const { events } = await live(company, [], shuffled(seed));
  if (diesAt === null || diesAt >= events.length) return events;
  return (await live(company, events.slice(0, diesAt), shuffled(seed + 1))).events;
}
