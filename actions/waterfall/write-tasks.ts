import type { ActionContext, Message, InputsOf } from "../../src/index.ts";
import { z } from "zod";
import { DesignSchema, WriteDesign } from "./write-design.ts";
import { type Prd, PrdSchema, WritePrd, STACK } from "./write-prd.ts";
import { documentFiles, payloadOf, ProjectAction } from "../project-action.ts";
import type { ProjectFile } from "../project-files.ts";
import { promptOf } from "../prompt.ts";
import { bullets, sections } from "../markdown.ts";
import { isTestFile, ProjectPathsSchema, tooMany } from "../project-path.ts";

/** A test file among the sources counts as a test. */
export const TaskPlanSchema = z
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
    testList: ProjectPathsSchema.refine(
      (paths) => paths.every(isTestFile),
      "has a file that is neither tests/NAME.test.mjs nor tests/test_NAME.py",
    ).describe("paths of the test files, tests/NAME.test.mjs each, in Python tests/test_NAME.py"),
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

/** The files to write, in order. */
export type TaskPlan = z.infer<typeof TaskPlanSchema>;

function renderTaskPlan(plan: TaskPlan): string {
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

export function descriptionOf(plan: TaskPlan, path: string): string {
  return plan.logicAnalysis
    .filter(({ file }) => file === path || file === `./${path}`)
    .map(({ description }) => description)
    .join("\n");
}

const INSTRUCTION =
  "Break the design below into files to write, one after another, each after those it needs, and into test files that show that the requirements of priority P0 are met. Every file of the design is a source file or a test file. README.md and package.json are written for you; name them only if they must hold something special.";

type WriteTasksNeeds = readonly [typeof WritePrd, typeof WriteDesign];

/** Turns a design into a plan of files: `docs/task/`, and `package.json` and `README.md` unless the plan has its own. */
export class WriteTasks extends ProjectAction<TaskPlan, WriteTasksNeeds> {
  override readonly description: string = "Break the design into files to write.";
  override readonly needs: WriteTasksNeeds = [WritePrd, WriteDesign];
  override readonly output: z.ZodType<TaskPlan> = TaskPlanSchema;

  override prompt(ctx: ActionContext<InputsOf<WriteTasksNeeds>>): string {
    return promptOf("WriteTasks", INSTRUCTION, [
      ["Requirements", JSON.stringify(payloadOf(ctx.inputs[0], PrdSchema))],
      ["Design", JSON.stringify(payloadOf(ctx.inputs[1], DesignSchema))],
      STACK,
    ]);
  }

  override async run(ctx: ActionContext<InputsOf<WriteTasksNeeds>>): Promise<Message<TaskPlan>> {
    const prd = payloadOf(ctx.inputs[0], PrdSchema);
    const tasks = await ctx.ask(this.prompt(ctx), { schema: TaskPlanSchema });
    const documents = documentFiles("task", prd.projectName, tasks, renderTaskPlan(tasks));
    const files = [...documents, ...(await this.#frame(ctx, prd, tasks))];
    await this.write(ctx, files);
    return this.conclude(ctx, tasks, { files, summary: `Plan the files of ${prd.projectName}` });
  }

  override render(tasks: TaskPlan): string {
    return renderTaskPlan(tasks);
  }

  async #frame(ctx: ActionContext<InputsOf<WriteTasksNeeds>>, prd: Prd, tasks: TaskPlan): Promise<readonly ProjectFile[]> {
    const manifest = tasks.testList.some((path) => path.endsWith(".mjs")) || tasks.testList.length === 0 ? [manifestFile(prd)] : [];
    const missing = [...manifest, readmeFile(prd, tasks)].filter(({ path }) => !tasks.taskList.includes(path));
    const there = await this.files.read(
      ctx,
      missing.map(({ path }) => path),
    );
    return missing.filter(({ path }) => !there.some((file) => file.path === path));
  }
}

/** It says nothing of modules: then Node.js loads a page's classic scripts as they are, and files with `import` or `export` as modules. */
export function manifestFile({ projectName }: Prd): ProjectFile {
  const manifest = { name: projectName, version: "0.1.0", private: true, scripts: { test: "node --test" } };
  return { path: "package.json", content: JSON.stringify(manifest, undefined, 2) };
}

export function readmeFile(prd: Prd, tasks: TaskPlan): ProjectFile {
  const kinds = { ".mjs": "Node.js 20 or newer:\n\n    node --test", ".py": "Python 3 and pytest:\n\n    python3 -m pytest" };
  const tests = Object.entries(kinds).flatMap(([ending, command]) =>
    tasks.testList.some((path) => path.endsWith(ending)) ? [command] : [],
  );
  const page = tasks.taskList.find((path) => /(^|\/)index\.html$/.test(path));
  const content = sections(prd.projectName, [
    ["What it is", prd.originalRequirements],
    ["Goals", bullets(prd.productGoals)],
    ["Use", page === undefined ? "" : `Open \`${page}\` in a browser.`],
    ["Test", tests.map((command) => `In this folder, with ${command}`).join("\n\n")],
    ["Files", bullets(tasks.logicAnalysis.map(({ file, description }) => `\`${file}\`: ${description}`))],
  ]);
  return { path: "README.md", content };
}
