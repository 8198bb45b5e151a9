import type { ActionContext, InputsOf, Message } from "../../src/index.ts";
import { kinds, type Known } from "../../src/ports.ts";
import { z } from "zod";
import { askCode } from "../code-reply.ts";
import { fileInPrompt, filesInPrompt, type ProjectFile } from "../project-files.ts";
import { bullets, sections } from "../markdown.ts";
import { ProjectAction, type ProjectActionOptions, projectActionOptions } from "../project-action.ts";
import { type Decisions, decisionParts, decisionsIn } from "./write-code.ts";
import { STACK, WritePrd } from "./write-prd.ts";
import { type PromptPart, promptOf } from "../prompt.ts";
import { descriptionOf, WriteTasks } from "./write-tasks.ts";
import { WriteDesign } from "./write-design.ts";

/** Looks good to me, or looks bad to me. */
export type Verdict = "LGTM" | "LBTM";

/** Guards a {@link Review}. */
export const ReviewSchema = z
  .object({
    verdict: z.enum(["LGTM", "LBTM"]).describe("LBTM when the file must be changed, else LGTM"),
    comments: z.array(z.string()).describe("with LBTM each thing that must change and how; with LGTM remarks, or none"),
  })
  .refine(({ verdict, comments }) => verdict === "LGTM" || comments.some((comment) => comment.trim() !== ""), {
    path: ["comments"],
    message: "says nothing that could be changed; give a comment, or LGTM",
  });

/** A review of one file. */
export type Review = z.infer<typeof ReviewSchema>;

/** Guards a {@link ReviewReport}. */
const ReviewReportSchema = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      verdict: z.enum(["LGTM", "LBTM"]),
      comments: z.array(z.string()),
      rounds: z.number(),
      rewrites: z.number(),
    }),
  ),
});

/** The result of the review of all files. The verdict and the comments of a file are those of its last round. */
export type ReviewReport = z.infer<typeof ReviewReportSchema>;
type ReviewedFile = ReviewReport["files"][number];

function renderReviewReport({ files }: ReviewReport): string {
  return sections(
    "Code review",
    files.map((file) => [file.path, `${headline(file)}\n\n${bullets(file.comments)}`] as const),
  );
}

function headline({ verdict, rounds, rewrites }: ReviewedFile): string {
  const written = rewrites === 0 ? "" : `, written again ${times(rewrites)}`;
  return verdict === "LBTM" && rewrites === rounds
    ? `${verdict} in round ${rounds}${written} and not reviewed after that`
    : `${verdict} in round ${rounds}${written}`;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

export interface WriteCodeReviewOptions extends ProjectActionOptions {
  /** Rounds for each file. Default 2. */
  readonly rounds?: number;
}

const reviewOptions: Known<WriteCodeReviewOptions> = { ...projectActionOptions, rounds: kinds.size };

const REVIEW =
  "Review the file below as a strict colleague. Does it do what the plan says, with the names that the other files use? Is it correct at the edges, and complete? Style is no reason to refuse it. Say LBTM only for what would fail a user or a test.";

type WriteCodeReviewNeeds = readonly [typeof WritePrd, typeof WriteDesign, typeof WriteTasks];

/** Reviews each source file; a refused one is rewritten and reviewed again, for a bounded number of rounds. */
export class WriteCodeReview extends ProjectAction<ReviewReport, WriteCodeReviewNeeds> {
  override readonly description: string = "Review the source files and write those again that need it.";
  override readonly needs: WriteCodeReviewNeeds = [WritePrd, WriteDesign, WriteTasks];
  override readonly output: z.ZodType<ReviewReport> = ReviewReportSchema;
  readonly #rounds: number;

  constructor(options: WriteCodeReviewOptions) {
    super(options, reviewOptions);
    this.#rounds = options.rounds ?? 2;
  }

  override async run(ctx: ActionContext<InputsOf<WriteCodeReviewNeeds>>): Promise<Message<ReviewReport>> {
    const decisions = decisionsIn(ctx.inputs);
    const project = new Map((await this.files.read(ctx, decisions.tasks.taskList)).map((file) => [file.path, file]));
    const files: ReviewedFile[] = [];
    for (const path of project.keys()) files.push(await this.#review(ctx, path, project, decisions));
    const rewritten = files.filter(({ rewrites }) => rewrites > 0);
    return this.conclude(ctx, { files }, { files: rewritten, summary: `Change the code of ${decisions.prd.projectName} after review` });
  }

  override render(output: ReviewReport): string {
    return renderReviewReport(output);
  }

  async #review(
    ctx: ActionContext<InputsOf<WriteCodeReviewNeeds>>,
    path: string,
    project: Map<string, ProjectFile>,
    decisions: Decisions,
  ): Promise<ReviewedFile> {
    for (let round = 1; ; round += 1) {
      const parts = partsFor(path, project, decisions);
      const review = await ctx.ask(promptOf(`WriteCodeReview: ${path} (round ${round})`, REVIEW, parts), { schema: ReviewSchema });
      if (review.verdict === "LGTM") return { path, ...review, rounds: round, rewrites: round - 1 };
      const content = await askCode(ctx, path, rewritePrompt(path, round, review, parts));
      await this.files.write(ctx, { path, content });
      project.set(path, { path, content });
      if (round === this.#rounds) return { path, ...review, rounds: round, rewrites: round };
    }
  }
}

function partsFor(path: string, project: ReadonlyMap<string, ProjectFile>, decisions: Decisions): readonly PromptPart[] {
  const others = [...project.values()].filter((file) => file.path !== path);
  const file = project.get(path);
  return [
    ...decisionParts(decisions),
    ["Other files", filesInPrompt(others)],
    [`What ${path} does`, descriptionOf(decisions.tasks, path)],
    STACK,
    ["The file", file === undefined ? "" : fileInPrompt(file)],
  ];
}

function rewritePrompt(path: string, round: number, { comments }: Review, parts: readonly PromptPart[]): string {
  const instruction = `Write the file ${path} again, so that every comment of the review is met. Change nothing else.`;
  return promptOf(`RewriteCode: ${path} (round ${round})`, instruction, [...parts, ["Review", bullets(comments)]]);
}
