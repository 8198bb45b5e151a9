import { faultCountsText, schedulerOf } from "./run-terms.ts";
import { shownLine } from "./shown-text.ts";
import { type ActivationFact, isFailure } from "./run-facts.ts";
import type { RunTimeline } from "./run-timeline.ts";

/** Sums of one run. */
export interface RunTotals {
  readonly runId: string;
  readonly status: string;
  /** The scheduler, and the faults of the edges, in words; the latter empty for a run without policies of edges. */
  readonly scheduler: string;
  readonly faults: string;
  readonly events: number;
  readonly activations: number;
  readonly messages: number;
  readonly failures: number;
  readonly calls: number;
  readonly retries: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Micro-dollars. */
  readonly known: number;
  readonly unpriced: number;
  /** Milliseconds from its beginning, which is that of a fork's first own event, to its last event. */
  readonly ms: number;
}

/** The same activation of the same role in two runs: `role#n`, whatever its attempts. */
export interface ActivationPair {
  readonly role: string;
  readonly n: number;
  /** Undefined where a run has no such activation. */
  readonly left: ActivationFact | undefined;
  readonly right: ActivationFact | undefined;
  readonly difference: "equal" | "said differently" | "ended differently" | "only left" | "only right";
  /** The beginning of what each said. */
  readonly leftText: string;
  readonly rightText: string;
}

/** Two runs side by side. */
export interface RunComparison {
  readonly left: RunTotals;
  readonly right: RunTotals;
  /** Roles of both, in the order of hiring; those of the right run alone come last. */
  readonly roles: readonly string[];
  /** In the order in which they began, those of the right run alone at the place of their role. */
  readonly pairs: readonly ActivationPair[];
  /** The first pair that is not equal. */
  readonly first: ActivationPair | undefined;
}

/** Compares two runs by role and activation: what each said, and what it took. Ids, times and costs do not count as a difference. */
export function compareRuns(left: RunTimeline, right: RunTimeline): RunComparison {
  const [mine, theirs] = [effective(left), effective(right)];
  const roles = [...new Set([...left.now.roles.keys(), ...right.now.roles.keys()])];
  const keys = new Set([...mine.keys(), ...theirs.keys()]);
  const pairs = [...keys].map((key): ActivationPair => {
    const [a, b] = [mine.get(key), theirs.get(key)];
    const some = (a ?? b) as ActivationFact;
    const [leftText, rightText] = [saidBy(left, a), saidBy(right, b)];
    const difference = differenceOf(a, b, leftText === rightText);
    return {
      role: some.role,
      n: some.n,
      left: a,
      right: b,
      difference,
      leftText: shownLine(leftText, 200),
      rightText: shownLine(rightText, 200),
    };
  });
  pairs.sort(
    (a, b) => Math.min(a.left?.from ?? Infinity, a.right?.from ?? Infinity) - Math.min(b.left?.from ?? Infinity, b.right?.from ?? Infinity),
  );
  return { left: totalsOf(left), right: totalsOf(right), roles, pairs, first: pairs.find(({ difference }) => difference !== "equal") };
}

function differenceOf(a: ActivationFact | undefined, b: ActivationFact | undefined, isSame: boolean): ActivationPair["difference"] {
  if (a === undefined) return "only right";
  if (b === undefined) return "only left";
  if (a.end !== b.end) return "ended differently";
  return isSame ? "equal" : "said differently";
}

/** The last attempt of each activation, by role and number. */
function effective({ record }: RunTimeline): ReadonlyMap<string, ActivationFact> {
  return new Map(record.activations.map((activation) => [`${activation.role}#${activation.n}`, activation]));
}

function saidBy({ record }: RunTimeline, activation: ActivationFact | undefined): string {
  return (activation?.said ?? [])
    .map((place) => record.sent[place]?.message)
    .map((message) => `${message?.causeBy ?? ""} to ${message?.sendTo.join(", ") ?? ""}: ${message?.content ?? ""}`)
    .join("\n");
}

/** Milliseconds: a fork begins behind the events that it shares with its parent. */
function beginningOf(timeline: RunTimeline): number {
  const { parent } = timeline.now;
  const own = parent === undefined ? undefined : timeline.event(parent.at + 1);
  return (own ?? timeline.event(0))?.time ?? 0;
}

/** Returns the sums of a whole run. */
function totalsOf(timeline: RunTimeline): RunTotals {
  const { record, now, length } = timeline;
  const { known, unpriced } = now.ledger.cost();
  const { inputTokens, outputTokens } = now.ledger.usage;
  return {
    runId: now.runId,
    status: now.phase.phase === "ended" ? now.phase.status : "running",
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
  };
}
