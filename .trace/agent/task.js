import { lazily } from "../kernel/lazily.js";
import { PlanError } from "../kernel/errors.js";
import { z } from "zod";
// ../../work/wt/lead/src/agent/task.ts
/** Validates {@link TaskFields} from outside. */
const taskSchema = lazily(() => (globalThis.__t?.("agent/task.js#taskSchema@236"),(z.object({
	id: z.string(),
	dependsOn: z.array(z.string()).optional(),
	instruction: z.string(),
	assignee: z.string().optional(),
	type: z.string().optional(),
	status: z.enum(["open", "done"]).optional(),
	result: z.string().optional()
}))));
/** Makes a task from its fields. Each dependency is kept once. */
function taskOf(fields) {globalThis.__t?.("agent/task.js#taskOf@553");
	const { id, instruction, assignee, type } = fields;
	const base = {
		id,
		dependsOn: Object.freeze([...new Set(fields.dependsOn)]),
		instruction,
		...assignee === void 0 ? {} : { assignee },
		...type === void 0 ? {} : { type }
	};
	return Object.freeze(fields.status === "done" ? {
		...base,
		status: "done",
		result: fields.result ?? ""
	} : {
		...base,
		status: "open"
	});
}
/** The same task, open. */
function reopened(task) {globalThis.__t?.("agent/task.js#reopened@996");
	const { result: _result, ...rest } = task;
	return Object.freeze({
		...rest,
		status: "open"
	});
}
/** The same task, done. */
function finished(task, result) {globalThis.__t?.("agent/task.js#finished@1153");
	return Object.freeze({
		...task,
		status: "done",
		result
	});
}
/**
* Sorts tasks so that each comes after its dependencies. The given order is kept, except that a dependency moves to just before the first task
* that needs it. O(tasks + dependencies), with constant stack depth.
*
* @throws PlanError `PLAN_DUPLICATE_ID`, `PLAN_UNKNOWN_DEPENDENCY`, or `PLAN_CYCLE` with the cycle as a path.
*/
function sortTasks(tasks) {globalThis.__t?.("agent/task.js#sortTasks@1587");
	const byId = tasksById(tasks);
	const sorted = [];
	const state = /* @__PURE__ */ new Map();
	for (const root of tasks) {
		if (state.has(root.id)) continue;
		state.set(root.id, "open");
		const path = [{
			task: root,
			next: 0
		}];
		for (let top = path.at(-1); top !== void 0; top = path.at(-1)) {
			const id = top.task.dependsOn[top.next++];
			if (id === void 0) {
				state.set(top.task.id, "placed");
				sorted.push(top.task);
				path.pop();
				continue;
			}
			const needed = byId.get(id) ?? unknownDependency(top.task, id);
			if (state.get(id) === "open") throwCycle([...path.map((step) => (globalThis.__t?.("agent/task.js#anonymous@2215"),(step.task.id))), id]);
			if (state.has(id)) continue;
			state.set(id, "open");
			path.push({
				task: needed,
				next: 0
			});
		}
	}
	return sorted;
}
/** Returns the ids of a task and of its direct and indirect dependents. O(tasks + dependencies). */
function withDependents(tasks, id) {globalThis.__t?.("agent/task.js#withDependents@2482");
	const dependents = /* @__PURE__ */ new Map();
	for (const task of tasks) for (const needed of task.dependsOn) {
		const list = dependents.get(needed);
		if (list === void 0) dependents.set(needed, [task.id]);
		else list.push(task.id);
	}
	const reached = /* @__PURE__ */ new Set([id]);
	for (const found of reached) for (const dependent of dependents.get(found) ?? []) reached.add(dependent);
	return reached;
}
/** @throws PlanError `PLAN_UNKNOWN_DEPENDENCY`. */
function unknownDependency(task, id) {globalThis.__t?.("agent/task.js#unknownDependency@2985");
	throw new PlanError("PLAN_UNKNOWN_DEPENDENCY", `Expected task ${task.id} to depend on tasks of the plan, but there is no task ${id}. Add it, or leave it out.`, { data: {
		task: task.id,
		dependency: id
	} });
}
/** @throws PlanError `PLAN_DUPLICATE_ID`. */
function duplicateId(id) {globalThis.__t?.("agent/task.js#duplicateId@3284");
	throw new PlanError("PLAN_DUPLICATE_ID", `Expected every task to have an id of its own, but ${id} came twice. Give one of the two another id.`, { data: { task: id } });
}
/** @param path ends with the first id of the cycle @throws PlanError `PLAN_CYCLE` */
function throwCycle(path) {globalThis.__t?.("agent/task.js#throwCycle@3569");
	const cycle = path.slice(path.indexOf(path.at(-1)));
	throw new PlanError("PLAN_CYCLE", `Expected tasks that can be done one after another, but they wait for each other: ${pathText(cycle)}. Take one of these dependencies away.`, { data: { cycle } });
}
/** Shortens a long cycle in the middle; the data of the error has the whole cycle. */
function pathText(cycle) {globalThis.__t?.("agent/task.js#pathText@3938");
	return (cycle.length > 20 ? [
		...cycle.slice(0, 10),
		"...",
		...cycle.slice(-10)
	] : cycle).join(" -> ");
}
function tasksById(tasks) {globalThis.__t?.("agent/task.js#tasksById@4080");
	const byId = /* @__PURE__ */ new Map();
	for (const task of tasks) {
		if (byId.has(task.id)) duplicateId(task.id);
		byId.set(task.id, task);
	}
	return byId;
}
export { duplicateId, finished, reopened, sortTasks, taskOf, taskSchema, throwCycle, unknownDependency, withDependents };
