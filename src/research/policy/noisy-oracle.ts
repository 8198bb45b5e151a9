import type { ChatModel, ChatRequest, ModelPrice } from "../../index.ts";
import { aFunction, aNumber, aText, either, object, type Shape, takes } from "../../kernel/argument.ts";
import { UsageError } from "../../kernel/errors.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { valueText } from "../../kernel/value-text.ts";
import { aSeed, policyModel, type PolicyReply } from "./policy-model.ts";

/** Options of a noisy oracle. */
export interface OracleOptions {
  /** Returns the right answer of a request. */
  readonly right: (request: ChatRequest) => PolicyReply | Promise<PolicyReply>;
  /** Returns the wrong answers of a request, of which one is drawn. One that equals the right answer is left out. */
  readonly wrong: (request: ChatRequest) => readonly PolicyReply[];
  /** The probability of the right answer, from 0 to 1, or a function of the request, for tasks of different difficulty. */
  readonly accuracy: number | ((request: ChatRequest) => number);
  readonly seed: string | number;
  /** Default "oracle-" with the accuracy and the seed. */
  readonly id?: string;
  /** Default: nothing. */
  readonly price?: ModelPrice;
}

const oracleOptions: Known<OracleOptions> = {
  right: kinds.function,
  wrong: kinds.function,
  accuracy: kinds.either(kinds.function, {
    says: "a number from 0 to 1",
    fits: (value) => Number(value) >= 0 && Number(value) <= 1 && typeof value === "number",
  }),
  seed: kinds.seed,
  id: kinds.text,
  price: kinds.price,
};
const someOracle: Shape = object("the options of an oracle", {
  right: aFunction,
  wrong: aFunction,
  accuracy: either(aNumber, aFunction),
  seed: aSeed,
});

/**
 * A model that knows the right answer and gives it with a known probability, else a wrong one. So the accuracy of a team can be compared with
 * theory, without a live model. The draw depends on the seed and the whole request: errors of different roles are independent as long as their
 * requests differ, as they do where a prompt names the role.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_UNKNOWN`; `ORACLE_INVALID` from a call, for an accuracy outside of 0 to 1, and for a wrong answer that
 * is needed and is not there
 * @example
 * import { noisyOracle } from "troupe/research";
 *
 * const oracle = noisyOracle({ seed: 1, accuracy: 0.9, right: () => "4", wrong: () => ["3", "5"] });
 * const { signal } = new AbortController();
 * const answers = await Promise.all(
 *   Array.from({ length: 100 }, (_, n) => oracle.chat({ messages: [{ role: "user", content: `sample ${n}: 2 + 2?` }] }, { signal })),
 * );
 * const right = answers.filter(({ content }) => content === "4").length;
 * console.log(right > 75 && right < 100); // true
 */
export function noisyOracle(options: OracleOptions): ChatModel {
  takes("noisyOracle", "what is given", options, someOracle);
  checkKnownOptions("noisyOracle", options, oracleOptions);
  const { right, wrong, accuracy, seed, price } = options;
  const { id = typeof accuracy === "number" ? `oracle-${accuracy}-${seed}` : `oracle-${seed}` } = options;
  takes("noisyOracle", "id", id, aText);
  return policyModel({
    id,
    seed,
    ...(price === undefined ? {} : { price }),
    answer: async (request, random) => {
      const chance = checkedChance(typeof accuracy === "number" ? accuracy : accuracy(request));
      const isRight = random() < chance;
      const answer = await right(request);
      if (isRight) return answer;
      const others = wrong(request).filter((other) => JSON.stringify(other) !== JSON.stringify(answer));
      return others[Math.floor(random() * others.length)] ?? noWrongAnswer();
    },
  });
}

function checkedChance(chance: unknown): number {
  if (typeof chance === "number" && chance >= 0 && chance <= 1) return chance;
  throw new UsageError("ORACLE_INVALID", `Expected an accuracy from 0 to 1, got ${valueText(chance)}. Give a probability.`);
}

function noWrongAnswer(): never {
  throw new UsageError(
    "ORACLE_INVALID",
    "Expected a wrong answer that differs from the right one, got none. Return at least one from wrong.",
  );
}
