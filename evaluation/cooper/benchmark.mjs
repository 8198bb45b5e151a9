/** Reads a local copy of CooperBench: its tasks, their features, and the pairs of features. Nothing of it is copied. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const BASE = /git checkout ([0-9a-f]{40})/;
const ORIGIN = /git clone https:\/\/github\.com\/[\w.-]+\/([\w.-]+?)(?:\.git)?(?:\s|$)/m;

function read(file, what) {
  if (!existsSync(file)) throw new Error(`Expected ${what} in ${file}, but it is not there. Give --benchmark the folder of a clone.`);
  return readFileSync(file, "utf8");
}

function found(text, form, what, file) {
  const [, value] = form.exec(text) ?? [];
  if (value === undefined)
    throw new Error(`Expected ${what} in ${file}, but found none. Use a copy of the benchmark as its authors publish it.`);
  return value;
}

/** How a task runs its tests: the files that pytest is given, or Go. Undefined for another runner, which nothing here can run. */
function runnerOf(script) {
  const [, files] = /^\s*python -m pytest ((?:[\w./-]+\.py ?)+)/m.exec(script) ?? [];
  if (files !== undefined) return { kind: "pytest", files: files.trim().split(/\s+/) };
  return /^\s*(?:timeout \d+ )?go test /m.test(script) ? { kind: "go" } : undefined;
}

const numbersIn = (folder, form) =>
  readdirSync(folder)
    .flatMap((name) => Number(form.exec(name)?.[1] ?? Number.NaN))
    .filter((number) => !Number.isNaN(number))
    .sort((one, other) => one - other);

function taskAt(folder, group, number) {
  const at = join(folder, group, `task${number}`);
  const file = join(at, "Dockerfile");
  const setup = read(file, "the base commit of a task");
  const features = numbersIn(at, /^feature(\d+)$/).map((feature) => {
    const own = join(at, `feature${feature}`);
    return {
      number: feature,
      words: () => read(join(own, "feature.md"), "the words of a feature"),
      patch: () => read(join(own, "feature.patch"), "the change of a feature"),
      tests: () => read(join(own, "tests.patch"), "the tests of a feature"),
    };
  });
  return {
    id: `${group.replace(/_task$/, "")}/${number}`,
    repository: found(setup, ORIGIN, "the repository of a task", file),
    base: found(setup, BASE, "the base commit of a task", file),
    runner: runnerOf(read(join(at, "runner.sh"), "the test command of a task")),
    features,
  };
}

/**
 * Reads the tasks of a benchmark.
 *
 * @param benchmark the folder of a clone, or its folder `dataset`
 * @param repositories names of repositories whose tasks are wanted. Default: all
 */
export function tasksIn(benchmark, repositories) {
  const folder = existsSync(join(benchmark, "dataset")) ? join(benchmark, "dataset") : benchmark;
  const groups = readdirSync(folder)
    .filter((name) => name.endsWith("_task"))
    .sort();
  const tasks = groups.flatMap((group) => numbersIn(join(folder, group), /^task(\d+)$/).map((number) => taskAt(folder, group, number)));
  const missing = (repositories ?? []).filter((name) => !tasks.some(({ repository }) => repository === name));
  if (missing.length > 0) {
    const known = [...new Set(tasks.map(({ repository }) => repository))].join(", ");
    throw new Error(`Expected repositories with tasks (${known}), got ${missing.join(", ")}. Use names of this list.`);
  }
  return tasks.filter(({ repository }) => repositories === undefined || repositories.includes(repository));
}

/** All pairs of features of a task. */
export function pairsOf(task) {
  return task.features.flatMap((one, n) =>
    task.features.slice(n + 1).map((other) => ({ id: `${task.id}/${one.number}-${other.number}`, task, features: [one, other] })),
  );
}
