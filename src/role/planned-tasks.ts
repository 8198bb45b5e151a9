import { PlanError } from "../kernel/errors.ts";
import { valueText } from "../kernel/value-text.ts";
import { type TaskFields, taskSchema } from "../agent/task.ts";

/**
 * The tasks that a role planned by itself. Whether they are a graph is for the plan to say.
 *
 * @throws PlanError `PLAN_INVALID` when they are no list of tasks.
 */
export function plannedTasks(given: unknown, role: string): readonly TaskFields[] {
  const source = `planTasks of role ${role}`;
  if (Array.isArray(given))
    return Array.from(given as readonly unknown[], (task, place) => plannedTask(task, `tasks[${place}] of ${source}`));
  throw invalid(source, "a list of tasks", given);
}

function plannedTask(given: unknown, at: string): TaskFields {
  const parsed = taskSchema().safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => [path.join("."), message].filter((word) => word !== "").join(": "));
  throw invalid(at, `a task (${issues.join("; ")})`, given);
}

function invalid(at: string, expected: string, came: unknown): PlanError {
  return new PlanError(
    "PLAN_INVALID",
    `Expected ${at} to be ${expected}, got ${valueText(came)}. Give a list of { id, instruction, dependsOn? }, all ids as texts.`,
  );
}
