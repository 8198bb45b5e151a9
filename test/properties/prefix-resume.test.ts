import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/run/event.ts";
import { fold } from "../../src/run/apply.ts";
import { heldBy, type Company, expectPaidOnce, live, type Lived, told, unordered } from "./lives.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { sixRoles } from "./six-roles.ts";
import { shuffled } from "./world.ts";

const isRepeated = (label: string): boolean => label.startsWith("again ") || label.startsWith("write ");

/** A killed run that goes on must end as the uncut one did. */
async function expectSameEnd(company: Company, uncut: Lived, kept: readonly RunEvent[], latency = shuffled(kept.length)): Promise<Lived> {
  const life = await live(company, kept, latency);
  expect(life.canonical).toBe(uncut.canonical);
  expect(told(life.result)).toEqual(told(uncut.result));
  expectPaidOnce(uncut, kept, life, isRepeated);
  return life;
}

describe("J1 a run that is killed anywhere goes on as if it had not been", () => {
  const company: Company = { roles: (world) => sixRoles(world, { pipelines: 3, steps: 2, laps: 2 }) };
  let uncut: Lived;

  beforeAll(async () => {
    uncut = await live(company, [], shuffled("uncut"));
    expect(uncut.result).toMatchObject({ status: "finished", error: undefined, uncertain: 0 });
  });

  test("the run has everything in it that can be recorded", () => {
    const types = uncut.events.map((event) => (event.type === "act.failed" ? `${event.role} failed, step ${event.stepFailed}` : event.type));
    expect(new Set(types)).toEqual(
      new Set(["run.started", "message", "act.started", "step.started", "step.ended", "act.ended", "Miner failed, step true", "Judge failed, step false", "round.ended", "run.ended"]),
    );
    expect(uncut.result.output?.content).toMatch(/^the person says yes/);
    expect(uncut.result.cost.known).toBeGreaterThan(0);
  });

  test("at every event: the same canonical events, the same messages, and nothing recorded happens or is paid again", async () => {
    for (let cut = 0; cut <= uncut.events.length; cut += 1) {
      const kept = uncut.events.slice(0, cut);
      const life = await expectSameEnd(company, uncut, kept);
      expect(life.result.uncertain, `cut after ${cut} events`).toBe(heldBy(kept));
    }
  });

  test("what shall be repeated is repeated by every activation that is open", async () => {
    for (let cut = 2; cut < uncut.events.length; cut += 1) {
      const kept = uncut.events.slice(0, cut);
      const { roles } = fold(kept);
      const written = [...(roles.get("Clerk")?.open?.steps.values() ?? [])].filter((step) => step.started.name === "write" && step.outcome?.ok === true);
      const clerks = [...uncut.events].filter((event) => event.type === "act.ended" && event.role === "Clerk").length;
      const { begun } = await live(company, kept);
      const writes = [...begun].filter(([label]) => isRepeated(label)).length;
      expect(writes, `cut after ${cut} events`).toBe(clerks - (roles.get("Clerk")?.n ?? 0) - (written.length > 1 ? 1 : 0));
    }
  });

  test("killed again and again", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 4 }), fc.nat(), async (cuts, seed) => {
        let { events } = uncut;
        for (const cut of cuts) {
          const kept = events.slice(0, 1 + Math.floor(cut * events.length));
          const life = await live(company, kept, shuffled(seed));
          expect(life.canonical).toBe(uncut.canonical);
          expectPaidOnce(uncut, kept, life, isRepeated);
          ({ events } = life);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("J1 random small teams", () => {
  test("under rounds, killed at every event", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (world) => rolesOf(sketch, world, true) };
        const uncut = await live(company, [], shuffled(seed));
        for (let cut = 0; cut <= uncut.events.length; cut += 1) await expectSameEnd(company, uncut, uncut.events.slice(0, cut), shuffled(seed + cut));
      }),
      { numRuns: 50 },
    );
  });

  test("under eager, killed at every event: the same is said, remembered and kept, in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (world) => rolesOf(sketch, world, false), options: { scheduler: "eager" } };
        const uncut = await live(company, [], shuffled(seed));
        for (let cut = 0; cut <= uncut.events.length; cut += 1) {
          const kept = uncut.events.slice(0, cut);
          const life = await live(company, kept, shuffled(seed + cut));
          expect(unordered(life)).toEqual(unordered(uncut));
          expectPaidOnce(uncut, kept, life, isRepeated);
        }
      }),
      { numRuns: 50 },
    );
  });
});
