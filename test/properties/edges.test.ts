import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { byzantine, corrupt, crash, delay, drop, duplicate, partition, reorder } from "../../src/edges/index.ts";
import type { Edge } from "../../src/edges/edge.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { restored, snapshotOf } from "../../src/runtime/snapshot/snapshot.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { stateText } from "../runtime/state-text.ts";
import { cutsOf, tries } from "../long.ts";
import { type Company, expectSameEnd, live } from "./lives.ts";
import { Outside, shuffled } from "./outside.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { expectSameAgain } from "./replayed.ts";
import { teamOf } from "./six-roles.ts";
import { netSketch, stepNet } from "./step-nets.ts";

/** The roles of nets have names with N, those of teams with R. */
const name = fc.constantFrom("N0", "N1", "R0", "R1");
const rate = fc.constantFrom(0, 0.2, 0.6, 1);
const kind: fc.Arbitrary<Edge> = fc.oneof(
  rate.map((p) => drop(p)),
  fc.tuple(fc.nat(2), fc.nat(2)).map(([least, more]) => delay(least, least + more)),
  rate.map((p) => reorder(p)),
  fc.constantFrom(0.1, 0.3).map((p) => duplicate(p)),
  rate.map((p) => corrupt(p)),
  name.map((role) => crash(role).during(1, 4)),
  fc.tuple(fc.constantFrom("N0", "R0"), fc.constantFrom("N1", "R1")).map((group) => partition(group)),
  name.map((role) => byzantine(role, ({ random }) => ({ kind: "rewrite", content: `lie ${random()}` }))),
);
const policy = fc.tuple(kind, fc.constantFrom("", "*0->*", "*1<->*0", "*"), fc.boolean()).map(([edge, pairs, isBrief]) => {
  const somewhere = pairs.includes("->") ? edge.on(...pairs.split(" ")) : edge;
  return isBrief ? somewhere.during(0, 3) : somewhere;
});
const policies = fc.array(policy, { minLength: 1, maxLength: 3 });

/** The same company, as a program without the policies: only its record has what they decided. */
function withoutPolicies({ roles, options: { edges: _edges, ...options } = {} }: Company): Company {
  return { roles, options };
}

function expectSameState(events: readonly RunEvent[]): void {
  const last = events.at(-1);
  if (last === undefined) return;
  const whole = fold(events);
  const found = restored(whole.runId, snapshotOf(whole, last));
  expect(stateText(found?.state ?? fold([]))).toBe(stateText(whole));
}

async function expectSameFork(company: Company, parent: readonly RunEvent[], at: number): Promise<void> {
  const outside = new Outside(shuffled(at), parent);
  const journal = await journalWith("run", parent);
  const { error } = await teamOf(outside, company.roles(outside), { ...company.options, journal }).fork("run", { id: "fork", at }).result;
  expect(error?.message).toBeUndefined();
  expect(canonical(await eventsOf(journal, "fork"))).toBe(canonical(parent));
}

describe("runs whose messages meet faults on their way", () => {
  test.each(["rounds", "eager"] as const)(
    "Edges.G1 Replay.P6 under %s are the same at any concurrency, in a replay, in forks, and gone on with",
    { tags: "numbers" },
    async (scheduler) => {
      await fc.assert(
        fc.asyncProperty(netSketch, policies, async (sketch, edges) => {
          const companyOf = (concurrency: number): Company => ({
            roles: () => stepNet(sketch),
            options: { scheduler, concurrency, edges },
          });
          const company = companyOf(1);
          const uncut = await live(company);
          for (const concurrency of [2, 64]) expect((await live(companyOf(concurrency))).canonical).toBe(uncut.canonical);
          await expectSameAgain(withoutPolicies(company), uncut.events);
          for (const cut of cutsOf(uncut.events.length)) {
            await expectSameEnd(company, uncut, uncut.events.slice(0, cut));
            expectSameState(uncut.events.slice(0, cut));
            if (cut > 1) await expectSameFork(company, uncut.events, cut - 1);
          }
        }),
        { numRuns: tries(2, 60) },
      );
    },
  );

  test("of roles with steps are the same, killed at every event", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, policies, fc.nat(), async (sketch, edges, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, true), options: { edges } };
        const uncut = await live(company, [], shuffled(seed));
        await expectSameAgain(withoutPolicies(company), uncut.events);
        const places = cutsOf(uncut.events.length).filter((cut) => cut % Math.ceil(uncut.events.length / tries(4, 30)) === 0);
        for (const cut of places) await expectSameEnd(company, uncut, uncut.events.slice(0, cut), shuffled(seed + cut));
      }),
      { numRuns: tries(2, 60) },
    );
  });

  test("do among them all that can happen to a message", async () => {
    const counts = { lost: 0, delayed: 0, copied: 0, rewritten: 0 };
    for (const [sketch, edges] of fc.sample(fc.tuple(netSketch, policies), { seed: 1, numRuns: 30 })) {
      const { result } = await live({ roles: () => stepNet(sketch), options: { edges } });
      for (const kindOf of ["lost", "delayed", "copied", "rewritten"] as const) counts[kindOf] += result.faults?.[kindOf] ?? 0;
    }
    for (const count of Object.values(counts)) expect(count).toBeGreaterThan(2);
  });
});
