import { describe, expect, test } from "vitest";
import { nextMacrotask } from "../../../src/kernel/clock.ts";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import { exportRun, importRun } from "../../../src/runtime/record/transfer.ts";
import type { Scheduler } from "../../../src/runtime/schedulers/scheduler.ts";
import { Team } from "../../../src/team/team.ts";
import { simulatedClock } from "../../../src/testing/simulated-clock.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";
import { answering, town } from "../town.ts";

const oneAtRandom: Scheduler = {
  name: "one-at-random",
  parameters: { weight: 1 },
  delivers: "turn",
  select: ({ ready, running, random }) => (running > 0 ? [] : [Math.floor(random() * ready.length)]),
};

/** One role in each round: the one that has acted least. */
const fair: Scheduler = {
  name: "fair",
  delivers: "round",
  select: ({ ready, acted }) => {
    const least = Math.min(...ready.map(({ n }) => n));
    return acted > 0 ? [] : [ready.findIndex(({ n }) => n === least)];
  },
};

/** Says something to a random colleague, in so many activations. */
function talker(name: string, turns: number): Role {
  return answering(
    name,
    async (rc) => {
      const turn = Number(rc.state["turn"] ?? 0);
      rc.state["turn"] = turn + 1;
      if (turn === turns) return undefined;
      await rc.step("work", { turn }, () => Promise.resolve(turn));
      return rc.message(`${name} ${turn}`, { sendTo: ["Ann", "Bob", "Cid"][Math.floor(rc.random() * 3)] as string });
    },
    { watch: ["UserRequirement"] },
  );
}

const roles = (): Role[] => ["Ann", "Bob", "Cid"].map((name) => talker(name, 3));

function teamOf(journal: Journal, scheduler?: Scheduler): Team {
  const given = scheduler === undefined ? {} : { scheduler };
  return new Team({ name: "t", seed: 1, journal, clock: simulatedClock(5), roles: roles(), ...given });
}

describe.each([oneAtRandom, fair])("a scheduler of one's own: $name", (scheduler) => {
  test("is recorded with its parameters and its delivery, is replayed without it, and survives a transfer", async () => {
    const journal = memoryJournal();
    expect((await teamOf(journal, scheduler).run("go", { id: "r" }).result).status).toBe("finished");
    const [started] = await eventsOf(journal, "r");
    const { name, delivers, parameters } = scheduler;
    expect(started).toMatchObject({
      type: "run.started",
      scheduler: name,
      delivery: delivers,
      ...(parameters === undefined ? {} : { parameters }),
    });
    expect(await teamOf(journal).replay("r").result).toMatchObject({ status: "finished" });
    const other = memoryJournal();
    const lines: string[] = [];
    for await (const line of exportRun(journal, "r")) lines.push(line);
    await importRun(other, lines);
    expect(canonical(await eventsOf(other, "r"))).toEqual(canonical(await eventsOf(journal, "r")));
  });

  test("goes on after every event as if the run had not stopped", async () => {
    const journal = memoryJournal();
    await teamOf(journal, scheduler).run("go", { id: "r" }).result;
    const events = await eventsOf(journal, "r");
    for (let cut = 2; cut < events.length - 1; cut += 1) {
      const store = await journalWith("r", events.slice(0, cut));
      expect((await teamOf(store, scheduler).resume("r").result).status, `after ${cut} events`).toBe("finished");
      expect(canonical(await eventsOf(store, "r"))).toEqual(canonical(events));
    }
  });

  test("must be there, with the same parameters, when the run goes on", async () => {
    const journal = memoryJournal();
    await teamOf(journal, scheduler).run("go", { id: "r", rounds: 1 }).result;
    expect((await teamOf(journal).resume("r").result).error).toMatchObject({ code: "SCHEDULER_UNKNOWN" });
    const changed = { ...scheduler, parameters: { weight: 2 } };
    expect((await teamOf(journal, changed).resume("r").result).error).toMatchObject({ code: "SCHEDULER_DIFFERS" });
    const other = { ...scheduler, delivers: scheduler.delivers === "turn" ? ("round" as const) : ("turn" as const) };
    expect((await teamOf(journal, other).resume("r").result).error).toMatchObject({ code: "SCHEDULER_DIFFERS" });
    const events = await eventsOf(journal, "r");
    expect((await teamOf(journal).fork("r", { id: "f" }).result).error).toMatchObject({ code: "SCHEDULER_UNKNOWN" });
    expect((await journal.runs()).map(({ runId }) => runId)).toEqual(["r"]);
    expect(await eventsOf(journal, "r")).toEqual(events);
    expect((await teamOf(journal, scheduler).resume("r", { rounds: 100 }).result).status).toBe("finished");
  });
});

describe("a choice that cannot be", () => {
  const quiet = defineRole({ name: "Quiet", react: () => undefined });

  test.each([
    ["a place behind the last", () => [1]],
    ["a place twice", () => [0, 0]],
    ["no number", () => ["first" as unknown as number]],
    ["the name of a method of lists", () => ["sort" as unknown as number]],
    ["nobody, while nobody is running", () => []],
  ])("%s fails the run", async (_what, select) => {
    const environment = town([quiet], { scheduler: { name: "bad", delivers: "turn", select } });
    environment.publishMessage(createMessage("go", { sendTo: "Quiet" }));
    expect(await environment.run()).toMatchObject({ status: "failed", error: { code: "SCHEDULER_CHOICE" } });
  });

  test("a scheduler that selects no role ends each round, until the rounds are used up", async () => {
    const environment = town([quiet], { scheduler: { name: "lazy", delivers: "round", select: () => [] } });
    environment.publishMessage(createMessage("go", { sendTo: "Quiet" }));
    expect(await environment.run({ rounds: 7 })).toMatchObject({ status: "rounds", rounds: 7 });
  });

  test.each([
    ["a name that nobody knows", "sequentially"],
    ["an object without select", { name: "x", delivers: "turn" }],
    ["a number", 3],
  ])("%s is refused", (_what, scheduler) => {
    expect(() => town([quiet], { scheduler: scheduler as unknown as Scheduler })).toThrow(
      expect.objectContaining({ code: "SCHEDULER_UNKNOWN" }),
    );
  });
});

test("a scheduler that fails ends the run only when the turns under way have ended", async () => {
  let calls = 0;
  let running = 0;
  const flaky: Scheduler = {
    name: "flaky",
    delivers: "turn",
    select: ({ ready, running: turns }) => {
      calls += 1;
      if (calls === 2) throw new Error("no choice");
      return turns > 0 ? [] : ready.slice(0, 1).keys();
    },
  };
  const slow = (name: string): Role =>
    answering(name, async () => {
      running += 1;
      await nextMacrotask();
      running -= 1;
    });
  const environment = town([slow("Ann"), slow("Bob")], { scheduler: flaky });
  environment.publishMessage("go");
  expect([(await environment.run()).status, running]).toEqual(["failed", 0]);
  expect([(await environment.run()).status, running]).toEqual(["finished", 0]);
});
