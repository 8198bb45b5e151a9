import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findNondeterminism } from "../../src/checks/index.ts";
import { root } from "../architecture/read-house.ts";
import { titled } from "../titled.ts";

const namesIn = async (source: string): Promise<readonly string[]> => (await findNondeterminism(source)).map(({ name }) => name);
const role = (body: string, before = ""): string =>
  `${before}\nexport const dice = defineRole({ name: "Dice", step(state, message, out) { ${body} } });`;

describe("what differs from run to run in a role", () => {
  it.each([
    ["out.say(`${Math.random()}`);", "Math.random"],
    ["return { at: Date.now() };", "Date.now"],
    ["return { at: new Date().getTime() };", "new Date()"],
    ["return { at: performance.now() };", "performance.now"],
    ["setTimeout(() => out.say('late'), 10);", "setTimeout"],
    ["return { id: crypto.randomUUID() };", "crypto.randomUUID"],
    ["return { at: process.hrtime.bigint() };", "process.hrtime"],
    ["return { at: globalThis.Math.random() };", "Math.random"],
    ["return { at: Math['random']() };", "Math.random"],
    ["return { all: [1].map(Math.random) };", "Math.random"],
  ])("is found: %s", async (body, name) => {
    const found = await namesIn(role(body));
    expect([...new Set(found)]).toEqual([name]);
  });

  it("is found behind another name, and in functions of the file that the role uses", async () => {
    expect(await namesIn(role("return { id: uuid() };", 'import { randomUUID as uuid } from "node:crypto";'))).toEqual([
      "crypto.randomUUID",
    ]);
    expect(await namesIn(role("return { n: random() };", "const { random } = Math;"))).toEqual(["Math.random"]);
    expect(await namesIn(role("return { n: now() };", "const now = Date.now;"))).toEqual(["Date.now"]);
    expect(await namesIn(role("wait(3);", 'import { setTimeout as wait } from "node:timers/promises";'))).toEqual(["setTimeout"]);
    const helpers = "function roll() { return side(); }\nconst side = () => Math.random();";
    expect(await findNondeterminism(role("out.say(`${roll()}`);", helpers))).toMatchObject([{ line: 2, column: 20, name: "Math.random" }]);
    expect(await namesIn("class Dice extends Role { react() { return Math.random(); } }")).toEqual(["Math.random"]);
  });

  it("is found in values of the file, in classes behind a class, and behind another name of the maker", async () => {
    expect(await namesIn(role("return { bias };", "const bias = Math.random();"))).toEqual(["Math.random"]);
    const behind = "class Base extends Role {} class Late extends Base { react() { return Date.now(); } }";
    expect(await namesIn(behind)).toEqual(["Date.now"]);
    expect(await namesIn('import { defineRole as made } from "troupe"; made({ step: () => Math.random() });')).toEqual(["Math.random"]);
  });

  it("is not found in names of members, and in those that every object has", async () => {
    expect(await namesIn("class Clerk extends Role { constructor() { super(); this.valueOf(); } }")).toEqual([]);
    expect(await namesIn(role("page.setTimeout(1); return { wait: 1, setTimeout: 2 };", "const wait = () => Math.random();"))).toEqual([]);
    expect(await namesIn("class A extends B {} class B extends A {}")).toEqual([]);
  });

  it("is not found outside of roles, in a recorded step, in a name of the file, and where the value is fixed", async () => {
    const clean = [
      "console.log(Math.random(), Date.now()); setTimeout(() => {}, 1);",
      role("return { at: new Date(out.now()).getTime(), n: out.random() };"),
      role("return { n: Math.random() };", "const Math = { random: () => 4 };"),
      role("return { n: Math.max(1, 2), at: Date.parse('2020-01-01') };"),
      'defineRole({ name: "R", react: (rc) => rc.step("clock", {}, async () => Date.now()) });',
      role("return {};", "function unused() { return Math.random(); }"),
    ];
    expect(await Promise.all(clean.map(namesIn))).toEqual(clean.map(() => []));
  });

  it("is told for a text that is a program only", async () => {
    await expect(findNondeterminism("const = 3")).rejects.toMatchObject({ code: "SOURCE_INVALID" });
  });

  it("is in no example, as they are built", { tags: ["company", "long"] }, async () => {
    const folder = join(root, "dist/examples");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".js"));
    expect(files.length).toBeGreaterThan(30);
    for (const file of files) expect(await findNondeterminism(readFileSync(join(folder, file), "utf8")), file).toEqual([]);
  });
});

describe("what differs from run to run around the roles", () => {
  const lab =
    'import { experiment } from "troupe/research";\nimport { Environment, Team } from "troupe";\nimport { byzantine, corrupt, edge } from "troupe/edges";\n';
  const partsIn = async (source: string): Promise<readonly string[]> =>
    (await findNondeterminism(lab + source)).map(({ part, name }) => `${part} ${name}`);
  const study = (member: string): string =>
    `export const coins = experiment({ params: { n: [1] }, world: () => new Environment({}), ${member} });`;

  it.each([
    ["world: () => new Environment({ seed: Math.random() })", "experiment Math.random"],
    ["begin: (world) => world.publishMessage(`${Date.now()}`)", "experiment Date.now"],
    ["stop: () => performance.now() > 9", "experiment performance.now"],
    ["collect: { mood: () => Math.random() }", "experiment Math.random"],
    ["measure: async () => ({ at: new Date().getTime() })", "experiment new Date()"],
    ["rounds: () => Math.random() * 9", "experiment Math.random"],
    ["measure: () => new Promise((done) => setTimeout(done, 9))", "experiment setTimeout"],
  ])("is found in an experiment: %s", async (member, found) => {
    expect(await partsIn(study(member))).toEqual([found]);
  });

  it("is found in an experiment behind other names, in its functions elsewhere, and with the advice of its part", async () => {
    const renamed =
      'import * as lab from "troupe/research";\nconst gini = () => Math.random();\nlab.experiment({ world, measure: () => ({ g: gini() }) });';
    expect(await partsIn(renamed)).toEqual(["experiment Math.random"]);
    const loaded =
      'const { experiment: made } = await import("troupe/research");\nconst base = { params };\nmade({ ...base, world, stop: () => Date.now() });';
    expect(await partsIn(loaded)).toEqual(["experiment Date.now"]);
    const shared = 'import { shared } from "./shared.js";\nexperiment({ ...shared, measure: () => ({ n: Math.random() }) });';
    expect(await partsIn(shared)).toEqual(["experiment Math.random"]);
    const nested = study("measure: () => ({ n: Math.random() })").replace(
      "() => new Environment({})",
      "() => defineRole({ step: () => Math.random() })",
    );
    const faults = await findNondeterminism(lab + nested);
    expect(faults.map(({ part, text }) => [part, /out\.random|environment\.stream/.exec(text)?.[0]])).toEqual([
      ["role", "out.random"],
      ["experiment", "environment.stream"],
    ]);
  });

  it.each(
    titled([
      ["edge({ name: 'rain', decide: () => (Math.random() < 0.5 ? { kind: 'drop' } : undefined) }).on('a->b');", "edge Math.random"],
      [
        "const wet = () => Math.random() < 0.5;\nconst rain = (to) => ({ name: to, decide: () => pick(wet()) });\nnew Team({ edges: [rain('a')] });",
        "edge Math.random",
      ],
      [
        "const options = { edges: [byzantine('a', () => ({ kind: 'rewrite', content: crypto.randomUUID() }))] };\nnew Environment({ ...options });",
        "edge crypto.randomUUID",
      ],
      ["corrupt(0.1, () => ({ content: `${Math.random()}` }));", "edge Math.random"],
      ["const odd = { scheduler: Math.random() < 0.5 ? 'single' : 'eager' };\nnew Team({ ...odd, seed: 1 });", "scheduler Math.random"],
      ["const wait = () => Math.random();\nnew Environment({ scheduler: oddly(wait) });", "scheduler Math.random"],
      [
        "function select() { setTimeout(f, 1); return [0]; }\nnew Team({ scheduler: { name: 'odd', delivers: 'round', select } });",
        "scheduler setTimeout",
      ],
    ]),
  )("is found in policies of edges and schedulers: %s", async (_case, source, found) => {
    expect(await partsIn(source)).toEqual([found]);
  });

  it("is not found in what only looks like them, and where the value is given", async () => {
    const clean = [
      'import { experiment } from "growthbook";\nexperiment({ world: 1, at: Date.now() });',
      study("stop: ({ tick }) => tick > 9, measure: ({ world }) => ({ n: world.stream('m')() })"),
      `${study("rounds: 3")}\nconst started = performance.now();\nsetInterval(show, 100);\nconsole.log(performance.now() - started);`,
      "const chain = { nodes: ['a'], edges: [[0, Math.floor(Math.random() * 9)]] };",
      'import { edge } from "./graph.js";\nedge(Math.random(), 2);',
      "new Environment({ seed: Date.now() });",
      "new Environment({ edges: [edge({ name: 'rain', decide: ({ random }) => (random() < 0.5 ? { kind: 'drop' } : undefined) })] });",
      "new Team({ scheduler: { name: 'odd', delivers: 'turn', select: ({ ready, random }) => [Math.floor(random() * ready.length)] } });",
    ];
    // The imports of the laboratory stand before all, so that those that hide one of them stand without.
    const found = await Promise.all(
      clean.map(async (source) => (source.startsWith("import") ? await namesIn(source) : await partsIn(source))),
    );
    expect(found).toEqual(clean.map(() => []));
  });
});
