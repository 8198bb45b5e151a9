import { describe, expect, it } from "vitest";
import { z } from "zod";
import { canonical, createMessage, defineRole, Environment, fold, memoryJournal, type RunEvent, Team } from "../../../src/index.ts";
import type { SchedulerChoice } from "../../../src/runtime/schedulers/scheduler.ts";
import type { Scheduler, SchedulerView } from "../../../src/ports.ts";

/** Remembers the contents that it reads, in their order. */
const reader = (name: string) =>
  defineRole({
    name,
    watch: [],
    state: z.object({ read: z.array(z.string()).default([]) }),
    steps: ({ read }, messages) => ({ read: [...read, ...messages.map(({ content }) => content)] }),
  });

const writer = (name: string, words: readonly string[]) =>
  defineRole({
    name,
    watch: [],
    step: (_state, _message, out) => {
      for (const word of words) out.say(word, { sendTo: "Rita" });
    },
  });

const begin = createMessage("begin", { sendTo: ["Ann", "Bob"] });

/** Acts on each message as it arrives, and asks `choose` for the fates. */
const choosing = (choose: (view: SchedulerView) => readonly SchedulerChoice[]): Scheduler => ({
  name: "choosing",
  delivers: "choice",
  select: (view) => (view.ready.length > 0 ? [0] : choose(view)),
});

async function ran(scheduler: Scheduler | "messages" | { name: "messages"; follow: RunEvent[] }, seed = 1) {
  const journal = memoryJournal();
  const world = new Environment({ scheduler: scheduler as Scheduler, seed, journal, id: "run" });
  world.addRoles([reader("Rita"), writer("Ann", ["a1", "a2"]), writer("Bob", ["b1"])]);
  world.publishMessage(begin);
  const result = await world.run();
  const events: RunEvent[] = [];
  for await (const event of journal.read("run", 0)) events.push(event);
  return {
    journal,
    result,
    events,
    read: world.getRole("Rita")?.state["read"],
    fates: events.filter(({ type }) => type === "choice.made"),
  };
}

const first: SchedulerChoice = { fate: "delivered", index: 0 };

describe("a scheduler that delivers by choice", () => {
  it("Choice.CH1 ChoiceRun.C1 sees each message to each recipient until it has chosen its fate, and is asked at rest too", async () => {
    const seen: (readonly string[])[] = [];
    await ran(
      choosing(({ inFlight }) => {
        seen.push(inFlight.map(({ message, from, to, isNext }) => `${from}>${to} ${message.content} ${isNext}`));
        return inFlight.length === 0 ? [] : [first];
      }),
    );
    expect(seen).toEqual([
      [">Ann begin true", ">Bob begin true"],
      [">Bob begin true", "Ann>Rita a1 true", "Ann>Rita a2 false"],
      ["Ann>Rita a1 true", "Ann>Rita a2 false", "Bob>Rita b1 true"],
      ["Ann>Rita a2 true", "Bob>Rita b1 true"],
      ["Bob>Rita b1 true"],
      [],
    ]);
  });

  it("Choice.CH2 loses and copies messages and lets roles crash, in a record that folds to the same state", async () => {
    const plan = [first, { fate: "lost", index: 1 }, first, { fate: "copied", index: 0 }, first, first] as SchedulerChoice[];
    const { result, events, read } = await ran(
      choosing(({ choices, inFlight }) => {
        const next = plan[choices];
        if (next !== undefined) return [next];
        return choices === plan.length ? [{ fate: "crashed", role: "Rita" }] : inFlight.length === 0 ? [] : [first];
      }),
    );
    expect([read, result.status, result.deadLetters.map(({ reason }) => reason.kind)]).toEqual([["a2", "b1"], "finished", ["crashed"]]);
    const folded = fold(events);
    expect(folded.roles.get("Rita")).toMatchObject({ isCrashed: true, custom: { read: ["a2", "b1"] } });
    expect(folded.faults).toMatchObject({ lost: 1, copied: 1 });
  });

  it("stops the run with messages in flight, and a later run continues", async () => {
    let isStopped = true;
    const world = new Environment({ scheduler: choosing(({ inFlight }) => (isStopped || inFlight.length === 0 ? [] : [first])), seed: 1 });
    world.addRoles([reader("Rita"), writer("Ann", ["a"]), writer("Bob", [])]);
    world.publishMessage(begin);
    expect([(await world.run()).status, world.isIdle]).toEqual(["stopped", false]);
    isStopped = false;
    const again = await Environment.restore(await world.snapshot(), {
      roles: [reader("Rita"), writer("Ann", ["a"]), writer("Bob", [])],
      scheduler: choosing(({ inFlight }) => (inFlight.length === 0 ? [] : [first])),
    });
    for (const one of [world, again]) {
      expect((await one.run()).status).toBe("finished");
      expect(one.getRole("Rita")?.state).toEqual({ read: ["a"] });
    }
  });

  it.each([
    ["two choices", [first, first]],
    ["no message", [{ fate: "lost", index: 9 }]],
    ["an unknown role", [{ fate: "crashed", role: "Nobody" }]],
    ["an unknown fate", [{ fate: "eaten", index: 0 }]],
  ])("is refused when it chooses %s", async (_what, choice) => {
    const { result } = await ran(choosing(() => choice as SchedulerChoice[]));
    expect([result.status, result.error?.code]).toEqual(["failed", "SCHEDULER_CHOICE"]);
  });
});

describe("the scheduler messages", () => {
  it("ChoiceRun.C2 draws an order for a seed, and keeps the order of each pair of roles", async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, (_, seed) => ran("messages", seed)));
    const texts = orders.map(({ read }) => (read as string[]).join(" "));
    expect(new Set(texts)).toEqual(new Set(["a1 a2 b1", "a1 b1 a2", "b1 a1 a2"]));
    expect((await ran("messages", 3)).read).toEqual(orders[3]?.read);
  });

  it("follows the choices of another run, whatever the seed", async () => {
    const then = await ran("messages", 3);
    const follow = then.fates.map((event) => event);
    for (const seed of [1, 2, 4]) {
      const now = await ran({ name: "messages", follow }, seed);
      expect(now.fates.map(({ time: _time, ...fate }) => fate)).toEqual(then.fates.map(({ time: _time, ...fate }) => fate));
    }
  });

  it("makes runs that replay, restore and fork", async () => {
    const { journal, events, read } = await ran("messages", 5);
    const roles = [reader("Rita"), writer("Ann", ["a1", "a2"]), writer("Bob", ["b1"])];
    const team = new Team({ roles, journal });
    expect((await team.replay("run").result).status).toBe("finished");
    const restored = await Environment.restore({ journal, id: "run" }, { roles });
    expect([restored.getRole("Rita")?.state["read"], (await restored.run()).status]).toEqual([read, "finished"]);
    const at = events.find(({ type }) => type === "choice.made")?.seq ?? 0;
    const fork = team.fork("run", { at });
    await fork.result;
    const forked: RunEvent[] = [];
    for await (const event of journal.read((await fork.result).runId, 0)) forked.push(event);
    expect(canonical(forked).split("\n").slice(1)).toEqual(canonical(events).split("\n").slice(1));
  });
});
