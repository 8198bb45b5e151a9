import { valueText } from "../kernel/value-text.ts";
import { isRecord } from "../kernel/value-kind.ts";
import { isPlainResult } from "./plain-result.ts";
import type { Tool } from "./tool.ts";
import { toolFailure, type ToolResult } from "./tool-result.ts";

/** The outcomes of a tool's run. */
const OUTCOMES = ["ok", "failed", "timeout", "invalid"] as const;

/** The end of a tool's run, as it is recorded. Plain JSON. `invalid` comes from a worker elsewhere alone: the arguments do not fit its tool. */
export interface ToolEnd {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly result: ToolResult;
}

/**
 * Returns the end that the step of a call was answered with. Where a worker elsewhere does the effect, the answer may be anything: what is
 * no end is a failure of the call, `EFFECT_INVALID`, which the model can act on.
 */
export function toolEndIn(answer: unknown, { name }: Pick<Tool, "name">): ToolEnd {
  if (isToolEnd(answer)) return answer;
  const expected = `Expected the worker that does the tool "${name}" to answer { outcome, result }, got ${valueText(answer)}`;
  const advice = "Do without this tool. Whoever runs the worker serves it by servedTool.";
  return { outcome: "failed", result: toolFailure(`EFFECT_INVALID: ${expected}. ${advice}`) };
}

function isToolEnd(answer: unknown): answer is ToolEnd {
  if (!isRecord(answer)) return false;
  const { outcome, result } = answer as { readonly outcome?: unknown; readonly result?: unknown };
  return OUTCOMES.some((one) => one === outcome) && isPlainResult(result);
}
