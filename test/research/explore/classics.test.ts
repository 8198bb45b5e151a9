// @module-tag science
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineRole, type Environment, memoryJournal, Team } from "../../../src/index.ts";
import { explore } from "../../../src/research/index.ts";
import { figure, tries } from "../../long.ts";
import { allActivations } from "./activations.ts";
import { randomDiners } from "./diners.ts";
import { allAte, philosophers, ringElection, type TakeForks, twoPhaseCommit, unboundedElection, worldOf } from "./worlds.ts";

/** No test ends by the time that it takes. */
const PATIENCE = 3_600_000;

describe("dining philosophers", () => {
  const sizes = [3, 4, 5, 6].slice(0, tries(1, 4));

  it.each(sizes)("%i: all who take the left fork first deadlock, by the shortest schedule, which replays", async (count) => {
    const report = await explore(philosophers(count, "left first"), { done: allAte(count), ms: PATIENCE });
    const [finding] = report.findings;
    expect([report.isComplete, report.findings.length, finding?.kind, finding?.isShortest, finding?.schedule.length]).toEqual([
      ...[true, 1, "deadlock", true, 4 * count],
    ]);
    figure(
      `explore: ${count} philosophers, left first: ${report.schedules - report.walks} orders of ${report.estimate.toExponential(1)}, ${Math.round((1_000 * report.schedules) / report.ms)} schedules a second`,
    );
    const journal = memoryJournal();
    const result = await finding?.run({ journal, id: "deadlock" });
    expect([result?.status, result?.messages.filter(({ content }) => content === "yours").length]).toEqual(["finished", count]);
    const world = philosophers(count, "left first")({});
    const roles = world.roleNames.map((name) => world.getRole(name)?.role).filter((role) => role !== undefined);
    expect((await new Team({ roles, journal }).replay("deadlock").result).status).toBe("finished");
  });

  it.each(sizes.flatMap((count) => (["ordered", "one left-hander", "waiter"] as const).map((take): [number, TakeForks] => [count, take])))(
    "%i: %s never deadlocks",
    async (count, take) => {
      const report = await explore(philosophers(count, take), { done: allAte(count), ms: PATIENCE });
      expect([report.isComplete, report.findings]).toEqual([true, []]);
    },
  );

  it("five with random actions, all at once, deadlock as often as published", { tags: ["science", "long"] }, async () => {
    const { schedules, findings } = await explore(randomDiners(5, 30), {
      ...{ property: ({ state }) => state("Table")["isDead"] !== true, by: "random", schedules: 150, depth: 400, ms: PATIENCE },
    });
    const seen = findings.find(({ kind }) => kind === "violation")?.seen ?? 0;
    figure(`explore: the random baseline of DPBench at five deadlocks in ${seen} of ${schedules}, published .133 (.053 to .297)`);
    expect([schedules, seen / schedules > 0.053, seen / schedules < 0.297]).toEqual([150, true, true]);
  });
});

describe("known impossibilities", () => {
  it("two-phase commit blocks where its coordinator is dead, and nowhere else", async () => {
    const isDecided = ({ state, roles }: { state(role: string): { readonly [key: string]: unknown }; readonly roles: readonly string[] }) =>
      roles.every((role) => role === "C" || state(role)["is"] === "committed" || state(role)["is"] === "working");
    const blocked = await explore(twoPhaseCommit(3), { faults: { crash: ["C"] }, done: isDecided });
    expect([
      blocked.isComplete,
      blocked.findings.map(({ kind, schedule }) => [kind, schedule.some((step) => step === "crash of C")]),
    ]).toEqual([true, [["deadlock", true]]]);
    const alive = await explore(twoPhaseCommit(3), { done: isDecided });
    expect([alive.isComplete, alive.findings]).toEqual([true, []]);
    const dead = await explore(twoPhaseCommit(3), { faults: { crash: ["K0"] }, done: isDecided });
    expect(dead.findings.map(({ kind }) => kind)).toEqual(["deadlock"]);
  });

  it("an election may not end where no delay is bounded", async () => {
    const report = await explore(unboundedElection(2), { depth: 40, schedules: 20 });
    expect([report.isComplete, report.findings.map(({ kind }) => kind)]).toEqual([false, ["endless"]]);
  });
});

describe("orders that the order of activation does not show", () => {
  const leaders = (world: Environment): number => world.roleNames.filter((name) => world.getRole(name)?.state["isLeader"] === true).length;
  const isSafe = ({ roles, state }: { readonly roles: readonly string[]; state(role: string): { readonly [key: string]: unknown } }) =>
    roles.filter((role) => state(role)["isLeader"] === true).length <= 1;

  it("a ring election passes all of them, and elects two leaders once messages arrive singly", async () => {
    for (const ids of [
      [2, 1, 3],
      [3, 1, 2],
      [1, 4, 2, 3],
    ].slice(0, tries(2, 3))) {
      const wrong = ringElection(ids, true);
      expect(new Set(await allActivations(wrong, leaders))).toEqual(new Set([1]));
      const report = await explore(wrong, { property: isSafe, findings: 1, ms: PATIENCE });
      expect(report.findings.map(({ kind }) => kind)).toEqual(["violation"]);
      const right = await explore(ringElection(ids, false), { property: (state) => isSafe(state), ms: PATIENCE });
      expect([right.isComplete, right.findings]).toEqual([true, []]);
    }
  });

  it("two doctors both leave under rounds, and no order of activation shows it", async () => {
    const doctor = (name: string, other: string) =>
      defineRole({
        name,
        watch: [],
        state: z.object({ isOn: z.boolean().default(true), isAlone: z.boolean().default(false) }),
        steps({ isOn, isAlone }, messages, out) {
          const knows = isAlone || messages.some(({ content }) => content === "gone");
          if (!isOn || knows || !messages.some(({ content }) => content === "begin")) return { isOn, isAlone: knows };
          out.say("gone", { sendTo: other });
          return { isOn: false, isAlone: false };
        },
      });
    const ward = worldOf([doctor("Ann", "Bob"), doctor("Bob", "Ann")], ["Ann", "Bob"]);
    const onCall = (world: Environment): number => world.roleNames.filter((name) => world.getRole(name)?.state["isOn"] === true).length;
    const inRounds = ward({ seed: 1 });
    await inRounds.run();
    expect([onCall(inRounds), await allActivations(ward, onCall)]).toEqual([0, [1, 1]]);
    const report = await explore(ward, { property: ({ state }) => state("Ann")["isOn"] === true || state("Bob")["isOn"] === true });
    expect(report.findings.map(({ kind, schedule }) => [kind, schedule.length])).toEqual([["violation", 2]]);
  });
});
