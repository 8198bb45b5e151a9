import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseSandbox, type Sandbox } from "../../src/workspace/index.ts";
import { root } from "../architecture/read-house.ts";
import { hasPytest, isolates } from "../checks/project.ts";
import { program } from "./program.ts";
import { SOURCE, tinyBenchmark } from "./tiny-benchmark.ts";

interface Line {
  readonly pair: string;
  readonly crew: string;
  readonly outcome?: string;
  readonly git?: string;
  readonly evidence: string;
  readonly replays: boolean;
  readonly saysDone?: boolean;
  readonly green?: number;
}
interface Pair {
  readonly id: string;
  readonly task: unknown;
  readonly features: readonly unknown[];
}
interface Benchmark {
  readonly tasksIn: (folder: string) => readonly unknown[];
  readonly pairsOf: (task: unknown) => readonly Pair[];
}
interface Judge {
  judge(root: string, o: { readonly feature: unknown; readonly task: unknown }): Promise<{ readonly isGreen: boolean }>;
}
interface Judges {
  readonly Judge: new (o: { readonly sandbox: Sandbox; readonly folder: string }) => Judge;
}

const loaded = async <T>(name: string): Promise<T> => (await import(join(root, "evaluation/cooper", `${name}.mjs`))) as T;
const { tasksIn, pairsOf } = await loaded<Benchmark>("benchmark");
const { Judge: JudgeOf } = await loaded<Judges>("judge");

let folder = "";
let made: ReturnType<typeof tinyBenchmark>;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "troupe-cooper-"));
  made = tinyBenchmark(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(out: string, words: readonly string[]): Promise<readonly Line[]> {
  const folders = ["--benchmark", made.benchmark, "--repositories", made.repositories, "--out", out];
  const { code, stderr } = await program("cooper/run", [...folders, ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = readFileSync(join(out, "results.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** Answers of a model: it reads the source, writes it with functions that multiply, and its own tests, and calls done. */
function answers(
  crew: string,
  pair: string,
  role: string,
  builds: Readonly<Record<string, number>>,
  tests: Readonly<Record<string, string>>,
): void {
  const at = join(folder, "answers", `${crew}-${pair.replaceAll("/", "-")}`);
  mkdirSync(at, { recursive: true });
  const functions = Object.entries(builds).map(([name, by]) => `\n\ndef ${name}(number):\n    return number * ${by}\n`);
  const files = Object.entries(tests).map(([path, content]) => ({ path, content }));
  const write = { name: "write_files", arguments: { files: [{ path: "tiny/calc.py", content: SOURCE + functions.join("") }, ...files] } };
  const said = [
    [{ name: "read_files", arguments: { files: ["tiny/calc.py"] } }],
    [write, { name: "done", arguments: { answer: "It is built." } }],
  ];
  for (const [n, calls] of said.entries()) writeFileSync(join(at, `${role}-0${n + 1}.json`), JSON.stringify({ tool_calls: calls }));
}

const testOf = (name: string, by: number): string =>
  `from tiny.calc import ${name}\n\n\ndef test_own():\n    assert ${name}(5) == ${5 * by}\n`;
const [two, three] = [{ "tests/test_feature_2.py": testOf("double", 2) }, { "tests/test_feature_3.py": testOf("triple", 3) }];

describe.runIf(isolates && hasPytest)("pairs of features", { tags: ["company", "long"] }, () => {
  it(
    "each ends truthfully without a model: green for another judge too, or refused with a test or a hunk",
    { timeout: 1_200_000 },
    async () => {
      const out = join(folder, "all");
      const lines = await run(out, []);
      const pairs = tasksIn(made.benchmark).flatMap(pairsOf);
      expect(lines).toHaveLength(pairs.length);
      const judge = new JudgeOf({ sandbox: await chooseSandbox("bubblewrap"), folder: join(folder, "judge") });
      for (const pair of pairs) {
        const line = lines.find((one) => one.pair === pair.id) as Line;
        expect(line.replays).toBe(true);
        if (line.outcome === "refused") expect(line.evidence).toMatch(/test_\w+|tiny\/calc\.py/);
        if (line.outcome === "refused") continue;
        const project = join(out, "projects", `integration-${pair.id.replaceAll("/", "-")}`);
        for (const feature of pair.features)
          expect(await judge.judge(project, { feature, task: pair.task })).toMatchObject({ isGreen: true });
      }
      const outcomeOf = (id: string): Partial<Line> => lines.find(({ pair }) => pair === `tiny/1/${id}`) ?? {};
      expect(outcomeOf("1-2")).toMatchObject({ outcome: "integrated", git: "merges" });
      for (const id of ["2-3", "4-5"]) expect(outcomeOf(id)).toMatchObject({ outcome: "integrated", git: "conflicts" });
      for (const id of ["6-7", "1-8", "2-9", "8-9"]) expect(outcomeOf(id)).toMatchObject({ outcome: "refused" });
    },
  );

  it("crews with a model build them, and a claim that the tests do not confirm is counted", { timeout: 600_000 }, async () => {
    answers("solo", "tiny/1/2-3", "engineer-ada", { double: 2, triple: 3 }, { ...two, ...three });
    answers("handoff", "tiny/1/2-3", "engineer-ada", { double: 2 }, two);
    answers("handoff", "tiny/1/2-3", "engineer-bea", { double: 2, triple: 3 }, three);
    for (const crew of ["two", "board"]) {
      answers(crew, "tiny/1/2-3", "engineer-ada", { double: 2 }, two);
      answers(crew, "tiny/1/2-3", "engineer-bea", { triple: 3 }, three);
    }
    for (const name of ["ada", "bea"]) {
      const plan = JSON.stringify({ content: "I add one function at the end." });
      writeFileSync(join(folder, "answers/two-tiny-1-2-3", `engineer-${name}-plans-01.json`), plan);
    }
    const blind = "def test_own():\n    assert True\n";
    answers("solo", "tiny/1/1-2", "engineer-ada", { double: 2 }, { ...two, "tests/test_feature_1.py": blind });
    const out = join(folder, "crews");
    const played = ["--answers", join(folder, "answers")];
    const lines = await run(out, ["--pairs", "tiny/1/2-3", "--crew", "solo,two,handoff,board", ...played]);
    for (const line of lines) expect(line).toMatchObject({ green: 2, replays: true });
    expect(lines).toHaveLength(4);
    const claimed = await run(out, ["--pairs", "tiny/1/1-2", "--crew", "solo", ...played]);
    expect(claimed.at(-1)).toMatchObject({ pair: "tiny/1/1-2", saysDone: true, green: 1 });
  });
});
