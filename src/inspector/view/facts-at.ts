import type { ActivationFact, StepFact } from "./run-facts.ts";
import { spentIn } from "./run-record.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** Returns a step as it was after an event: what came later is left out. */
export function stepAt(timeline: RunTimeline, step: StepFact, shown: number): StepFact {
  if ((step.seqs.at(-1) ?? 0) <= shown) return step;
  const seqs = step.seqs.filter((seq) => seq <= shown);
  const sums = { tries: 0, cost: 0, unpriced: 0, inputTokens: 0, outputTokens: 0 };
  for (const event of seqs.map((seq) => timeline.event(seq))) {
    if (event?.type === "step.started") sums.tries += 1;
    if (event?.type !== "step.ended") continue;
    const spent = spentIn(event);
    for (const key of ["cost", "unpriced", "inputTokens", "outputTokens"] as const) sums[key] += spent[key];
  }
  // The answer of a step is its last event.
  return { ...step, seqs, ...sums, ok: undefined };
}

/** Returns an activation as it was after an event: what came later is left out. */
export function activationAt(timeline: RunTimeline, fact: ActivationFact, shown: number): ActivationFact {
  const isPresent = shown >= timeline.length - 1;
  if (isPresent || (fact.until !== undefined && fact.until <= shown)) return fact;
  const sums = { cost: 0, unpriced: 0, inputTokens: 0, outputTokens: 0, retries: 0 };
  const steps: number[] = [];
  for (const place of fact.steps) {
    const whole = timeline.record.steps[place];
    if (whole === undefined || (whole.seqs[0] ?? Infinity) > shown) continue;
    const step = stepAt(timeline, whole, shown);
    steps.push(place);
    for (const key of ["cost", "unpriced", "inputTokens", "outputTokens"] as const) sums[key] += step[key];
    sums.retries += step.tries - 1;
  }
  return { ...fact, ...sums, steps, end: "open", until: undefined, ended: undefined, error: undefined, said: [] };
}
