import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { UserRequirement } from "../../src/message/address.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { fold } from "../../src/runtime/record/apply.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { listener } from "../runtime/town.ts";
import { eventsOf } from "../team/recorded.ts";
import { type Company, live, unordered } from "./lives.ts";
import { publishers } from "./publishers.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { idea, sixRoles, teamOf } from "./six-roles.ts";
import { type Latency, shuffled, steady, Outside } from "./outside.ts";
import { tries } from "../long.ts";

interface Ran {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly canonical: string;
  /** The events in the order in which they happened. */
  readonly raw: string;
}

async function ran(roles: (outside: Outside) => Iterable<Role>, latency: Latency, options: TeamOptions = {}): Promise<Ran> {
  const outside = new Outside(latency);
  const journal = memoryJournal();
  const run = teamOf(outside, roles(outside), { ...options, journal }).run(idea);
  const result = await run.result;
  const events = await eventsOf(journal, run.id);
  const raw = events.map((event) => `${event.type} ${"key" in event ? event.key : ""}${"role" in event ? event.role : ""}`).join("\n");
  return { result, events, canonical: canonical(events), raw };
}

const company = (outside: Outside): Role[] => sixRoles(outside, { pipelines: 8, steps: 3, laps: 2 });
const ten = Array.from({ length: 10 }, (_, nth) => nth);

describe("the same seed, roles and answers give the same canonical events, whatever the latencies", () => {
  test.each([1, 2, 16])("ten runs of a company with everything in it, at concurrency %i", async (concurrency) => {
    const expected = await ran(company, steady);
    const runs = await Promise.all(ten.map((nth) => ran(company, shuffled(nth), { concurrency })));
    expect(new Set(runs.map((run) => run.raw)).size, "the latencies must have mixed up what happened").toBe(10);
    expect(expected.result.status).toBe("finished");
    for (const { result, canonical: text } of runs) {
      expect(text).toBe(expected.canonical);
      expect(result.messages).toEqual(expected.result.messages);
    }
  });

  test("random small teams", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), fc.constantFrom(1, 2, 3, 16), async (sketch, seed, concurrency) => {
        const roles = (outside: Outside): Role[] => rolesOf(sketch, outside, true);
        const [one, two] = [await ran(roles, steady), await ran(roles, shuffled(seed, 9), { concurrency })];
        expect(two.canonical).toBe(one.canonical);
        expect(one.result.status).toBe("finished");
      }),
      { numRuns: tries(5, 200) },
    );
  });

  test("another seed gives others", async () => {
    const [one, two, same] = await Promise.all(["one", "two", "one"].map((seed) => ran(company, steady, { seed })));
    expect(two?.canonical).not.toBe(one?.canonical);
    expect(two?.result.messages.map((message) => message.content)).not.toEqual(one?.result.messages.map((message) => message.content));
    expect(same?.canonical).toBe(one?.canonical);
  });

  test("without a seed each run has its own, and records it", async () => {
    const seeds = await Promise.all(
      ["one", "two"].map(async () => {
        const journal = memoryJournal();
        const { id, result } = new Team({ journal, roles: [listener("A")] }).run(idea);
        await result;
        const [started] = await eventsOf(journal, id);
        return started?.type === "run.started" ? started.seed : "";
      }),
    );
    expect(seeds[0]).toMatch(/^[0-9a-f]{16}$/);
    expect(seeds[0]).not.toBe(seeds[1]);
  });

  test("steps side by side inside a step: only what they are counts, not which was faster", async () => {
    const dig = (outside: Outside): Role => {
      const pipeline = (names: readonly string[], door: Parameters<Outside["inner"]>[0]): Promise<string> =>
        names.reduce(async (before, name) => outside.inner(door, name, { before: await before }, () => name), Promise.resolve(""));
      return defineRole({
        name: "Digger",
        react: async (rc) => {
          const found = await rc.step("dig", {}, (door) =>
            Promise.all([pipeline(["a", "b", "c"], door), pipeline(["d", "e"], door), pipeline(["f"], door)]),
          );
          return rc.message(found.join());
        },
      });
    };
    const runs = await Promise.all(ten.map((nth) => ran((outside) => [dig(outside)], shuffled(nth, 12))));
    expect(new Set(runs.map((run) => run.raw)).size).toBeGreaterThan(1);
    expect(new Set(runs.map((run) => run.canonical)).size).toBe(1);
  });
});

describe("random numbers are each role's own", () => {
  const hired =
    (place: "first" | "last", role: Role) =>
    (outside: Outside): Role[] =>
      place === "first" ? [role, ...company(outside)] : [...company(outside), role];

  test("two roles of one program draw other numbers, and one role others each time", async () => {
    const gambler = (name: string): Role =>
      listener(name, {
        watch: [UserRequirement, "A", "B"],
        react: (rc) =>
          rc.news[0]?.causeBy === "UserRequirement" ? rc.message(String(rc.random())) : rc.message(String(rc.random()), { causeBy: "C" }),
      });
    const { result } = await ran(() => [gambler("A"), gambler("B")], steady);
    expect(result.messages).toHaveLength(1 + 2 + 2);
    expect(new Set(result.messages.map((message) => message.content)).size).toBe(1 + 2 + 2);
  });

  test.each(["first", "last"] as const)("a role that hears nothing, hired %s, changes nothing of the others", async (place) => {
    const mute = listener("Mute", { watch: ["Nothing"] });
    const [before, after] = [await ran(company, shuffled("b")), await ran(hired(place, mute), shuffled("a"))];
    expect(after.result.messages).toEqual(before.result.messages);
    const withoutHeader = (text: string): string[] => text.split("\n").slice(1);
    expect(withoutHeader(after.canonical)).toEqual(withoutHeader(before.canonical));
    expect(after.events[0]).toMatchObject({ roles: expect.arrayContaining([expect.objectContaining({ name: "Mute" })]) });
  });

  test.each(["first", "last"] as const)("one that draws many, hired %s, changes no message of the others", async (place) => {
    const draws: number[] = [];
    const greedy = listener("Greedy", { react: (rc) => void draws.push(...Array.from({ length: 1_000 }, () => rc.random())) });
    const [before, after] = [await ran(company, steady), await ran(hired(place, greedy), steady)];
    expect(after.result.messages).toEqual(before.result.messages);
    expect([Math.min(...draws) >= 0, Math.max(...draws) < 1]).toEqual([true, true]);
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    expect(mean).toBeGreaterThan(0.45);
    expect(mean).toBeLessThan(0.55);
  });
});

describe("eager", () => {
  /** Each hears the one before, three times around; each does some work side by side. */
  function chain(outside: Outside): Role[] {
    const names = ["A", "B", "C", "D"];
    return names.map((name, index) => {
      const pass = defineAction({
        name,
        run: async (ctx) => {
          const lap = Number(ctx.news[0]?.metadata["lap"] ?? 0) + (index === 0 ? 1 : 0);
          const found = await Promise.all([0, 1, 2].map((nth) => outside.step(ctx, "look", { nth, chance: ctx.random() }, () => `${nth}`)));
          const thought = await ctx.ask(`${ctx.text} ${found.join()}`);
          return lap > 3 ? undefined : ctx.message(`${thought} ${ctx.id()}`, { metadata: { lap } });
        },
      });
      return defineRole({
        name,
        reactions: [{ on: [names.at(index - 1) as string, ...(index === 0 ? [UserRequirement] : [])], do: pass }],
      });
    });
  }

  test("a chain of roles gives the same canonical events, whatever the latencies", async () => {
    const runs = await Promise.all(ten.map((nth) => ran(chain, shuffled(nth), { scheduler: "eager" })));
    expect(new Set(runs.map((run) => run.raw)).size).toBeGreaterThan(1);
    expect(new Set(runs.map((run) => run.canonical)).size).toBe(1);
    expect(runs[0]?.result).toMatchObject({ status: "finished", rounds: 4 });
    expect(runs[0]?.result.messages.map((message) => message.causeBy).join("")).toBe("UserRequirementABCDABCDABCD");
  });

  test("publishers say the same, in whatever order", async () => {
    const press: Company = { roles: publishers, options: { scheduler: "eager" } };
    const [first, ...others] = await Promise.all(ten.map((nth) => live(press, [], shuffled(nth))));
    for (const other of others) expect(unordered(other)).toEqual(first === undefined ? [] : unordered(first));
    expect(new Set([first, ...others].map((life) => life?.canonical)).size, "the latencies must have changed the order").toBeGreaterThan(1);
  });

  test("ScheduledRun.S1 no role ever acts twice at once", async () => {
    for (const nth of ten) {
      const { events } = await ran(publishers, shuffled(nth), { scheduler: "eager" });
      const acting = new Set<string>();
      for (const event of events) {
        if (event.type === "act.started") expect(acting).not.toContain(event.role);
        if (event.type === "act.started") acting.add(event.role);
        if (event.type === "act.ended" || event.type === "act.failed") acting.delete(event.role);
      }
      expect(acting).toEqual(new Set());
    }
  });

  test("ScheduledRun.S2 a run ends when nothing is left to hear and nobody acts, and not before", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), fc.constantFrom(1, 2, 16), async (sketch, seed, concurrency) => {
        const { result, events } = await ran((outside) => rolesOf(sketch, outside, false), shuffled(seed), {
          scheduler: "eager",
          concurrency,
        });
        expect(result.status).toBe("finished");
        const state = fold(events);
        expect([state.ready.size, state.open.size, state.pending.length, state.ledger.openHolds]).toEqual([0, 0, 0, 0]);
        const delivered = events.flatMap((event) =>
          event.type === "message" ? event.to : event.type === "act.ended" ? event.said.flatMap((sent) => sent.to) : [],
        );
        const taken = events.flatMap((event) => (event.type === "act.ended" ? Array.from({ length: event.take }, () => event.role) : []));
        expect(taken.toSorted()).toEqual(delivered.toSorted());
        expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
        await nextMacrotask();
      }),
      { numRuns: tries(4, 120) },
    );
  });
});
