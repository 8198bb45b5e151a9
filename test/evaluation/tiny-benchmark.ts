import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface TinyFeature {
  readonly words: string;
  /** Of the project's one source file. */
  readonly change: (source: string) => string;
  /** What is added to the project's one test file. */
  readonly tests: string;
}

/** The source of the project before any change. */
export const SOURCE = `def total(numbers):
    return sum(numbers)


def mean(numbers):
    return total(numbers) / len(numbers)
`;
const TESTS = `from tiny import calc


def test_mean():
    assert calc.mean([1, 3]) == 2
`;

const appended = (name: string, factor: string): TinyFeature => ({
  words: `calc.${name} returns a number times ${factor}.`,
  change: (source) => `${source}\n\ndef ${name}(number):\n    return number * ${factor}\n`,
  tests: `\n\ndef test_${name}():\n    assert calc.${name}(4) == 4 * ${factor}\n`,
});

const empty = (body: string, name: string, test: string): TinyFeature => ({
  words: `calc.total of an empty list: ${name}.`,
  change: (source) => source.replace("    return sum(numbers)\n", `    if not numbers:\n        ${body}\n    return sum(numbers)\n`),
  tests: `\n\ndef test_${name}():\n    ${test}\n`,
});

const parameter = (name: string, value: string, line: string, test: string): TinyFeature => ({
  words: `calc.total takes ${name}.`,
  change: (source) => source.replace("total(numbers):\n", `total(numbers, ${name}=${value}):\n    ${line}\n`),
  tests: `\n\ndef test_${name}():\n    assert ${test}\n`,
});

/** The features of the tiny benchmark, by their numbers. */
export const FEATURES: Readonly<Record<number, TinyFeature>> = {
  1: {
    ...appended("first", "1"),
    change: (source) => `def first(number):\n    return number * 1\n\n\n${source}`,
  },
  2: appended("double", "2"),
  3: appended("triple", "3"),
  4: parameter("start", "0", "numbers = [start, *numbers]", "calc.total([1, 2], start=3) == 6"),
  5: parameter("scale", "1", "numbers = [n * scale for n in numbers]", "calc.total([1, 2], scale=2) == 6"),
  6: empty("return None", "none", "assert calc.total([]) is None"),
  7: empty("return 0", "zero", "assert calc.total([]) == 0"),
  8: { ...appended("wrong", "8"), tests: "\n\ndef test_wrong():\n    assert calc.wrong(1) == 9\n" },
  9: { ...appended("skipped", "9"), tests: "\n\nimport pytest\n\n\n@pytest.mark.skip\ndef test_skipped():\n    assert False\n" },
};

function git(folder: string, ...words: string[]): string {
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...who, ...words], { cwd: folder, encoding: "utf8" });
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

function patchOf(folder: string, files: Readonly<Record<string, string>>): string {
  write(folder, files);
  const patch = git(folder, "diff");
  git(folder, "checkout", "-q", ".");
  return patch;
}

/**
 * Makes a benchmark in the form of CooperBench, with one task of one repository.
 *
 * @returns its folder and that of the repositories
 */
export function tinyBenchmark(folder: string): { readonly benchmark: string; readonly repositories: string } {
  const [benchmark, repositories] = [join(folder, "benchmark"), join(folder, "repositories")];
  const project = join(repositories, "tiny");
  write(project, { "tiny/__init__.py": "", "tiny/calc.py": SOURCE, "tests/test_calc.py": TESTS });
  git(project, "init", "-q");
  git(project, "add", ".");
  git(project, "commit", "-q", "-m", "Begin");
  const base = git(project, "rev-parse", "HEAD").trim();
  const task = join(benchmark, "dataset/tiny_task/task1");
  write(task, {
    Dockerfile: `FROM scratch\nRUN git clone https://github.com/troupe/tiny.git repo && \\\n    git checkout ${base}\n`,
    "runner.sh": "#!/bin/bash\npython -m pytest tests/test_calc.py -v\n",
  });
  for (const [number, { words, change, tests }] of Object.entries(FEATURES)) {
    const own = join(task, `feature${number}`);
    const patches = {
      "feature.patch": patchOf(project, { "tiny/calc.py": change(SOURCE) }),
      "tests.patch": patchOf(project, { "tests/test_calc.py": TESTS + tests }),
    };
    write(own, { "feature.md": words, ...patches });
  }
  return { benchmark, repositories };
}
