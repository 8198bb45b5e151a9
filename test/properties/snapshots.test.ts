import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fold } from "../../src/runtime/record/apply.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { snapshotOf } from "../../src/runtime/snapshot/snapshot.ts";
import { cutsOf, tries } from "../long.ts";
import { journalWith } from "../team/recorded.ts";
import { type Company, live } from "./lives.ts";
import { shuffled } from "./outside.ts";
import { publishers } from "./publishers.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { sixRoles } from "./six-roles.ts";

/** The places from which a journal was read while a run went on. */
interface Opened {
  readonly from: number[];
}

/** The same company, whose journal also has a snapshot after so many of the events. */
function withSnapshotAfter(company: Company, count: number, opened: Opened): Company {
  return {
    ...company,
    journalWith: async (runId, events) => {
      const journal = await journalWith(runId, events, snapshotOf(fold(events.slice(0, count)), events[count - 1] as RunEvent));
      const read = journal.read.bind(journal);
      journal.read = (id, from) => {
        opened.from.push(from);
        return read(id, from);
      };
      return journal;
    },
  };
}

/** A run that goes on from a snapshot and the events after it records the same as one that goes on from all its events. */
async function expectSameEvents(company: Company, kept: readonly RunEvent[], snapshotAfter: number, seed: number): Promise<void> {
  const opened: Opened = { from: [] };
  const folded = await live(company, kept, shuffled(seed));
  const restored = await live(withSnapshotAfter(company, snapshotAfter, opened), kept, shuffled(seed));
  expect(opened.from[0], "the events before the snapshot are not read").toBe(snapshotAfter - 1);
  expect(restored.events).toEqual(folded.events);
  expect(restored.result).toEqual(folded.result);
}

describe("Snapshot.S1 a run goes on from a snapshot as it goes on from its record", () => {
  test("property: random teams, under both schedulers, cut anywhere", { tags: "numbers" }, async () => {
    const places = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.constantFrom("rounds", "eager"), places, places, fc.nat(), async (team, scheduler, cut, at, seed) => {
        const company: Company = { roles: (outside) => rolesOf(team, outside, true), options: { scheduler } };
        const { events } = await live(company, [], shuffled(seed));
        const kept = events.slice(0, 2 + Math.floor(cut * (events.length - 2)));
        await expectSameEvents(company, kept, 1 + Math.floor(at * (kept.length - 1)), seed + 1);
      }),
      { numRuns: tries(3, 300) },
    );
  });

  test("a company in which everything happens that can be recorded, at every event", { tags: ["numbers", "long"] }, async () => {
    for (const company of [
      { roles: (outside) => sixRoles(outside, { pipelines: 3, steps: 2, laps: 2 }) },
      { roles: publishers },
      { roles: publishers, options: { scheduler: "eager" } },
    ] satisfies Company[]) {
      const { events } = await live(company, [], shuffled("uncut"));
      for (const cut of cutsOf(events.length).filter((place) => place > 1))
        await expectSameEvents(company, events.slice(0, cut), Math.max(1, cut - (cut % 7)), cut);
    }
  });
});
