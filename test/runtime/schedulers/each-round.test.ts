import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMessage } from "../../../src/message/message.ts";
import { defineRole, type Role } from "../../../src/role/role.ts";
import { Environment } from "../../../src/runtime/environment.ts";
import { fold } from "../../../src/runtime/record/apply.ts";
import { canonical } from "../../../src/runtime/record/canonical.ts";
import type { Journal } from "../../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../../src/runtime/record/memory-journal.ts";
import type { SchedulerOption } from "../../../src/runtime/schedulers/scheduler.ts";
import { Team } from "../../../src/team/team.ts";
import { eventsOf, journalWith } from "../../team/recorded.ts";
import { stateText } from "../state-text.ts";

const names = ["p0", "p1", "p2", "p3", "p4"];

/** A person who acts in each round: she counts her turns, and gives a coin to one of all if she has one. */
function person(options: { readonly name?: string; readonly fails?: boolean } = {}): Role {
  return defineRole({
    name: options.name ?? "Person",
    watch: [],
    acts: "each round",
    onFailure: "skip",
    state: z.object({ coins: z.number().default(1), turns: z.number().default(0) }),
    steps({ coins, turns }, messages, out) {
      if (options.fails === true && turns === 2) throw new Error("breaks");
      const held = coins + messages.length;
      if (held > 0) out.say("coin", { sendTo: names[Math.floor(out.random() * names.length)] ?? "p0" });
      return { coins: Math.max(0, held - 1), turns: turns + 1 };
    },
  });
}

function market(scheduler: SchedulerOption = "rounds", journal?: Journal): Environment {
  const kept = journal === undefined ? {} : { journal, id: "r" };
  const environment = new Environment({ seed: 3, scheduler, ...kept });
  const one = person();
  for (const name of names) environment.addRole(one, { name });
  return environment;
}

const turnsOf = (environment: Environment): number[] => names.map((name) => Number(environment.getRole(name)?.state["turns"]));

describe("a role that acts in each round", () => {
  test.each(["rounds", "live", "sequential", "shuffled"] as const)(
    "acts once in a round under %s, with mail or without",
    async (scheduler) => {
      const environment = market(scheduler);
      expect(await environment.run({ rounds: 7 })).toMatchObject({ status: "rounds", rounds: 7 });
      expect(turnsOf(environment)).toEqual([7, 7, 7, 7, 7]);
      expect(environment.isIdle).toBe(false);
    },
  );

  test("acts in its stage of a round", async () => {
    const environment = market({ name: "staged", stages: [["p1"], ["Person"]] });
    await environment.run({ rounds: 4 });
    expect(turnsOf(environment)).toEqual([0, 4, 0, 0, 0].map((turns, index) => (index === 1 ? turns : 4)));
  });

  test("may always act without rounds: the scheduler draws it with mail or without", async () => {
    for (const scheduler of ["single", { name: "poisson", rate: 1 }] as const) {
      const environment = market(scheduler);
      await environment.run({ rounds: 40 });
      expect(Math.max(...turnsOf(environment))).toBe(40);
      expect(Math.min(...turnsOf(environment))).toBeGreaterThan(10);
    }
  });

  test("lets a run end by its limit, a condition or a signal alone", async () => {
    expect(await market().run()).toMatchObject({ status: "rounds", rounds: 100 });
    expect(await market().run({ stopWhen: ({ rounds }) => rounds >= 3 })).toMatchObject({ status: "finished", rounds: 3 });
    expect(await market().run({ signal: AbortSignal.abort() })).toMatchObject({ status: "stopped", rounds: 0 });
  });

  test("acts from the round after it was hired to the one before it is retired", async () => {
    const environment = market();
    await environment.run({ rounds: 2 });
    environment.addRole(person(), { name: "late" });
    await environment.run({ rounds: 3 });
    expect(environment.getRole("late")?.state["turns"]).toBe(3);
    environment.engine.team.retire("late");
    await environment.run({ rounds: 2 });
    expect([environment.getRole("late")?.state["turns"], turnsOf(environment)[0]]).toEqual([3, 7]);
  });

  test("fails without a message to give up, and acts in the next round", async () => {
    const environment = new Environment({ seed: 1 }).addRole(person({ name: "p0", fails: true }));
    const { failures, status } = await environment.run({ rounds: 5 });
    expect([failures.length, environment.getRole("p0")?.state["turns"], status]).toEqual([3, 2, "rounds"]);
  });

  test("is refused for a role that is no function of all its messages", () => {
    const invalid = expect.objectContaining({ code: "ROLE_INVALID" }) as Error;
    const given = { name: "A", acts: "each round" } as const;
    expect(() => defineRole({ ...given, step: () => undefined } as never)).toThrow(invalid);
    expect(() => defineRole({ ...given, react: () => undefined } as never)).toThrow(invalid);
    expect(() => defineRole({ name: "A", acts: "often", steps: () => undefined } as never)).toThrow(invalid);
  });
});

describe("the record of roles that act in each round", () => {
  test.each(["rounds", "live", "sequential", "single"] as const)(
    "under %s folds to the state, and a snapshot of any round continues",
    async (scheduler) => {
      const journal = memoryJournal();
      const whole = market(scheduler, journal);
      await whole.run({ rounds: 6 });
      const events = await eventsOf(journal, "r");
      const state = stateText(fold(events));
      expect(JSON.parse(stateText(whole.state))).toMatchObject({ ready: (JSON.parse(state) as { ready: string[] }).ready });
      for (let round = 0; round < 6; round += 1) {
        const first = market(scheduler);
        await first.run({ rounds: round });
        const again = await Environment.restore(await first.snapshot(), { roles: [person()], scheduler });
        await again.run({ rounds: 6 - round });
        expect(names.map((name) => again.getRole(name)?.state)).toEqual(names.map((name) => whole.getRole(name)?.state));
      }
    },
  );

  const teamOf = (journal: Journal): Team => new Team({ roles: names.map((name) => person({ name })), journal, seed: 5 });

  test("continues after every event, is replayed and forked", async () => {
    const journal = memoryJournal();
    expect((await teamOf(journal).run("go", { id: "r", rounds: 3 }).result).status).toBe("rounds");
    const events = await eventsOf(journal, "r");
    for (let cut = 2; cut < events.length - 1; cut += 1) {
      const store = await journalWith("r", events.slice(0, cut));
      expect((await teamOf(store).resume("r").result).status, `after ${cut} events`).toBe("rounds");
      expect(canonical(await eventsOf(store, "r"))).toEqual(canonical(events));
    }
    expect((await teamOf(journal).replay("r").result).error).toBeUndefined();
    const middle = events.findIndex(({ type }) => type === "round.ended");
    const forked = await teamOf(journal).fork("r", { id: "f", at: events[middle]?.seq ?? 0, rounds: 5 }).result;
    expect([forked.status, forked.rounds]).toEqual(["rounds", 5]);
  });

  test("is equal at every concurrency, and mail reaches such a role as any other", async () => {
    const texts = [1, 64].map(async (concurrency) => {
      const journal = memoryJournal();
      const environment = new Environment({ seed: 3, journal, id: "r", concurrency });
      for (const name of names) environment.addRole(person(), { name });
      environment.publishMessage(createMessage("coin", { sendTo: ["p2"] }));
      await environment.run({ rounds: 4 });
      return canonical(await eventsOf(journal, "r"));
    });
    const [one, other] = await Promise.all(texts);
    expect(one).toEqual(other);
  });
});
