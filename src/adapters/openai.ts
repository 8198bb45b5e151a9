import { checkGivenOptions, type Known } from "../kernel/known-options.ts";
import type { Json } from "../kernel/json.ts";
import type { ChatModel } from "../model/chat-model.ts";
import type { ModelPrice } from "../model/price.ts";
import { Connection, type WireDialect } from "./openai-connection.ts";
import { serverOf, serverOptions, type ServerOptions } from "./openai-server.ts";

export { openaiEmbedder, type OpenAIEmbedderOptions } from "./openai-embedder.ts";

/** A model behind an OpenAI-compatible server: OpenAI, Ollama, vLLM, llama.cpp, LM Studio, OpenRouter and many more. */
export interface OpenAIOptions extends ServerOptions {
  /** Provider-specific fields of every request, for example `{ reasoning_effort: "low" }`. */
  readonly extra?: Readonly<Record<string, Json>> | undefined;
  readonly price?: ModelPrice | undefined;
  /** The most tokens one reply of this model may have. */
  readonly maxOutputTokens?: number | undefined;
  /** Default: `max_completion_tokens` for OpenAI's own servers, which refuse the older name for newer models, `max_tokens` for others. */
  readonly maxTokensField?: "max_tokens" | "max_completion_tokens" | undefined;
}

const openAIOptions: Known<OpenAIOptions> = { ...serverOptions, extra: true, price: true, maxOutputTokens: true, maxTokensField: true };

/**
 * A {@link ChatModel} over the `openai` package, which is loaded with the first call.
 *
 * One call is one HTTP request: the client's retries, timers, parsing helpers and log are off, for they repeat paid calls, stop watching
 * after the first byte, lose the usage of bad replies, and print what models say.
 *
 * @throws ModelError `MODEL_AUTH` when there is neither a key nor a base URL.
 * @throws UsageError `BASE_URL_INVALID` for a base URL that is none, or that carries a password.
 * @example
 * import { openai } from "troupe/openai";
 *
 * export const gpt = openai({ model: "gpt-5-mini", apiKey: process.env["MY_KEY"] ?? "none" });
 * export const local = openai({ model: "qwen3:8b", baseURL: "http://127.0.0.1:11434/v1", price: { input: 0, output: 0 } });
 */
export function openai(options: OpenAIOptions): ChatModel {
  checkGivenOptions("openai", options, openAIOptions);
  const server = serverOf(options);
  const dialect: WireDialect = {
    model: options.model,
    maxTokensField: options.maxTokensField ?? (server.isOpenAI ? "max_completion_tokens" : "max_tokens"),
    extra: options.extra ?? {},
  };
  const connection = new Connection(server, dialect);
  return {
    id: options.model,
    streams: server.streams,
    ...(options.price === undefined ? {} : { price: options.price }),
    ...(options.maxOutputTokens === undefined ? {} : { maxOutputTokens: options.maxOutputTokens }),
    ...(options.extra === undefined ? {} : { extra: options.extra }),
    chat: (request, o) => connection.chat(request, o),
    stream: (request, o) => connection.stream(request, o),
  };
}
