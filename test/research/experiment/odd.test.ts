import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { createMessage, defineRole, Environment } from "../../../src/index.ts";
import { experiment, readExperiment, runExperiment } from "../../../src/research/index.ts";
import { scratchFolder } from "../../workspace/scratch.ts";

const person = (name: string) =>
  defineRole({
    name,
    profile: "Trader",
    goal: "Become rich",
    watch: [],
    state: z.object({ coins: z.number().default(3) }),
    steps: (state) => state,
  });

it("the folder of a sweep has a text after the ODD protocol, made from the declarations of the program", async () => {
  const out = scratchFolder();
  const market = experiment({
    name: "market",
    params: { tax: [0, 0.5], rich: [true] },
    reps: 2,
    seed: 7,
    rounds: 12,
    world: ({ seed }) => new Environment({ seed, scheduler: "sequential" }).addRoles([person("Ann"), person("Ben")]),
    begin: (world) => world.publishMessage(createMessage("go", { sendTo: world.roleNames })),
    stop: ({ delivered }) => delivered > 1_000,
    collect: { heard: ({ delivered }) => delivered },
    measure: () => ({ gini: 0 }),
  });
  await runExperiment(market, { out });
  const text = readFileSync(join(out, "ODD.md"), "utf8");
  expect(text.split("\n").filter((line) => line.startsWith("#"))).toEqual([
    "# market",
    "## Overview",
    "### Purpose and patterns",
    "### Entities, state variables and scales",
    "### Process overview and scheduling",
    "## Design concepts",
    "## Details",
    "### Initialization",
    "### Input data",
    "### Submodels",
  ]);
  const said = [
    "2 like `Ann`",
    '"goal":"Become rich"',
    '"coins":3',
    "sequential",
    "12 rounds",
    "seed 7",
    "`heard`, `gini`",
    "delivered > 1",
  ];
  for (const part of [...said, "Parameter `tax`: 0, 0.5", "Cells: 2; repetitions of each: 2"]) expect(text).toContain(part);
  expect((await readExperiment(out)).manifest.world?.roles).toMatchObject([{ count: 2, first: "Ann" }]);
  // A sweep that runs nothing keeps what an earlier one has described.
  await runExperiment(market, { out });
  expect(readFileSync(join(out, "ODD.md"), "utf8")).toBe(text);
});

it("counts the roles beyond the kinds that it describes", async () => {
  const out = scratchFolder();
  const roleOf = (n: number) =>
    defineRole({ name: `p${n}`, watch: [], state: z.object({ coins: z.number().default(n) }), steps: (state) => state });
  const unequal = experiment({
    params: { n: [1] },
    rounds: 1,
    world: ({ seed }) => new Environment({ seed }).addRoles(Array.from({ length: 130 }, (_, n) => roleOf(n))),
    begin: (world) => world.publishMessage(createMessage("go", { sendTo: "p0" })),
  });
  await runExperiment(unequal, { out });
  const described = (await readExperiment(out)).manifest.world?.roles.length ?? 0;
  expect(readFileSync(join(out, "ODD.md"), "utf8")).toContain(`${130 - described} more, of other kinds`);
});
