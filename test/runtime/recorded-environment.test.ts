import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UserRequirement } from "../../src/message/address.ts";
import type { Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { Team } from "../../src/team/team.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { tries } from "../effort.ts";
import { Outside, shuffled, stillClock } from "../properties/outside.ts";
import { rolesOf, teamSketch } from "../properties/random-team.ts";
import { eventsOf, journalWith } from "../team/recorded.ts";
import { answering } from "./town.ts";

const walker = answering("Walt", (rc) => rc.message(`step ${rc.random()}`, { sendTo: "<self>" }), { watch: [UserRequirement] });

describe("an environment with a journal", () => {
  test("OwnRun.O1 OwnRun.O2 records what a team would, with an end after each run and a resume before the next", async () => {
    const journal = memoryJournal();
    const world = new Environment({ seed: 1, journal, id: "r" }).addRole(walker);
    world.publishMessage("go");
    expect(await world.run({ rounds: 2 })).toMatchObject({ status: "rounds", rounds: 2 });
    // It is given up, so that another can write it; the environment claims it again.
    await journal.release("r", (await journal.claim("r")).epoch);
    world.addRole(answering("Wim", () => undefined, { watch: [UserRequirement] }));
    world.publishMessage("more");
    expect(await world.run({ rounds: 2 })).toMatchObject({ status: "rounds", rounds: 4 });
    const events = await eventsOf(journal, "r");
    const ofType = (type: string): unknown[] => events.filter((event) => event.type === type);
    expect(ofType("run.ended")).toMatchObject([{ status: "rounds" }, { status: "rounds" }]);
    expect(ofType("run.resumed")).toMatchObject([{ uncertain: [] }]);
    expect(ofType("role.hired")).toMatchObject([{ roles: [{ name: "Wim" }] }]);
    const bare = new Environment({ seed: 1 }).addRole(walker);
    bare.publishMessage("go");
    const { messages } = await bare.run({ rounds: 2 });
    expect(events.filter(({ type }) => type === "act.ended").slice(0, 2)).toMatchObject([
      { said: [{ message: { content: messages[1]?.content } }] },
      { said: [{ message: { content: messages[2]?.content } }] },
    ]);
    expect(
      await new Team({ journal, roles: [walker, answering("Wim", () => undefined, { watch: [UserRequirement] })] }).replay("r").result,
    ).toMatchObject({ status: "rounds" });
  });

  test("property: goes on from its record, wherever that was cut, as if it had not stopped", async () => {
    await fc.assert(
      fc.asyncProperty(teamSketch, fc.nat(), fc.double({ min: 0, max: 1, noNaN: true }), async (team, seed, place) => {
        const outside = new Outside(shuffled(seed));
        const whole = memoryJournal();
        const world = new Environment({ seed, journal: whole, id: "r", clock: stillClock, model: outside.model() });
        world.addRoles(rolesOf(team, outside, true));
        world.publishMessage("go");
        await world.run({ rounds: 30 });
        const events = await eventsOf(whole, "r");
        const kept = events.slice(0, 2 + Math.floor(place * (events.length - 2)));
        const journal = await journalWith("r", kept);
        const later = new Outside(shuffled(seed + 1), kept);
        const roles: Role[] = rolesOf(team, later, true);
        const again = await Environment.restore({ journal, id: "r" }, { roles, clock: stillClock, model: later.model() });
        await again.run({ rounds: 30 });
        expect(canonical(await eventsOf(journal, "r"))).toBe(canonical(events));
      }),
      { numRuns: tries(3, 300) },
    );
  });

  test("tells in its result what the journal refuses, and refuses options that cannot work", async () => {
    const journal = memoryJournal();
    await journal.create("r");
    const world = new Environment({ journal, id: "r" }).addRole(walker);
    world.publishMessage("go");
    expect(await world.run({ rounds: 2 })).toMatchObject({ status: "failed", error: { code: "RUN_EXISTS" } });
    expect(await codeOf(() => Environment.restore({ journal, id: "r" }, { roles: [walker] }))).toBe("RUN_NOT_STARTED");
    expect(await codeOf(() => Environment.restore({ journal, id: "none" }, { roles: [walker] }))).toBe("RUN_UNKNOWN");
    expect(await codeOf(() => new Environment({ id: "r" }))).toBe("OPTION_INVALID");
    expect(await codeOf(() => new Environment({ journal, id: "" }))).toBe("OPTION_INVALID");
    expect(await codeOf(() => new Environment({ journal, memory: false }))).toBe("OPTION_INVALID");
  });
});
