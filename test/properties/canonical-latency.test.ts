import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineAction } from "../../src/action/action.ts";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { UserRequirement } from "../../src/message/address.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { fold } from "../../src/run/apply.ts";
import { canonical } from "../../src/run/canonical.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { memoryJournal } from "../../src/run/memory-journal.ts";
import type { RunResult } from "../../src/environment/run-result.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { listener } from "../environment/town.ts";
import { eventsOf } from "../team/recorded.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { idea, sixRoles, teamOf } from "./six-roles.ts";
import { type Latency, shuffled, steady, Outside } from "./outside.ts";

interface Ran {
  readonly result: RunResult;
  readonly events: readonly RunEvent[];
  readonly canonical: string;
  /** What happened in the order in which it did. */
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

describe("T3 the same seed, roles and answers give the same canonical events, whatever the latencies", () => {
  test("ten runs of a company with everything in it", async () => {
    const runs = await Promise.all(ten.map((nth) => ran(company, shuffled(nth))));
    expect(runs.map((run) => run.result.status)).toEqual(ten.map(() => "finished"));
    expect(new Set(runs.map((run) => run.raw)).size, "the latencies must have mixed up what happened").toBe(10);
    expect(new Set(runs.map((run) => run.canonical)).size).toBe(1);
    expect(runs.map((run) => run.result.messages)).toEqual(ten.map(() => runs[0]?.result.messages));
  });

  test("random small teams", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const roles = (outside: Outside): Role[] => rolesOf(sketch, outside, true);
        const [one, two] = [await ran(roles, steady), await ran(roles, shuffled(seed, 9))];
        expect(two.canonical).toBe(one.canonical);
        expect(one.result.status).toBe("finished");
      }),
      { numRuns: 100 },
    );
  });

  test.each([1, 2, 16])("at concurrency %i", async (concurrency) => {
    const expected = await ran(company, steady);
    const run = await ran(company, shuffled("c"), { concurrency });
    expect(run.canonical).toBe(expected.canonical);
  });

  test("another seed gives others", async () => {
    const [one, two, same] = await Promise.all(["one", "two", "one"].map((seed) => ran(company, steady, { seed })));
    expect(two?.canonical).not.toBe(one?.canonical);
    expect(two?.result.messages.map((message) => message.content)).not.toEqual(one?.result.messages.map((message) => message.content));
    expect(same?.canonical).toBe(one?.canonical);
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

describe("a role that hears nothing", () => {
  test.each(["first", "last"] as const)("hired %s changes no random number, id, message or step of the others", async (place) => {
    const mute = listener("Mute", { watch: ["Nothing"] });
    const more = (outside: Outside): Role[] => (place === "first" ? [mute, ...company(outside)] : [...company(outside), mute]);
    const [before, after] = [await ran(company, shuffled("b")), await ran(more, shuffled("a"))];
    expect(after.result.messages).toEqual(before.result.messages);
    const withoutHeader = (text: string): string[] => text.split("\n").slice(1);
    expect(withoutHeader(after.canonical)).toEqual(withoutHeader(before.canonical));
    expect(after.events[0]).toMatchObject({ roles: expect.arrayContaining([expect.objectContaining({ name: "Mute" })]) });
  });
});

describe("T3 eager", () => {
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

  test("E3 a run ends when nothing is left to hear and nobody acts, and not before", async () => {
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
      { numRuns: 60 },
    );
  });
});
