import { z } from "zod";
import type { Action } from "../action/action.ts";
import type { RoleContext } from "../action/context.ts";
import { PlanError, UsageError } from "../kernel/errors.ts";
import { Plan } from "../memory/plan.ts";
import type { Task } from "../memory/task.ts";
import { actWith } from "./act.ts";
import type { Role, Said } from "./role.ts";
import { roleSpec, type RoleSpec } from "./role-spec.ts";
import { messagesOf } from "./said.ts";

/** How often a model is asked for a plan before its bad graphs fail the activation. MetaGPT's planner tries as often. */
const PLAN_ATTEMPTS = 3;

const PlannedTasks = z.object({
  tasks: z
    .array(
      z.object({
        id: z.string(),
        dependsOn: z.array(z.string()),
        instruction: z.string(),
        type: z.string().optional(),
        assignee: z.string().optional(),
      }),
    )
    .min(1),
});

/**
 * One activation of mode `plan_and_act`: makes a plan for the news unless one is under way, takes its tasks in the order of
 * their dependencies, and says the results. The action of a task is the one its `type` names, else the first.
 *
 * @param ownAct the role has its own way to act: it is asked for every task, which is the plan's current one then
 */
export async function planAndAct<S>(role: Role<S>, rc: RoleContext<S>, ownAct: boolean): Promise<Said> {
  const spec = roleSpec(role as unknown as Role);
  if (rc.plan.isFinished) await makePlan(role, spec, rc);
  const limit = role.maxReactLoop ?? 3 * rc.plan.tasks.length;
  let cause: string | undefined;
  for (let turn = 0; turn < limit; turn += 1) {
    const task = rc.plan.currentTask;
    if (task === undefined) break;
    cause = await takeTask(ownAct ? role : undefined, spec, rc, task);
  }
  if (!rc.plan.isFinished) rc.logger.warn(`${rc.name} stops after ${limit} actions with tasks left in its plan.`);
  rc.workingMemory.clear();
  const results = rc.plan.finishedTasks.map((task) => task.result ?? "").filter((result) => result !== "");
  if (results.length === 0) return undefined;
  const said = rc.message(results.join("\n\n"), cause === undefined ? {} : { causeBy: cause });
  rc.memory.add(said);
  return said;
}

async function takeTask<S>(actor: Role<S> | undefined, spec: RoleSpec, rc: RoleContext<S>, task: Task): Promise<string> {
  const action = actionFor(spec, task);
  const work = actor === undefined ? actWith(rc, action, { task, text: task.instruction }) : actor.act(rc, action);
  const said = messagesOf(await work, rc.name);
  rc.workingMemory.addBatch(said);
  if (rc.plan.currentTask?.id === task.id) rc.plan.finishCurrentTask(said.map((message) => message.content).join("\n\n"));
  return action.name;
}

function actionFor(spec: RoleSpec, task: Task): Action {
  const action = spec.actions.find((candidate) => candidate.name === task.type) ?? spec.actions[0];
  if (action !== undefined) return action;
  throw new UsageError("ROLE_INVALID", `Expected role ${spec.card.name} to have an action for its plan, got none.`);
}

async function makePlan<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>): Promise<void> {
  const goal = rc.news.map((message) => message.content).join("\n\n");
  if (role.planTasks !== undefined) {
    rc.plan = new Plan({ goal, tasks: await role.planTasks(rc) });
    return;
  }
  let complaint = "";
  for (let attempt = 1; ; attempt += 1) {
    const { tasks } = await rc.ask(planPrompt(spec, goal, complaint), { schema: PlannedTasks });
    try {
      rc.plan = new Plan({ goal, tasks });
      return;
    } catch (error) {
      if (!(error instanceof PlanError) || attempt === PLAN_ATTEMPTS) throw error;
      complaint = `\n\nYour last plan was refused: ${error.message}`;
    }
  }
}

function planPrompt(spec: RoleSpec, goal: string, complaint: string): string {
  const actions = spec.actions.map((action) => `- ${action.name}${action.description === "" ? "" : `: ${action.description}`}`);
  return [
    `Goal:\n${goal}`,
    `Break the goal into as few tasks as do it well. Each task has an id, the ids of the tasks it depends on, an instruction, and as its type one of:\n${actions.join("\n")}`,
    "The tasks form a graph without cycles." + complaint,
  ].join("\n\n");
}
