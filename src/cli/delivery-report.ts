import { z } from "zod";
import type { Message } from "../message/message.ts";

export interface DeliveryReport {
  readonly kind: "delivery";
  readonly name: string;
  readonly size: "S" | "M" | "L";
  readonly stack: string;
  readonly isDone: boolean;
  readonly verification: {
    readonly verdicts: readonly {
      readonly id: string;
      readonly priority: "P0" | "P1" | "P2";
      readonly outcome: "proven" | "failed" | "judged" | "not checked";
      readonly by: string;
      readonly evidence: string;
    }[];
    readonly suites: readonly {
      readonly language: string;
      readonly kind: "passed" | "failed" | "timeout" | "not run";
      readonly total: number;
      readonly passed: number;
      readonly failed: number;
      readonly skipped: number;
      readonly reason?: string | undefined;
    }[];
    readonly faults: readonly {
      readonly kind: string;
      readonly file?: string | undefined;
      readonly command?: string | undefined;
      readonly message: string;
    }[];
    readonly notChecked?: string | undefined;
  };
  readonly complaints: readonly { readonly id: string; readonly text: string; readonly state: "failing" | "answered" | "unproven" }[];
  readonly assumptions: readonly string[];
  readonly summary: string;
  readonly round: number;
  readonly unmerged?: readonly UnmergedReport[] | undefined;
}

export interface UnmergedReport {
  readonly id: string;
  readonly title: string;
  readonly by?: string | undefined;
  readonly why: string;
  readonly keptIn?: string | undefined;
}

export const VerificationReportSchema: z.ZodType<DeliveryReport["verification"]> = z.object({
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
const DeliveryReportSchema: z.ZodType<DeliveryReport> = z.object({
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

export interface TestsReport {
  readonly tests: "passed" | "failed" | "not run" | "none";
  readonly total: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures?: readonly { readonly name: string }[];
  /** Why they did not run and what to do about it. */
  readonly hint?: string;
}

export function testsOf(messages: readonly Message[]): TestsReport | undefined {
  return messages.findLast((message) => isTestsReport(message.instructContent))?.instructContent as TestsReport | undefined;
}

const VERDICTS: ReadonlySet<unknown> = new Set(["passed", "failed", "not run", "none"]);

function isTestsReport(payload: unknown): payload is TestsReport {
  if (typeof payload !== "object" || payload === null) return false;
  const { tests, total, passed, failed, failures = [] } = payload as { readonly [key: string]: unknown };
  const isNamed = (failure: unknown): boolean => typeof (failure as { readonly name?: unknown } | null)?.name === "string";
  const areCounts = [total, passed, failed].every((count) => typeof count === "number");
  return VERDICTS.has(tests) && areCounts && Array.isArray(failures) && failures.every(isNamed);
}
