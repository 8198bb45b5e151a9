// @module-tag numbers
import { describe, expect, it, vi } from "vitest";
import { heapOfEach } from "./heap.ts";
import { workOf } from "./work.ts";
import { z } from "zod";
import { createMessage } from "../../src/message/message.ts";
import { defineRole } from "../../src/role/role.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { EnvironmentOptions } from "../../src/runtime/environment-options.ts";

/** So many step roles of one definition, each of which tells its neighbour in every round. */
function ring(n: number, options: EnvironmentOptions = {}): Environment {
  const one = defineRole({
    name: "One",
    watch: ["Start"],
    state: z.object({ seen: z.number().default(0) }),
    step({ seen }, _message, out) {
      out.say("go", { sendTo: `r${(Number(out.name.slice(1)) + 1) % n}` });
      return { seen: seen + 1 };
    },
  });
  const environment = new Environment({ seed: 1, memory: false, ...options });
  for (let place = 0; place < n; place += 1) environment.addRole(one, { name: `r${place}` });
  environment.publishMessage(createMessage("go", { causeBy: "Start" }));
  return environment;
}

async function workOfEachMessage(n: number, rounds: number, options?: EnvironmentOptions): Promise<number> {
  const environment = ring(n, options);
  await environment.run({ rounds: 2 });
  const work = await workOf(() => environment.run({ rounds }));
  expect(environment.getRole("r0")?.state["seen"]).toBe(rounds + 2);
  return work / (n * rounds);
}

describe("a population of step roles", () => {
  it("does no more work for a message when it is fifteen times as large", async () => {
    await workOfEachMessage(20, 2);
    const small = await workOfEachMessage(60, 30);
    expect(small).toBeGreaterThan(10);
    expect(await workOfEachMessage(900, 2)).toBeLessThan(small * 1.2);
  });

  it.each(["single", { name: "poisson", rate: 1 }, "sequential"] as const)(
    "does little more work for the choice of one role of %o when it is fifteen times as large",
    async (scheduler) => {
      const role = defineRole({ name: "One", watch: ["Start"], step: (_state, _message, out) => void out.say("go", { sendTo: "<self>" }) });
      const workOfEachTurn = async (n: number): Promise<number> => {
        const environment = new Environment({ seed: 1, memory: false, scheduler });
        for (let index = 0; index < n; index += 1) environment.addRole(role, { name: `r${index}` });
        environment.publishMessage(createMessage("go", { causeBy: "Start" }));
        await environment.run({ rounds: 2 });
        const before = environment.state.activations;
        const work = await workOf(() => environment.run({ rounds: 2 }));
        return work / (environment.state.activations - before);
      };
      await workOfEachTurn(20);
      const few = await workOfEachTurn(60);
      expect(await workOfEachTurn(900)).toBeLessThan(few * 1.5);
    },
  );

  it("RunState.S6 counts the room in mailboxes only where more messages wait than one holds, however many were read", async () => {
    await workOfEachMessage(20, 2);
    const unbounded = await workOfEachMessage(60, 20);
    expect(await workOfEachMessage(60, 20, { mailbox: { limit: 60 } })).toBeLessThan(unbounded * 1.05);
  });

  it("does no more work for a message in simulated time when more messages wait for their ticks", async () => {
    const workOfEachTurn = async (n: number): Promise<number> => {
      const clock = defineRole({
        name: "Clock",
        watch: ["Start"],
        step: (_state, _message, out) => void out.after(1 + out.random(), "tick", { sendTo: "<self>" }),
      });
      const environment = new Environment({ seed: 1, memory: false, scheduler: "events" });
      for (let place = 0; place < n; place += 1) environment.addRole(clock, { name: `c${place}` });
      environment.publishMessage(createMessage("go", { causeBy: "Start" }));
      await environment.run({ rounds: 1 });
      const before = environment.state.activations;
      const work = await workOf(() => environment.run({ rounds: 2 }));
      return work / (environment.state.activations - before);
    };
    await workOfEachTurn(20);
    const few = await workOfEachTurn(60);
    expect(await workOfEachTurn(600)).toBeLessThan(few * 1.5);
  });

  it("does half the work for a message whose events nobody observes", async () => {
    const environments = [ring(60), ring(60)];
    environments[1]?.on("act.ended", () => undefined);
    const work: number[] = [];
    for (const environment of environments) {
      await environment.run({ rounds: 2 });
      work.push(await workOf(() => environment.run({ rounds: 20 })));
    }
    expect(work[0]).toBeLessThan((work[1] ?? 0) / 2);
  });

  it("takes few bytes for a role that waits, and for its message", async () => {
    // Measured 720 with a message in each mailbox.
    expect(await heapOfEach(2_000, () => ring(2_000))).toBeLessThan(1_000);
  });
});

describe("StepState.SS4 a large record in a state that no step changes", () => {
  const MESSAGES = 40;

  /** One role that counts messages and keeps a record of so many members, until it has told itself to go on for so many. */
  function keeper(size: number): Environment {
    const big = Object.fromEntries(Array.from({ length: size }, (_, place) => [`r${place}`, { place }]));
    const role = defineRole({
      name: "Keeper",
      watch: [],
      state: z.object({ big: z.record(z.string(), z.object({ place: z.number() })).default(big), seen: z.number().default(0) }),
      step({ seen, ...rest }, _message, out) {
        out.say("go", { sendTo: "<self>" });
        return { ...rest, seen: seen + 1 };
      },
    });
    const environment = new Environment({ seed: 1, memory: false }).addRole(role);
    environment.publishMessage(createMessage("go", { sendTo: "Keeper" }));
    return environment;
  }

  async function workOfKeeper(size: number): Promise<number> {
    const environment = keeper(size);
    await environment.run({ rounds: 2 });
    return workOf(() => environment.run({ rounds: MESSAGES }));
  }

  it("takes no work of a message, whatever its size", async () => {
    await workOfKeeper(10);
    const small = await workOfKeeper(10);
    expect(await workOfKeeper(5_000)).toBeLessThan(small * 1.2);
  });

  it("is not walked by V8 at each message either", async () => {
    const environment = keeper(5_000);
    await environment.run({ rounds: 2 });
    const { big } = environment.getRole("Keeper")?.state ?? {};
    const walks = [vi.spyOn(Object, "isFrozen"), vi.spyOn(Object, "keys"), vi.spyOn(Object, "values"), vi.spyOn(Object, "entries")];
    try {
      await environment.run({ rounds: MESSAGES });
      expect(walks.flatMap(({ mock }) => mock.calls).filter(([value]) => value === big).length).toBeLessThan(4);
    } finally {
      for (const walk of walks) walk.mockRestore();
    }
    expect(environment.getRole("Keeper")?.state["seen"]).toBe(MESSAGES + 2);
  });
});
