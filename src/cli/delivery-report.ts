import { z } from "zod";
import type { Message } from "../message/message.ts";

export const VerificationReportSchema = z.object({
  verdicts: z.array(
    z.object({
      id: z.string(),
      priority: z.enum(["P0", "P1", "P2"]),
      outcome: z.enum(["proven", "failed", "judged", "not checked"]),
      by: z.string(),
      evidence: z.string(),
    }),
  ),
  suites: z.array(
    z.object({
      language: z.string(),
      kind: z.enum(["passed", "failed", "timeout", "not run"]),
      total: z.number(),
      passed: z.number(),
      failed: z.number(),
      skipped: z.number(),
      reason: z.string().optional(),
    }),
  ),
  faults: z.array(z.object({ kind: z.string(), file: z.string().optional(), command: z.string().optional(), message: z.string() })),
  notChecked: z.string().optional(),
});

/** The parts of a delivery that the command line shows. A record may come from elsewhere: only what has this shape is one. */
const DeliveryReportSchema = z.object({
  kind: z.literal("delivery"),
  name: z.string(),
  size: z.enum(["S", "M", "L"]),
  stack: z.string(),
  isDone: z.boolean(),
  verification: VerificationReportSchema,
  complaints: z.array(z.object({ id: z.string(), text: z.string(), state: z.enum(["failing", "answered", "unproven"]) })),
  assumptions: z.array(z.string()),
  summary: z.string(),
  round: z.number(),
  unmerged: z
    .array(z.object({ id: z.string(), title: z.string(), by: z.string().optional(), why: z.string(), keptIn: z.string().optional() }))
    .optional(),
});

export type DeliveryReport = z.infer<typeof DeliveryReportSchema>;

/** The newest delivery among messages; undefined when there is none, or when a user said something after it. */
export function deliveryOf(messages: readonly Message[]): DeliveryReport | undefined {
  for (const { instructContent, sentFrom } of messages.toReversed()) {
    const parsed = DeliveryReportSchema.safeParse(instructContent);
    if (parsed.success) return parsed.data;
    if (sentFrom === "") return undefined;
  }
  return undefined;
}

export function outcomesText({ verification: { verdicts } }: Pick<DeliveryReport, "verification">): string {
  const outcomes = ["proven", "failed", "judged", "not checked"] as const;
  const counts = outcomes.map((outcome) => [outcome, verdicts.filter((verdict) => verdict.outcome === outcome).length] as const);
  return counts
    .filter(([, count]) => count > 0)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(", ");
}

const TestsReportSchema = z.looseObject({
  tests: z.enum(["passed", "failed", "not run", "none"]),
  total: z.number(),
  passed: z.number(),
  failed: z.number(),
  failures: z.array(z.object({ name: z.string() })).optional(),
  /** Why they did not run and what to do about it. */
  hint: z.string().optional(),
});
export type TestsReport = z.infer<typeof TestsReportSchema>;

/** The newest report on the project's tests, from any role that ran them. */
export function testsOf(messages: readonly Message[]): TestsReport | undefined {
  return messages.map(({ instructContent }) => TestsReportSchema.safeParse(instructContent).data).findLast((tests) => tests !== undefined);
}
