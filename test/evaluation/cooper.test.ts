import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileWorkspace, type Workspace } from "../../src/workspace/index.ts";
import { root } from "../architecture/read-house.ts";
import { hasPytest, isolates } from "../checks/project.ts";
import { program } from "./program.ts";
import { FEATURES, tinyBenchmark } from "./tiny-benchmark.ts";

type Tree = ReadonlyMap<string, string | undefined>;
interface Trees {
  readonly base: Tree;
  readonly one: Tree;
  readonly other: Tree;
}
interface Ways {
  readonly WAYS: readonly { readonly way: string; readonly joins: (trees: Trees) => Tree }[];
  readonly conflictOf: (trees: Trees) => string | undefined;
  readonly tried: (joins: (trees: Trees) => Tree, trees: Trees) => { readonly tree?: Tree; readonly conflict?: string };
}
interface Task {
  readonly id: string;
  readonly runner: unknown;
}
interface Benchmark {
  readonly tasksIn: (folder: string, only?: readonly string[]) => readonly Task[];
  readonly pairsOf: (task: Task) => readonly { readonly id: string }[];
}
interface Line {
  readonly pair: string;
  readonly outcome: string;
  readonly way?: string;
  readonly evidence: string;
  readonly replays: boolean;
}

interface Crew {
  readonly pair: unknown;
  readonly project: { readonly workspace: Workspace; readonly forks: { readonly workspace: () => Workspace } };
  readonly sandbox: unknown;
}
interface Crews {
  readonly CREWS: Readonly<Record<string, (crew: Crew) => readonly { readonly budgetShare?: number | undefined }[]>>;
}
interface Table {
  readonly writeTables: (folder: string, lines: readonly object[]) => string;
}

const loaded = async <T>(name: string): Promise<T> => (await import(join(root, "evaluation/cooper", `${name}.mjs`))) as T;
const { WAYS, conflictOf, tried } = await loaded<Ways>("ways");
const { tasksIn, pairsOf } = await loaded<Benchmark>("benchmark");
const { CREWS } = await loaded<Crews>("crews");
const { writeTables } = await loaded<Table>("table");

let folder = "";
let made: ReturnType<typeof tinyBenchmark>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-cooper-"));
  made = tinyBenchmark(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const trees = (base: string | undefined, one: string | undefined, other: string | undefined): Trees => {
  const tree = (text: string | undefined): Tree => new Map([["a.py", text]]);
  return { base: tree(base), one: tree(one), other: tree(other) };
};
const joinedBy = (kind: string, given: Trees): readonly (string | undefined)[] =>
  WAYS.filter(({ way }) => way.startsWith(kind)).map(({ joins }) => tried(joins, given).tree?.get("a.py"));

describe("ways to join two changes", () => {
  it("changes of different lines have no conflict, and all ways give both", () => {
    const lines = "a\nb\nc\nd\ne\nf\ng\n";
    const given = trees(lines, lines.replace("a", "A"), lines.replace("g", "G"));
    expect(conflictOf(given)).toBeUndefined();
    for (const { joins } of WAYS) expect(tried(joins, given).tree?.get("a.py")).toBe("A\nb\nc\nd\ne\nf\nG\n");
  });

  it("a hunk that both change is named, and a union has the lines of both in either order", () => {
    const given = trees("a\n", "a\nb\n", "a\nc\n");
    expect(conflictOf(given)).toMatch(/a\.py.*b.*c/);
    expect(joinedBy("union of lines", given)).toEqual(["a\nb\nc\n", "a\nc\nb\n"]);
  });

  it("words that both add to one line are both there", () => {
    const given = trees("f(a):\n", "f(a, b):\n", "f(a, c):\n");
    expect(joinedBy("union of words", given)).toEqual(["f(a, b, c):\n", "f(a, c, b):\n"]);
  });

  it.each([
    ["lines", "a = split(x)\nuse(a)\n", "log(x)\n\na = split(x)\nuse(a)\n", "use(x)\n", "log(x)\n\nuse(x)\n"],
    ["words", "f('a', b)\n", 'f("a", b)\n', "f('a',\n  b)\n", 'f("a",\n  b)\n'],
  ])("changes of %s beside each other are both there, and nothing twice", (_kind, base, one, other, both) => {
    expect(conflictOf(trees(base, one, other))).toBeDefined();
    expect(joinedBy("union of hunks", trees(base, one, other))).toEqual([both, both]);
  });

  it("lines that look like the marks of a conflict stay what they are", () => {
    const title = "<<<<<<< one\nTitle\n=======\n>>>>>>> other\n";
    const given = trees(title, `${title}b\n`, `${title}c\n`);
    expect(joinedBy("union of lines", given)).toEqual([`${title}b\nc\n`, `${title}c\nb\n`]);
  });

  it("a file that one removes and the other changes is a conflict for each way", () => {
    const given = trees("a\n", undefined, "b\n");
    expect(conflictOf(given)).toMatch(/a\.py/);
    for (const { joins } of WAYS) expect(tried(joins, given).conflict).toMatch(/a\.py/);
  });
});

describe("a copy of the benchmark", () => {
  it("gives its tasks with their runner, and all pairs of features", () => {
    const [task, ...more] = tasksIn(made.benchmark);
    expect(more).toEqual([]);
    expect(task).toMatchObject({ id: "tiny/1", runner: { kind: "pytest", files: ["tests/test_calc.py"] } });
    const features = Object.keys(FEATURES).length;
    expect(pairsOf(task as Task)).toHaveLength((features * (features - 1)) / 2);
  });

  it("a repository that it does not have is refused with the names of those that it has", () => {
    expect(() => tasksIn(made.benchmark, ["large"])).toThrow(/tiny.*large/);
  });
});

describe("crews with a model", () => {
  it.each(Object.keys(CREWS))("the engineers of the crew %s may spend all of the money", (name) => {
    const workspace = fileWorkspace({ root: folder });
    const [pair] = pairsOf(tasksIn(made.benchmark)[0] as Task);
    const sandbox = { run: () => undefined };
    const roles = CREWS[name]?.({ pair, project: { workspace, forks: { workspace: () => workspace } }, sandbox }) ?? [];
    expect(Math.max(...roles.flatMap(({ budgetShare }) => budgetShare ?? []))).toBe(1);
  });

  it("are in the table pair by pair, one agent first", () => {
    const line = { saysDone: true, green: 2, evidence: "", calls: 1, inputTokens: 1, outputTokens: 1, cost: 0.1, seconds: 1 };
    const lines = ["tiny/1/2-10", "tiny/1/2-3"].flatMap((pair) => ["board", "two", "solo"].map((crew) => ({ ...line, pair, crew })));
    writeTables(folder, lines);
    const rows = readFileSync(join(folder, "table.md"), "utf8").match(/^\| tiny\/1\/\S+ \| \w+/gm);
    const crews = ["solo", "two", "board"];
    expect(rows).toEqual(["2-3", "2-10"].flatMap((pair) => crews.map((crew) => `| tiny/1/${pair} | ${crew}`)));
  });
});

describe.runIf(isolates && hasPytest)("pairs without a model", () => {
  it("end integrated with all tests green, or refused with the test that did not run", async () => {
    const out = join(folder, "out");
    const pairs = ["tiny/1/2-3", "tiny/1/2-9"].join(",");
    const words = ["--benchmark", made.benchmark, "--repositories", made.repositories, "--out", out, "--pairs", pairs];
    const { code, stderr } = await program("cooper/run", words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = readFileSync(join(out, "results.jsonl"), "utf8").trim().split("\n");
    const [integrated, refused] = lines.map((line) => JSON.parse(line) as Line).toSorted((a, b) => (a.pair < b.pair ? -1 : 1));
    expect(integrated).toMatchObject({ pair: "tiny/1/2-3", outcome: "integrated", replays: true });
    const source = readFileSync(join(out, "projects/integration-tiny-1-2-3/tiny/calc.py"), "utf8");
    for (const name of ["double", "triple"]) expect(source.split(`def ${name}(`)).toHaveLength(2);
    expect(refused).toMatchObject({ pair: "tiny/1/2-9", outcome: "refused", replays: true });
    expect(refused?.evidence).toMatch(/feature 9.*test_skipped/);
    expect(readFileSync(join(out, "projects/integration-tiny-1-2-9/tiny/calc.py"), "utf8")).not.toMatch(/def (double|skipped)/);
    expect(existsSync(join(out, "table.md"))).toBe(true);
  });
});
