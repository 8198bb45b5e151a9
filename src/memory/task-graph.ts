import { PlanError } from "../kernel/errors.ts";
import type { Task } from "./task.ts";

/**
 * The tasks in an order in which each comes after all it depends on. Tasks stay as written but for those that others need earlier,
 * which are drawn forward to just before the first that needs them. O(tasks + dependencies), and no deeper stack for a longer chain.
 *
 * @throws PlanError `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, or `PLAN_CYCLE` with the cycle as a path.
 */
export function sortTasks<T extends Task>(tasks: readonly T[]): T[] {
  const byId = tasksById(tasks);
  const sorted: T[] = [];
  const state = new Map<string, "open" | "placed">();
  for (const root of tasks) {
    if (state.has(root.id)) continue;
    state.set(root.id, "open");
    // The path from the root to the task at hand, each with the dependency to look at next. No recursion: a chain may be long.
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

/** Ids of a task and of all that depend on it, directly or through others. O(tasks + dependencies). */
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
  // The walk over a set also visits what is added on the way.
  for (const found of reached) for (const dependent of dependents.get(found) ?? []) reached.add(dependent);
  return reached;
}

/** @throws PlanError `PLAN_UNKNOWN_DEPENDENCY`. */
export function unknownDependency(task: Task, id: string): never {
  throw new PlanError(
    "PLAN_UNKNOWN_DEPENDENCY",
    `Expected task ${task.id} to depend on tasks of the plan, but there is no task ${id}. Add it, or leave it out.`,
    {
      data: { task: task.id, dependency: id },
    },
  );
}

/** @throws PlanError `PLAN_DUPLICATE_ID`. */
export function duplicateId(id: string): never {
  throw new PlanError(
    "PLAN_DUPLICATE_ID",
    `Expected every task to have an id of its own, but ${id} came twice. Give one of the two another id.`,
    {
      data: { task: id },
    },
  );
}

/** @throws PlanError `PLAN_CYCLE`; `path` ends where its cycle began. */
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

/** Long cycles are cut in the middle; the error's data has them whole. */
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
