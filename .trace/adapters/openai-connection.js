import { isObject } from "../kernel/value-kind.js";
import { systemClock } from "../kernel/clock.js";
import { redactor } from "../kernel/mask.js";
import { failureOf, serverError } from "../model/failure.js";
import { ReplyBuilder } from "../model/attempt.js";
import { retryAfterOf } from "../model/call.js";
import { Unanswered, clientOf, secretsOf } from "./openai-server.js";
import { ReplyReader } from "./openai-reply.js";
import { openaiMessages } from "../model/chat-message.js";
// ../../work/wt/lead/src/adapters/openai-connection.ts
/** One model at one server. It owns the client; what was sent and what came back pass through and are not kept. */
var Connection = class {
	#server;
	#dialect;
	#mask;
	#vendor;
	constructor(server, dialect) {globalThis.__t?.("adapters/openai-connection.js#constructor@737");
		this.#server = server;
		this.#dialect = dialect;
		this.#mask = redactor(secretsOf(server));
	}
	async chat(request, { signal }) {globalThis.__t?.("adapters/openai-connection.js#chat@867");
		const reply = new ReplyBuilder(this.#dialect.model);
		try {
			const response = await this.#send(request, signal, false);
			reply.add(this.#wholeReply(request, response, await response.text()));
			signal.throwIfAborted();
		} catch (error) {
			throw await this.#failure(error, request, signal, false);
		}
		return reply.finish();
	}
	async *stream(request, o) {globalThis.__t?.("adapters/openai-connection.js#stream@1245");
		let began = false;
		let pieces;
		try {
			const response = await this.#send(request, o.signal, this.#server.streams);
			o.signal.throwIfAborted();
			if (!this.#server.streams || /json|html/.test(response.headers.get("content-type") ?? "")) {
				began = true;
				const whole = this.#wholeReply(request, response, await response.text());
				o.signal.throwIfAborted();
				yield whole;
				return;
			}
			const reader = new ReplyReader(this.#dialect.model);
			pieces = await this.#events(response, o);
			for (;;) {
				const next = await pieces.next();
				o.signal.throwIfAborted();
				if (next.done === true) return;
				const chunk = reader.piece(next.value);
				began = true;
				yield chunk;
			}
		} catch (error) {
			throw await this.#failure(error, request, o.signal, began);
		} finally {
			pieces?.return?.().then(void 0, () => {globalThis.__t?.("adapters/openai-connection.js#anonymous@2105");});
		}
	}
	async #send(request, signal, stream) {globalThis.__t?.("adapters/openai-connection.js#send@2135");
		const { client } = await this.#load();
		const body = requestBody(request, this.#dialect, stream);
		return client.chat.completions.create(body, { signal }).asResponse();
	}
	/** The events of a stream. Every byte counts as a sign of life, for servers that think long send comments meanwhile. */
	async #events(response, o) {globalThis.__t?.("adapters/openai-connection.js#events@2475");
		const { client, Stream } = await this.#load();
		const tap = new TransformStream({ transform(bytes, next) {globalThis.__t?.("adapters/openai-connection.js#transform@2585");
			o.alive?.();
			next.enqueue(bytes);
		} });
		const tapped = new Response(response.body?.pipeThrough(tap) ?? null, { headers: response.headers });
		const controller = new AbortController();
		o.signal.addEventListener("abort", () => (globalThis.__t?.("adapters/openai-connection.js#anonymous@2833"),(controller.abort())), { once: true });
		return Stream.fromSSEResponse(tapped, controller, client)[Symbol.asyncIterator]();
	}
	#wholeReply(request, response, text) {globalThis.__t?.("adapters/openai-connection.js#wholeReply@2976");
		const data = JSON.parse(text);
		const error = isObject(data) ? data.error : void 0;
		if (error !== void 0 && error !== null) throw this.#said(request, {
			status: void 0,
			headers: response.headers,
			error,
			message: ""
		}, false);
		return new ReplyReader(this.#dialect.model).whole(data);
	}
	/** The abort that stopped the work, else what its failure means. */
	async #failure(error, request, signal, began) {globalThis.__t?.("adapters/openai-connection.js#failure@3395");
		if (signal.aborted) return signal.reason;
		const { APIError } = await this.#load();
		if (error instanceof APIError && (error.status !== void 0 || error.error !== void 0)) return this.#said(request, error, began);
		const unanswered = error instanceof Error && error.cause instanceof Unanswered ? error.cause.reason : error;
		return failureOf(this.#dialect.model, unanswered, {
			began,
			mask: this.#mask
		});
	}
	/** What a server's own words mean. OpenRouter puts the status into the body's code. */
	#said(request, answer, began) {globalThis.__t?.("adapters/openai-connection.js#said@3945");
		const words = typeof answer.error === "object" && answer.error !== null ? answer.error : { message: answer.error };
		const text = (key) => (globalThis.__t?.("adapters/openai-connection.js#text@4105"),(typeof words[key] === "string" && words[key] !== "" ? this.#mask(words[key]) : void 0));
		const numeric = Number(words["code"]);
		const status = answer.status ?? (numeric >= 400 && numeric < 600 ? numeric : void 0);
		const requestId = answer.headers?.get("x-request-id") ?? void 0;
		const retryAfterMs = answer.headers === void 0 ? void 0 : retryAfterOf(answer.headers, systemClock.now());
		const [code, type, param] = [
			text("code"),
			text("type"),
			text("param")
		];
		const said = {
			message: text("message") ?? this.#mask(answer.message.replace(/^\d{3} /, "")),
			began,
			...status === void 0 ? {} : { status },
			...code === void 0 ? {} : { code },
			...type === void 0 ? {} : { type },
			...param === void 0 ? {} : { param },
			...requestId === void 0 ? {} : { requestId: this.#mask(requestId) },
			...retryAfterMs === void 0 ? {} : { retryAfterMs }
		};
		return serverError(this.#dialect.model, said, request.schema !== void 0 && request.schema.type !== "text");
	}
	#load() {globalThis.__t?.("adapters/openai-connection.js#load@5115");
		this.#vendor ??= Promise.all([import("openai"), import("openai/streaming")]).then(([{ OpenAI: Client, APIError }, { Stream }]) => ((globalThis.__t?.("adapters/openai-connection.js#anonymous@5204"),({
			client: clientOf(Client, this.#server, this.#dialect.model),
			Stream,
			APIError
		}))));
		return this.#vendor;
	}
};
/**
* The body of a `chat/completions` request: what OpenAI's servers accept, without empty fields. Fields that this package is
* responsible for win over `extra`.
*
* @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
*/
function requestBody(request, dialect, stream) {globalThis.__t?.("adapters/openai-connection.js#requestBody@5640");
	return {
		...dialect.extra,
		...request.extra,
		model: dialect.model,
		messages: openaiMessages(request.messages),
		...request.tools === void 0 || request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) },
		...request.toolChoice === void 0 ? {} : { tool_choice: wireToolChoice(request.toolChoice) },
		...wireFormat(request.schema),
		...request.temperature === void 0 ? {} : { temperature: request.temperature },
		...request.maxTokens === void 0 ? {} : { [dialect.maxTokensField]: request.maxTokens },
		...request.seed === void 0 ? {} : { seed: request.seed },
		...request.stop === void 0 || request.stop.length === 0 ? {} : { stop: [...request.stop] },
		...stream ? {
			stream: true,
			stream_options: { include_usage: true }
		} : {}
	};
}
function wireTool(tool) {globalThis.__t?.("adapters/openai-connection.js#wireTool@6460");
	return {
		type: "function",
		function: {
			name: tool.name,
			description: tool.description,
			parameters: tool.parameters
		}
	};
}
function wireToolChoice(choice) {globalThis.__t?.("adapters/openai-connection.js#wireToolChoice@6625");
	return typeof choice === "string" ? choice : {
		type: "function",
		function: { name: choice.name }
	};
}
function wireFormat(format) {globalThis.__t?.("adapters/openai-connection.js#wireFormat@6767");
	switch (format?.type) {
		case "schema": return { response_format: {
			type: "json_schema",
			json_schema: {
				name: format.name,
				schema: format.schema,
				strict: true
			}
		} };
		case "json": return { response_format: { type: "json_object" } };
		case "text":
		case void 0: return {};
	}
}
export { Connection, requestBody };
