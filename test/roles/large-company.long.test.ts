// @module-tag company
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { companyRounds, type Delivery, softwareCompany } from "../../roles/index.ts";
import type { Verification } from "../../src/checks/index.ts";
import type { VerifyRequest } from "../../src/checks/verify.ts";
import { companySettings } from "../../src/cli/settings.ts";
import { type ChatRequest, memoryJournal, type RunEvent, type RunResult, Team } from "../../src/index.ts";
import type { Journal } from "../../src/runtime/record/journal.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { chooseSandbox, type FileWorkspace, fileWorkspace, openWorkspace } from "../../src/workspace/index.ts";
import { restoreFiles } from "../../src/workspace/restore-files.ts";
import { eventsOf } from "../team/recorded.ts";
import { scratchFolder } from "../workspace/scratch.ts";
import { git } from "../workspace/user-project.ts";
import { accepted, brief, calling, roleIn, roleModel, type RoleScript } from "./adder.ts";

const isolated = await chooseSandbox("auto");
const sandbox = isolated.kind === "bubblewrap" ? isolated : await chooseSandbox("none");

const code = (name: string, body: string, imports = ""): { readonly path: string; readonly content: string } => ({
  path: `src/${name}.mjs`,
  content: `${imports}/** A part of the calculator. */\nexport function ${name}(a, b) {\n  ${body}\n}\n`,
});
const testOf = (name: string, expected: number): { readonly path: string; readonly content: string } => ({
  path: `tests/${name}.test.mjs`,
  content: `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { ${name} } from "../src/${name}.mjs";\n\ntest("A1: ${name}", () => assert.equal(${name}(2, 3), ${expected}));\n`,
});
const both = 'import { add } from "./add.mjs";\nimport { times } from "./times.mjs";\n\n';
const add = code("add", "return a + b;");
const times = code("times", "return a * b;");
const calc = code("calc", "return add(a, b) + times(a, b);", both);
const cli = {
  path: "src/cli.mjs",
  content: 'import { calc } from "./calc.mjs";\n\nconsole.log(calc(...process.argv.slice(2).map(Number)));\n',
};
const tests = [testOf("add", 5), testOf("times", 6), testOf("calc", 11)];
const pack = { path: "package.json", content: '{ "name": "calc", "type": "module", "scripts": { "test": "node --test" } }\n' };
const readme = { path: "README.md", content: "# calc\n\nIt calculates.\n\n## Use\n\n```sh\nnode src/cli.mjs 2 3\n```\n" };
const criteria = [
  {
    id: "A1",
    priority: "P0",
    given: "two numbers",
    when: "the command runs",
    then: "it prints their sum and product, added",
    check: { kind: "command", steps: [{ run: ["node", "src/cli.mjs", "2", "3"], stdout: { equals: "11" } }] },
  },
];
const stub = 'throw new Error("not written");';
const design = JSON.stringify({
  approach: "Two functions, one that needs both, and a command.",
  files: [code("add", stub), code("times", stub), code("calc", stub, both), cli, pack].map(({ path, content }) => ({
    path,
    purpose: path,
    code: content,
  })),
});

interface Planned {
  readonly id: string;
  readonly title: string;
  readonly owns: readonly string[];
  readonly tests?: readonly string[];
  readonly needs?: readonly string[];
}

const sum: Planned = { id: "sum", title: "Write the sum", owns: [add.path], tests: ["tests/add.test.mjs"] };
const product: Planned = { id: "product", title: "Write the product", owns: [times.path], tests: ["tests/times.test.mjs"] };
const whole: Planned = {
  id: "whole",
  title: "Write the calculator",
  owns: [calc.path, cli.path],
  tests: ["tests/calc.test.mjs"],
  needs: ["sum", "product"],
};
const plan = (...tasks: readonly Planned[]): string => JSON.stringify({ tasks });
const files = (...own: readonly { path: string; content: string }[]) => ["write_files", { files: own }] as const;
const reads = (...paths: readonly string[]) => ["read_files", { files: paths.map((path) => ({ path })) }] as const;
const done = ["done", { summary: "It is done." }] as const;
const writes = (file: { readonly path: string; readonly content: string }) => calling(reads(file.path), files(file), done);

const script: RoleScript = {
  Alice: [brief("L", { name: "calc", criteria })],
  Bob: [design],
  Edward: [calling(files(...tests), done)],
  Eve: [plan(whole, sum, product)],
  Ann: [writes(add), writes(calc)],
  Ben: [writes(times)],
  Alex: [calling(files(readme), done)],
  Vera: [accepted],
};

interface Tried {
  readonly result: RunResult;
  readonly delivery: Delivery;
  readonly workspace: FileWorkspace;
  readonly model: ScriptedModel;
  readonly events: readonly RunEvent[];
  readonly journal: Journal;
}

function teamOf(workspace: FileWorkspace, model: ScriptedModel, journal: Journal, engineers?: number): Team {
  return new Team({ roles: softwareCompany({ workspace, sandbox, engineers }), model, journal, seed: 1 });
}

async function work(
  own: RoleScript = {},
  heard: (request: ChatRequest, workspace: FileWorkspace) => unknown = () => undefined,
  isGit: boolean | "auto" = "auto",
): Promise<Tried> {
  const workspace = await openWorkspace({ root: scratchFolder(), git: isGit });
  const model = roleModel({ ...script, ...own }, (request) => heard(request, workspace));
  const journal = memoryJournal();
  const result = await teamOf(workspace, model, journal).run("Calculate", { id: "run" }).result;
  const events = await eventsOf(journal, "run");
  return { result, delivery: result.output?.instructContent as Delivery, workspace, model, events, journal };
}

async function contents(workspace: FileWorkspace): Promise<Record<string, string | undefined>> {
  const paths = await workspace.list();
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await workspace.read(path)] as const)));
}

/** The last message to a role before one of its calls. */
function told({ model }: Tried, role: string, call: number): string {
  const request = model.calls.filter((one) => roleIn(one) === role)[call];
  return String(request?.messages.at(-1)?.content);
}

function forksIn({ root }: FileWorkspace): readonly string[] {
  const trees = join(root, ".troupe/trees");
  return [...(existsSync(trees) ? readdirSync(trees) : []), ...git(root, "branch", "--list", "troupe/*").split("\n")].filter(
    (name) => name !== "",
  );
}

/** The begin and the end of the first activation of a role. */
function spanOf(events: readonly RunEvent[], role: string): readonly [number, number] {
  const at = (type: "act.started" | "act.ended"): number =>
    events.findIndex((event) => event.type === type && event.act.startsWith(`${role}#`));
  return [at("act.started"), at("act.ended")];
}

describe("a product of size L", () => {
  it("is written by engineers side by side, merged, proven as a whole, and replays equal into an empty folder", async () => {
    const tried = await work();
    const { result, delivery, workspace, events, model } = tried;
    expect([result.status, result.error?.message, delivery.isDone, delivery.size]).toEqual(["finished", undefined, true, "L"]);
    const [ann, ben] = [spanOf(events, "Ann"), spanOf(events, "Ben")];
    expect(Math.min(ann[0], ben[0])).toBeGreaterThan(0);
    expect(Math.max(ann[0], ben[0])).toBeLessThan(Math.min(ann[1], ben[1]));
    expect(model.calls.map(roleIn).filter((name) => name === "Eve")).toHaveLength(1);
    expect(await contents(workspace)).toMatchObject({ [add.path]: add.content, [times.path]: times.content, [calc.path]: calc.content });
    const log = git(workspace.root, "log", "--format=%an: %s").split("\n");
    expect(log).toEqual(
      expect.arrayContaining([
        "Ann via Troupe: Write the sum",
        "Ben via Troupe: Write the product",
        "Ann via Troupe: Write the calculator",
      ]),
    );
    expect([git(workspace.root, "status", "--porcelain"), git(workspace.root, "branch", "--list", "troupe/*")]).toEqual(["", ""]);
    expect(told(tried, "Alex", 0)).toContain("It needs sum, product. Merged.");
    const copy = fileWorkspace({ root: scratchFolder(), git: false });
    const replayed = await teamOf(copy, roleModel({}), tried.journal).replay("run").result;
    expect([replayed.status, replayed.error?.message]).toEqual(["finished", undefined]);
    expect(replayed.messages.map(({ id, content }) => [id, content])).toEqual(result.messages.map(({ id, content }) => [id, content]));
    expect(await contents(copy)).toEqual(await contents(workspace));
  });

  it("has tasks whose files nobody else writes", async () => {
    const tried = await work({
      Ann: [
        calling(reads(add.path, times.path), files(add, { ...times, content: "" }, { path: tests[0]!.path, content: "" }), done),
        writes(calc),
      ],
    });
    const said = tried.events.map((event) => JSON.stringify(event)).join("\n");
    expect(said).toContain(`your task writes only ${add.path}`);
    expect(said).toContain("it is a test, and tests are QA's");
    expect(tried.delivery.isDone).toBe(true);
  });

  it("has tasks whose engineers can hand a test back to QA", async () => {
    const [right, ...others] = tests as [(typeof tests)[0], ...typeof tests];
    const wrong = { ...right, content: right.content.replace(", 5)", ", 6)") };
    const dispute = ["dispute_test", { file: right.path, test: "A1: add", criterion: "A1", why: "2 and 3 are 5." }] as const;
    const tried = await work({
      Edward: [calling(files(wrong, ...others), done), calling(files(right), ["done", { summary: "A1: it is 5." }])],
      Ann: [writes(add), calling(dispute), calling(done), writes(calc)],
    });
    expect(wrong.content).not.toBe(right.content);
    expect([tried.result.error?.message, tried.delivery.isDone, tried.delivery.unmerged]).toEqual([undefined, true, undefined]);
    expect(await tried.workspace.read(right.path)).toBe(right.content);
    const asked = tried.model.calls.filter((request) => roleIn(request) === "Edward");
    expect(String(asked[1]?.messages[1]?.content)).toContain("2 and 3 are 5.");
  });

  it("does not report as unmerged what its last engineer took up, also when the whole is not done", async () => {
    const given = calling(["give_up", { why: "It is too hard." }]);
    const tried = await work({
      Ben: [calling(reads(times.path), files(code("times", "return a - b;"))), given],
      Ann: [writes(add)],
      Alex: [calling(["take_work", { task: "product" }]), given],
    });
    expect(tried.delivery).toMatchObject({ isDone: false, unmerged: [{ id: "whole" }] });
  });

  it("has tasks that are done only when their tests pass, whatever those of others do", async () => {
    const wrong = code("add", "return a - b;");
    const tried = await work({ Ann: [writes(wrong), calling(files(add), done), writes(calc)] });
    expect(told(tried, "Ann", 1)).toMatch(/^Error: tests\/add\.test\.mjs, "A1: add"/);
    expect(told(tried, "Ann", 1)).not.toContain("times.test.mjs");
    expect(tried.delivery.isDone).toBe(true);
  });

  it("gives a task back once when the project changed in its file", async () => {
    let isChanged = false;
    const other = code("add", "return 7;");
    const solved = calling(reads(add.path), files(add), done);
    const tried = await work({ Ann: [writes(add), solved, writes(calc)] }, (request, workspace) => {
      if (roleIn(request) !== "Ann" || isChanged) return undefined;
      isChanged = true;
      return workspace.write(other.path, other.content);
    });
    expect(told(tried, "Ann", 1)).toContain(`The project changed meanwhile in ${add.path}`);
    expect(await tried.workspace.read(add.path)).toBe(add.content);
    expect(tried.delivery.isDone).toBe(true);
  });

  it("merges no task whose checks are red: it stays in its fork, and the delivery tells why", async () => {
    const wrong = code("times", "return a - b;");
    const given = calling(["give_up", { why: "Nobody knows how to multiply." }]);
    const tried = await work({
      Ben: [calling(reads(times.path), files(wrong)), given],
      Ann: [writes(add)],
      Alex: [calling(["give_up", { why: "It is too hard." }])],
    });
    const why = expect.stringMatching(/^Nobody knows how to multiply\.\ntests\/times\.test\.mjs, "A1: times": /) as string;
    expect(tried.delivery.isDone).toBe(false);
    expect(tried.delivery.unmerged).toEqual([
      { id: "product", title: "Write the product", by: "Ben", why, keptIn: ".troupe/trees/task-2" },
      { id: "whole", title: "Write the calculator", by: undefined, why: "It needs product.", keptIn: undefined },
    ]);
    expect(tried.result.output?.content).toContain("What there is of it is in .troupe/trees/task-2.");
    const { root } = tried.workspace;
    expect([await tried.workspace.read(times.path), readFileSync(join(root, ".troupe/trees/task-2", times.path), "utf8")]).toEqual([
      code("times", stub).content,
      wrong.content,
    ]);
    expect(git(root, "log", "--format=%s")).not.toContain("Write the product");
  });

  it("lets the integrator take up the work on a task that was not merged", async () => {
    const tried = await work({
      Ben: [calling(reads(times.path), files(times)), calling(["give_up", { why: "My tests are wrong." }])],
      Edward: [
        calling(files(...tests.slice(0, 1), testOf("times", 7), ...tests.slice(2)), done),
        calling(reads(tests[1]!.path), files(tests[1]!), done),
      ],
      Ann: [writes(add)],
      Alex: [
        calling(
          ["take_work", { task: "product" }],
          ["take_work", { task: "whole" }],
          reads(times.path, calc.path),
          files(calc, cli, readme),
          ["dispute_test", { file: "tests/times.test.mjs", test: "A1: times", criterion: "A1", why: "2 times 3 is 6." }],
        ),
        calling(done),
      ],
    });
    expect([tried.result.error?.message, tried.delivery.isDone, await tried.workspace.read(times.path)]).toEqual([
      undefined,
      true,
      times.content,
    ]);
    const said = tried.events.map((event) => JSON.stringify(event)).join("\n");
    expect(said).toContain("Nobody has worked on whole.");
    expect(forksIn(tried.workspace)).toEqual([]);
  });

  it("merges no work that breaks what was merged before, and gives it back once", async () => {
    // It passes alone, and spoils the sum as soon as both are there.
    const spoiling = { ...times, content: `globalThis.odd = 1;\n${times.content}` };
    const spoilt = code("add", "return globalThis.odd === 1 ? 0 : a + b;");
    const meeting = {
      path: "tests/add.test.mjs",
      content: tests[0]!.content.replace("\n\n", '\nimport "../src/times.mjs";\n\n'),
    };
    const tried = await work({
      Edward: [calling(files(meeting, ...tests.slice(1)), done)],
      Ann: [writes(spoilt), writes(calc)],
      Ben: [writes(spoiling), writes(times)],
    });
    expect(told(tried, "Ben", 1)).toMatch(
      /Together with the work of your colleagues, the checks are red:\ntests\/add\.test\.mjs, "A1: add"/,
    );
    expect([tried.delivery.isDone, tried.delivery.unmerged, await tried.workspace.read(times.path)]).toEqual([
      true,
      undefined,
      times.content,
    ]);
  });

  it("asks again for a plan that does not fit", async () => {
    const tried = await work({
      Eve: [
        plan({ ...sum, needs: ["whole"], owns: [add.path, "src/odd.mjs"] }, { ...whole, needs: ["sum"], owns: [add.path] }),
        plan(sum, product, whole),
      ],
    });
    const again = told(tried, "Eve", 1);
    expect(again).toContain("src/odd.mjs is none");
    expect(again).toContain("sum and whole own src/add.mjs");
    expect(again).toContain("they wait for each other");
    expect(tried.delivery.isDone).toBe(true);
  });

  const twenty = Array.from({ length: 20 }, (_, n): Planned => ({
    ...sum,
    id: `t${n}`,
    owns: [[add, times, calc, cli, pack][n % 5]!.path],
  }));
  const circle = [
    { ...sum, needs: ["product"] },
    { ...product, needs: ["sum"] },
  ];
  const others = [[{ ...sum, needs: ["sum"] }], [{ ...sum, needs: ["t9"] }], [sum, { ...product, id: "sum" }]];
  it.each<readonly [string, readonly (readonly Planned[])[]]>([
    ["no tasks, a circle of them, and twenty", [[], circle, twenty]],
    ["a task that needs itself, an unknown one, and two of one id", others],
  ])("is by one engineer where the planner insists: %s", async (_name, plans) => {
    const all = [add, times, calc, readme];
    const tried = await work({
      Eve: plans.map((tasks) => plan(...tasks)),
      Ann: [],
      Ben: [],
      Alex: [calling(reads(add.path, times.path, calc.path), files(...all), done)],
    });
    expect([tried.result.error?.message, tried.delivery.isDone]).toEqual([undefined, true]);
    expect(tried.delivery.assumptions).toContain("One engineer writes the product, because no plan of tasks fitted its files.");
  });

  it("is written by one engineer where there is no git", async () => {
    const answer = [calling(reads(add.path, times.path, calc.path), files(add, times, calc, readme), done)];
    const tried = await work({ Eve: [], Ann: [], Ben: [], Alex: answer }, undefined, false);
    expect([tried.result.error?.message, tried.delivery.isDone]).toEqual([undefined, true]);
    expect(tried.delivery.assumptions.at(-1)).toMatch(/^One engineer writes the product, because several need a git repository/);
  });
});

describe("what the user says while engineers work side by side", () => {
  it("joins their plan, and is done by the one who makes the whole green", async () => {
    const workspace = await openWorkspace({ root: scratchFolder() });
    const usage = {
      ...cli,
      content: `if (process.argv.length === 2) console.log("usage");\nelse {\n  const { calc } = await import("./calc.mjs");\n  console.log(calc(...process.argv.slice(2).map(Number)));\n}\n`,
    };
    const check = { kind: "command", steps: [{ run: ["node", "src/cli.mjs"], stdout: { contains: ["usage"] } }] };
    const later = [{ id: "A2", priority: "P0", given: "nothing", when: "the command runs", then: "it tells its usage", check }];
    const redesign = { approach: "The command tells its usage.", files: [{ path: cli.path, purpose: "the command", code: cli.content }] };
    const ends = calling(reads(cli.path), files(usage, readme), done);
    const model = roleModel(
      {
        ...script,
        // A change of size S would be written by one engineer at once, while the others still write the first order.
        Alice: [...script["Alice"]!, brief("S", { name: "calc", criteria: later })],
        Bob: [...script["Bob"]!, JSON.stringify(redesign)],
        Edward: [...script["Edward"]!, calling(["give_up", { why: "The criterion tests it." }])],
        Alex: [...script["Alex"]!, ends, calling(done), calling(done)],
        Vera: [accepted, accepted],
      },
      async (request) => {
        if (roleIn(request) === "Ben") await run.publish("Tell the usage when there are no numbers.");
      },
    );
    const journal = memoryJournal();
    const run = teamOf(workspace, model, journal).run("Calculate", { id: "run" });
    const result = await run.result;
    expect([result.status, result.error?.message]).toEqual(["finished", undefined]);
    const delivery = result.output?.instructContent as Delivery;
    const outcomes = delivery.verification.verdicts.map(({ id, outcome }) => [id, outcome]);
    expect([delivery.isDone, delivery.size, outcomes]).toEqual([
      true,
      "L",
      [
        ["A1", "proven"],
        ["A2", "proven"],
      ],
    ]);
    const asked = model.calls.map(roleIn);
    expect(["Eve", "Ann", "Ben"].map((name) => asked.filter((one) => one === name).length)).toEqual([1, 2, 1]);
    expect(await workspace.read(add.path)).toBe(add.content);
  });
});

describe("the rounds of a run", () => {
  it("that the command gives are enough for tasks that need one another, each given back once", async () => {
    expect(companySettings({}).rounds).toBeGreaterThanOrEqual(companyRounds());
    const workspace = await openWorkspace({ root: scratchFolder() });
    const parts = Array.from({ length: 8 }, (_, n) => code(`part${n}`, stub));
    const tasks = parts.map(({ path }, n): Planned => ({
      id: `t${n}`,
      title: `Part ${n}`,
      owns: [path],
      needs: n === 0 ? [] : [`t${n - 1}`],
    }));
    const model = roleModel(
      {
        ...script,
        Bob: [JSON.stringify({ approach: "Parts.", files: parts.map(({ path, content }) => ({ path, purpose: path, code: content })) })],
        Edward: [calling(["give_up", { why: "There is nothing to test." }])],
        Eve: [plan(...tasks)],
        Ann: parts.flatMap(({ path }) =>
          [1, 2].map((n) => calling(reads(path), files({ path, content: `export const n = ${n};\n` }), done)),
        ),
      },
      async (request) => {
        // Each time at first the project changes in the file that Ann writes.
        const count = model.calls.filter((one) => roleIn(one) === "Ann").length;
        const part = roleIn(request) === "Ann" && count % 2 === 1 ? parts[(count - 1) / 2] : undefined;
        if (part !== undefined) await workspace.write(part.path, "export const n = 0;\n");
      },
    );
    const verify = ({ criteria: all }: VerifyRequest): Promise<Verification> =>
      Promise.resolve({
        verdicts: all.map(({ id, priority }) => ({ id, priority, outcome: "proven", by: "command", evidence: "It ran." })),
        suites: [],
        faults: [],
      });
    const roles = softwareCompany({ workspace, sandbox, engineers: 1, verify });
    const result = await new Team({ roles, model, journal: memoryJournal(), seed: 1 }).run("Parts", { rounds: companySettings({}).rounds })
      .result;
    expect([result.status, result.error?.message, result.rounds > 35]).toEqual(["finished", undefined, true]);
    expect(await workspace.read(parts[7]!.path)).toBe("export const n = 2;\n");
  });
});

describe("a fork of a run of size L", () => {
  it("between an engineer's report and its merge has the engineer's work", async () => {
    const tried = await work();
    const at = tried.events.findIndex((event) => event.type === "act.ended" && event.role === "Ben");
    const workspace = await openWorkspace({ root: scratchFolder() });
    await restoreFiles(workspace, tried.events, { at });
    const rest = {
      ...script,
      Ann: tried.events.slice(0, at).some((event) => event.type === "act.ended" && event.role === "Ann") ? [writes(calc)] : script["Ann"]!,
    };
    const forked = await teamOf(workspace, roleModel(rest), tried.journal).fork("run", { at }).result;
    expect([forked.status, forked.error?.message, forked.fork?.paid]).toEqual(["finished", undefined, 0]);
    expect(await contents(workspace)).toEqual(await contents(tried.workspace));
  });
});

/** The number of recorded answers of the model, by role. */
function answersIn(events: readonly RunEvent[]): ReadonlyMap<string, number> {
  const asked = new Set(
    events.flatMap((event) => (event.type === "step.started" && event.kind === "model" ? [`${event.act} ${event.key}`] : [])),
  );
  const answers = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "step.ended" || !event.ok || !asked.has(`${event.act} ${event.key}`)) continue;
    const role = event.act.slice(0, event.act.indexOf("#"));
    answers.set(role, (answers.get(role) ?? 0) + 1);
  }
  return answers;
}

describe("a run of size L that was stopped", () => {
  const places = ["Ann", "Eve", "Ben", "Alex"];

  it.each(places)("at the first call of %s goes on in another process and ends the same", async (place) => {
    const uncut = await work();
    const root = scratchFolder();
    const journal = memoryJournal();
    const stopping = new AbortController();
    const model = roleModel(script, (request) => (roleIn(request) === place ? stopping.abort() : undefined));
    const first = await openWorkspace({ root });
    expect((await teamOf(first, model, journal).run("Calculate", { id: "run", signal: stopping.signal }).result).status).toBe("stopped");
    const next = fileWorkspace({ root });
    const answered = answersIn(await eventsOf(journal, "run"));
    const rest = Object.fromEntries(Object.entries(script).map(([role, replies]) => [role, replies.slice(answered.get(role) ?? 0)]));
    const result = await teamOf(next, roleModel(rest), journal).resume("run").result;
    expect([result.status, result.error?.message]).toEqual(["finished", undefined]);
    expect(result.output?.instructContent).toMatchObject({ isDone: true });
    expect(await contents(next)).toEqual(await contents(uncut.workspace));
  });
});
