import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../src/kernel/clock.ts";
import { createMessage, type Message } from "../../src/message/message.ts";
import { defineRole, type Role } from "../../src/role/role.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import type { Team } from "../../src/team/team.ts";
import { cutsOf, tries } from "../long.ts";
import { eventsOf, fresh, journalWith } from "../team/recorded.ts";
import type { Company } from "./lives.ts";
import { Outside, shuffled, steady } from "./outside.ts";
import { rolesOf, teamSketch } from "./random-team.ts";
import { expectSameAgain } from "./replayed.ts";
import { idea, teamOf } from "./six-roles.ts";

/** Messages from outside with ids, to all or to one role. */
const wishes: fc.Arbitrary<readonly Message[]> = fc
  .array(fc.constantFrom("<all>", "R0", "R1", "R2", "nobody"), { minLength: 1, maxLength: 3 })
  .map((addresses) => addresses.map((sendTo, nth) => createMessage(`wish ${nth}`, { id: `wish-${nth}`, sendTo, timestamp: 7 })));

/** A team in a fresh process, with a journal that has nothing but these events. */
async function processOf({ roles, options }: Company, kept: readonly RunEvent[], seed: number): Promise<readonly [Team, Journal]> {
  const outside = new Outside(seed === 0 ? steady : shuffled(seed), kept);
  const journal = await journalWith("run", kept);
  return [teamOf(outside, roles(outside), { ...options, journal }), journal];
}

/** Says all wishes to a run, each after an end, and lets the run go on after each. */
async function converse(team: Team, runId: string, said: readonly Message[]): Promise<RunResult> {
  let result: RunResult = await team.resume(runId).result;
  for (const wish of said) {
    await team.send(runId, wish);
    result = await team.resume(runId).result;
  }
  return result;
}

/** A conversation from where its record ends: what was said before is said again, as by a caller that got no receipt. */
async function conversed(
  company: Company,
  said: readonly Message[],
  kept: readonly RunEvent[],
  seed: number,
): Promise<readonly RunEvent[]> {
  const [team, journal] = await processOf(company, kept, seed);
  await team.run(idea, { id: "run" }).result;
  const result = await converse(team, "run", said);
  expect(result.status, String(result.error)).toBe("finished");
  return eventsOf(journal, "run");
}

function expectSaidOnce(events: readonly RunEvent[], said: readonly Message[]): void {
  const ids = events.flatMap((event) => (event.type === "message" && event.message.id.startsWith("wish") ? [event.message.id] : []));
  expect(ids.toSorted()).toEqual(said.map(({ id }) => id).toSorted());
}

describe("a run that is told more after each of its ends", () => {
  test(
    "goes on after a kill at any event as if there had been none, replays, and is forked, across all ends",
    { tags: "numbers" },
    async () => {
      await fc.assert(
        fc.asyncProperty(teamSketch, wishes, fc.nat(), async (sketch, said, seed) => {
          const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
          const whole = await conversed(company, said, [], seed);
          expect(whole.filter(({ type }) => type === "run.ended").length).toBeGreaterThanOrEqual(1);
          expectSaidOnce(whole, said);
          await expectSameAgain(company, whole);
          for (const cut of cutsOf(whole.length).filter((place) => place > 1)) {
            const kept = whole.slice(0, cut);
            const goneOn = await conversed(company, said, kept, seed + cut);
            expectSaidOnce(goneOn, said);
            expect(canonical(goneOn), `killed after ${cut} of ${whole.length}`).toBe(canonical(whole));
            await expectSameAgain(company, goneOn);
          }
        }),
        { numRuns: tries(2, 60) },
      );
    },
  );

  test(
    "a fork after any event hears the rest of the conversation and pays for nothing that its parent has",
    { tags: ["numbers", "long"] },
    async () => {
      await fc.assert(
        fc.asyncProperty(teamSketch, wishes, fc.nat(), async (sketch, said, seed) => {
          const company: Company = { roles: (outside) => rolesOf(sketch, outside, true) };
          const whole = await conversed(company, said, [], seed);
          for (let at = 1 + (seed % 5); at < whole.length; at += 5) {
            const [team, journal] = await processOf(company, whole.map(fresh), seed + at);
            await team.fork("run", { id: "fork", at }).result;
            const result = await converse(team, "fork", said);
            expect([result.status, result.cost.known]).toEqual(["finished", 0]);
            expect(canonical(await eventsOf(journal, "fork")), `forked after ${at} of ${whole.length}`).toBe(canonical(whole));
          }
        }),
        { numRuns: tries(2, 40) },
      );
    },
  );
});

describe("a run that is told more while it works", () => {
  test.each(["rounds", "eager"] as const)(
    "under %s, at any time: nothing is lost or doubled, and every record replays",
    { tags: "numbers" },
    async (scheduler) => {
      await fc.assert(
        fc.asyncProperty(
          teamSketch,
          wishes,
          fc.array(fc.nat(30), { minLength: 3, maxLength: 3 }),
          fc.nat(),
          async (sketch, said, delays, seed) => {
            const company: Company = { roles: (outside) => rolesOf(sketch, outside, true), options: { scheduler } };
            const [team, journal] = await processOf(company, [], seed);
            const run = team.run(idea, { id: "run" });
            await Promise.all(
              said.map(async (wish, nth) => {
                for (let turn = delays[nth] ?? 0; turn > 0; turn -= 1) await nextMacrotask();
                await run.publish(wish);
              }),
            );
            expect((await converse(team, "run", [])).status).toBe("finished");
            const whole = await eventsOf(journal, "run");
            expectSaidOnce(whole, said);
            await expectSameAgain(company, whole);
            const lastTold = whole.findLastIndex(({ type }) => type === "message");
            for (const cut of cutsOf(whole.length).filter((place) => place > 1)) {
              const goneOn = await conversed(company, said, whole.slice(0, cut), seed + cut);
              expectSaidOnce(goneOn, said);
              await expectSameAgain(company, goneOn);
              if (scheduler === "rounds" && cut > lastTold) expect(canonical(goneOn), `killed after ${cut}`).toBe(canonical(whole));
            }
          },
        ),
        { numRuns: tries(2, 40) },
      );
    },
  );

  test("by one of its own steps, which a kill repeats: it is said once, in the same round", async () => {
    let publish = async (_message: Message): Promise<unknown> => undefined;
    const teller: Role = defineRole({
      name: "Teller",
      react: async (rc) => {
        if (rc.news.some(({ content }) => content.startsWith("wish"))) return rc.message("heard");
        for (const nth of [0, 1]) {
          await rc.step("before", { nth }, async () => null);
          await rc.step("tell", { nth }, async () => {
            await publish(createMessage(`wish ${nth}`, { id: `wish-${nth}`, timestamp: 7 }));
            return null;
          });
          await rc.step("after", { nth }, async () => null);
        }
        return rc.message("told");
      },
    });
    const company: Company = { roles: () => [teller, defineRole({ name: "Other", react: (rc) => rc.message(`other ${rc.news.length}`) })] };
    const life = async (kept: readonly RunEvent[]): Promise<readonly RunEvent[]> => {
      const [team, journal] = await processOf(company, kept, kept.length);
      const run = team.run(idea, { id: "run" });
      publish = (message) => run.publish(message);
      expect((await run.result).status).toBe("finished");
      return eventsOf(journal, "run");
    };
    const whole = await life([]);
    expect(whole.filter(({ type }) => type === "message")).toHaveLength(3);
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const goneOn = await life(whole.slice(0, cut));
      expect(goneOn.filter(({ type }) => type === "message")).toHaveLength(3);
      expect(canonical(goneOn), `killed after ${cut}`).toBe(canonical(whole));
      await expectSameAgain(company, goneOn);
    }
  });
});
