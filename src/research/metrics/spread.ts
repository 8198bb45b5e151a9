import { iterable, takes, numberWith } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";
import { sampleOf } from "../statistics/sample.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";

/** An opinion, a choice or a kind: values that are equal or not. */
export type Opinion = string | number | boolean | null;

/**
 * Returns the Gini coefficient of at least one value of 0 or more: 0 where all are equal, and (n - 1) / n where one of n has everything
 * (Gini 1912).
 *
 * @throws UsageError `SAMPLE_INVALID`, also for values that are all 0
 */
export function gini(values: Iterable<number>): number {
  const sorted = sampleOf("gini", values, 1).toSorted((a, b) => a - b);
  const least = sorted[0] ?? 0;
  const most = sorted.at(-1) ?? 0;
  if (least < 0 || most === 0)
    throw new UsageError(
      "SAMPLE_INVALID",
      `Expected values of gini of 0 or more, and one above 0, got ${valueText(least < 0 ? least : 0)}.`,
    );
  // Shares of the largest value, so that no sum is too large.
  let [total, weighted] = [0, 0];
  sorted.forEach((value, place) => {
    total += value / most;
    weighted += (2 * (place + 1) - sorted.length - 1) * (value / most);
  });
  return weighted / (sorted.length * total);
}

/** Returns the entropy of opinions in bits (Shannon 1948). @throws UsageError `OPINIONS_INVALID` for no opinion, or an invalid one */
export function entropy(opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf("entropy", opinions);
  const bits = counts.reduce((sum, count) => sum - (count / n) * Math.log2(count / n), 0);
  return Math.max(0, bits);
}

/** Returns the probability that two different agents agree; 1 for a single opinion. @throws UsageError `OPINIONS_INVALID` */
export function agreement(opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf("agreement", opinions);
  if (n === 1) return 1;
  return counts.reduce((sum, count) => sum + count * (count - 1), 0) / (n * (n - 1));
}

function largestShare(caller: string, opinions: Iterable<Opinion>): number {
  const { counts, n } = countsOf(caller, opinions);
  return counts.reduce((most, count) => Math.max(most, count), 0) / n;
}

function countsOf(caller: string, opinions: Iterable<Opinion>): { readonly counts: readonly number[]; readonly n: number } {
  takes(caller, "opinions", opinions, iterable("opinions"));
  const counts = new Map<Opinion, number>();
  let n = 0;
  for (const opinion of opinions as Iterable<unknown>) {
    const isOpinion = opinion === null || ["string", "boolean"].includes(typeof opinion) || Number.isFinite(opinion);
    if (!isOpinion) throw invalid(caller, "strings, finite numbers, booleans or null", opinion);
    counts.set(opinion as Opinion, (counts.get(opinion as Opinion) ?? 0) + 1);
    n += 1;
  }
  if (n === 0) throw invalid(caller, "at least one", []);
  return { counts: [...counts.values()], n };
}

function invalid(caller: string, expected: string, came: unknown): UsageError {
  return new UsageError("OPINIONS_INVALID", `Expected the opinions of ${caller} to be ${expected}, got ${valueText(came)}.`);
}

export interface ConsensusOptions {
  /** The share of agents that must agree, above 0.5 and at most 1. Default 1. */
  readonly share?: number;
}

const consensusOptions: Known<ConsensusOptions> = {
  share: numberWith("above 0.5 and at most 1: a smaller share is no consensus", (share) => share > 0.5 && share <= 1),
};

/**
 * Returns the first round, from 0, from which enough agents have one opinion until the end; undefined without a consensus in the last.
 * @throws UsageError `OPINIONS_INVALID` for a round without an opinion
 */
export function timeToConsensus(rounds: Iterable<Iterable<Opinion>>, o: ConsensusOptions = {}): number | undefined {
  takes("timeToConsensus", "rounds", rounds, iterable("rounds of opinions"));
  checkKnownOptions("timeToConsensus", o, consensusOptions);
  const { share = 1 } = o;
  let since: number | undefined;
  let round = 0;
  for (const opinions of rounds) {
    since = largestShare("timeToConsensus", opinions) >= share ? (since ?? round) : undefined;
    round += 1;
  }
  return since;
}

/**
 * Returns how much more a team spends than one agent, as a share of what the agent spends: 0 for the same, 1 for twice as much.
 *
 * @throws UsageError `SAMPLE_INVALID` for a negative cost, and for an agent that spends nothing
 */
export function overhead(team: number, oneAgent: number): number {
  checkAtLeastZero("overhead", team);
  checkAtLeastZero("overhead", oneAgent);
  if (oneAgent === 0) throw none("overhead", "an agent that spends something", oneAgent);
  return (team - oneAgent) / oneAgent;
}

/**
 * Returns the share of tasks that the team fails over that of one agent: above 1 the team amplifies errors, below 1 it corrects them.
 *
 * @throws UsageError `SAMPLE_INVALID` for shares outside 0 and 1, and for an agent that never errs
 */
export function errorAmplification(team: number, oneAgent: number): number {
  for (const share of [team, oneAgent])
    if (!(Number.isFinite(share) && share >= 0 && share <= 1)) throw none("errorAmplification", "shares from 0 to 1", share);
  if (oneAgent === 0) throw none("errorAmplification", "an agent that errs at times", oneAgent);
  return team / oneAgent;
}

function checkAtLeastZero(caller: string, value: unknown): void {
  if (typeof value === "number" && Number.isFinite(value) && value >= 0) return;
  throw none(caller, "finite numbers of 0 or more", value);
}

function none(caller: string, expected: string, came: unknown): UsageError {
  return new UsageError("SAMPLE_INVALID", `Expected ${expected} for ${caller}, got ${valueText(came)}.`);
}
