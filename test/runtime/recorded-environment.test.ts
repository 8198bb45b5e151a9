import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { silentLogger } from "../../src/kernel/emit.ts";
import { maskSecrets } from "../../src/kernel/mask.ts";
import { UserRequirement } from "../../src/message/address.ts";
import type { Role } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import { canonical } from "../../src/runtime/record/canonical.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { OwnRun } from "../../src/runtime/own-run.ts";
import { RunLog } from "../../src/runtime/record/run-log.ts";
import { RunState } from "../../src/runtime/record/run-state.ts";
import { Team } from "../../src/team/team.ts";
import { codeOf } from "../../src/testing/contracts/contract-kit.ts";
import { tries } from "../long.ts";
import { gate } from "../memory/brain-setup.ts";
import { Outside, shuffled, stillClock } from "../properties/outside.ts";
import { rolesOf, teamSketch } from "../properties/random-team.ts";
import { appendingBy, eventsOf, journalWith } from "../team/recorded.ts";
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

  test("property: goes on from its record, wherever that was cut, as if it had not stopped", { tags: "numbers" }, async () => {
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

  test("OwnRun.O1 closes after a message between two runs, which is in the journal by then, and goes on afterwards", async () => {
    const journal = memoryJournal();
    const world = new Environment({ seed: 1, journal, id: "r" }).addRole(walker);
    world.publishMessage("go");
    await world.run({ rounds: 1 });
    world.publishMessage("more");
    await world.close();
    expect((await eventsOf(journal, "r")).at(-1)).toMatchObject({ type: "message", message: { content: "more" } });
    const { epoch, former } = await journal.claim("r");
    expect(former).toBe("released");
    await journal.release("r", epoch);
    await world.close();
    expect(await world.run({ rounds: 1 })).toMatchObject({ status: "rounds", rounds: 2 });
    await expect(new Environment().close()).resolves.toBeUndefined();
  });

  test("OwnRun.O4 a restore that is refused, and one that is closed without a run, hide no death of the owner before", async () => {
    const journal = memoryJournal();
    const world = new Environment({ seed: 1, journal, id: "r" }).addRole(walker);
    world.publishMessage("go");
    await world.run({ rounds: 1 });
    const left = await journalWith("r", await eventsOf(journal, "r"));
    expect(await codeOf(() => Environment.restore({ journal: left, id: "r" }, { roles: [] }))).toBe("TEAM_CHANGED");
    await (await Environment.restore({ journal: left, id: "r" }, { roles: [walker] })).close();
    expect((await left.claim("r")).former).toBe("died");
  });
});

describe("Environment.E1 an environment with a journal", () => {
  test("is under way until its run is released", async () => {
    const inner = memoryJournal();
    const [reached, door] = [gate<undefined>(), gate<undefined>()];
    const release: Journal["release"] = async (...given) => {
      reached.open(undefined);
      await door.promise;
      await inner.release(...given);
    };
    const world = new Environment({ seed: 1, journal: { ...appendingBy(inner, inner.append.bind(inner)), release }, id: "r" });
    world.addRole(walker);
    world.publishMessage("go");
    const first = world.run({ rounds: 1 });
    await reached.promise;
    for (const more of [world.run(), world.close(), world.snapshot()]) await expect(more).rejects.toMatchObject({ code: "RUN_TWICE" });
    door.open(undefined);
    expect(await first).toMatchObject({ status: "rounds", rounds: 1 });
    expect(await world.run({ rounds: 1 })).toMatchObject({ status: "rounds", rounds: 2 });
  });
});

describe("the record of an environment", () => {
  test("OwnRun.O3 is not released between a claim and the append that it was made for", async () => {
    const inner = memoryJournal();
    const calls: string[] = [];
    const door = gate<undefined>();
    const journal: Journal = {
      ...appendingBy(inner, async (...given) => {
        calls.push("append");
        await door.promise;
        await inner.append(...given);
        calls.push("appended");
      }),
      release: async (...given) => {
        calls.push("release");
        await inner.release(...given);
      },
    };
    const own = new OwnRun(journal, "r");
    const appended = own.owned.journal.append("r", 0, 0, []);
    const closed = own.close(new RunLog({ state: new RunState("r"), clock: stillClock, mask: maskSecrets([]) }));
    door.open(undefined);
    await Promise.all([appended, closed]);
    expect(calls).toEqual(["append", "appended", "release"]);
  });

  test("OwnRun.O4 of an id that is taken is not released, and warns of no release", async () => {
    const journal = memoryJournal();
    await journal.create("r");
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
    const world = new Environment({ journal, id: "r", logger }).addRole(walker);
    world.publishMessage("go");
    expect(await world.run({ rounds: 1 })).toMatchObject({ status: "failed", error: { code: "RUN_EXISTS" } });
    expect(warnings).toEqual([]);
  });

  test("that could not be released is told as a warning", async () => {
    const inner = memoryJournal();
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (text: string) => void warnings.push(text) };
    const release = async (): Promise<void> => Promise.reject(new Error("no disk"));
    const world = new Environment({ journal: { ...appendingBy(inner, inner.append.bind(inner)), release }, id: "r", logger });
    world.addRole(walker).publishMessage("go");
    expect(await world.run({ rounds: 1 })).toMatchObject({ status: "rounds" });
    expect(warnings).toEqual(["The run could not be released: no disk"]);
  });
});
