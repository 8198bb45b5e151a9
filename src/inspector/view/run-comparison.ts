import { faultCountsText, schedulerOf } from "./run-terms.ts";
import { shownLine } from "./shown-text.ts";
import { type ActivationFact, isFailure } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

export type RunTotals = ReturnType<typeof totalsOf>;
/** The same activation of the same role in two runs: `role#n`, whatever its attempts; undefined where a run has none. */
export type ActivationPair = ReturnType<typeof compareRuns>["pairs"][number];

/** Ids, times and costs do not count as a difference. Pairs are in the order of the left run; those of the right run alone come last. */
export function compareRuns(left: RunTimeline, right: RunTimeline) {
  const [mine, theirs] = [effective(left), effective(right)];
  const roles = [...new Set([...left.now.roles.keys(), ...right.now.roles.keys()])];
  const beginning = (key: string): number => Math.min(mine.get(key)?.from ?? Infinity, theirs.get(key)?.from ?? Infinity);
  const keys = [...new Set([...mine.keys(), ...theirs.keys()])].sort((a, b) => beginning(a) - beginning(b));
  const pairs = keys.map((key) => {
    const [a, b] = [mine.get(key), theirs.get(key)];
    const { role, n } = (a ?? b) as ActivationFact;
    const [leftText, rightText] = [saidBy(left, a), saidBy(right, b)];
    const difference = differenceOf(a, b, leftText === rightText);
    return { role, n, left: a, right: b, difference, leftText: shownLine(leftText, 200), rightText: shownLine(rightText, 200) };
  });
  return { left: totalsOf(left), right: totalsOf(right), roles, pairs, first: pairs.find(({ difference }) => difference !== "equal") };
}

function differenceOf(a: ActivationFact | undefined, b: ActivationFact | undefined, isSame: boolean) {
  if (a === undefined) return "only right";
  if (b === undefined) return "only left";
  if (a.end !== b.end) return "ended differently";
  return isSame ? "equal" : "said differently";
}

function effective({ record }: RunTimeline): ReadonlyMap<string, ActivationFact> {
  return new Map(record.activations.map((activation) => [`${activation.role}#${activation.n}`, activation]));
}

function saidBy({ record }: RunTimeline, activation: ActivationFact | undefined): string {
  return (activation?.said ?? [])
    .map((index) => record.sent[index]?.message)
    .map((message) => `${message?.causeBy ?? ""} to ${message?.sendTo.join(", ") ?? ""}: ${message?.content ?? ""}`)
    .join("\n");
}

/** Milliseconds: a fork begins behind the events that it shares with its parent. */
function beginningOf(timeline: RunTimeline): number {
  const { parent } = timeline.now;
  const own = parent === undefined ? undefined : timeline.event(parent.at + 1);
  return (own ?? timeline.event(0))?.time ?? 0;
}

/** The sums of a whole run: costs in micro-dollars, those of `costs` by role; `ms` from the first event of its own to the last. */
function totalsOf(timeline: RunTimeline) {
  const { record, now, length } = timeline;
  const { known, unpriced } = now.ledger.cost();
  const { inputTokens, outputTokens } = now.ledger.usage;
  const costs = new Map([...now.roles.keys()].map((name) => [name, 0]));
  for (const { role, cost } of record.activations) costs.set(role, (costs.get(role) ?? 0) + cost);
  return {
    scheduler: schedulerOf(now),
    faults: now.edges.length === 0 ? "" : faultCountsText(now.faults),
    events: length,
    activations: now.activations,
    messages: record.sent.length,
    failures: record.activations.filter(({ end }) => isFailure(end)).length,
    calls: record.steps.filter(({ kind, ok }) => kind === "model" && ok === true).length,
    retries: record.activations.reduce((sum, { retries }) => sum + retries, 0),
    inputTokens,
    outputTokens,
    known,
    unpriced,
    ms: Math.max(0, (timeline.event(length - 1)?.time ?? 0) - beginningOf(timeline)),
    costs,
  };
}
