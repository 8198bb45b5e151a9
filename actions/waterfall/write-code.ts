import type { ActionContext, InputsOf, Message } from "../../src/index.ts";
import type { WrittenFile } from "../../src/workspace/index.ts";
import type { z } from "zod";
import { askCode } from "../code-reply.ts";
import { filesInPrompt, type ProjectFile, renderWrittenFiles, type WrittenFiles, WrittenFilesSchema } from "../project-files.ts";
import { ProjectAction } from "../project-action.ts";
import { type Decisions, decisionParts, decisionsIn, STACK } from "./decisions.ts";
import { promptOf } from "../prompt.ts";
import { descriptionOf } from "./task-plan.ts";
import { WriteDesign } from "./write-design.ts";
import { WritePrd } from "./write-prd.ts";
import { WriteTasks } from "./write-tasks.ts";

type WriteCodeNeeds = readonly [typeof WritePrd, typeof WriteDesign, typeof WriteTasks];

/** Writes the source files of the plan, one after another, so that each sees those before it. */
export class WriteCode extends ProjectAction<WrittenFiles, WriteCodeNeeds> {
  override readonly description: string = "Write the source files.";
  override readonly needs: WriteCodeNeeds = [WritePrd, WriteDesign, WriteTasks];
  override readonly output: z.ZodType<WrittenFiles> = WrittenFilesSchema;

  override async run(ctx: ActionContext<InputsOf<WriteCodeNeeds>>): Promise<Message<WrittenFiles>> {
    const decisions = decisionsIn(ctx.inputs);
    const sources: ProjectFile[] = [];
    const files: WrittenFile[] = [];
    for (const path of decisions.tasks.taskList) {
      const content = await askCode(ctx, path, promptFor(path, decisions, sources));
      files.push(await this.files.write(ctx, { path, content }));
      sources.push({ path, content });
    }
    return this.conclude(ctx, { files }, { files, summary: `Write the code of ${decisions.prd.projectName}` });
  }

  override render(output: WrittenFiles): string {
    return renderWrittenFiles("Code", output);
  }
}

function promptFor(path: string, decisions: Decisions, sources: readonly ProjectFile[]): string {
  return promptOf(
    `WriteCode: ${path}`,
    `Write the file ${path}, and it alone. Keep to the names and interfaces of the design and of the files written already.`,
    [
      ...decisionParts(decisions),
      ["Files written already", filesInPrompt(sources)],
      [`What ${path} does`, descriptionOf(decisions.tasks, path)],
      STACK,
    ],
  );
}
