import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fold } from "../../src/runtime/record/apply.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { type Company, expectSameEnd, live, type Lived } from "./lives.ts";
import { expectSameAgain } from "./replayed.ts";
import { type NetSketch, netSketch, stepNet } from "./step-nets.ts";
import { cutsOf, tries } from "../long.ts";

type Policy = Pick<EnvironmentOptions, "scheduler" | "delivery">;

function companyOf(sketch: NetSketch, policy: Policy, concurrency: number): Company {
  return { roles: () => stepNet(sketch), options: { ...policy, concurrency } };
}

const regimes: readonly Policy[] = [{ scheduler: "rounds" }, { scheduler: "eager" }];

const policies: readonly Policy[] = [
  ...regimes,
  { scheduler: "live" },
  { scheduler: "sequential", delivery: "sender" },
  { scheduler: "shuffled" },
  { scheduler: "single" },
  { scheduler: "events", delivery: "shuffled" },
  { scheduler: { name: "poisson", rate: 0.5 } },
  { scheduler: { name: "staged", stages: [["N1"], ["N0", "N3"]] }, delivery: "sender" },
  { scheduler: "rounds", delivery: "shuffled" },
];

/** All that a run comes to, and the order of everything in it. */
function stateOf(events: readonly RunEvent[]): unknown {
  const { roles, dead, outputs, history, ready, open, round, busiest } = fold(events);
  const held = [...roles.values()].map(({ name, custom, mailbox, memory, workingMemory, n }) => ({
    name,
    state: JSON.stringify(custom),
    waits: mailbox.size,
    remembers: memory.size + workingMemory.size,
    n,
  }));
  return {
    held,
    dead: dead.length,
    outputs: [...outputs],
    history: [...history],
    open: [...ready, ...open],
    round,
    busiest,
  };
}

describe.each(policies)("J1 J2 ScheduledRun.S6 nets of plain functions under $scheduler, $delivery", (policy) => {
  test("come to the same end at concurrency 1 and 64, in a replay, and gone on with from everywhere", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(netSketch, async (sketch) => {
        const company = companyOf(sketch, policy, 1);
        const uncut = await live(company);
        const wide = await live(companyOf(sketch, policy, 64));
        expect(wide.canonical).toBe(uncut.canonical);
        expect(stateOf(wide.events)).toEqual(stateOf(uncut.events));
        await expectSameAgain(company, uncut.events);
        for (const cut of cutsOf(uncut.events.length)) {
          const life = await expectSameEnd(companyOf(sketch, policy, cut % 2 === 0 ? 1 : 64), uncut, uncut.events.slice(0, cut));
          expect(stateOf(life.events)).toEqual(stateOf(uncut.events));
        }
      }),
      { numRuns: tries(1, 60) },
    );
  });
});

describe.each(regimes)("nets of plain functions under $scheduler", (policy) => {
  test("make no trace of a memory, and one event of an activation", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(netSketch, async (sketch) => {
        const { events } = await live(companyOf(sketch, policy, 8));
        for (const event of events) {
          expect(["run.started", "message", "act.ended", "act.failed", "round.ended", "clock.advanced", "run.ended"]).toContain(event.type);
          if (event.type === "act.ended") expect([event.memory, event.working]).toEqual([[], []]);
        }
      }),
      { numRuns: tries(10, 40) },
    );
  });

  test("do among them all that such roles can do", async () => {
    const seen = new Set<string>();
    for (const sketch of fc.sample(netSketch, { seed: 1, numRuns: 40 }))
      for (const kind of kindsOf(await live(companyOf(sketch, policy, 8)))) seen.add(kind);
    expect(seen).toEqual(new Set(["isolate", "dead", "retry", "set", "no change", "took more than one"]));
  });
});

/** The kinds of events of a run, so that it is known what was tried. */
function kindsOf({ events }: Lived): readonly string[] {
  return events.flatMap((event): readonly string[] => {
    if (event.type === "act.failed") return [event.then];
    if (event.type !== "act.ended") return [];
    return [event.state === undefined ? "no change" : "set", ...(event.take > 1 ? ["took more than one"] : [])];
  });
}
