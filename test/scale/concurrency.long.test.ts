// @module-tag numbers
import { describe, expect, it } from "vitest";
import { defineAction } from "../../src/role/action.ts";
import { Environment } from "../../src/runtime/environment.ts";
import type { RunResult } from "../../src/runtime/run-result.ts";
import { sleep } from "../../src/kernel/clock.ts";
import { defineRole } from "../../src/role/role.ts";
import { type SimulatedClock, simulatedClock } from "../../src/testing/simulated-clock.ts";

const WORKERS = 100;
const TASKS = 3;
const LATENCY = 200;
const UNLIMITED = Number.MAX_SAFE_INTEGER;

const split = defineAction({ name: "Split", run: ({ message }) => Array.from({ length: TASKS }, (_, task) => message(`task ${task}`)) });

/** How many effects are under way at once, at most. */
class Gauge {
  #now = 0;
  most = 0;

  async during<T>(work: Promise<T>): Promise<T> {
    this.#now += 1;
    this.most = Math.max(this.most, this.#now);
    const result = await work;
    this.#now -= 1;
    return result;
  }
}

/** One who says tasks, many who each wait for the world about everything they hear of, and one who hears of all that. */
function office(clock: SimulatedClock, gauge: Gauge, options: { readonly scheduler: "rounds" | "eager"; readonly concurrency?: number }) {
  const heard: string[] = [];
  const work = defineAction({
    name: "Work",
    run: async ({ news, name, step, message }) => {
      const wait = LATENCY + (Number(name.slice(1)) % 7) * 10;
      await step("world", name, () => gauge.during(sleep(clock, wait).then(() => null)));
      return news.map(({ content }) => message(`${name} did ${content}`));
    },
  });
  const hear = defineAction({ name: "Hear", run: ({ news }) => void heard.push(...news.map(({ content }) => content)) });
  const worker = defineRole({ name: "Worker", profile: "", watch: [split], actions: [work] });
  const environment = new Environment({ seed: "office", clock, ...options }).addRoles([
    defineRole({ name: "Boss", actions: [split] }),
    defineRole({ name: "Hub", watch: [work], actions: [hear] }),
  ]);
  for (let place = 0; place < WORKERS; place += 1) environment.addRole(worker, { name: `W${place}` });
  environment.publishMessage("go");
  return { environment, heard };
}

/** Lets time pass until it is over, and says how much did. */
async function lived(environment: Environment, clock: SimulatedClock): Promise<{ readonly result: RunResult; readonly ms: number }> {
  const began = clock.now();
  let ended: { readonly at: number } | undefined;
  const running = environment.run().finally(() => (ended = { at: clock.now() }));
  while (ended === undefined) await clock.advance(10);
  return { result: await running, ms: ended.at - began };
}

const expected = Array.from({ length: WORKERS }, (_, place) =>
  Array.from({ length: TASKS }, (_none, task) => `W${place} did task ${task}`),
).flat();

describe("no message is lost or doubled", () => {
  for (const scheduler of ["rounds", "eager"] as const) {
    it.each([1, 2, 4, 64, UNLIMITED])(`${scheduler}, at most %d activations at once`, async (concurrency) => {
      const [clock, gauge] = [simulatedClock(), new Gauge()];
      const { environment, heard } = office(clock, gauge, { scheduler, concurrency });
      const { result } = await lived(environment, clock);
      expect(result.status).toBe("finished");
      expect(heard.toSorted()).toEqual(expected.toSorted());
      expect(new Set(environment.history.get().map(({ id }) => id)).size).toBe(1 + TASKS + WORKERS * TASKS);
      expect(gauge.most).toBe(Math.min(concurrency, WORKERS));
    });
  }
});

describe("independent work", () => {
  it.each(["rounds", "eager"] as const)("of 16 roles takes as long as one of them: %s", async (scheduler) => {
    const clock = simulatedClock();
    const wait = defineAction({ name: "Wait", run: ({ step }) => step("world", null, () => sleep(clock, LATENCY).then(() => "done")) });
    const environment = new Environment({ seed: "office", clock, scheduler });
    const role = defineRole({ name: "One", profile: "", actions: [wait] });
    for (let place = 0; place < 16; place += 1) environment.addRole(role, { name: `O${place}` });
    environment.publishMessage("go");
    const { result, ms } = await lived(environment, clock);
    expect(result.outputs).toHaveLength(16);
    expect(ms).toBeGreaterThanOrEqual(LATENCY);
    expect(ms).toBeLessThanOrEqual(1.1 * LATENCY);
  });
});
