import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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

const loaded = async <T>(name: string): Promise<T> => (await import(join(root, "evaluation/cooper", `${name}.mjs`))) as T;
const { WAYS, conflictOf, tried } = await loaded<Ways>("ways");
const { tasksIn, pairsOf } = await loaded<Benchmark>("benchmark");

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
