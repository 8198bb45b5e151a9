import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent, StepStarted } from "../../src/runtime/record/event.ts";
import type { MessageChange } from "../../src/runtime/replay/fork-copy.ts";
import type { ForkOptions } from "../../src/team/team-options.ts";
import { eventsOf, fresh, journalWith } from "../team/recorded.ts";
import { type Company, isRepeated, live, type Lived, unordered } from "./lives.ts";
import { endedLabels, Outside, shuffled } from "./outside.ts";
import { publishers } from "./publishers.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { expectSameAgain } from "./replayed.ts";
import { sixRoles, teamOf } from "./six-roles.ts";
import { tries } from "../long.ts";

interface Forked extends Lived {
  readonly result: RunResult;
}

/** A fork of a run, in a fresh process. */
async function forked({ roles, options }: Company, parent: readonly RunEvent[], o: ForkOptions): Promise<Forked> {
  const outside = new Outside(shuffled(o.at ?? 0), parent);
  const journal = await journalWith("run", parent);
  const result = await teamOf(outside, roles(outside), { ...options, journal }).fork("run", { id: "fork", ...o }).result;
  const events = await eventsOf(journal, "fork");
  return { result, events, canonical: canonical(events), begun: outside.begun };
}

/** The effects of a fork, except those that are done anew by intent. */
function paid({ begun }: Forked, isFree: (label: string) => boolean): readonly string[] {
  return [...begun.keys()].filter((label) => !isFree(label));
}

function expectNothingPaid(fork: Forked, parent: Lived, isFree: (label: string) => boolean = isRepeated): void {
  const where = `forked after event ${fork.result.fork?.parent.at}`;
  expect([fork.result.status, fork.result.error?.message], where).toEqual([parent.result.status, parent.result.error?.message]);
  expect(paid(fork, isFree), where).toEqual([]);
  expect([fork.result.cost.known, fork.result.fork?.paid, fork.result.fork?.difference], where).toEqual([0, 0, undefined]);
  expect(fork.result.fork?.saved, where).toBe(parent.result.cost.known);
}

const companies: readonly (readonly [string, Company["roles"]])[] = [
  ["six roles", (outside) => sixRoles(outside, { pipelines: 3, steps: 2, laps: 2 })],
  ["publishers", publishers],
];

describe("a fork that changes nothing pays nothing and does the same", () => {
  test.each(companies)("under rounds, of %s, after every fourth event", { tags: "numbers" }, async (_name, roles) => {
    const parent = await live({ roles }, [], shuffled("parent"));
    for (let at = 1; at < parent.events.length; at += tries(12, 4)) {
      const fork = await forked({ roles }, parent.events, { at });
      expect(fork.canonical, `after event ${at}`).toBe(parent.canonical);
      expectNothingPaid(fork, parent);
    }
  });

  test("under eager, of publishers, after every third event", { tags: "numbers" }, async () => {
    const company: Company = { roles: publishers, options: { scheduler: "eager" } };
    const parent = await live(company, [], shuffled("parent"));
    for (let at = 1; at < parent.events.length; at += tries(9, 3)) {
      const fork = await forked(company, parent.events, { at });
      expect(unordered(fork), `after event ${at}`).toEqual(unordered(parent));
      expectNothingPaid(fork, parent);
    }
  });

  test("of random small teams, after any event", { tags: "numbers" }, async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), async (sketch, seed) => {
        const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
        const parent = await live(company, [], shuffled(seed));
        for (let at = 1 + (seed % 5); at < parent.events.length; at += 5) {
          const fork = await forked(company, parent.events, { at });
          expect(fork.canonical).toBe(parent.canonical);
          expectNothingPaid(fork, parent);
        }
      }),
      { numRuns: tries(3, 40) },
    );
  });
});

/** A fork that a crash cut off, gone on with in a fresh process. */
async function goneOn({ roles, options }: Company, parent: readonly RunEvent[], kept: readonly RunEvent[]): Promise<Forked> {
  const outside = new Outside(shuffled(kept.length), [...parent, ...kept]);
  const journal = await journalWith("run", parent);
  await journal.create("fork");
  await journal.append("fork", (await journal.claim("fork")).epoch, 0, kept.map(fresh));
  const result = await teamOf(outside, roles(outside), { ...options, journal }).resume("fork").result;
  const events = await eventsOf(journal, "fork");
  return { result, events, canonical: canonical(events), begun: outside.begun };
}

describe("a fork that is killed goes on", () => {
  test.each(companies)(
    "of %s, cut after any event: it uses what is left of its parent and pays nothing",
    { tags: "numbers" },
    async (_name, roles) => {
      const parent = await live({ roles }, [], shuffled("parent"));
      for (let at = 1; at < parent.events.length; at += 61) {
        const whole = await forked({ roles }, parent.events, { at });
        for (let cut = at + 3 + (at % 7); cut < whole.events.length; cut += tries(21, 7)) {
          const fork = await goneOn({ roles }, parent.events, whole.events.slice(0, cut));
          expect(fork.canonical, `forked after ${at}, cut after ${cut}`).toBe(parent.canonical);
          expect(fork.result.uncertain).toBe(0);
          expectNothingPaid(fork, parent);
        }
      }
    },
  );

  test("of a parent that was killed itself: it pays what that had not paid", { tags: "numbers" }, async () => {
    const roles = publishers;
    const uncut = await live({ roles }, [], shuffled("parent"));
    for (let cut = 3; cut < uncut.events.length; cut += tries(27, 9)) {
      const parent = uncut.events.slice(0, cut);
      const before = endedLabels(parent);
      for (const at of [1, Math.ceil(cut / 2), cut - 1]) {
        const fork = await forked({ roles }, parent, { at });
        expect(fork.canonical, `killed after ${cut}, forked after ${at}`).toBe(uncut.canonical);
        const wanted = [...endedLabels(uncut.events)].map(([label, times]) => [label, times - (before.get(label) ?? 0)] as const);
        const counted = (counts: Iterable<readonly [string, number]>): unknown =>
          [...counts].filter(([label, times]) => times > 0 && !isRepeated(label)).toSorted(([a], [b]) => (a < b ? -1 : 1));
        expect(counted(fork.begun)).toEqual(counted(wanted));
      }
    }
  });
});

/** The steps of a run that have an answer, by the event that gave it. */
function answered(events: readonly RunEvent[]): ReadonlyMap<number, StepStarted> {
  const asked = new Map<string, StepStarted>();
  const ended = new Map<number, StepStarted>();
  for (const event of events) {
    if (event.type === "step.started") asked.set(`${event.act} ${event.key}`, event);
    const started = event.type === "step.ended" && event.retry !== true ? asked.get(`${event.act} ${event.key}`) : undefined;
    if (started !== undefined) ended.set(event.seq, started);
  }
  return ended;
}

/** Every answer that a fork took was given once, to the same role, for the same request. */
function expectRightlyReused(parent: readonly RunEvent[], fork: readonly RunEvent[]): void {
  const given = answered(parent);
  const asks = ({ act, kind, name, request }: StepStarted): unknown => [act.slice(0, act.lastIndexOf("#")), kind, name, request];
  const taken = [...answered(fork).values()].filter(({ reused }) => reused !== undefined);
  for (const step of taken) {
    const then = given.get(step.reused ?? -1);
    expect(then && asks(then)).toEqual(asks(step));
  }
  expect(new Set(taken.map(({ reused }) => reused)).size).toBe(taken.length);
}

describe("a fork that changes something", () => {
  const messages = ({ events }: Lived): readonly { readonly seq: number; readonly nth: number }[] =>
    events.flatMap((event) => {
      const said = event.type === "message" ? 1 : event.type === "act.ended" ? event.said.length : 0;
      return Array.from({ length: said }, (_, nth) => ({ seq: event.seq, nth }));
    });
  const change = fc.constantFrom<Partial<MessageChange>>({ drop: true }, { content: "else" }, {});

  test.each(["rounds", "eager"] as const)(
    "under %s: no answer to another question, none twice, and it is a run like others",
    { tags: "numbers" },
    async (scheduler) => {
      await fc.assert(
        fc.asyncProperty(teamSketch, teamSketch, change, fc.nat(), async (sketch, other, how, seed) => {
          const options = { scheduler };
          const parent = await live({ roles: (outside) => rolesOf(sketch, outside, true), options }, [], shuffled(seed));
          const roles: Company["roles"] = (outside) => {
            const then = rolesOf(sketch, outside, true);
            const now = new Map(rolesOf(other, outside, true).map((role) => [role.name, role]));
            return then.map((role, nth) => (nth % 2 === seed % 2 ? role : (now.get(role.name) ?? role)));
          };
          const all = messages(parent);
          const place = all[seed % all.length] ?? { seq: 1, nth: 0 };
          const isChanged = Object.keys(how).length > 0;
          const fork = await forked({ roles, options }, parent.events, isChanged ? { change: [{ ...place, ...how }] } : { at: place.seq });
          expect(fork.result.error?.message).toBeUndefined();
          expectRightlyReused(parent.events, fork.events);
          expect(fork.result.fork?.paid).toBe(
            [...fork.begun].reduce((sum, [label, times]) => sum + (label.startsWith("model ") ? times : 0), 0),
          );
          await expectSameAgain({ roles, options }, fork.events);
          const whole = fork.events;
          const cut = place.seq + 3 + (seed % Math.max(1, whole.length - place.seq - 3));
          const resumed = await goneOn({ roles, options }, parent.events, whole.slice(0, cut));
          expectRightlyReused(parent.events, resumed.events);
          if (scheduler === "rounds" && resumed.result.fork?.paid === fork.result.fork?.paid)
            expect(resumed.canonical).toBe(fork.canonical);
        }),
        { numRuns: tries(3, 40) },
      );
    },
  );

  test("a fork of a fork that changes nothing pays nothing, and replays", { tags: "numbers" }, async () => {
    const roles = publishers;
    const parent = await live({ roles }, [], shuffled("parent"));
    for (let at = 2; at < parent.events.length; at += 41) {
      const first = await forked({ roles }, parent.events, { at });
      const journal = first.events.map((event) => ({ ...event, runId: "run" }));
      for (let later = 1 + (at % 5); later < journal.length; later += tries(39, 13)) {
        const second = await forked({ roles }, journal, { at: later });
        expect(second.canonical).toBe(parent.canonical);
        expect([second.result.fork?.paid, second.result.fork?.saved]).toEqual([0, parent.result.cost.known]);
        expectRightlyReused(journal, second.events);
        await expectSameAgain({ roles }, second.events);
      }
    }
  });
});
