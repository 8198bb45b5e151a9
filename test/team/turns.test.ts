import { describe, expect, test } from "vitest";
import { UserFeedback, UserRequirement } from "../../src/message/address.ts";
import { createMessage } from "../../src/message/message.ts";
import type { Role } from "../../src/role/role.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import { saidBy, type StopCondition } from "../../src/runtime/stop-condition.ts";
import type { SchedulerOption } from "../../src/runtime/schedulers/scheduler.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { Team } from "../../src/team/team.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { answering, contents } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

const SCHEDULERS: readonly SchedulerOption[] = [
  "rounds",
  "eager",
  "live",
  "sequential",
  "shuffled",
  "single",
  "events",
  { name: "poisson", rate: 1 },
  { name: "staged", stages: [["Cook"], ["Waiter"]] },
  { name: "own", delivers: "turn", select: ({ ready, running }) => (running > 0 ? [] : [ready.length - 1]) },
];
const nameOf = (scheduler: SchedulerOption): string => (typeof scheduler === "string" ? scheduler : scheduler.name);
const each = SCHEDULERS.map((scheduler) => [nameOf(scheduler), scheduler] as const);

/** Answers each guest, over a colleague: two rounds for each message from outside. */
function kitchen(): Role[] {
  const watch = [UserRequirement, UserFeedback];
  return [
    answering("Cook", (rc) => rc.news.map(({ content }) => rc.message(`dish for ${content}`, { causeBy: "Cook" })), { watch }),
    answering("Waiter", (rc) => rc.news.map(({ content }) => rc.message(`served: ${content}`, { causeBy: "Serve" })), { watch: ["Cook"] }),
  ];
}

/** Writes to itself for ever. */
function endless(): Role {
  return answering("Ann", (rc) => rc.message(`turn ${rc.memory.size}`, { sendTo: "<self>" }));
}

function teamOf(roles: Role[], options: TeamOptions = {}): Team {
  return new Team({ seed: "s", journal: memoryJournal(), roles, ...options });
}

/** Talks to a run for some turns, and returns the outcome of each turn. */
async function talk(team: Team, turns: number, o: { readonly rounds: number }): Promise<readonly string[]> {
  const said: string[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const words = `guest ${turn}`;
    const run = turn === 1 ? team.run(words, { id: "r", ...o }) : team.resume("r", { add: [words] });
    const { status, output } = await run.result;
    said.push(`${status} ${output?.content}`);
  }
  return said;
}

describe.each(each)("%s: a conversation", (_name, scheduler) => {
  test("TurnCount.T1 is bounded by its turns and not by its length, also in a replay and a fork", async () => {
    const team = teamOf(kitchen(), { scheduler });
    const told = await talk(team, 7, { rounds: 3 });
    expect(told).toEqual(told.map((_, turn) => `finished served: dish for guest ${turn + 1}`));
    const { rounds } = await team.resume("r").result;
    expect(rounds).toBeGreaterThanOrEqual(7);
    const again = await team.replay("r").result;
    expect([again.status, again.rounds, again.error]).toEqual(["finished", rounds, undefined]);
    const forked = await team.fork("r", { add: ["guest 8"] }).result;
    expect([forked.status, forked.output?.content]).toEqual(["finished", "served: dish for guest 8"]);
    expect(forked.rounds).toBeGreaterThan(rounds);
  });

  test("TurnCount.T4 has the bound in each turn, and a resume without a message continues the count", async () => {
    const team = teamOf([endless()], { scheduler });
    expect(await team.run("go", { id: "r", rounds: 4 }).result).toMatchObject({ status: "rounds", rounds: 4 });
    expect((await team.resume("r").result).error?.code).toBe("ROUNDS_REACHED");
    expect(await team.resume("r", { add: ["on"] }).result).toMatchObject({ status: "rounds", rounds: 8 });
    expect((await team.resume("r").result).error).toMatchObject({ code: "ROUNDS_REACHED", data: { rounds: 4, bound: 4 } });
    expect(await team.resume("r", { rounds: 6 }).result).toMatchObject({ status: "rounds", rounds: 10 });
    await team.send("r", "more");
    expect(await team.resume("r").result).toMatchObject({ status: "rounds", rounds: 16 });
    expect(await team.replay("r").result).toMatchObject({ status: "rounds", rounds: 16 });
  });

  test("TurnCount.T2 does not get further rounds by messages that come while roles work", async () => {
    const team = teamOf([endless()], { scheduler });
    const run = team.run("go", { id: "r", rounds: 5 });
    run.on("act.ended", ({ seq }) => void run.publish(createMessage("and", { id: `m${seq}` })).catch(() => undefined));
    expect(await run.result).toMatchObject({ status: "rounds", rounds: 5 });
  });

  test("counts the same after kills at every event", async () => {
    const team = teamOf([endless()], { scheduler });
    await team.run("go", { id: "r", rounds: 3 }).result;
    const whole = await team.resume("r", { add: ["on"] }).result;
    const events = await eventsOf(team.journal, "r");
    const ends = events.flatMap(({ type }, place) => (type === "run.ended" ? [place] : []));
    for (let cut = (ends[0] ?? 0) + 3; cut < events.length; cut += 1) {
      const journal = await journalWith("r", events.slice(0, cut));
      const { status, rounds } = await teamOf([endless()], { scheduler, journal }).resume("r").result;
      expect([cut, status, rounds]).toEqual([cut, whole.status, whole.rounds]);
    }
  });
});

describe("a turn", () => {
  test.each<[string, StopCondition]>([
    ["the rounds", ({ rounds }) => rounds >= 2],
    ["the time", ({ tick }) => tick >= 2],
    ["what was said", saidBy("Serve")],
    ["all outputs, which are never fewer", ({ outputs }) => outputs.length >= 1],
  ])("is stopped by a condition on %s, and the next one is not stopped before it", async (_what, stopWhen) => {
    const team = teamOf(kitchen());
    expect((await team.run("guest 1", { id: "r", stopWhen }).result).output?.content).toBe("served: dish for guest 1");
    for (const words of ["guest 2", "guest 3"]) {
      await team.resume("r", { add: [words], stopWhen }).result;
      // The condition on all outputs stops after the first round.
      const { output } = await team.resume("r", { stopWhen: null }).result;
      expect(output?.content).toBe(`served: dish for ${words}`);
    }
  });

  test("TurnCount.T3 begins with a message that came too late to be read before the bound", async () => {
    const Ben = answering("Ben", (rc) => rc.message(`Ben heard ${rc.news[0]?.content}`, { sendTo: "<none>" }), { watch: [] });
    const team = teamOf([endless(), Ben]);
    const run = team.run("go", { id: "r", rounds: 3 });
    run.on("act.ended", ({ round }) => {
      if (round === 2) void run.publish(createMessage("late", { sendTo: "Ben" }));
    });
    expect(await run.result).toMatchObject({ status: "rounds", rounds: 3 });
    const { status, rounds, messages } = await team.resume("r").result;
    expect([status, rounds, contents(messages).includes("Ben heard late")]).toEqual(["rounds", 6, true]);
  });

  test("is kept by a snapshot, with what its roles have done in it", async () => {
    for (const scheduler of ["rounds", "eager"] as const) {
      const host = simulatedProcesses(memoryJournal());
      const one = host.start();
      const team = teamOf([endless()], { scheduler, journal: one.journal, snapshotEvery: 1 });
      await team.run("go", { id: "r", rounds: 5 }).result;
      await team.resume("r", { add: ["on"], rounds: 5 }).result;
      one.kill();
      const { journal } = host.start();
      expect(await journal.newestSnapshot?.("r")).toBeDefined();
      const later = teamOf([endless()], { scheduler, journal });
      expect((await later.resume("r").result).error).toMatchObject({ code: "ROUNDS_REACHED", data: { rounds: 5 } });
      expect(await later.resume("r", { rounds: 7 }).result).toMatchObject({ status: "rounds", rounds: 12 });
    }
  });
});
