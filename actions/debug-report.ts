import { z } from "zod";
import { bullets, sections } from "./markdown.ts";

/** What was found wrong after failing tests, and which files were written again. */
export interface DebugReport {
  /** From 1. */
  readonly round: number;
  readonly analysis: string;
  readonly files: readonly string[];
}

/** Guards a {@link DebugReport}. */
export const DebugReportSchema: z.ZodType<DebugReport> = z.object({
  round: z.int().min(1),
  analysis: z.string(),
  files: z.array(z.string()),
});

/** What a model is asked about failing tests: why, and which of the given files must change. */
export function diagnosisSchema(paths: readonly string[]): z.ZodType<{ readonly analysis: string; readonly files: readonly string[] }> {
  return z.object({
    analysis: z.string().describe("why the tests fail, and what must change where"),
    files: z
      .array(z.enum(paths))
      .min(1)
      .transform((files) => [...new Set(files)])
      .describe("the files to write again, as few as possible; tests only if they contradict the requirements"),
  });
}

/** A {@link DebugReport} as people read it. */
export function renderDebugReport({ round, analysis, files }: DebugReport): string {
  return sections(`Debugging, round ${round}`, [
    ["Analysis", analysis],
    ["Files written again", bullets(files)],
  ]);
}
