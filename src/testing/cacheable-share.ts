import { listOf, object, takes } from "../kernel/argument.ts";
import { checkKnownOptions, type Known } from "../kernel/known-options.ts";
import { kinds } from "../kernel/option-kinds.ts";

/** The parts of a request that its prompt is made of: a `ChatRequest`, or the body of one on the wire. */
export interface PromptParts {
  /** The model it went to. Default: the same for all. */
  readonly model?: string | undefined;
  readonly messages: readonly object[];
  readonly tools?: readonly object[] | undefined;
  /** The format of the reply, in the form of this package and in that of the wire. */
  readonly schema?: object | undefined;
  readonly response_format?: object | undefined;
}

/** How a provider's cache of prefixes works. Numbers are tokens. */
export interface PrefixCacheOptions {
  /** The shortest prompt that is cached. Default 1,024. */
  readonly minimum?: number;
  /** The steps in which the length of a cached prefix grows. Default 128. */
  readonly step?: number;
}

const prefixCacheOptions: Known<PrefixCacheOptions> = { minimum: kinds.size, step: kinds.size };

/** The tokens of prompts, and those of them that a cache of prefixes can serve. */
export interface CacheableShare {
  readonly promptTokens: number;
  readonly cacheableTokens: number;
  /** From 0 to 1; 0 without requests. */
  readonly share: number;
}

/** Characters that are counted as one token. */
const CHARACTERS = 4;

/**
 * Returns how much of some requests a provider's cache of prefixes could serve: each prompt's longest beginning that an earlier request to the same
 * model had too, in steps of tokens, from a shortest prompt on. It is the most that is possible: caches also forget.
 *
 * The defaults are those of OpenAI: prompts of 1,024 tokens or more, hits in steps of 128, an exact match of the beginning, in which the schema of the
 * reply and the tools come before the messages (https://platform.openai.com/docs/guides/prompt-caching). Four characters count as one token.
 *
 * @param requests in the order in which they were sent
 * @throws UsageError `OPTION_UNKNOWN`; `ARGUMENT_INVALID` for a value that is no list of requests
 * @example
 * import { cacheableShare } from "troupe/testing";
 *
 * const rules = { role: "system", content: "Rules that stay the same. ".repeat(400) };
 * const requests = ["First task", "Second task"].map((content) => ({ messages: [rules, { role: "user", content }] }));
 * console.log(cacheableShare(requests).share.toFixed(2)); // 0.49
 */
export function cacheableShare(requests: readonly PromptParts[], options: PrefixCacheOptions = {}): CacheableShare {
  takes(
    "cacheableShare",
    "requests",
    requests,
    listOf(object("a request", { messages: listOf(object("a message"), "a list of messages") }), "a list of requests"),
  );
  checkKnownOptions("cacheableShare", options, prefixCacheOptions);
  const { minimum = 1_024, step = 128 } = options;
  const known = new Map<string, number>();
  let promptTokens = 0;
  let cacheableTokens = 0;
  for (const request of requests) {
    const prompt = promptOf(request);
    const hits = addBlocks(known, request.model ?? "", blocksOf(prompt, step * CHARACTERS)) * step;
    promptTokens += Math.ceil(prompt.length / CHARACTERS);
    if (hits >= minimum) cacheableTokens += hits;
  }
  return { promptTokens, cacheableTokens, share: promptTokens === 0 ? 0 : cacheableTokens / promptTokens };
}

/** The prompt as one text, in the order in which providers read its parts. */
function promptOf({ messages, tools = [], schema, response_format }: PromptParts): string {
  return [schema ?? response_format ?? {}, ...tools, ...messages].map((part) => JSON.stringify(part)).join("\n");
}

/** The whole blocks of a prompt: what is left at its end is never cached. */
function blocksOf(prompt: string, size: number): readonly string[] {
  return Array.from({ length: Math.floor(prompt.length / size) }, (_, n) => prompt.slice(n * size, (n + 1) * size));
}

/** Adds the blocks of a prompt to a tree of prefixes, and returns how many of the first ones were in it. */
function addBlocks(known: Map<string, number>, model: string, blocks: readonly string[]): number {
  let hits = 0;
  let node = `${JSON.stringify(model)}`;
  for (const block of blocks) {
    const key = `${node} ${block}`;
    const child = known.get(key);
    if (child !== undefined) hits += 1;
    const id = child ?? known.size;
    known.set(key, id);
    node = String(id);
  }
  return hits;
}
