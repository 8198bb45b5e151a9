import { describe, expect, it } from "vitest";
import { type ChatModel, createMessage, defineRole, Environment, usd } from "../../../src/index.ts";
import { experiment, policyModel, readExperiment, runExperiment } from "../../../src/research/index.ts";
import { hostLimits, SweepHost } from "../../../src/research/experiment/sweep-host.ts";
import { modelLimitsContract } from "../../../src/testing/contracts/model-limits.ts";
import { turns } from "../../../src/testing/contracts/contract-kit.ts";
import { type SimulatedClock, simulatedClock } from "../../../src/testing/simulated-clock.ts";
import type { ModelLimits } from "../../../src/ports.ts";
import { errorOf, scratchFolder } from "../../workspace/scratch.ts";

/** A model whose calls cost 300 micro-dollars. It counts them, and those at the same time. */
function meteredModel() {
  const seen = { calls: 0, now: 0, most: 0 };
  const model: ChatModel = {
    ...policyModel({
      id: "metered",
      price: { input: 1, output: 2 },
      answer: async () => {
        seen.calls += 1;
        seen.now += 1;
        seen.most = Math.max(seen.most, seen.now);
        await new Promise((resolve) => void setImmediate(resolve));
        seen.now -= 1;
        return { content: "Yes.", usage: { inputTokens: 100, outputTokens: 100 } };
      },
    }),
    maxOutputTokens: 100,
  };
  return { model, seen };
}

const COST = 300;
const RUNS = 5;
const ASKERS = ["Ann", "Ben", "Cid"];
const CALLS = RUNS * ASKERS.length;

function study(model: ChatModel, takesRun: boolean = true) {
  const roles = ASKERS.map((name) =>
    defineRole({
      name,
      watch: [],
      async react(rc) {
        await rc.ask(`${name}?`);
      },
    }),
  );
  return experiment({
    name: "metered",
    params: { n: Array.from({ length: RUNS }, (_, n) => n) },
    world: (setting) => new Environment({ seed: setting.seed, model, ...(takesRun ? setting.run : {}) }).addRoles(roles),
    begin: (world) => world.publishMessage(createMessage("go", { sendTo: ASKERS })),
  });
}

const clocks = new WeakMap<ModelLimits, SimulatedClock>();

modelLimitsContract(
  { describe, it, expect },
  "limits of a sweep",
  (limits) => {
    const clock = simulatedClock();
    const made = hostLimits(new SweepHost({ budget: undefined, limits, spent: new Map(), clock, onExhausted: () => {} }).connected().ask);
    clocks.set(made, clock);
    return made;
  },
  { settled: turns, pass: async (limits, ms) => clocks.get(limits)?.advance(ms) },
);

describe("the budget of a sweep", () => {
  it("SweepHost.H1 RecordJournal.R3 is never exceeded, whatever it is, and a larger one continues what is there", async () => {
    for (const calls of [0, 1, 4, 7, 12]) {
      const { model, seen } = meteredModel();
      const out = scratchFolder();
      const budget = calls * COST + COST / 2;
      const error = await errorOf(() => runExperiment(study(model), { out, budget }));
      expect([error.code, seen.calls * COST <= budget], `${calls} calls`).toEqual(["EXPERIMENT_BUDGET", true]);
      const asked = seen.calls;
      const { spent, rows } = await runExperiment(study(model), { out, budget: usd(1) });
      expect([rows.length, spent.calls, seen.calls >= CALLS, seen.calls <= asked + CALLS]).toEqual([RUNS, CALLS, true, true]);
      // What was spent counts in the next sweep into the folder.
      expect((await errorOf(() => runExperiment(study(model), { out, budget: CALLS * COST, reps: 2 }))).code).toBe("EXPERIMENT_BUDGET");
      expect((await readExperiment(out)).done).toBe(RUNS);
    }
  });

  it("is refused where calls cannot be counted before they are made", async () => {
    const { model, seen } = meteredModel();
    const out = scratchFolder();
    const { rows } = await runExperiment(study(model, false), { out, budget: usd(1) });
    expect([rows.every(({ error }) => String(error).startsWith("EXPERIMENT_BUDGET: Expected a world that takes run")), seen.calls]).toEqual(
      [true, 0],
    );
    expect(await errorOf(() => runExperiment(study(model), { budget: usd(1) }))).toMatchObject({ code: "OPTION_INVALID" });
    const { price: _price, ...unpriced } = model;
    const free = await runExperiment(study({ ...unpriced, id: "unknown" }), { out: scratchFolder(), budget: usd(1) });
    expect(free.rows[0]?.["error"]).toContain("Expected models of known prices");
  });
});

describe("the limits of a sweep", () => {
  it("hold for all calls together", async () => {
    const [free, bound] = [meteredModel(), meteredModel()];
    await runExperiment(study(free.model), { out: scratchFolder() });
    expect(free.seen.most).toBe(ASKERS.length);
    await runExperiment(study(bound.model), { out: scratchFolder(), limits: { concurrency: 1 } });
    expect([bound.seen.most, bound.seen.calls]).toEqual([1, CALLS]);
    expect(await errorOf(() => runExperiment(study(bound.model), { out: scratchFolder(), limits: { concurrency: 0 } }))).toMatchObject({
      code: "LIMIT_INVALID",
    });
  });
});
