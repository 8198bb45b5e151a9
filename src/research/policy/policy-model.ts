import type { ChatModel, ChatRequest, ChatResponse, ModelPrice } from "../../index.ts";
import type { ChatChunk, ChatOptions } from "../../ports.ts";
import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { aFunction, fits, takes, numberWith } from "../../kernel/argument.ts";
import { canonicalJson, contentHash, type Json } from "../../kernel/json.ts";
import { checkGivenOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type Random, randomStream } from "../../kernel/random.ts";
import { UsageError } from "../../kernel/errors.ts";
import { valueText } from "../../kernel/value-text.ts";

export type PolicyReply = string | Partial<ChatResponse>;

/**
 * Answers a request, from its arguments alone; then a run is equal at every concurrency and after it is resumed. `random` is a stream for this seed,
 * request and step: a request that a run repeats draws anew. Outside a run equal requests draw the same.
 */
export type Policy = (request: ChatRequest, random: Random) => PolicyReply | Promise<PolicyReply>;

export interface PolicyModelOptions {
  readonly answer: Policy;
  /** Default "policy". It is part of the address of every request, so another policy deserves another id. */
  readonly id?: string;
  readonly seed?: string | number;
  /** Default: nothing, so that a study costs $0. Tokens are counted from characters, four to one, unless a reply has its usage. */
  readonly price?: ModelPrice;
}

const policyOptions: Known<PolicyModelOptions> = { answer: kinds.function, id: kinds.text, seed: kinds.seed, price: kinds.price };

/** A model that is a function, until a live one replaces it. Samples of one prompt differ if the function draws from `random`. */
export function policyModel(options: PolicyModelOptions): ChatModel {
  checkGivenOptions("policyModel", options, policyOptions);
  takes("policyModel", "answer", options.answer, aFunction);
  const { answer, id = "policy", seed = 0, price = { input: 0, output: 0 } } = options;
  const chat = async (request: ChatRequest, { signal, occurrence = "" }: ChatOptions): Promise<ChatResponse> => {
    throwIfAborted(signal);
    const random = randomStream(String(seed), "policy", contentHash(request as unknown as Json), occurrence);
    const reply = await untilAborted(Promise.resolve(answer(request, random)), signal);
    return completeReply(typeof reply === "string" ? { content: reply } : reply, request);
  };
  return { id, price, chat, stream: (request, o) => streamOf(chat(request, o)) };
}

async function* streamOf(answer: Promise<ChatResponse>): AsyncGenerator<ChatChunk> {
  const { content, toolCalls, finishReason, usage, refusal } = await answer;
  if (content !== "") yield { content };
  if (refusal !== undefined) yield { refusal };
  for (const [index, { id, function: called, extra }] of toolCalls.entries())
    yield { toolCalls: [{ index, id, name: called.name, arguments: called.arguments, ...(extra === undefined ? {} : { extra }) }] };
  yield { finishReason, ...(usage === undefined ? {} : { usage }) };
}

/** Adds what a reply leaves out. Four characters count as a token. */
function completeReply({ content = "", toolCalls = [], ...given }: Partial<ChatResponse>, request: ChatRequest): ChatResponse {
  const said = content.length + toolCalls.reduce((sum, call) => sum + call.function.name.length + call.function.arguments.length, 0);
  // Not marked as estimated: a ledger would charge the most that such a call can cost.
  const usage = { inputTokens: Math.ceil(canonicalJson(request).length / 4), outputTokens: Math.ceil(said / 4) };
  return { usage, finishReason: toolCalls.length > 0 ? "tool_calls" : "stop", ...given, content, toolCalls };
}

export interface OracleOptions {
  readonly right: (request: ChatRequest) => PolicyReply | Promise<PolicyReply>;
  /** Returns the wrong answers of a request, of which one is drawn. One that equals the right answer is left out. */
  readonly wrong: (request: ChatRequest) => readonly PolicyReply[];
  /** The probability of the right answer, from 0 to 1, or a function of the request, for tasks of different difficulty. */
  readonly accuracy: number | ((request: ChatRequest) => number);
  readonly seed: string | number;
  readonly id?: string;
  readonly price?: ModelPrice;
}

const aChance = numberWith("a number from 0 to 1", (value) => value >= 0 && value <= 1);
const anAccuracy = kinds.either(kinds.function, aChance);
const oracleOptions: Known<OracleOptions> = {
  right: kinds.function,
  wrong: kinds.function,
  accuracy: anAccuracy,
  seed: kinds.seed,
  id: kinds.text,
  price: kinds.price,
};

/**
 * A model that gives the right answer with a known probability, else a wrong one, so that the accuracy of a team can be compared with
 * theory. The draw depends on the seed, the whole request and the step: errors of different roles, and of samples of one prompt, are independent.
 *
 * @throws UsageError from a call, `ORACLE_INVALID` for an accuracy outside of 0 to 1, and where no wrong answer exists
 */
export function noisyOracle(options: OracleOptions): ChatModel {
  checkGivenOptions("noisyOracle", options, oracleOptions);
  const { right, wrong, accuracy, seed, price } = options;
  const { id = typeof accuracy === "number" ? `oracle-${accuracy}-${seed}` : `oracle-${seed}` } = options;
  takes("noisyOracle", "right", right, aFunction);
  takes("noisyOracle", "wrong", wrong, aFunction);
  takes("noisyOracle", "accuracy", accuracy, anAccuracy);
  takes("noisyOracle", "seed", seed, kinds.seed);
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
  if (fits(chance, aChance)) return chance as number;
  throw new UsageError("ORACLE_INVALID", `Expected an accuracy from 0 to 1, got ${valueText(chance)}. Give a probability.`);
}

function noWrongAnswer(): never {
  throw new UsageError("ORACLE_INVALID", "Expected a wrong answer, got none but the right one. Return at least one from wrong.");
}
