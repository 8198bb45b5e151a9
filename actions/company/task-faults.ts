import type { Verification } from "../../src/checks/index.ts";
import type { WorkTask } from "./work-order.ts";

/**
 * Returns what is wrong with the files and tests of a task, and with the tests of tasks that are merged already; undefined when nothing is.
 * Nothing else counts: other files are only interfaces yet.
 *
 * @param tasks the plan
 */
export function taskFaults({ suites, faults, notChecked }: Verification, task: WorkTask, tasks: readonly WorkTask[]): string | undefined {
  if (notChecked !== undefined) return undefined;
  const own = faults.filter(({ kind, file }) => kind === "syntax" && (file === undefined || task.owns.includes(file)));
  const merged = tasks.filter(({ state }) => state === "merged");
  const wanted = new Set([task, ...merged].flatMap(({ tests }) => tests));
  const failures = suites.flatMap((suite) => suite.failures).filter(({ file }) => wanted.has(file));
  const ended = suites.filter((suite) => suite.kind === "timeout" && suite.files.some((file) => wanted.has(file)));
  const reasons = suites.flatMap(({ reason }) => reason ?? []).join(" ");
  const ran = new Set(suites.flatMap(({ files }) => files));
  const helpers = new Set(task.tests.filter((file) => /(^|\/)(conftest|__init__)\.py$/.test(file)));
  const lines = [
    ...own.map(({ file = "the project", message }) => `${file}: ${message}`),
    ...failures.map(({ file, name, message }) => `${file}, "${name}": ${message}`),
    ...(failures.length === 0 ? ended.map(({ language }) => `The tests in ${language} did not end in time.`) : []),
    ...task.tests.filter((file) => !ran.has(file) && !helpers.has(file)).map((file) => `${file} did not run. ${reasons}`.trim()),
  ];
  return lines.length === 0 ? undefined : lines.join("\n");
}
