import { describe, expect, it } from "vitest";
import { defineAction, defineRole, memoryJournal, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import { Isolation, MAX_ALONE, mayEndProcess } from "../../src/fleet/isolation.ts";
import { effectTeam, remoteEffects, type RunDriver, startWorker } from "../../src/fleet/index.ts";
import type { Working } from "../../src/team/run-driver.ts";
import { memoryRunDriver, simulatedClock } from "../../src/testing/index.ts";
import { simulatedProcesses } from "../simulated-processes.ts";
import { eventsOf } from "../team/recorded.ts";

const { signal } = new AbortController();

describe("the places of a worker", () => {
  it("Isolation.A1 a run that is alone waits for those at work, and others wait for it until it shares its place", async () => {
    const places = new Isolation(simulatedClock());
    const first = await places.enter({ isAlone: false, limit: 10, signal });
    const came: string[] = [];
    const alone = places.enter({ isAlone: true, limit: 10, signal }).then((place) => (came.push("alone"), place));
    const later = places.enter({ isAlone: false, limit: 10, signal }).then((place) => (came.push("later"), place));
    await new Promise((resolve) => setImmediate(resolve));
    expect(came).toEqual([]);
    first?.leave();
    const place = await alone;
    await new Promise((resolve) => setImmediate(resolve));
    expect(came).toEqual(["alone"]);
    place?.share();
    (await later)?.leave();
    place?.leave();
    expect((await places.enter({ isAlone: true, limit: 10, signal })) === undefined).toBe(false);
  });

  it("Isolation.A2 who got no place in time waits no longer, and those behind it continue", async () => {
    const clock = simulatedClock();
    const places = new Isolation(clock);
    await places.enter({ isAlone: false, limit: 10, signal });
    const alone = places.enter({ isAlone: true, limit: 10, signal });
    const later = places.enter({ isAlone: false, limit: 30, signal });
    await clock.advance(11);
    expect([await alone, (await later) === undefined]).toEqual([undefined, false]);
    const given = new AbortController();
    const last = places.enter({ isAlone: true, limit: 10, signal: given.signal });
    given.abort();
    expect(await last).toBe(undefined);
    const closed = places.enter({ isAlone: true, limit: 10, signal });
    places.close();
    expect(await closed).toBe(undefined);
  });

  it("Isolation.A3 a run that is alone shares its place in the end, and a place that was left holds nobody up", async () => {
    const clock = simulatedClock();
    const places = new Isolation(clock);
    const left = await places.enter({ isAlone: true, limit: 10, signal });
    left?.leave();
    await clock.advance(MAX_ALONE - 1);
    await places.enter({ isAlone: true, limit: 10, signal });
    const second = places.enter({ isAlone: false, limit: 2 * MAX_ALONE, signal });
    let came = clock.now();
    void second.then(() => (came = clock.now()));
    await clock.advance(MAX_ALONE);
    expect([(await second) === undefined, came]).toEqual([false, 2 * MAX_ALONE - 1]);
  });
});

interface World {
  readonly journal: Journal;
  readonly effects: Readonly<Record<string, () => Promise<string>>>;
}

function pair({ journal, effects }: World): Team {
  const Do = defineAction({
    name: "Do",
    run: (ctx) => ctx.step("do", { of: ctx.text }, async () => (await effects[ctx.text]?.()) ?? "done"),
  });
  return new Team({ name: "pair", roles: [defineRole({ name: "Ann", actions: [Do] })], journal });
}

/** A journal with a run "bad" whose owners have died twice without an answer. */
async function withSuspect(): Promise<Journal> {
  const processes = simulatedProcesses(memoryJournal());
  const begun = (runId: string, idea: string, journal: Journal): Promise<void> =>
    new Promise((resolve) => {
      const never = (): Promise<string> => {
        resolve();
        return new Promise(() => undefined);
      };
      const team = pair({ journal, effects: { [idea]: never } });
      void (runId === "new" ? team.run(idea, { id: "bad" }) : team.resume(runId)).started;
    });
  for (const runId of ["new", "bad"]) {
    const dying = processes.start();
    await begun(runId, "dies", dying.journal);
    dying.kill();
  }
  return processes.start().journal;
}

it("FleetWorker.W5 a run whose owner died waits for the run beside it, and works alone until it has an answer", async () => {
  const journal = await withSuspect();
  const { length } = await eventsOf(journal, "bad");
  expect(await mayEndProcess(journal, "bad", length)).toBe(true);

  const order: string[] = [];
  let release = (): void => undefined;
  const held = new Promise<string>((resolve) => (release = () => resolve("slow")));
  let isHeld = (): void => undefined;
  const reached = new Promise<void>((resolve) => (isHeld = resolve));
  const noted = (name: string) => async (): Promise<string> => {
    order.push(name);
    return name;
  };
  const slow = (): Promise<string> => {
    order.push("slow begins");
    isHeld();
    return held.then((text) => (order.push("slow ends"), text));
  };
  const driver = memoryRunDriver();
  const worker = await startWorker({
    driver,
    journal,
    teams: [pair({ journal, effects: { slow, dies: noted("bad"), late: noted("late") } })],
  });
  await driver.submit({ runId: "slow", team: "pair", idea: "slow" });
  await reached;
  await driver.submit({ runId: "bad", team: "pair" });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await driver.submit({ runId: "late", team: "pair", idea: "late" });
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  release();
  while ((await driver.list({ limit: 1 })).length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["slow begins", "slow ends", "bad", "late"]);
  await worker.drain();
});

it("FleetWorker.W5 an effect is done beside the run that waits for it, in the one worker of both, when their owners died", async () => {
  const clock = simulatedClock();
  const processes = simulatedProcesses(memoryJournal());
  const queue = memoryRunDriver({ clock });
  const working: Working[] = [];
  const driver: RunDriver = {
    submit: (job) => queue.submit(job),
    work: async (handler, o) => {
      const begun = await queue.work(handler, o);
      working.push(begun);
      return begun;
    },
    cancel: (runId) => queue.cancel(runId),
    list: (o) => queue.list(o),
    close: () => queue.close(),
  };
  const begin = (journal: Journal, render: () => Promise<string>): ReturnType<typeof startWorker> => {
    const effects = remoteEffects({ driver, journal, effects: ["step:render"], clock });
    const Draw = defineAction({ name: "Draw", run: (ctx) => ctx.step("render", {}, () => Promise.resolve("here")) });
    const team = new Team({ name: "drawers", roles: [defineRole({ name: "Ann", actions: [Draw] })], journal, effects, clock });
    return startWorker({ driver, journal, teams: [team, effectTeam("step:render", render, { journal, clock })], clock });
  };
  const until = async (isSo: () => Promise<boolean>): Promise<void> => {
    while (!(await isSo())) {
      await clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  await driver.submit({ runId: "asks", team: "drawers", idea: "a house" });
  for (let deaths = 0; deaths < 2; deaths += 1) {
    const dying = processes.start();
    let isReached = false;
    await begin(dying.journal, () => ((isReached = true), new Promise(() => undefined)));
    await until(async () => isReached);
    dying.kill();
    queue.lose(working.at(-1) as Working);
  }
  const { journal } = processes.start();
  const began = clock.now();
  const worker = await begin(journal, async () => "far away");
  await until(async () => (await driver.list({ limit: 1 })).length === 0);
  const events = await eventsOf(journal, "asks");
  expect(events.at(-1)).toMatchObject({ type: "run.ended", status: "finished" });
  expect(JSON.stringify(events)).toContain("far away");
  expect(clock.now() - began).toBeLessThan(2 * MAX_ALONE);
  await worker.drain();
});
