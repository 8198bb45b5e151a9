import { describe, expect, it } from "vitest";
import { type Delivery, softwareCompany } from "../../roles/index.ts";
import { type ChatRequest, type Journal, memoryJournal, type RunEvent, type RunResult, Team } from "../../src/index.ts";
import type { ScriptedModel } from "../../src/testing/index.ts";
import { chooseSandbox, type FileWorkspace, fileWorkspace, openWorkspace } from "../../src/workspace/index.ts";
import { someOf } from "../effort.ts";
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
): Promise<Tried> {
  const workspace = await openWorkspace({ root: scratchFolder() });
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

/** What a role was told last before one of its calls. */
function told({ model }: Tried, role: string, call: number): string {
  const request = model.calls.filter((one) => roleIn(one) === role)[call];
  return String(request?.messages.at(-1)?.content);
}

/** Where the first activation of a role begins and ends. */
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

  it("leaves a task whose engineer is stuck, and those that need it, to the integrator", async () => {
    const tried = await work({
      Ben: [calling(["give_up", { why: "Nobody knows how to multiply." }])],
      Ann: [writes(add)],
      Alex: [calling(reads(times.path, calc.path), files(times, calc, readme), done)],
    });
    expect(told(tried, "Alex", 0)).toContain("Not done. Nobody knows how to multiply.");
    expect(told(tried, "Alex", 0)).toContain("Not done. It needs product.");
    expect(tried.delivery.isDone).toBe(true);
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

  it("is refused with a number of engineers that there cannot be", () => {
    const workspace = fileWorkspace({ root: scratchFolder() });
    expect(() => softwareCompany({ workspace, sandbox, engineers: 9 })).toThrow(/Expected engineers as a whole number from 1 to 8, got 9/);
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

  it.each(someOf(places, 1))("at the first call of %s goes on in another process and ends the same", async (place) => {
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
