import { kinds } from "../kernel/option-kinds.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Known } from "../kernel/known-options.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { Cache, CacheKeyParts } from "./cache.ts";
import type { MemoryScope } from "./memory-scope.ts";
import type { TokenCounter } from "./tokens.ts";

/** Options of a brain memory. */
export interface BrainMemoryOptions {
  /** Writes the summaries and answers questions. Each question is one attempt: retries are the model's own. */
  readonly model: ChatModel;
  /** Stores the memory. Without a cache it ends with its process. */
  readonly cache?: Cache | undefined;
  /** The key of the entry. Required with `cache`. By a scope, such as `{ role: "Guide", user: "ann" }`, `forget` finds it. */
  readonly key?: string | CacheKeyParts | MemoryScope | undefined;
  /** A history of this many messages is summarized. Default 10. */
  readonly maxMessages?: number | undefined;
  /** So is one of more tokens than this. Default 4000. */
  readonly maxTokens?: number | undefined;
  /**
   * The number of the newest messages that no summary covers, as far as they fit into `maxTokens`; fewer than `maxMessages`. The user's last message
   * stays until it is answered. Default 4.
   */
  readonly keepMessages?: number | undefined;
  /**
   * The number of the newest messages under a summary that stay in `originals`: they are stored with every save. The oldest leave first. Default 300; 0:
   * none.
   */
  readonly keepOriginals?: number | undefined;
  /** Default: an estimate, a quarter of the characters and one for each Chinese, Japanese or Korean one. */
  readonly tokens?: TokenCounter | undefined;
  /** Time to live of the stored entry in milliseconds. Default 30 minutes. */
  readonly ttl?: number | undefined;
  /** Milliseconds that one answer of the model may take. Default 10 minutes. */
  readonly timeout?: number | undefined;
  readonly clock?: Clock | undefined;
}

/** The names of the options. @internal */
export const brainMemoryOptions: Known<BrainMemoryOptions> = {
  model: kinds.model,
  cache: kinds.cache,
  key: kinds.either(kinds.text, kinds.object),
  maxMessages: kinds.checked,
  maxTokens: kinds.checked,
  keepMessages: kinds.checked,
  keepOriginals: kinds.count,
  tokens: kinds.tokenCounter,
  ttl: kinds.checked,
  timeout: kinds.milliseconds,
  clock: kinds.clock,
};
