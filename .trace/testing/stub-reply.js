// ../../work/wt/lead/src/testing/stub-reply.ts
/** What faults break when nothing else is said. */
const BROKEN_TEXT = "A reply that was going well.";
const PIECE = 8;
/** The answer behind a fault that is told inside an otherwise good answer; undefined for the others. */
function answerOf(reply) {globalThis.__t?.("testing/stub-reply.js#answerOf@274");
	if (typeof reply === "string") return { text: reply };
	if (!("fault" in reply)) return reply;
	switch (reply.fault) {
		case "no-usage": return {
			text: reply.text ?? "A reply that was going well.",
			usage: null
		};
		case "length": return {
			text: reply.text ?? "A reply that was going well.",
			finishReason: "length"
		};
		case "content-filter": return {
			text: reply.text ?? "",
			finishReason: "content_filter"
		};
		case "refusal": return {
			text: "",
			refusal: reply.refusal ?? "I cannot help with that."
		};
		case "empty": return { text: "" };
		default: return;
	}
}
/** The pieces in which an answer's text is streamed. */
function piecesOf(answer) {globalThis.__t?.("testing/stub-reply.js#piecesOf@955");
	if (answer.chunks !== void 0) return answer.chunks;
	const text = answer.text ?? "";
	return Array.from({ length: Math.ceil(text.length / PIECE) }, (_, n) => (globalThis.__t?.("testing/stub-reply.js#anonymous@1132"),(text.slice(n * PIECE, (n + 1) * PIECE))));
}
/** The whole text of an answer. */
function textOf(answer) {globalThis.__t?.("testing/stub-reply.js#textOf@1221");
	return answer.text ?? (answer.chunks ?? []).join("");
}
/** The refusal a fault stands for; undefined for faults that begin like an answer. */
function refusalOf(reply, request) {globalThis.__t?.("testing/stub-reply.js#refusalOf@1391");
	switch (reply.fault) {
		case "rate-limit": return refusal(429, `Rate limit reached for ${request.model}.`, "rate_limit_exceeded", { headers: waitHeaders(reply) });
		case "quota": return refusal(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota");
		case "unauthorized": return refusal(401, `Incorrect API key provided: ${request.authorization}.`, "invalid_api_key");
		case "not-found": return refusal(404, `The model '${request.model}' does not exist or you do not have access to it.`, "model_not_found");
		case "context-overflow": return refusal(400, OVERFLOW, "context_length_exceeded", { param: "messages" });
		case "format-unsupported": return refusal(400, FORMAT, null, { param: "response_format" });
		case "server-error": return refusal(reply.status ?? 500, "The server had an error while processing your request.", null, { type: "server_error" });
		case "status": return {
			status: reply.status,
			headers: {
				"content-type": "application/json",
				...reply.headers
			},
			body: reply.body ?? ""
		};
		default: return;
	}
}
const OVERFLOW = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
const FORMAT = "Invalid parameter: 'response_format' of this type is not supported with this model.";
function refusal(status, message, code, more = {}) {globalThis.__t?.("testing/stub-reply.js#refusal@2754");
	return {
		status,
		headers: {
			"content-type": "application/json",
			"x-request-id": "req_stub",
			...more.headers
		},
		body: JSON.stringify({ error: {
			message,
			type: more.type ?? "invalid_request_error",
			param: more.param ?? null,
			code
		} })
	};
}
function waitHeaders(reply) {globalThis.__t?.("testing/stub-reply.js#waitHeaders@3078");
	return {
		...reply.retryAfter === void 0 ? {} : { "retry-after": reply.retryAfter },
		...reply.retryAfterMs === void 0 ? {} : { "retry-after-ms": reply.retryAfterMs },
		...reply.date === void 0 ? {} : { date: reply.date }
	};
}
export { BROKEN_TEXT, answerOf, piecesOf, refusalOf, textOf };
