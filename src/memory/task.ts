import { z } from "zod";
import { lazily } from "../kernel/lazily.ts";

interface TaskBase {
  readonly id: string;
  /** Ids of the tasks that come first. */
  readonly dependsOn: readonly string[];
  readonly instruction: string;
  /** Name of the role that should do it. */
  readonly assignee?: string;
  /** What kind of work it is, in the words of whoever plans. */
  readonly type?: string;
}

/** A task still to be done. */
export interface OpenTask extends TaskBase {
  readonly status: "open";
  readonly result?: undefined;
}

/** A task that was done, with what came of it. */
export interface DoneTask extends TaskBase {
  readonly status: "done";
  readonly result: string;
}

/** One step of a plan. Frozen. */
export type Task = OpenTask | DoneTask;

/** What a caller says of a task. It is open unless its status is given as done. */
export interface TaskFields {
  readonly id: string;
  /** Default none. */
  readonly dependsOn?: readonly string[] | undefined;
  readonly instruction: string;
  readonly assignee?: string | undefined;
  readonly type?: string | undefined;
  readonly status?: Task["status"] | undefined;
  /** Of a done task; default empty. */
  readonly result?: string | undefined;
}

/** Guards {@link TaskFields} where they come from outside. */
export const taskSchema: () => z.ZodType<TaskFields> = lazily(() =>
  z.object({
    id: z.string(),
    dependsOn: z.array(z.string()).optional(),
    instruction: z.string(),
    assignee: z.string().optional(),
    type: z.string().optional(),
    status: z.enum(["open", "done"]).optional(),
    result: z.string().optional(),
  }),
);

/** A task made of what was said of it. Dependencies are named once each. */
export function taskOf(fields: TaskFields): Task {
  const { id, instruction, assignee, type } = fields;
  const base = {
    id,
    dependsOn: Object.freeze([...new Set(fields.dependsOn)]),
    instruction,
    ...(assignee === undefined ? {} : { assignee }),
    ...(type === undefined ? {} : { type }),
  };
  return Object.freeze(fields.status === "done" ? { ...base, status: "done", result: fields.result ?? "" } : { ...base, status: "open" });
}

/** The same task, still to be done. */
export function reopened(task: Task): OpenTask {
  const { result: _result, ...rest } = task;
  return Object.freeze({ ...rest, status: "open" });
}

/** The same task, done. */
export function finished(task: Task, result: string): DoneTask {
  return Object.freeze({ ...task, status: "done", result });
}
