import { z } from "zod";
import type { Action } from "./action.ts";
import type { RoleContext } from "./context.ts";
import { PlanError, UsageError } from "../kernel/errors.ts";
import { lazily } from "../kernel/lazily.ts";
import { Plan } from "./plan.ts";
import { type Task, type TaskFields, taskFaults } from "../agent/task.ts";
import type { Message } from "../message/message.ts";
import { act, messagesOf } from "./act.ts";
import type { Role, Said } from "./role.ts";
import { roleSpec, type RoleSpec } from "./role-spec.ts";
import { valueText } from "../kernel/value-text.ts";

const PLAN_ATTEMPTS = 3;

const answerSchema = lazily(() =>
  z.object({
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
  }),
);

interface PlannedActivation<S> {
  readonly spec: RoleSpec;
  readonly rc: RoleContext<S>;
  readonly actor: Role<S> | undefined;
  /** News that came after the plan was made. */
  readonly later: readonly Message[];
}

/**
 * One activation of mode `plan_and_act`: makes a plan for the news unless one is under way, runs its tasks in the order of their
 * dependencies, and returns the results of the finished ones. The action of a task is the one its `type` names, else the first.
 *
 * News that comes while a plan is under way does not change the plan: all later tasks get it. Between activations the working memory keeps it.
 *
 * @param ownAct true when the role overrides `act`: it is called for every task, which is the plan's current one then
 */
export async function planAndAct<S>(role: Role<S>, rc: RoleContext<S>, ownAct: boolean): Promise<Said> {
  const spec = roleSpec(role as unknown as Role);
  const later = rc.plan.isFinished ? [] : [...rc.workingMemory.get(), ...rc.news];
  if (rc.plan.isFinished) await makePlan(role, spec, rc);
  else rc.workingMemory.addBatch(rc.news);
  const activation = { spec, rc, later, actor: ownAct ? role : undefined };
  const doneBefore = new Set(rc.plan.finishedTasks.map((task) => task.id));
  const limit = role.maxReactLoop ?? 3 * rc.plan.tasks.length;
  let cause: string | undefined;
  for (let turn = 0; turn < limit; turn += 1) {
    const task = rc.plan.currentTask;
    if (task === undefined) break;
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

function sayResults<S>(rc: RoleContext<S>, doneBefore: ReadonlySet<string>, cause: string | undefined): Said {
  const finished = rc.plan.finishedTasks.filter((task) => !doneBefore.has(task.id));
  const results = finished.map((task) => task.result ?? "").filter((result) => result !== "");
  if (results.length === 0) return undefined;
  const said = rc.message(results.join("\n\n"), cause === undefined ? {} : { causeBy: cause });
  rc.memory.add(said);
  return said;
}

async function takeTask<S>({ spec, rc, actor, later }: PlannedActivation<S>, task: Task): Promise<string> {
  const action = actionFor(spec, task);
  const work = actor === undefined ? act(rc, action, { task, text: taskText(rc.plan, task, later) }) : actor.act(rc, action);
  const said = messagesOf(await work, rc.name);
  rc.workingMemory.addBatch(said);
  if (rc.plan.currentTask?.id === task.id) rc.plan.finishCurrentTask(contentOf(said));
  return action.name;
}

function taskText(plan: Plan, task: Task, later: readonly Message[]): string {
  const results = task.dependsOn.map((id) => {
    const needed = plan.getTask(id);
    return needed === undefined ? "" : section(`Result of task ${id} (${needed.instruction}):`, needed.result ?? "");
  });
  const news = section("Newest information:", contentOf(later));
  return [section("Goal:", plan.goal), ...results, news, section(`Task ${task.id}:`, task.instruction)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function section(title: string, text: string): string {
  return text === "" ? "" : `${title}\n${text}`;
}

function contentOf(messages: readonly Message[]): string {
  return messages.map((message) => message.content).join("\n\n");
}

function actionFor(spec: RoleSpec, task: Task): Action {
  const action = spec.actions.find((candidate) => candidate.name === task.type) ?? spec.actions[0];
  if (action !== undefined) return action;
  throw new UsageError("ROLE_INVALID", `Expected role ${spec.card.name} to have an action for its plan, got none.`);
}

async function makePlan<S>(role: Role<S>, spec: RoleSpec, rc: RoleContext<S>): Promise<void> {
  const goal = contentOf(rc.news);
  if (role.planTasks !== undefined) {
    rc.plan = new Plan({ goal, tasks: plannedTasks(await role.planTasks(rc), rc.name) });
    return;
  }
  let complaint = "";
  for (let attempt = 1; ; attempt += 1) {
    const { tasks } = await rc.ask(planPrompt(spec, goal, complaint), { schema: answerSchema() });
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

function plannedTasks(given: unknown, role: string): readonly TaskFields[] {
  const source = `planTasks of role ${role}`;
  if (Array.isArray(given))
    return Array.from(given as readonly unknown[], (task, index) => plannedTask(task, `tasks[${index}] of ${source}`));
  throw invalid(source, "a list of tasks", given);
}

function plannedTask(given: unknown, at: string): TaskFields {
  const faults = taskFaults(given);
  if (faults.length === 0) return given as TaskFields;
  throw invalid(at, `a task (${faults.join("; ")})`, given);
}

function invalid(at: string, expected: string, came: unknown): PlanError {
  return new PlanError(
    "PLAN_INVALID",
    `Expected ${at} to be ${expected}, got ${valueText(came)}. Give a list of { id, instruction, dependsOn? }, all ids as texts.`,
  );
}
