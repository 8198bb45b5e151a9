import { z } from "zod";
import { bullets, sections } from "../markdown.ts";
import { isTestFile, ProjectPathsSchema, tooMany } from "../project-path.ts";

/** The files to write, in order. */
export interface TaskPlan {
  readonly requiredPackages: readonly string[];
  readonly logicAnalysis: readonly { readonly file: string; readonly description: string }[];
  /** Source files, each after those it needs. */
  readonly taskList: readonly string[];
  /** Test files: `tests/*.test.mjs`. */
  readonly testList: readonly string[];
  readonly fullApiSpec: string;
  readonly sharedKnowledge: string;
  readonly anythingUnclear: string;
}

/** Guards a {@link TaskPlan}. A test file among the sources counts as a test. */
export const TaskPlanSchema: z.ZodType<TaskPlan> = z
  .object({
    requiredPackages: z
      .array(z.string())
      .default([])
      .describe("packages beyond the platform; empty, unless the requirement itself asks for one"),
    logicAnalysis: z
      .array(z.object({ file: z.string(), description: z.string() }))
      .describe("for each file of taskList what it holds, what it offers by name, and which other files it needs"),
    taskList: ProjectPathsSchema.refine((paths) => paths.some((path) => !isTestFile(path)), "names no source file").describe(
      "paths of the source files, each after those it needs; no tests",
    ),
    testList: ProjectPathsSchema.refine((paths) => paths.every(isTestFile), "has a file that is not tests/NAME.test.mjs").describe(
      "paths of the test files, tests/NAME.test.mjs each",
    ),
    fullApiSpec: z.string().default("").describe("interfaces between front and back end; empty when there are none"),
    sharedKnowledge: z.string().default("").describe("what all who write a file must know: names, formats, units, conventions"),
    anythingUnclear: z.string().default("").describe("what is open and what is assumed; empty when nothing"),
  })
  .transform((plan, context) => {
    const taskList = plan.taskList.filter((path) => !isTestFile(path));
    const testList = [...new Set([...plan.testList, ...plan.taskList.filter(isTestFile)])];
    const fault = tooMany(taskList.length + testList.length);
    if (fault !== undefined) context.addIssue({ code: "custom", message: fault });
    return { ...plan, taskList, testList };
  });

export function renderTaskPlan(plan: TaskPlan): string {
  return sections("Tasks", [
    ["Source files, in order", bullets(plan.taskList)],
    ["Test files", bullets(plan.testList)],
    ["What each file does", bullets(plan.logicAnalysis.map(({ file, description }) => `\`${file}\`: ${description}`))],
    ["Required packages", bullets(plan.requiredPackages)],
    ["Interfaces", plan.fullApiSpec],
    ["Shared knowledge", plan.sharedKnowledge],
    ["Unclear", plan.anythingUnclear],
  ]);
}

/** The plan of one file. */
export function descriptionOf(plan: TaskPlan, path: string): string {
  return plan.logicAnalysis
    .filter(({ file }) => file === path || file === `./${path}`)
    .map(({ description }) => description)
    .join("\n");
}
