import { readable, takes } from "../kernel/argument.js";
import { checkGivenOptions } from "../kernel/known-options.js";
import { PlanError } from "../kernel/errors.js";
import { lazily } from "../kernel/lazily.js";
import { duplicateId, finished, reopened, sortTasks, taskOf, taskSchema, throwCycle, unknownDependency, withDependents } from "../agent/task.js";
import { z } from "zod";
// ../../work/wt/lead/src/role/plan.ts
const planOptions = {
	goal: true,
	tasks: true
};
/**
* A goal broken into tasks that depend on each other.
*
* Owns the tasks, their order and the current task. The planner runs the tasks and judges their results.
*
* Plan.P1 each task comes after its dependencies; otherwise the given order is kept (`sortTasks`). Plan.P2 the current task is the first open
* one (`#skipDone`). Plan.P3 reopening a task reopens its direct and indirect dependents (`reopen`). Plan.P4 a rejected change leaves the plan
* unchanged (`#become` is called last).
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
var Plan = class Plan {
	goal;
	#tasks = [];
	#places = /* @__PURE__ */ new Map();
	/** Index of the first open task; the number of tasks when all are done. */
	#current = 0;
	/** @throws PlanError when the tasks are not a dependency graph (see {@link Plan.addTasks}). */
	constructor(options) {globalThis.__t?.("role/plan.js#constructor@1608");
		checkGivenOptions("new Plan", options, planOptions);
		this.goal = options.goal;
		this.addTasks(options.tasks ?? []);
	}
	/** All tasks, each after its dependencies. */
	get tasks() {globalThis.__t?.("role/plan.js#tasks get@1802");
		return [...this.#tasks];
	}
	/** The first open task; `undefined` when all tasks are done. */
	get currentTask() {globalThis.__t?.("role/plan.js#currentTask get@1919");
		return this.#tasks[this.#current];
	}
	/** True when no task is open, also for a plan without tasks. */
	get isFinished() {globalThis.__t?.("role/plan.js#isFinished get@2045");
		return this.#current === this.#tasks.length;
	}
	get finishedTasks() {globalThis.__t?.("role/plan.js#finishedTasks get@2118");
		return this.#tasks.filter((task) => (globalThis.__t?.("role/plan.js#anonymous@2151"),(task.status === "done")));
	}
	/** The task of an id. */
	getTask(id) {globalThis.__t?.("role/plan.js#getTask@2224");
		return this.#tasks[this.#places.get(id) ?? -1];
	}
	/**
	* Replaces the list of tasks. As long as the sorted new tasks have the id and the instruction of the old ones, the old tasks stay with their
	* results; from the first difference on, the new tasks replace them. An empty list changes nothing.
	*
	* @throws PlanError `PLAN_CYCLE`, `PLAN_UNKNOWN_DEPENDENCY` (of a task that is not in the list) or `PLAN_DUPLICATE_ID`.
	*/
	addTasks(tasks) {globalThis.__t?.("role/plan.js#addTasks@2669");
		const sorted = sortTasks(Array.from(tasks, taskOf));
		if (sorted.length === 0) return;
		const isKept = (old, place) => (globalThis.__t?.("role/plan.js#isKept@2786"),(old.id === sorted[place]?.id && old.instruction === sorted[place].instruction));
		const firstDifference = this.#tasks.findIndex((old, place) => (globalThis.__t?.("role/plan.js#firstDifference@2929"),(!isKept(old, place))));
		const kept = firstDifference === -1 ? this.#tasks : this.#tasks.slice(0, firstDifference);
		this.#become([...kept, ...sorted.slice(kept.length)]);
	}
	/**
	* Appends a task.
	*
	* @throws PlanError `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, or `PLAN_CYCLE` when it depends on itself.
	*/
	appendTask(fields) {globalThis.__t?.("role/plan.js#appendTask@3274");
		const task = taskOf(fields);
		if (this.#places.has(task.id)) duplicateId(task.id);
		for (const id of task.dependsOn) {
			if (id === task.id) throwCycle([id, id]);
			if (!this.#places.has(id)) unknownDependency(task, id);
		}
		this.#places.set(task.id, this.#tasks.push(task) - 1);
		this.#skipDone();
	}
	/**
	* Replaces the task of the same id. The task and its dependents become open. Dependencies, type and assignee stay unless given.
	*
	* @throws PlanError `PLAN_UNKNOWN_TASK`, `PLAN_UNKNOWN_DEPENDENCY` or `PLAN_CYCLE`.
	*/
	replaceTask(replacement) {globalThis.__t?.("role/plan.js#replaceTask@3834");
		const old = this.#known(replacement.id);
		const given = Object.entries(replacement).filter(([, value]) => (globalThis.__t?.("role/plan.js#given@3944"),(value !== void 0)));
		const task = taskOf({
			...reopened(old),
			...Object.fromEntries(given),
			status: "open"
		});
		const replaced = sortTasks(this.#tasks.map((other) => (globalThis.__t?.("role/plan.js#replaced@4125"),(other === old ? task : other))));
		this.#become(reopen(replaced, task.id));
	}
	/**
	* Reopens a task and its dependents.
	*
	* @throws PlanError `PLAN_UNKNOWN_TASK`.
	*/
	resetTask(id) {globalThis.__t?.("role/plan.js#resetTask@4316");
		this.#become(reopen(this.#tasks, this.#known(id).id));
	}
	/** Marks the current task done and returns it; `undefined` when no task is open. */
	finishCurrentTask(result = "") {globalThis.__t?.("role/plan.js#finishCurrentTask@4487");
		const current = this.currentTask;
		if (current === void 0) return void 0;
		const done = finished(current, result);
		this.#tasks[this.#current] = done;
		this.#skipDone();
		return done;
	}
	toJSON() {globalThis.__t?.("role/plan.js#toJSON@4704");
		return {
			goal: this.goal,
			tasks: this.tasks
		};
	}
	/**
	* Restores a plan from {@link toJSON}.
	*
	* @throws PlanError `PLAN_INVALID` naming what does not fit, or as {@link Plan.addTasks} does.
	*/
	static fromJSON(json) {globalThis.__t?.("role/plan.js#fromJSON@4933");
		takes("Plan.fromJSON", "json", json, readable);
		const parsed = planSchema().safeParse(json);
		if (parsed.success) return new Plan(parsed.data);
		throw new PlanError("PLAN_INVALID", `Expected a plan as JSON, got something else: ${z.prettifyError(parsed.error)}`);
	}
	#known(id) {globalThis.__t?.("role/plan.js#known@5221");
		const task = this.getTask(id);
		if (task !== void 0) return task;
		throw new PlanError("PLAN_UNKNOWN_TASK", `Expected the id of a task of the plan, got ${id}. Append it first, or name one that is there.`, { data: { task: id } });
	}
	#become(tasks) {globalThis.__t?.("role/plan.js#become@5473");
		this.#tasks = tasks;
		this.#places = new Map(tasks.map((task, place) => (globalThis.__t?.("role/plan.js#anonymous@5541"),([task.id, place]))));
		this.#current = 0;
		this.#skipDone();
	}
	#skipDone() {globalThis.__t?.("role/plan.js#skipDone@5632");
		while (this.#tasks[this.#current]?.status === "done") this.#current++;
	}
};
/** Returns the tasks with one of them and its dependents open. */
function reopen(tasks, id) {globalThis.__t?.("role/plan.js#reopen@5783");
	const affected = withDependents(tasks, id);
	return tasks.map((task) => (globalThis.__t?.("role/plan.js#anonymous@5875"),(affected.has(task.id) ? reopened(task) : task)));
}
const planSchema = lazily(() => (globalThis.__t?.("role/plan.js#planSchema@5961"),(z.object({
	goal: z.string(),
	tasks: z.array(taskSchema())
}))));
export { Plan };
