import type { ActionContext, Message, InputsOf } from "../../src/index.ts";
import type { WrittenFile } from "../../src/workspace/workspace.ts";
import type { z } from "zod";
import { askCode } from "../code-reply.ts";
import { filesInPrompt, type ProjectFile, renderWrittenFiles, type WrittenFiles, WrittenFilesSchema } from "../project-files.ts";
import { ProjectAction, payloadOf } from "../project-action.ts";
import { STACK, WritePrd, type Prd, PrdSchema } from "./write-prd.ts";
import { promptOf, type PromptPart } from "../prompt.ts";
import { descriptionOf, WriteTasks, type TaskPlan, TaskPlanSchema } from "./write-tasks.ts";
import { WriteDesign, type Design, DesignSchema } from "./write-design.ts";

export interface Decisions {
  readonly prd: Prd;
  readonly design: Design;
  readonly tasks: TaskPlan;
}

/** @throws UsageError `INPUT_INVALID` */
export function decisionsIn([prd, design, tasks]: readonly [Message<Prd>, Message<Design>, Message<TaskPlan>]): Decisions {
  return { prd: payloadOf(prd, PrdSchema), design: payloadOf(design, DesignSchema), tasks: payloadOf(tasks, TaskPlanSchema) };
}

export function decisionParts({ prd, design, tasks }: Decisions): readonly PromptPart[] {
  return [
    ["Requirements", JSON.stringify(prd)],
    ["Design", JSON.stringify(design)],
    ["Tasks", JSON.stringify(tasks)],
  ];
}

type WriteCodeNeeds = readonly [typeof WritePrd, typeof WriteDesign, typeof WriteTasks];

/** Writes files of the plan, one after another, so that each sees those before it. */
abstract class WriteFiles extends ProjectAction<WrittenFiles, WriteCodeNeeds> {
  override readonly needs: WriteCodeNeeds = [WritePrd, WriteDesign, WriteTasks];
  override readonly output: z.ZodType<WrittenFiles> = WrittenFilesSchema;

  protected async writeEach(
    ctx: ActionContext<InputsOf<WriteCodeNeeds>>,
    paths: readonly string[],
    what: string,
    promptFor: (path: string, written: readonly ProjectFile[]) => string,
  ): Promise<Message<WrittenFiles>> {
    const written: ProjectFile[] = [];
    const files: WrittenFile[] = [];
    for (const path of paths) {
      const content = await askCode(ctx, path, promptFor(path, written));
      files.push(await this.files.write(ctx, { path, content }));
      written.push({ path, content });
    }
    return this.conclude(ctx, { files }, { files, summary: `Write the ${what} of ${payloadOf(ctx.inputs[0], PrdSchema).projectName}` });
  }
}

/** Writes the source files of the plan. */
export class WriteCode extends WriteFiles {
  override readonly description: string = "Write the source files.";

  override run(ctx: ActionContext<InputsOf<WriteCodeNeeds>>): Promise<Message<WrittenFiles>> {
    const decisions = decisionsIn(ctx.inputs);
    const instruction = "and it alone. Keep to the names and interfaces of the design and of the files written already.";
    return this.writeEach(ctx, decisions.tasks.taskList, "code", (path, written) =>
      promptOf(`WriteCode: ${path}`, `Write the file ${path}, ${instruction}`, [
        ...decisionParts(decisions),
        ["Files written already", filesInPrompt(written)],
        [`What ${path} does`, descriptionOf(decisions.tasks, path)],
        STACK,
      ]),
    );
  }

  override render(output: WrittenFiles): string {
    return renderWrittenFiles("Code", output);
  }
}

const TEST =
  "that shows whether the requirements are met. Test what the requirements and the design say, not what the code happens to do: a test that fails because the code is wrong is a good test. Test behaviour through the interfaces of the design, edges included, without chance, clocks, network or a browser.";

/** Writes the test files of the plan. */
export class WriteTest extends WriteFiles {
  override readonly description: string = "Write the tests.";

  override async run(ctx: ActionContext<InputsOf<WriteCodeNeeds>>): Promise<Message<WrittenFiles>> {
    const decisions = decisionsIn(ctx.inputs);
    const sources = await this.files.read(ctx, decisions.tasks.taskList);
    return this.writeEach(ctx, decisions.tasks.testList, "tests", (path, written) =>
      promptOf(`WriteTest: ${path}`, `Write the test file ${path}, ${TEST}`, [
        ...decisionParts(decisions),
        ["Source files", filesInPrompt(sources)],
        ["Tests written already", filesInPrompt(written, 10_000)],
        [`What ${path} tests`, descriptionOf(decisions.tasks, path)],
        STACK,
      ]),
    );
  }

  override render(output: WrittenFiles): string {
    return renderWrittenFiles("Tests", output);
  }
}
