import type { Known } from "../kernel/known-options.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Cache, CacheKeyParts } from "./cache.ts";
import type { TokenCounter } from "./tokens.ts";

/** What a brain memory works with. */
export interface BrainMemoryOptions {
  /** Writes the summaries and answers questions. Each question is one attempt: retries are the model's own, as a role's model has them. */
  readonly model: ChatModel;
  /** Where it is kept between two lives. Without one it ends with its process. */
  readonly cache?: Cache | undefined;
  /** Under which key; needed with `cache`. */
  readonly key?: string | CacheKeyParts | undefined;
  /** A history of so many messages is summed up. Default 10. */
  readonly maxMessages?: number | undefined;
  /** So is one of more tokens than this. Default 4000. */
  readonly maxTokens?: number | undefined;
  /** Default: an estimate, a quarter of the characters and one for each Chinese, Japanese or Korean one. */
  readonly tokens?: TokenCounter | undefined;
  /** Milliseconds that what is stored stays. Default 30 minutes. */
  readonly ttl?: number | undefined;
  /** Milliseconds that one answer of the model may take. Default 10 minutes. */
  readonly timeout?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** Their names. @internal */
export const brainMemoryOptions: Known<BrainMemoryOptions> = {
  model: true,
  cache: true,
  key: true,
  maxMessages: true,
  maxTokens: true,
  tokens: true,
  ttl: true,
  timeout: true,
  clock: true,
};
