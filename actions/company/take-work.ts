import { defineTool, type Tool, toolFailure, toolOutput } from "../../src/agent/index.ts";
import { type ForkedProject, mergeFork, removeFork } from "../../src/workspace/index.ts";
import { z } from "zod";
import type { WorkTask } from "./work-order.ts";

/** Options of {@link takeWorkTool}. */
export interface TakeWorkOptions {
  readonly project: () => ForkedProject;
  /** The plan. */
  readonly tasks: readonly WorkTask[];
  /** The role that takes the work, which is the author of the commit. */
  readonly name: string;
}

/**
 * Makes the tool that brings the unfinished work on a task into the project, for the engineer who ends the task there. The checks of the whole
 * product judge it then.
 */
export function takeWorkTool({ project, tasks, name }: TakeWorkOptions): Tool {
  return defineTool({
    name: "take_work",
    description:
      "Brings the files of a task that was not merged into the project, as its engineer left them. Read them before you change them. Only where ending that work is less than writing it anew.",
    parameters: z.object({ task: z.string().describe("its id") }),
    effect: "write",
    idempotent: true,
    parallel: false,
    execute: async ({ task: id }, ctx) => {
      const task = tasks.find((one) => one.id === id);
      if (task?.keptIn === undefined) return toolFailure(`Nobody has worked on ${id}.`);
      const request = { message: `Take up the unfinished work on ${id}`, author: name, date: ctx.clock.now(), paths: task.owns };
      const merge = await mergeFork(ctx, project(), task.keptIn, request);
      if (merge.kind === "conflict") return toolFailure(`The project has changed since in ${merge.paths.join(", ")}. Write ${id} anew.`);
      await removeFork(ctx, project(), task.keptIn);
      return toolOutput(merge.paths.length === 0 ? `${id} has no files that differ.` : `In the project now: ${merge.paths.join(", ")}.`);
    },
  });
}
