import { kinds } from "../kernel/option-kinds.ts";
import { valueText } from "../kernel/value-text.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { defined, isList, isRecord, isText } from "../kernel/value-kind.ts";
import { PlanError } from "../kernel/errors.ts";

interface TaskBase {
  readonly id: string;
  /** Ids of the tasks that come first. */
  readonly dependsOn: readonly string[];
  readonly instruction: string;
  /** Name of the role that should do it. */
  readonly assignee?: string;
  readonly type?: string;
}

interface OpenTask extends TaskBase {
  readonly status: "open";
  readonly result?: undefined;
}

interface DoneTask extends TaskBase {
  readonly status: "done";
  readonly result: string;
}

/** Frozen. */
export type Task = OpenTask | DoneTask;

/** The fields of a new task. */
export interface TaskFields {
  readonly id: string;
  readonly dependsOn?: readonly string[] | undefined;
  readonly instruction: string;
  readonly assignee?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: Task["status"] | undefined;
  readonly result?: string | undefined;
}

interface TaskMember {
  readonly expected: string;
  readonly isRequired: boolean;
  readonly fits: (value: unknown) => boolean;
}

const text = { expected: "a text", isRequired: false, fits: isText };

const TASK_MEMBERS: { readonly [Name in keyof TaskFields]-?: TaskMember } = {
  id: { ...text, isRequired: true },
  dependsOn: { expected: "a list of ids", isRequired: false, fits: (value) => isList(value) && Array.from(value).every(isText) },
  instruction: { ...text, isRequired: true },
  assignee: text,
  type: text,
  status: { expected: '"open" or "done"', isRequired: false, fits: (value) => value === "open" || value === "done" },
  result: text,
};

const TASK_NAMES: Known<TaskFields> = kinds.each(kinds.checked, "id", "dependsOn", "instruction", "assignee", "type", "status", "result");

export function taskFaults(given: unknown): readonly string[] {
  if (!isRecord(given)) return ["expected object"];
  return Object.entries(TASK_MEMBERS).flatMap(([name, { expected, isRequired, fits }]) => {
    const value = given[name];
    return fits(value) || (value === undefined && !isRequired) ? [] : [`${name}: expected ${expected}`];
  });
}

/** Each dependency is kept once. @throws PlanError `PLAN_INVALID`; UsageError `OPTION_UNKNOWN` */
export function taskOf(fields: TaskFields): Task {
  if (isRecord(fields)) checkKnownOptions("a task", fields, TASK_NAMES);
  const faults = taskFaults(fields);
  if (faults.length > 0)
    throw new PlanError("PLAN_INVALID", `Expected a task { id, instruction }, got ${valueText(fields)}: ${faults.join(", ")}.`);
  const { id, instruction, assignee, type } = fields;
  const base = {
    id,
    dependsOn: Object.freeze([...new Set(fields.dependsOn)]),
    instruction,
    ...defined({ assignee, type }),
  };
  return Object.freeze(fields.status === "done" ? { ...base, status: "done", result: fields.result ?? "" } : { ...base, status: "open" });
}

export function reopened(task: Task): OpenTask {
  const { result: _result, ...rest } = task;
  return Object.freeze({ ...rest, status: "open" });
}

export function finished(task: Task, result: string): DoneTask {
  return Object.freeze({ ...task, status: "done", result });
}

/**
 * Sorts tasks so that each comes after its dependencies. The given order is kept, except that a dependency moves to just before the first
 * task that needs it. O(tasks + dependencies), with constant stack depth.
 *
 * @throws PlanError `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, or `PLAN_CYCLE` with the cycle as a path
 */
export function sortTasks<T extends Task>(tasks: readonly T[]): T[] {
  const byId = tasksById(tasks);
  const sorted: T[] = [];
  const state = new Map<string, "open" | "placed">();
  for (const root of tasks) {
    if (state.has(root.id)) continue;
    state.set(root.id, "open");
    // The path from the root, each task with its next dependency. No recursion: a chain may be long.
    const path = [{ task: root, next: 0 }];
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const id = top.task.dependsOn[top.next++];
      if (id === undefined) {
        state.set(top.task.id, "placed");
        sorted.push(top.task);
        path.pop();
        continue;
      }
      const needed = byId.get(id) ?? unknownDependency(top.task, id);
      if (state.get(id) === "open") throwCycle([...path.map((step) => step.task.id), id]);
      if (state.has(id)) continue;
      state.set(id, "open");
      path.push({ task: needed, next: 0 });
    }
  }
  return sorted;
}

export function withDependents(tasks: readonly Task[], id: string): Set<string> {
  const dependents = new Map<string, string[]>();
  for (const task of tasks) {
    for (const needed of task.dependsOn) {
      const list = dependents.get(needed);
      if (list === undefined) dependents.set(needed, [task.id]);
      else list.push(task.id);
    }
  }
  const reached = new Set([id]);
  // Iterating a set also visits ids added meanwhile.
  for (const found of reached) for (const dependent of dependents.get(found) ?? []) reached.add(dependent);
  return reached;
}

export function unknownDependency(task: Task, id: string): never {
  throw new PlanError(
    "PLAN_UNKNOWN_DEPENDENCY",
    `Expected task ${task.id} to depend on tasks of the plan, but there is no task ${id}. Add it, or leave it out.`,
    {
      data: { task: task.id, dependency: id },
    },
  );
}

export function duplicateId(id: string): never {
  throw new PlanError(
    "PLAN_DUPLICATE_ID",
    `Expected every task to have an id of its own, but ${id} came twice. Give one of the two another id.`,
    {
      data: { task: id },
    },
  );
}

/** @param path ends with the first id of the cycle */
export function throwCycle(path: readonly string[]): never {
  const cycle = path.slice(path.indexOf(path.at(-1) as string));
  throw new PlanError(
    "PLAN_CYCLE",
    `Expected tasks that can be done one after another, but they wait for each other: ${pathText(cycle)}. Take one of these dependencies away.`,
    {
      data: { cycle },
    },
  );
}

function pathText(cycle: readonly string[]): string {
  const shown = cycle.length > 20 ? [...cycle.slice(0, 10), "...", ...cycle.slice(-10)] : cycle;
  return shown.join(" -> ");
}

function tasksById<T extends Task>(tasks: readonly T[]): Map<string, T> {
  const byId = new Map<string, T>();
  for (const task of tasks) {
    if (byId.has(task.id)) duplicateId(task.id);
    byId.set(task.id, task);
  }
  return byId;
}
