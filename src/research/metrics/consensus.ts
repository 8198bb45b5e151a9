import { iterable, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { largestShare, type Opinion } from "./spread.ts";

/** Options of the time to consensus. All have defaults. */
export interface ConsensusOptions {
  /** The share of agents that must agree, above 0.5 and at most 1. Default 1. */
  readonly share?: number;
}

const consensusOptions: Known<ConsensusOptions> = { share: kinds.amount };

/**
 * Returns the first round, from 0, from which enough agents have one opinion until the end; undefined where the last round has no
 * consensus. A consensus that breaks again is none.
 *
 * @param rounds the opinions of all agents, round by round
 * @throws UsageError `OPINIONS_INVALID` for a round without an opinion; `OPTION_INVALID` for a share that is no majority
 * @example
 * import { timeToConsensus } from "troupe/research";
 *
 * console.log(timeToConsensus([["a", "b", "b"], ["b", "b", "b"], ["b", "b", "b"]])); // 1
 */
export function timeToConsensus(rounds: Iterable<Iterable<Opinion>>, o: ConsensusOptions = {}): number | undefined {
  takes("timeToConsensus", "rounds", rounds, iterable("rounds of opinions"));
  checkKnownOptions("timeToConsensus", o, consensusOptions);
  const { share = 1 } = o;
  if (!(typeof share === "number" && share > 0.5 && share <= 1))
    throw new UsageError(
      "OPTION_INVALID",
      `Expected the option share of timeToConsensus to be above 0.5 and at most 1, got ${valueText(share)}. A smaller share is no consensus.`,
    );
  let since: number | undefined;
  let round = 0;
  for (const opinions of rounds) {
    since = largestShare("timeToConsensus", opinions) >= share ? (since ?? round) : undefined;
    round += 1;
  }
  return since;
}
