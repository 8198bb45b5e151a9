import { PlanError, UsageError } from "../kernel/errors.js";
import { lazily } from "../kernel/lazily.js";
import { Plan } from "./plan.js";
import { taskSchema } from "../agent/task.js";
import { actWith, messagesOf } from "./act.js";
import { roleSpec } from "./role-spec.js";
import { valueText } from "../kernel/value-text.js";
import { z } from "zod";
// ../../work/wt/lead/src/role/planner.ts
/** How often a model is asked for a plan before its bad graphs fail the activation. MetaGPT's planner tries as often. */
const PLAN_ATTEMPTS = 3;
const answerSchema = lazily(() => (globalThis.__t?.("role/planner.js#answerSchema@574"),(z.object({ tasks: z.array(z.object({
	id: z.string(),
	dependsOn: z.array(z.string()),
	instruction: z.string(),
	type: z.string().optional(),
	assignee: z.string().optional()
})).min(1) }))));
/**
* One activation of mode `plan_and_act`: makes a plan for the news unless one is under way, takes its tasks in the order of
* their dependencies, and says the results of those it finished. The action of a task is the one its `type` names, else the first.
*
* News that comes while a plan is under way does not change the plan: it is told to all tasks that follow. Between activations it
* is kept in the working memory, which is empty when the plan is finished.
*
* @param ownAct the role has its own way to act: it is asked for every task, which is the plan's current one then
*/
async function planAndAct(role, rc, ownAct) {globalThis.__t?.("role/planner.js#planAndAct@1357");
	const spec = roleSpec(role);
	const later = rc.plan.isFinished ? [] : [...rc.workingMemory.get(), ...rc.news];
	if (rc.plan.isFinished) await makePlan(role, spec, rc);
	else rc.workingMemory.addBatch(rc.news);
	const activation = {
		spec,
		rc,
		later,
		actor: ownAct ? role : void 0
	};
	const doneBefore = new Set(rc.plan.finishedTasks.map((task) => (globalThis.__t?.("role/planner.js#doneBefore@1749"),(task.id))));
	const limit = role.maxReactLoop ?? 3 * rc.plan.tasks.length;
	let cause;
	for (let turn = 0; turn < limit; turn += 1) {
		const task = rc.plan.currentTask;
		if (task === void 0) break;
		doneBefore.delete(task.id);
		cause = await takeTask(activation, task);
	}
	rc.workingMemory.clear();
	if (!rc.plan.isFinished) {
		rc.workingMemory.addBatch(later);
		rc.logger.warn(`${rc.name} stops after ${limit} actions with tasks left in its plan.`);
	}
	return sayResults(rc, doneBefore, cause);
}
function sayResults(rc, doneBefore, cause) {globalThis.__t?.("role/planner.js#sayResults@2263");
	const results = rc.plan.finishedTasks.filter((task) => (globalThis.__t?.("role/planner.js#results@2354"),(!doneBefore.has(task.id)))).map((task) => (globalThis.__t?.("role/planner.js#results@2394"),(task.result ?? ""))).filter((result) => (globalThis.__t?.("role/planner.js#results@2430"),(result !== "")));
	if (results.length === 0) return void 0;
	const said = rc.message(results.join("\n\n"), cause === void 0 ? {} : { causeBy: cause });
	rc.memory.add(said);
	return said;
}
async function takeTask({ spec, rc, actor, later }, task) {globalThis.__t?.("role/planner.js#takeTask@2630");
	const action = actionFor(spec, task);
	const work = actor === void 0 ? actWith(rc, action, {
		task,
		text: taskText(rc.plan, task, later)
	}) : actor.act(rc, action);
	const said = messagesOf(await work, rc.name);
	rc.workingMemory.addBatch(said);
	if (rc.plan.currentTask?.id === task.id) rc.plan.finishCurrentTask(contentOf(said));
	return action.name;
}
function taskText(plan, task, later) {globalThis.__t?.("role/planner.js#taskText@3050");
	const results = task.dependsOn.map((id) => {globalThis.__t?.("role/planner.js#results@3125");
		const needed = plan.getTask(id);
		return needed === void 0 ? "" : section(`Result of task ${id} (${needed.instruction}):`, needed.result ?? "");
	});
	const news = section("Newest information:", contentOf(later));
	return [
		section("Goal:", plan.goal),
		...results,
		news,
		section(`Task ${task.id}:`, task.instruction)
	].filter((part) => (globalThis.__t?.("role/planner.js#anonymous@3473"),(part !== ""))).join("\n\n");
}
function section(title, text) {globalThis.__t?.("role/planner.js#section@3512");
	return text === "" ? "" : `${title}\n${text}`;
}
function contentOf(messages) {globalThis.__t?.("role/planner.js#contentOf@3594");
	return messages.map((message) => (globalThis.__t?.("role/planner.js#anonymous@3646"),(message.content))).join("\n\n");
}
function actionFor(spec, task) {globalThis.__t?.("role/planner.js#actionFor@3692");
	const action = spec.actions.find((candidate) => (globalThis.__t?.("role/planner.js#action@3759"),(candidate.name === task.type))) ?? spec.actions[0];
	if (action !== void 0) return action;
	throw new UsageError("ROLE_INVALID", `Expected role ${spec.card.name} to have an action for its plan, got none.`);
}
async function makePlan(role, spec, rc) {globalThis.__t?.("role/planner.js#makePlan@3981");
	const goal = contentOf(rc.news);
	if (role.planTasks !== void 0) {
		rc.plan = new Plan({
			goal,
			tasks: plannedTasks(await role.planTasks(rc), rc.name)
		});
		return;
	}
	let complaint = "";
	for (let attempt = 1;; attempt += 1) {
		const { tasks } = await rc.ask(planPrompt(spec, goal, complaint), { schema: answerSchema() });
		try {
			rc.plan = new Plan({
				goal,
				tasks
			});
			return;
		} catch (error) {
			if (!(error instanceof PlanError) || attempt === PLAN_ATTEMPTS) throw error;
			complaint = `\n\nYour last plan was refused: ${error.message}`;
		}
	}
}
function planPrompt(spec, goal, complaint) {globalThis.__t?.("role/planner.js#planPrompt@4604");
	const actions = spec.actions.map((action) => (globalThis.__t?.("role/planner.js#actions@4683"),(`- ${action.name}${action.description === "" ? "" : `: ${action.description}`}`)));
	return [
		`Goal:\n${goal}`,
		`Break the goal into as few tasks as do it well. Each task has an id, the ids of the tasks it depends on, an instruction, and as its type one of:\n${actions.join("\n")}`,
		"The tasks form a graph without cycles." + complaint
	].join("\n\n");
}
/**
* The tasks that a role planned by itself. Whether they are a graph is for the plan to say.
*
* @throws PlanError `PLAN_INVALID` when they are no list of tasks.
*/
function plannedTasks(given, role) {globalThis.__t?.("role/planner.js#plannedTasks@5222");
	const source = `planTasks of role ${role}`;
	if (Array.isArray(given)) return Array.from(given, (task, place) => (globalThis.__t?.("role/planner.js#anonymous@5356"),(plannedTask(task, `tasks[${place}] of ${source}`))));
	throw invalid(source, "a list of tasks", given);
}
function plannedTask(given, at) {globalThis.__t?.("role/planner.js#plannedTask@5477");
	const parsed = taskSchema().safeParse(given);
	if (parsed.success) return parsed.data;
	throw invalid(at, `a task (${parsed.error.issues.map(({ path, message }) => (globalThis.__t?.("role/planner.js#anonymous@5653"),([path.join("."), message].filter((word) => (globalThis.__t?.("role/planner.js#anonymous@5709"),(word !== ""))).join(": ")))).join("; ")})`, given);
}
function invalid(at, expected, came) {globalThis.__t?.("role/planner.js#invalid@5769");
	return new PlanError("PLAN_INVALID", `Expected ${at} to be ${expected}, got ${valueText(came)}. Give a list of { id, instruction, dependsOn? }, all ids as texts.`);
}
export { planAndAct, plannedTasks };
