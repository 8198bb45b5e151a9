import type { ChatModel, ChatRequest, ChatResponse, ModelPrice } from "../../index.ts";
import type { ChatOptions, ChatChunk } from "../../ports.ts";
import { throwIfAborted, untilAborted } from "../../kernel/abort.ts";
import { aFunction, aNumber, aText, either, object, type Shape, takes } from "../../kernel/argument.ts";
import { canonicalJson, contentHash, type Json } from "../../kernel/json.ts";
import { checkKnownOptions, type Known } from "../../kernel/known-options.ts";
import { kinds } from "../../kernel/option-kinds.ts";
import { type Random, randomStream } from "../../kernel/random.ts";

/** An answer of a policy: a text, or parts of a whole answer. */
export type PolicyReply = string | Partial<ChatResponse>;

/**
 * Answers a request. It must depend on its arguments alone; then a run is equal at every concurrency and after a resume.
 *
 * @param random the stream of this request: a function of the seed and of everything in the request. Equal requests get equal numbers.
 */
export type Policy = (request: ChatRequest, random: Random) => PolicyReply | Promise<PolicyReply>;

/** Options of a model that is a policy. */
export interface PolicyModelOptions {
  readonly answer: Policy;
  /** Default "policy". It is part of the address of every request, so another policy deserves another id. */
  readonly id?: string;
  /** Default 0. */
  readonly seed?: string | number;
  /** Default: nothing, so that a study costs $0. Tokens are counted from characters, four to one, unless a reply tells its usage. */
  readonly price?: ModelPrice;
}

const policyOptions: Known<PolicyModelOptions> = { answer: kinds.function, id: kinds.text, seed: kinds.seed, price: kinds.price };
const somePolicy: Shape = object("the options of a policy", { answer: aFunction });

/** The shape of a seed. */
export const aSeed: Shape = either(aText, aNumber);

/**
 * A model that is a function: in its place a study can take a live model later, and no role changes. It keeps nothing between calls. Equal
 * requests have equal answers: where several roles, or several samples, must differ, name them in the prompt, or give each request its own `seed`.
 *
 * @throws UsageError `ARGUMENT_INVALID`, `OPTION_UNKNOWN`
 * @example
 * import { createMessage, defineAction, defineRole, Environment } from "troupe";
 * import { policyModel } from "troupe/research";
 *
 * const Guess = defineAction({ name: "Guess", prompt: ({ name }) => `${name}, heads or tails?` });
 * const coin = policyModel({ seed: 7, answer: (_, random) => (random() < 0.5 ? "heads" : "tails") });
 * const table = new Environment({ model: coin });
 * table.addRole(defineRole({ name: "Ada", actions: [Guess] }));
 * table.publishMessage(createMessage("guess"));
 * const { output } = await table.run();
 * console.log(["heads", "tails"].includes(output?.content ?? "")); // true
 */
export function policyModel(options: PolicyModelOptions): ChatModel {
  takes("policyModel", "what is given", options, somePolicy);
  checkKnownOptions("policyModel", options, policyOptions);
  const { answer, id = "policy", seed = 0, price = { input: 0, output: 0 } } = options;
  takes("policyModel", "id", id, aText);
  takes("policyModel", "seed", seed, aSeed);
  const chat = async (request: ChatRequest, { signal }: ChatOptions): Promise<ChatResponse> => {
    throwIfAborted(signal);
    const random = randomStream(String(seed), "policy", contentHash(request as unknown as Json));
    const reply = await untilAborted(Promise.resolve(answer(request, random)), signal);
    return wholeReply(typeof reply === "string" ? { content: reply } : reply, request);
  };
  return { id, price, chat, stream: (request, o) => inPieces(chat(request, o)) };
}

async function* inPieces(answer: Promise<ChatResponse>): AsyncGenerator<ChatChunk> {
  const { content, toolCalls, finishReason, usage, refusal } = await answer;
  if (content !== "") yield { content };
  if (refusal !== undefined) yield { refusal };
  for (const [index, { id, function: called, extra }] of toolCalls.entries())
    yield { toolCalls: [{ index, id, name: called.name, arguments: called.arguments, ...(extra === undefined ? {} : { extra }) }] };
  yield { finishReason, ...(usage === undefined ? {} : { usage }) };
}

/** Characters of a token. */
const TOKEN = 4;

function wholeReply(reply: Partial<ChatResponse>, request: ChatRequest): ChatResponse {
  const { content = "", toolCalls = [] } = reply;
  const called = toolCalls.reduce((sum, { function: { name, arguments: given } }) => sum + name.length + given.length, 0);
  const inputTokens = Math.ceil(canonicalJson(request).length / TOKEN);
  // Not marked as estimated: a ledger would charge the most that such a call can cost.
  const usage = { inputTokens, outputTokens: Math.ceil((content.length + called) / TOKEN) };
  return { usage, finishReason: toolCalls.length > 0 ? "tool_calls" : "stop", ...reply, content, toolCalls };
}
