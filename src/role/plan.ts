import { aText, iterable, readable, takes } from "../kernel/argument.ts";
import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";
import { PlanError } from "../kernel/errors.ts";
import { isList, isRecord, isText } from "../kernel/value-kind.ts";
import { listed } from "../kernel/value-text.ts";
import {
  duplicateId,
  finished,
  reopened,
  sortTasks,
  type Task,
  type TaskFields,
  taskFaults,
  taskOf,
  throwCycle,
  unknownDependency,
  withDependents,
} from "../agent/task.ts";

export interface PlanOptions {
  readonly goal: string;
  /** In any order. Default: none. */
  readonly tasks?: Iterable<TaskFields> | undefined;
}

const planOptions: Known<PlanOptions> = { goal: kinds.text, tasks: kinds.iterable("tasks") };

export interface PlanJson {
  readonly goal: string;
  readonly tasks: readonly Task[];
}

/** The new fields of a task. Omitted fields keep their values, except the result: a replaced task is open. */
export type TaskReplacement = Omit<TaskFields, "status" | "result">;

/**
 * A goal broken into tasks that depend on each other.
 *
 * Owns the tasks, their order and the current task. The planner runs the tasks and judges their results.
 *
 * Plan.P1 (`sortTasks`) each task comes after its dependencies; otherwise the given order is kept.
 * Plan.P2 (`#skipDone`) the current task is the first open one.
 * Plan.P3 (`reopen`) reopening a task reopens its direct and indirect dependents.
 * Plan.P4 (`#become`, which is called last) a rejected change leaves the plan unchanged.
 *
 * @example
 * import { Plan } from "troupe";
 *
 * const plan = new Plan({
 *   goal: "a cake",
 *   tasks: [
 *     { id: "bake", instruction: "Bake it", dependsOn: ["mix"] },
 *     { id: "mix", instruction: "Mix the dough" },
 *   ],
 * });
 * plan.finishCurrentTask("dough");
 * console.log(plan.currentTask?.instruction, plan.isFinished); // Bake it false
 */
export class Plan {
  readonly goal: string;
  #tasks: Task[] = [];
  #indexes = new Map<string, number>();
  #current = 0;

  /** @throws PlanError when the tasks are not a dependency graph (see {@link Plan.addTasks}). */
  constructor(options: PlanOptions) {
    checkGivenOptions("new Plan", options, planOptions);
    this.goal = options.goal;
    this.addTasks(options.tasks ?? []);
  }

  /** All tasks, each after its dependencies. */
  get tasks(): Task[] {
    return [...this.#tasks];
  }

  /** The first open task; `undefined` when all tasks are done. */
  get currentTask(): Task | undefined {
    return this.#tasks[this.#current];
  }

  /** True when no task is open, also for a plan without tasks. */
  get isFinished(): boolean {
    return this.#current === this.#tasks.length;
  }

  get finishedTasks(): Task[] {
    return this.#tasks.filter((task) => task.status === "done");
  }

  getTask(id: string): Task | undefined {
    takes("Plan", "the id of a task", id, aText);
    return this.#tasks[this.#indexes.get(id) ?? -1];
  }

  /**
   * Replaces the list of tasks from the first task on that differs from the old one in id or instruction; those before keep their results.
   *
   * @throws PlanError `PLAN_CYCLE`, `PLAN_UNKNOWN_DEPENDENCY`, `PLAN_DUPLICATE_ID`
   */
  addTasks(tasks: Iterable<TaskFields>): void {
    takes("Plan.addTasks", "tasks", tasks, iterable("tasks"));
    const sorted = sortTasks(Array.from(tasks, taskOf));
    if (sorted.length === 0) return;
    const isKept = (old: Task, index: number): boolean => old.id === sorted[index]?.id && old.instruction === sorted[index].instruction;
    const firstDifference = this.#tasks.findIndex((old, index) => !isKept(old, index));
    const kept = firstDifference === -1 ? this.#tasks : this.#tasks.slice(0, firstDifference);
    this.#become([...kept, ...sorted.slice(kept.length)]);
  }

  /** @throws PlanError `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, or `PLAN_CYCLE` when it depends on itself */
  appendTask(fields: TaskFields): void {
    const task = taskOf(fields);
    if (this.#indexes.has(task.id)) duplicateId(task.id);
    for (const id of task.dependsOn) {
      if (id === task.id) throwCycle([id, id]);
      if (!this.#indexes.has(id)) unknownDependency(task, id);
    }
    this.#indexes.set(task.id, this.#tasks.push(task) - 1);
    this.#skipDone();
  }

  /**
   * Replaces the task of the same id. The task and its dependents become open. Dependencies, type and assignee stay unless given.
   *
   * @throws PlanError `PLAN_UNKNOWN_TASK`, `PLAN_UNKNOWN_DEPENDENCY` or `PLAN_CYCLE`.
   */
  replaceTask(replacement: TaskReplacement): void {
    takes("Plan.replaceTask", "replacement", replacement, kinds.object);
    const old = this.#known(replacement.id);
    const given = Object.entries(replacement).filter(([, value]) => value !== undefined);
    const task = taskOf({ ...reopened(old), ...Object.fromEntries(given), status: "open" });
    const replaced = sortTasks(this.#tasks.map((other) => (other === old ? task : other)));
    this.#become(reopen(replaced, task.id));
  }

  /** Reopens a task and its dependents. @throws PlanError `PLAN_UNKNOWN_TASK` */
  resetTask(id: string): void {
    this.#become(reopen(this.#tasks, this.#known(id).id));
  }

  /** Marks the current task done and returns it; `undefined` when no task is open. */
  finishCurrentTask(result = ""): Task | undefined {
    takes("Plan.finishCurrentTask", "result", result, aText);
    const current = this.currentTask;
    if (current === undefined) return undefined;
    const done = finished(current, result);
    this.#tasks[this.#current] = done;
    this.#skipDone();
    return done;
  }

  toJSON(): PlanJson {
    return { goal: this.goal, tasks: this.tasks };
  }

  /** Restores a plan from {@link toJSON}. @throws PlanError `PLAN_INVALID`, and as {@link Plan.addTasks} */
  static fromJSON(json: unknown): Plan {
    takes("Plan.fromJSON", "json", json, readable);
    const faults = planFaults(json);
    if (faults.length === 0) {
      const { goal, tasks } = json as PlanJson;
      return new Plan({ goal, tasks });
    }
    throw new PlanError("PLAN_INVALID", `Expected a plan as JSON, got something else: ${listed(faults, MAX_FAULTS)}.`);
  }

  #known(id: string): Task {
    const task = this.getTask(id);
    if (task !== undefined) return task;
    throw new PlanError(
      "PLAN_UNKNOWN_TASK",
      `Expected the id of a task of the plan, got ${id}. Append it first, or name one that is there.`,
      {
        data: { task: id },
      },
    );
  }

  #become(tasks: Task[]): void {
    this.#tasks = tasks;
    this.#indexes = new Map(tasks.map((task, index) => [task.id, index]));
    this.#current = 0;
    this.#skipDone();
  }

  #skipDone(): void {
    while (this.#tasks[this.#current]?.status === "done") this.#current++;
  }
}

function reopen(tasks: readonly Task[], id: string): Task[] {
  const affected = withDependents(tasks, id);
  return tasks.map((task) => (affected.has(task.id) ? reopened(task) : task));
}

const MAX_FAULTS = 5;

function planFaults(json: unknown): readonly string[] {
  if (!isRecord(json)) return ["expected object"];
  const { goal, tasks } = json;
  const faults = isText(goal) ? [] : ["goal: expected a text"];
  if (!isList(tasks)) return [...faults, "tasks: expected a list"];
  return [...faults, ...Array.from(tasks).flatMap((task, index) => taskFaults(task).map((fault) => `tasks[${index}].${fault}`))];
}
