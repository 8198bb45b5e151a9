import type { ActionContext, InputsOf, Message } from "../../src/index.ts";
import type { z } from "zod";
import { DesignSchema } from "./design.ts";
import { type Prd, PrdSchema } from "./prd.ts";
import { documentFiles, payloadOf, ProjectAction } from "../project-action.ts";
import type { ProjectFile } from "../project-files.ts";
import { STACK } from "./decisions.ts";
import { promptOf } from "../prompt.ts";
import { renderTaskPlan, type TaskPlan, TaskPlanSchema } from "./task-plan.ts";
import { WriteDesign } from "./write-design.ts";
import { WritePrd } from "./write-prd.ts";
import { bullets, sections } from "../markdown.ts";

const INSTRUCTION =
  "Break the design below into files to write, one after another, each after those it needs, and into test files that show that the requirements of priority P0 are met. Every file of the design is a source file or a test file. README.md and package.json are written for you; name them only if they must hold something special.";

type WriteTasksNeeds = readonly [typeof WritePrd, typeof WriteDesign];

/** Turns a design into a plan of files: `docs/task/`, and the frame of the project, `package.json` and `README.md`, unless the plan has its own. */
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

  /** Files that every project gets when neither the plan nor the folder has them. */
  async #frame(ctx: ActionContext<InputsOf<WriteTasksNeeds>>, prd: Prd, tasks: TaskPlan): Promise<readonly ProjectFile[]> {
    const missing = [manifestFile(prd), readmeFile(prd, tasks)].filter(({ path }) => !tasks.taskList.includes(path));
    const there = await this.files.read(
      ctx,
      missing.map(({ path }) => path),
    );
    return missing.filter(({ path }) => !there.some((file) => file.path === path));
  }
}

/**
 * The `package.json` of a project. It says nothing of modules on purpose: then Node.js loads a page's classic scripts as they are, and
 * files with `import` or `export` as modules.
 */
export function manifestFile({ projectName }: Prd): ProjectFile {
  const manifest = { name: projectName, version: "0.1.0", private: true, scripts: { test: "node --test" } };
  return { path: "package.json", content: JSON.stringify(manifest, undefined, 2) };
}

/** A plain `README.md`. */
export function readmeFile(prd: Prd, tasks: TaskPlan): ProjectFile {
  const page = tasks.taskList.find((path) => /(^|\/)index\.html$/.test(path));
  const content = sections(prd.projectName, [
    ["What it is", prd.originalRequirements],
    ["Goals", bullets(prd.productGoals)],
    ["Use", page === undefined ? "" : `Open \`${page}\` in a browser.`],
    ["Test", tasks.testList.length === 0 ? "" : "With Node.js 20 or newer, in this folder:\n\n    node --test"],
    ["Files", bullets(tasks.logicAnalysis.map(({ file, description }) => `\`${file}\`: ${description}`))],
  ]);
  return { path: "README.md", content };
}
