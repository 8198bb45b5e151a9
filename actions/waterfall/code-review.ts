import { z } from "zod";
import { bullets, sections } from "../markdown.ts";

/** Looks good to me, or looks bad to me. */
export type Verdict = "LGTM" | "LBTM";

/** A review of one file. */
export interface Review {
  readonly verdict: Verdict;
  readonly comments: readonly string[];
}

/** Guards a {@link Review}. */
export const ReviewSchema: z.ZodType<Review> = z
  .object({
    verdict: z.enum(["LGTM", "LBTM"]).describe("LBTM when the file must be changed, else LGTM"),
    comments: z.array(z.string()).describe("with LBTM each thing that must change and how; with LGTM remarks, or none"),
  })
  .refine(({ verdict, comments }) => verdict === "LGTM" || comments.some((comment) => comment.trim() !== ""), {
    path: ["comments"],
    message: "says nothing that could be changed; give a comment, or LGTM",
  });

/** The result of the review of all files. */
export interface ReviewReport {
  readonly files: readonly ReviewedFile[];
}

/** The result of the review of one file. */
export interface ReviewedFile extends Review {
  readonly path: string;
  /** Rounds of review; the verdict and the comments are those of the last. */
  readonly rounds: number;
  /** The number of rewrites of the file. */
  readonly rewrites: number;
}

/** Guards a {@link ReviewReport}. */
export const ReviewReportSchema: z.ZodType<ReviewReport> = z.object({
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

export function renderReviewReport({ files }: ReviewReport): string {
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
