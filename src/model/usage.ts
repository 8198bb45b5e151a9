import type { Usage } from "./chat-model.ts";

/** Tokens of several calls together; a call that told none adds nothing. */
export function addUsage(sum: Usage, usage: Usage | undefined): Usage {
  if (usage === undefined) return sum;
  const cached = (sum.cachedTokens ?? 0) + (usage.cachedTokens ?? 0);
  return {
    inputTokens: sum.inputTokens + usage.inputTokens,
    outputTokens: sum.outputTokens + usage.outputTokens,
    ...(cached === 0 ? {} : { cachedTokens: cached }),
    ...(sum.estimated === true || usage.estimated === true ? { estimated: true } : {}),
  };
}
