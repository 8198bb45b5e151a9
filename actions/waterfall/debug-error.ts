import type { ActionContext, Message, InputsOf } from "../../src/index.ts";
import type { z } from "zod";
import { askCode } from "../code-reply.ts";
import {
  type DebugReport,
  DebugReportSchema,
  diagnosisSchema,
  renderDebugReport,
  renderTestReport,
  TestReportSchema,
  RunTests,
} from "./run-tests.ts";
import { fileInPrompt, filesInPrompt, type ProjectFile } from "../project-files.ts";
import { payloadOf, ProjectAction } from "../project-action.ts";
import { decisionParts, decisionsIn } from "./write-code.ts";
import { STACK, WritePrd } from "./write-prd.ts";
import { type PromptPart, promptOf } from "../prompt.ts";
import { WriteDesign } from "./write-design.ts";
import { WriteTasks } from "./write-tasks.ts";

const INSTRUCTION =
  "The tests of the project fail. Find out why, and name the files that must be written again. The requirements decide who is right: change a test only if it contradicts them, never to make it pass.";

type DebugErrorNeeds = readonly [typeof WritePrd, typeof WriteDesign, typeof WriteTasks, typeof RunTests];

interface Round {
  readonly round: number;
  readonly project: Map<string, ProjectFile>;
  readonly parts: readonly PromptPart[];
  readonly failing: PromptPart;
}

/** Finds out why tests fail and rewrites the files at fault. */
export class DebugError extends ProjectAction<DebugReport, DebugErrorNeeds> {
  override readonly description: string = "Find out why tests fail, and repair it.";
  override readonly needs: DebugErrorNeeds = [WritePrd, WriteDesign, WriteTasks, RunTests];
  override readonly output: z.ZodType<DebugReport> = DebugReportSchema;

  override async run(ctx: ActionContext<InputsOf<DebugErrorNeeds>>): Promise<Message<DebugReport>> {
    const [prd, design, tasks, tests] = ctx.inputs;
    const decisions = decisionsIn([prd, design, tasks]);
    const report = payloadOf(tests, TestReportSchema);
    const paths = [...new Set([...decisions.tasks.taskList, ...decisions.tasks.testList, "package.json"])];
    const project = new Map((await this.files.read(ctx, paths)).map((file) => [file.path, file]));
    const failing: PromptPart = ["Failing tests", renderTestReport(report)];
    const round: Round = { round: report.round + 1, project, parts: [...decisionParts(decisions), STACK], failing };
    const { analysis, files } = await ctx.ask(diagnosisPrompt(round), { schema: diagnosisSchema([...project.keys()]) });
    for (const path of files) await this.#fix(ctx, path, analysis, round);
    const made = { files: files.map((path) => ({ path })), summary: `Repair what the tests found (round ${round.round})` };
    return this.conclude(ctx, { round: round.round, analysis, files }, made);
  }

  override render(output: DebugReport): string {
    return renderDebugReport(output);
  }

  async #fix(ctx: ActionContext<InputsOf<DebugErrorNeeds>>, path: string, analysis: string, round: Round): Promise<void> {
    const content = await askCode(ctx, path, fixPrompt(path, analysis, round));
    await this.files.write(ctx, { path, content });
    round.project.set(path, { path, content });
  }
}

function diagnosisPrompt({ round, project, parts, failing }: Round): string {
  return promptOf(`DebugError (round ${round})`, INSTRUCTION, [...parts, ["Files", filesInPrompt([...project.values()])], failing]);
}

function fixPrompt(path: string, analysis: string, { round, project, parts, failing }: Round): string {
  const others = [...project.values()].filter((file) => file.path !== path);
  const file = project.get(path);
  return promptOf(
    `FixCode: ${path} (round ${round})`,
    `Write the file ${path} again, so that what the analysis says of it is repaired. Change nothing else.`,
    [
      ...parts,
      ["Other files", filesInPrompt(others)],
      failing,
      ["Analysis", analysis],
      ["The file", file === undefined ? "" : fileInPrompt(file)],
    ],
  );
}
