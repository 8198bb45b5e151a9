import { describe, expect, it } from "vitest";
import { z } from "zod";
import { replaceDefaultLogger } from "../../../src/kernel/default-logger.ts";
import { silentLogger } from "../../../src/kernel/emit.ts";
import { createMessage, defineRole, Environment, Team } from "../../../src/index.ts";
import { experiment, experimentTable, mean, plotSvg, runExperiment } from "../../../src/research/index.ts";
import type { CellSetting, ExperimentOptions } from "../../../src/research/experiment/experiment.ts";

type Setting = Pick<CellSetting<never>, "seed" | "concurrency">;

const counts = z.object({ acts: z.number().default(0), coins: z.number().default(1) });

/** Each role acts on its own mail again and again. */
const clock = defineRole({
  name: "Clock",
  watch: [],
  state: counts,
  steps({ acts, coins }, _messages, out) {
    out.say("tick", { sendTo: "<self>" });
    return { acts: acts + 1, coins };
  },
});

const clocks =
  (size: number, scheduler: NonNullable<ConstructorParameters<typeof Environment>[0]>["scheduler"] = "rounds") =>
  ({ seed, concurrency }: Setting): Environment => {
    const world = new Environment({ seed, concurrency, scheduler, memory: false });
    for (let n = 0; n < size; n += 1) world.addRole(clock, { name: `c${n}` });
    return world;
  };

const begin = (world: Environment): unknown => world.publishMessage(createMessage("tick", { sendTo: world.roleNames }));
const acts = (world: Environment): number => world.roleNames.reduce((sum, name) => sum + Number(world.getRole(name)?.state["acts"]), 0);

type Given = Omit<ExperimentOptions<{ readonly n: number }, Environment>, "params" | "world" | "begin">;

const run = (world: (setting: Setting) => Environment, given: Given = {}) =>
  runExperiment(experiment({ params: { n: [1] }, world, begin, ...given }));

describe("the end of a run", () => {
  it.each<[string, Given, string]>([
    ["rounds that were asked for", { rounds: 100 }, "rounds"],
    ["a limit that nobody asked for", {}, "limit"],
    ["a stop", { stop: ({ rounds }) => rounds === 3 }, "stop"],
    ["a time", { ticks: 3, rounds: Infinity }, "ticks"],
    ["a time by the parameters", { ticks: ({ n }) => n + 1 }, "ticks"],
  ])("is named: %s", async (_name, given, ended) => {
    expect((await run(clocks(1), given)).rows.map((row) => row["ended"])).toEqual([ended]);
  });

  it("by the default limit keeps a run out of means and pictures, unless it is asked for", async () => {
    const half = experiment({
      params: { n: [1] },
      reps: 4,
      world: clocks(1),
      begin,
      stop: ({ rounds }, { rep }) => rep < 2 && rounds === 10 * (rep + 1),
      measure: ({ result }) => ({ t: result.rounds }),
      collect: { said: ({ delivered }) => delivered },
    });
    const logged: string[] = [];
    const undo = replaceDefaultLogger({ ...silentLogger, warn: (text) => void logged.push(text) });
    const { rows, series, warnings } = await runExperiment(half).finally(undo);
    expect(logged).toEqual(warnings);
    expect(warnings).toEqual([expect.stringMatching(/2 of 4 runs.*default limit of 100 rounds/)]);
    expect(experimentTable(rows, { by: [] })).toMatchObject([{ runs: 4, ended: "limit 2, stop 2", t: 15 }]);
    expect(experimentTable(rows, { by: [], cut: true })).toMatchObject([{ t: 57.5 }]);
    const texts = async (cut: boolean) => plotSvg(rows, { kind: "bars", x: "n", y: "t", cut });
    expect(await texts(false)).toMatch(/limit 2, stop 2[\s\S]*2 cut by the default limit left out/);
    expect(await texts(true)).not.toContain("left out");
    // The rounds of a run that was cut are as good as any: a picture of them says how runs ended, and leaves none out.
    const picture = await plotSvg(series, { kind: "line", x: "round", y: "said" });
    expect(picture).toMatch(/limit 2, stop 2/);
    expect(picture).not.toContain("left out");
    expect(experimentTable(series, { by: ["round"], of: ["said"] })[50]).toMatchObject({ round: 50, runs: 2, ended: "limit 2", said: 51 });
  });

  it.each(["poisson", "events", "rounds"] as const)(
    "at a time: under %s nothing happens later, and a run continues as if it had not stopped",
    async (name) => {
      const scheduler = name === "poisson" ? ({ name, rate: 2 } as const) : name;
      const walk = (): Environment => {
        const world = new Environment({ seed: 5, scheduler });
        const steps = (
          state: z.infer<typeof counts>,
          _messages: unknown,
          out: { after: (ticks: number, text: string, o: object) => void },
        ) => {
          out.after(0.75, "tick", { sendTo: "<self>" });
          return { ...state, acts: state.acts + 1 };
        };
        for (const one of ["a", "b", "c"]) world.addRole(defineRole({ name: one, watch: [], state: counts, steps: steps as never }));
        begin(world);
        return world;
      };
      const [whole, parts] = [walk(), walk()];
      const { signal } = new AbortController();
      const result = await whole.run({ ticks: 12, rounds: Infinity, signal });
      for (const ticks of [2, 4, 5]) expect((await parts.run({ ticks, rounds: Infinity, signal })).tick).toBeLessThanOrEqual(12);
      expect([result.status, result.tick <= 12, acts(whole) > 0]).toEqual(["stopped", true, true]);
      // The time of each part counts from the last activation, so the parts end earlier.
      expect(acts(parts)).toBeLessThanOrEqual(acts(whole));
      await parts.run({ ticks: 12 - parts.progress.tick, rounds: Infinity, signal });
      expect(parts.roleNames.map((one) => parts.getRole(one)?.state)).toEqual(whole.roleNames.map((one) => whole.getRole(one)?.state));
    },
  );

  it("needs another bound where rounds are unlimited", async () => {
    await expect(clocks(1)({ seed: "1", concurrency: 1 }).run({ rounds: Infinity })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  it("at a time holds for a team, and again after a resume", async () => {
    const team = new Team({ roles: [clock], seed: 1 });
    const first = await team.run(createMessage("tick", { sendTo: "Clock" }), { ticks: 5 }).result;
    expect([first.status, first.tick]).toEqual(["stopped", 5]);
    expect((await team.resume(first.runId, { ticks: 8 }).result).tick).toBe(8);
  });
});

describe("unread mail", () => {
  const giver = (people: number) =>
    defineRole({
      name: "P",
      watch: [],
      state: counts,
      steps({ acts: n, coins }, messages, out) {
        const had = coins + messages.filter(({ content }) => content === "coin").length;
        out.say("tick", { sendTo: "<self>" });
        if (had > 0) out.say("coin", { sendTo: `p${Math.floor(out.random() * people)}` });
        return { acts: n, coins: Math.max(0, had - 1) };
      },
    });
  const market =
    (people: number, delay: boolean) =>
    ({ seed }: Setting): Environment => {
      const edges = delay ? [{ from: "*", to: "*", delay: 2 }] : [];
      const world = new Environment({ seed, memory: false, ...(delay ? { edges: edges as never } : {}) });
      for (let n = 0; n < people; n += 1) world.addRole(giver(people), { name: `p${n}` });
      return world;
    };

  it("and states together hold every coin, for a condition, a collector and a measure", async () => {
    const people = 30;
    const { rows, series } = await run(market(people, false), {
      rounds: 20,
      collect: {
        coins: ({ state, inbox }) =>
          Array.from({ length: people }, (_, n) => `p${n}`).reduce(
            (sum, name) => sum + Number(state(name)?.["coins"]) + inbox(name).filter(({ content }) => content === "coin").length,
            0,
          ),
        waiting: ({ unread }) => unread,
      },
      measure: ({ world, result }) => ({
        held: world.roleNames.reduce((sum, name) => sum + Number(world.getRole(name)?.state["coins"]), 0),
        left: result.unread,
      }),
    });
    expect(new Set(series.map((row) => row["coins"]))).toEqual(new Set([people]));
    const [row] = rows;
    // Each person has a tick in the mail, and the coins that no state holds are in it too.
    expect(row).toMatchObject({ unread: people + people - Number(row?.["held"]), left: row?.["unread"] });
    expect(series.at(-1)?.["waiting"]).toBe(row?.["unread"]);
  });

  it("counts what waits for the end of a round or for a tick, once for each recipient", async () => {
    const world = new Environment({ seed: 1 });
    const teller = defineRole({ name: "T", step: (_state, _message, out) => void out.after(9, "late", { sendTo: ["A", "B"] }) });
    world.addRoles([teller, ...["A", "B"].map((name) => defineRole({ name, watch: [], step: () => undefined }))]);
    world.publishMessage(createMessage("go", { sendTo: "T" }));
    expect(world.progress.unread).toBe(1);
    expect((await world.run({ ticks: 2 })).unread).toBe(2);
    expect((await world.run()).unread).toBe(0);
  });
});

describe("a series", () => {
  it("begins before the first round", async () => {
    const { series } = await run(clocks(2), { rounds: 3, collect: { acts: ({ state }) => Number(state("c0")?.["acts"]) } });
    expect(series.map((row) => [row["round"], row["acts"]])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });
});

describe("repetitions that are equal", () => {
  const seeded = (ignores: boolean) =>
    experiment({
      params: { n: [1, 2] },
      reps: 5,
      rounds: 2,
      world: ({ seed, ...setting }) => clocks(1)({ ...setting, seed: ignores ? "always" : seed }),
      begin,
      measure: ({ world, seed, params }) => ({ x: params.n === 1 || ignores ? acts(world) : Number(`0x${seed.slice(0, 6)}`) }),
    });

  it("are not reported for runs that failed: the first error is", async () => {
    const broken = experiment({
      params: { n: [1] },
      reps: 5,
      world: () => {
        throw new Error("no such city");
      },
    });
    const { warnings, failed } = await runExperiment(broken);
    expect([failed, warnings]).toEqual([5, [expect.stringMatching(/5 of 5 runs failed.*no such city/)]]);
  });

  it("are reported, and have no standard error", async () => {
    const all = await runExperiment(seeded(true));
    expect(all.warnings).toEqual([expect.stringMatching(/5 repetitions of each cell are equal/)]);
    expect(experimentTable(all.rows, { by: ["n"] })).toMatchObject([{ x: 2, x_se: null }, { x_se: null }]);
    const some = await runExperiment(seeded(false));
    expect(some.warnings).toEqual([expect.stringMatching(/of cell 0 are equal/)]);
    const [first, second] = experimentTable(some.rows, { by: ["n"] });
    expect([first?.["x_se"], Number(second?.["x_se"]) > 0]).toEqual([null, true]);
    expect(second?.["x"]).toBeCloseTo(mean(some.rows.slice(5).map((row) => Number(row["x"]))), 6);
  });
});
