import "./_virtual/_rolldown/runtime.js";
import { checkGivenOptions } from "./kernel/known-options.js";
import { Connection } from "./adapters/openai-connection.js";
import { serverOf, serverOptions } from "./adapters/openai-server.js";
import { openaiEmbedder } from "./adapters/openai-embedder.js";
// ../../work/wt/lead/src/adapters/openai.ts
const openAIOptions = {
	...serverOptions,
	extra: true,
	price: true,
	maxOutputTokens: true,
	maxTokensField: true
};
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
function openai(options) {globalThis.__t?.("openai.js#openai@1232");
	checkGivenOptions("openai", options, openAIOptions);
	const server = serverOf(options);
	const dialect = {
		model: options.model,
		maxTokensField: options.maxTokensField ?? (server.isOpenAI ? "max_completion_tokens" : "max_tokens"),
		extra: options.extra ?? {}
	};
	const connection = new Connection(server, dialect);
	return {
		id: options.model,
		streams: server.streams,
		...options.price === void 0 ? {} : { price: options.price },
		...options.maxOutputTokens === void 0 ? {} : { maxOutputTokens: options.maxOutputTokens },
		...options.extra === void 0 ? {} : { extra: options.extra },
		chat: (request, o) => (globalThis.__t?.("openai.js#chat@1866"),(connection.chat(request, o))),
		stream: (request, o) => (globalThis.__t?.("openai.js#stream@1921"),(connection.stream(request, o)))
	};
}
export { openai, openaiEmbedder };
