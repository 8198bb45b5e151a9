import { checkGivenOptions } from "../kernel/known-options.js";
import { sleep, systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { freshSeed, randomStream } from "../kernel/random.js";
import { redactor } from "../kernel/mask.js";
import { failureOf, modelError, serverError } from "../model/failure.js";
import { defaultRetry, retryAfterOf, retryDelay } from "../model/call.js";
import { Unanswered, clientOf, secretsOf, serverOf, serverOptions } from "./openai-server.js";
import { z } from "zod";
// ../../work/wt/lead/src/adapters/openai-embedder.ts
const openAIEmbedderOptions = {
	...serverOptions,
	dimensions: true,
	maxBatch: true,
	maxChars: true,
	threshold: true,
	prefix: true,
	price: true,
	clock: true
};
const MAX_BATCH = 128;
const MAX_CHARS = 8e3;
const THRESHOLD = .3;
/** Numbers as JSON: many compatible servers know no other form. */
const ReplySchema = z.object({
	data: z.array(z.object({
		index: z.number(),
		embedding: z.array(z.number())
	})),
	usage: z.object({ prompt_tokens: z.int().nonnegative() }).optional().catch(void 0)
});
/**
* An {@link Embedder} over the `openai` package, which is loaded with the first call. What passes (rate limits, servers that fail) is tried
* again, at most four times.
*
* @throws ModelError `MODEL_AUTH` when there is neither a key nor a base URL. UsageError `BASE_URL_INVALID`, `OPTION_INVALID`
* @example
* import { MemoryStorage } from "troupe";
* import { openaiEmbedder } from "troupe/openai";
*
* const embedder = openaiEmbedder({ model: "text-embedding-3-small", apiKey: process.env["MY_KEY"] ?? "none" });
* export const storage = new MemoryStorage({ roleId: "Ada", embedder });
*/
function openaiEmbedder(options) {globalThis.__t?.("adapters/openai-embedder.js#openaiEmbedder@1706");
	checkGivenOptions("openaiEmbedder", options, openAIEmbedderOptions);
	const { model, dimensions, maxBatch = MAX_BATCH, maxChars = MAX_CHARS, threshold = THRESHOLD, prefix } = options;
	for (const [name, value] of Object.entries({
		dimensions,
		maxBatch,
		maxChars
	})) if (value !== void 0 && !(Number.isInteger(value) && value > 0)) throw new UsageError("OPTION_INVALID", `Expected ${name} of an embedder to be a whole number of 1 or more, got ${value}.`);
	const endpoint = new EmbeddingsEndpoint(serverOf(options), model, dimensions, options.clock ?? systemClock);
	const prefixed = prefix === void 0 ? "" : `/${JSON.stringify([prefix.query, prefix.document])}`;
	return {
		id: `openai/${model}/${dimensions ?? "whole"}/${maxChars}${prefixed}`,
		...dimensions === void 0 ? {} : { dimensions },
		maxBatch,
		maxChars,
		threshold,
		model,
		...options.price === void 0 ? {} : { price: options.price },
		embed: (texts, o = {}) => (globalThis.__t?.("adapters/openai-embedder.js#embed@2662"),(endpoint.embed(prefix === void 0 ? texts : texts.map((text) => (globalThis.__t?.("adapters/openai-embedder.js#anonymous@2734"),(prefix[o.kind ?? "document"] + text))), o)))
	};
}
/** One embedding model at one server. It owns the client. */
var EmbeddingsEndpoint = class {
	#server;
	#model;
	#dimensions;
	#clock;
	#mask;
	#random = randomStream(freshSeed(), "embeddings");
	#client;
	constructor(server, model, dimensions, clock) {globalThis.__t?.("adapters/openai-embedder.js#constructor@3010");
		this.#server = server;
		this.#model = model;
		this.#dimensions = dimensions;
		this.#clock = clock;
		this.#mask = redactor(secretsOf(server));
	}
	async embed(texts, { signal, isOneTry, onUsage }) {globalThis.__t?.("adapters/openai-embedder.js#embed@3210");
		for (let tries = 1;; tries++) try {
			return await this.#once(texts, signal, onUsage);
		} catch (error) {
			if (signal?.aborted === true) throw signal.reason;
			const known = await this.#failure(error);
			if (isOneTry === true) throw known;
			const wait = retryDelay(known, tries, defaultRetry, this.#random);
			if (wait === void 0) throw known;
			await sleep(this.#clock, wait, signal);
		}
	}
	async #once(texts, signal, onUsage) {globalThis.__t?.("adapters/openai-embedder.js#once@3668");
		const client = await (this.#client ??= this.#open());
		const body = {
			model: this.#model,
			input: [...texts],
			encoding_format: "float",
			...this.#dimensions === void 0 ? {} : { dimensions: this.#dimensions }
		};
		const response = await client.embeddings.create(body, signal === void 0 ? {} : { signal }).asResponse();
		const reply = ReplySchema.safeParse(parsed(await response.text()));
		if (!reply.success || reply.data.data.length !== texts.length) throw this.#noAnswer(texts.length);
		const { usage } = reply.data;
		if (usage !== void 0) onUsage?.({ inputTokens: usage.prompt_tokens });
		const vectors = [];
		for (const { index, embedding } of reply.data.data) vectors[index] = embedding;
		if (texts.some((_, n) => (globalThis.__t?.("adapters/openai-embedder.js#anonymous@4425"),(vectors[n] === void 0)))) throw this.#noAnswer(texts.length);
		return vectors;
	}
	#noAnswer(count) {globalThis.__t?.("adapters/openai-embedder.js#noAnswer@4526");
		return modelError("MODEL_PROTOCOL", `Expected ${count} embeddings from ${this.#model}, got something else. Check that the base URL leads to a server that makes embeddings.`);
	}
	async #failure(error) {globalThis.__t?.("adapters/openai-embedder.js#failure@4731");
		const { APIError } = await import("openai");
		const answer = error instanceof APIError ? error : void 0;
		if (answer?.status === void 0) {
			const reason = error instanceof Error && error.cause instanceof Unanswered ? error.cause.reason : error;
			return failureOf(this.#model, reason, {
				began: false,
				mask: this.#mask
			});
		}
		const retryAfterMs = answer.headers === void 0 ? void 0 : retryAfterOf(answer.headers, this.#clock.now());
		const said = {
			message: this.#mask(answer.message.replace(/^\d{3} /, "")),
			status: answer.status,
			...typeof answer.code === "string" ? { code: this.#mask(answer.code) } : {},
			...retryAfterMs === void 0 ? {} : { retryAfterMs }
		};
		return serverError(this.#model, said, false);
	}
	async #open() {globalThis.__t?.("adapters/openai-embedder.js#open@5502");
		const { OpenAI: Client } = await import("openai");
		return clientOf(Client, this.#server, this.#model);
	}
};
function parsed(text) {globalThis.__t?.("adapters/openai-embedder.js#parsed@5620");
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
export { openaiEmbedder };
