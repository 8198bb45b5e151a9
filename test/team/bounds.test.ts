import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../src/runtime/record/event.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { memoryJournal } from "../../src/runtime/record/memory-journal.ts";
import type { Role } from "../../src/role/role.ts";
import { afterRounds, afterSpending, allOf, anyOf, saidBy, type StopCondition } from "../../src/runtime/stop-condition.ts";
import type { MicroUsd } from "../../src/model/money.ts";
import type { TeamOptions } from "../../src/team/team-options.ts";
import { Team } from "../../src/team/team.ts";
import { answering } from "../runtime/town.ts";
import { eventsOf, journalWith } from "./recorded.ts";

/** Writes to itself for ever, one message a round. */
function endless(): Role {
  return answering("Ann", (rc) => rc.message(`turn ${rc.memory.size}`, { sendTo: "<self>" }));
}

const regimes = ["rounds", "eager"] as const;

function teamOf(journal: Journal, options: TeamOptions = {}): Team {
  return new Team({ seed: "s", journal, roles: [endless()], ...options });
}

/** A run as a process leaves it that is killed after so many rounds. */
async function killedAfter(rounds: number, o: Parameters<Team["run"]>[1], options: TeamOptions = {}): Promise<Journal> {
  const journal = memoryJournal();
  await teamOf(journal, options).run("go", { id: "r", ...o }).result;
  const events = await eventsOf(journal, "r");
  const turns = events.flatMap((event, place) => (event.type === "act.ended" ? [place] : []));
  return journalWith("r", events.slice(0, (turns[rounds - 1] ?? 0) + 1));
}

describe.each(regimes)("%s: the bound of rounds", (scheduler) => {
  test("holds when another process continues a run that was killed", async () => {
    const journal = await killedAfter(5, { rounds: 12 }, { scheduler });
    expect(await teamOf(journal, { scheduler }).resume("r").result).toMatchObject({ status: "rounds", rounds: 12 });
  });

  test("is raised where that is said, and that holds from then on", async () => {
    const journal = await killedAfter(5, { rounds: 6 }, { scheduler });
    expect(await teamOf(journal, { scheduler }).resume("r", { rounds: 9 }).result).toMatchObject({ status: "rounds", rounds: 9 });
    const [begun, ...later] = (await eventsOf(journal, "r")).filter(({ type }) => type === "run.started" || type === "run.resumed");
    expect([begun, later]).toMatchObject([{ bounds: { rounds: 6 } }, [{ bounds: { rounds: 9 } }]]);
    const events = await eventsOf(journal, "r");
    const turns = events.filter(({ type }) => type === "act.ended");
    const cut = await journalWith("r", events.slice(0, events.indexOf(turns[6] as RunEvent) + 1));
    expect((await teamOf(cut, { scheduler }).resume("r").result).rounds).toBe(9);
  });

  test("that is reached already is said, and how to raise it, instead of nothing", async () => {
    const journal = memoryJournal();
    await teamOf(journal, { scheduler }).run("go", { id: "r", rounds: 3 }).result;
    for (const begin of [
      (team: Team) => team.resume("r"),
      (team: Team) => team.fork("r"),
      (team: Team) => team.resume("r", { rounds: 2 }),
    ]) {
      const warnings: string[] = [];
      const run = begin(teamOf(journal, { scheduler }));
      run.on("warning", ({ text }) => void warnings.push(text));
      const result = await run.result;
      expect([result.status, result.rounds, result.error?.name, result.error?.code]).toEqual([
        "rounds",
        3,
        "ControlError",
        "ROUNDS_REACHED",
      ]);
      expect(result.error?.message).toMatch(/3 of at most [23] rounds.*rounds: /);
      expect(warnings).toEqual([result.error?.message]);
    }
    expect((await teamOf(journal, { scheduler }).run("go", { id: "r", rounds: 5 }).result).error).toBeUndefined();
  });

  test("that is reached already is no error where the program that began the run is run again", async () => {
    const journal = memoryJournal();
    const first = await teamOf(journal, { scheduler }).run("go", { id: "r", rounds: 3 }).result;
    const warnings: string[] = [];
    const run = teamOf(journal, { scheduler }).run("go", { id: "r", rounds: 3 });
    run.on("warning", ({ text }) => void warnings.push(text));
    expect(await run.result).toEqual(first);
    expect(warnings).toEqual([expect.stringMatching(/3 of at most 3 rounds/)]);
  });
});

describe("a stop condition", () => {
  const shipped: readonly [string, StopCondition][] = [
    ["afterRounds", afterRounds(7)],
    ["saidBy", anyOf(saidBy({ name: "Nothing" }), afterRounds(7))],
    ["afterSpending", allOf(afterSpending(0 as MicroUsd), afterRounds(7))],
  ];

  test.each(shipped)("%s is rebuilt from the record alone", async (_name, stopWhen) => {
    const journal = await killedAfter(3, { stopWhen, rounds: 20 });
    expect(await teamOf(journal).resume("r").result).toMatchObject({ status: "stopped", rounds: 7 });
    expect(await teamOf(journal).fork("r", { at: 4 }).result).toMatchObject({ status: "stopped", rounds: 7 });
  });

  const enough: StopCondition = ({ rounds }) => rounds >= 7;
  const own: readonly [string, StopCondition, string][] = [
    ["a function", enough, "enough"],
    ["a function in a shipped one", anyOf(afterRounds(50), enough), "enough"],
    [
      "a function without a name",
      (
        () => (progress: { rounds: number }) =>
          progress.rounds >= 7
      )(),
      "no name",
    ],
  ];

  test.each(own)("%s is asked for by its name, because the record cannot have it", async (_what, stopWhen, named) => {
    const journal = await killedAfter(3, { stopWhen, rounds: 20 });
    const before = await eventsOf(journal, "r");
    for (const begin of [(team: Team) => team.resume("r"), (team: Team) => team.fork("r", { id: "f" })]) {
      const { status, error } = await begin(teamOf(journal)).result;
      expect([status, error?.name, error?.code]).toEqual(["failed", "JournalError", "STOP_CONDITION_NEEDED"]);
      expect(error?.message).toContain(named);
      expect(error?.message).toContain("null");
    }
    expect(await eventsOf(journal, "r")).toEqual(before);
    expect((await journal.runs()).map(({ runId }) => runId)).toEqual(["r"]);
    expect(await teamOf(journal).fork("r", { at: 4, stopWhen }).result).toMatchObject({ status: "finished", rounds: 7 });
    expect(await teamOf(journal).resume("r", { stopWhen }).result).toMatchObject({ status: "finished", rounds: 7 });
  });

  test("is given up by null, for good", async () => {
    const journal = await killedAfter(3, { stopWhen: enough, rounds: 9 });
    expect(await teamOf(journal).resume("r", { stopWhen: null }).result).toMatchObject({ status: "rounds", rounds: 9 });
    expect(await teamOf(journal).resume("r", { rounds: 11 }).result).toMatchObject({ status: "rounds", rounds: 11 });
  });

  test("that holds already is said, instead of nothing", async () => {
    const journal = memoryJournal();
    await teamOf(journal).run("go", { id: "r", stopWhen: afterRounds(3) }).result;
    const { status, error } = await teamOf(journal).resume("r").result;
    expect([status, error?.code]).toEqual(["stopped", "STOP_CONDITION_HOLDS"]);
    expect(error?.message).toContain("afterRounds(3)");
  });
});

describe("other bounds", () => {
  const long = (): Role => answering("Ann", (rc) => rc.message("x".repeat(20 * rc.news[0]!.content.length)));

  test("the longest message holds in another process and in a replay, until it is raised", async () => {
    const journal = memoryJournal();
    const team = (options: TeamOptions = {}): Team => new Team({ journal, roles: [long()], ...options });
    await team({ messageLimit: 50 }).run("abc", { id: "r", rounds: 0 }).result;
    expect((await team().resume("r", { rounds: 5 }).result).error?.code).toBe("MESSAGE_TOO_LONG");
    expect((await team().resume("r").result).error?.code).toBe("MESSAGE_TOO_LONG");
    expect((await team().replay("r").result).error?.code).toBe("MESSAGE_TOO_LONG");
    expect((await team({ messageLimit: 60 }).resume("r").result).status).toBe("finished");
    const replayed = await team().replay("r").result;
    expect([replayed.status, replayed.error]).toEqual(["finished", undefined]);
  });
});
