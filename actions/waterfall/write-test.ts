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

const INSTRUCTION =
  "that shows whether the requirements are met. Test what the requirements and the design say, not what the code happens to do: a test that fails because the code is wrong is a good test. Test behaviour through the interfaces of the design, edges included, without chance, clocks, network or a browser.";

type WriteTestNeeds = readonly [typeof WritePrd, typeof WriteDesign, typeof WriteTasks];

/** Writes the test files of the plan. */
export class WriteTest extends ProjectAction<WrittenFiles, WriteTestNeeds> {
  override readonly description: string = "Write the tests.";
  override readonly needs: WriteTestNeeds = [WritePrd, WriteDesign, WriteTasks];
  override readonly output: z.ZodType<WrittenFiles> = WrittenFilesSchema;

  override async run(ctx: ActionContext<InputsOf<WriteTestNeeds>>): Promise<Message<WrittenFiles>> {
    const decisions = decisionsIn(ctx.inputs);
    const sources = await this.files.read(ctx, decisions.tasks.taskList);
    const tests: ProjectFile[] = [];
    const files: WrittenFile[] = [];
    for (const path of decisions.tasks.testList) {
      const content = await askCode(ctx, path, promptFor(path, decisions, sources, tests));
      files.push(await this.files.write(ctx, { path, content }));
      tests.push({ path, content });
    }
    return this.conclude(ctx, { files }, { files, summary: `Write the tests of ${decisions.prd.projectName}` });
  }

  override render(output: WrittenFiles): string {
    return renderWrittenFiles("Tests", output);
  }
}

function promptFor(path: string, decisions: Decisions, sources: readonly ProjectFile[], tests: readonly ProjectFile[]): string {
  return promptOf(`WriteTest: ${path}`, `Write the test file ${path}, ${INSTRUCTION}`, [
    ...decisionParts(decisions),
    ["Source files", filesInPrompt(sources)],
    ["Tests written already", filesInPrompt(tests, 10_000)],
    [`What ${path} tests`, descriptionOf(decisions.tasks, path)],
    STACK,
  ]);
}
