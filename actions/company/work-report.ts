import { defineTool, type Tool, toolFailure, toolOutput, type ToolResult } from "../../src/agent/index.ts";
import { z } from "zod";

const DisputeSchema = z.object({
  /** Id of the criterion whose check is disputed; undefined for a test. */
  criterion: z.string().optional(),
  why: z.string(),
});

/** A check or a test that its engineer hands back. */
export type Dispute = z.infer<typeof DisputeSchema>;

export const WorkReportSchema = z.object({
  /** `stuck`: it ended without success, and `summary` says why. */
  status: z.enum(["finished", "stuck", "disputed"]),
  summary: z.string(),
  /** In the order of their calls. */
  disputes: z.array(DisputeSchema).optional(),
  /** The findings of the newest red checks. */
  failing: z.string().optional(),
  /** Tests that were seen failing, as `file: title`. */
  red: z.array(z.string()).optional(),
  /** Tasks whose unfinished work is in the project now. */
  taken: z.array(z.string()).optional(),
  /** Calls that were not made, and why. */
  notRun: z.array(z.string()).optional(),
  /** Sentences for the user, such as which tests of others a worker changed. */
  notes: z.array(z.string()).optional(),
  spent: z.object({ tokens: z.number(), ms: z.number() }).optional(),
});

export type WorkReport = z.infer<typeof WorkReportSchema>;

export function giveUpTool(): Tool {
  return defineTool({
    name: "give_up",
    description: "Ends the work without success. Only when the order cannot be carried out, or contradicts itself.",
    parameters: z.object({ why: z.string() }),
    effect: "read",
    ends: true,
    execute: ({ why }) => toolOutput(JSON.stringify({ status: "stuck", summary: why } satisfies WorkReport)),
  });
}

type NotFor = string | undefined;

export function disputeCheckTool(notFor?: NotFor): Tool {
  return defineTool({
    name: "dispute_check",
    description:
      "Hands the check of a criterion back to the product manager. Only for a check that expects what the user's words do not say, or that no correct product passes. Hand back all such checks in one reply. Your files stay, and you go on when there is an answer.",
    parameters: z.object({
      criterion: z.string().describe("its id"),
      why: z.string().describe("what the user's words say, and what the check expects"),
    }),
    effect: "read",
    execute: ({ criterion, why }) => disputed({ criterion, why: `${criterion}: ${why}` }, notFor),
  });
}

export function disputeTool(notFor?: NotFor): Tool {
  return defineTool({
    name: "dispute_test",
    description:
      "Hands a test back to QA, who alone may change it. Only for a test that contradicts the user's words or a criterion. Your files stay, and you go on when QA has answered.",
    parameters: z.object({
      file: z.string(),
      test: z.string().describe("title of the test"),
      criterion: z.string().describe("id of the criterion that it contradicts"),
      why: z.string(),
    }),
    effect: "read",
    execute: ({ file, test, criterion, why }) => disputed({ why: `${file}, "${test}" contradicts ${criterion}: ${why}` }, notFor),
  });
}

/** It does not end the work by itself: other calls of the reply may be disputes too. */
function disputed(dispute: { readonly why: string; readonly criterion?: string }, notFor: NotFor): ToolResult {
  return notFor === undefined
    ? toolOutput("It is handed back when this reply has been carried out.", { data: { dispute } })
    : toolFailure(notFor);
}
