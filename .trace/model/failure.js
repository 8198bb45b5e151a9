import { TroupeError } from "../kernel/troupe-error.js";
import { ModelError } from "../kernel/errors.js";
import { redact } from "../kernel/mask.js";
// ../../work/wt/lead/src/model/failure.ts
const retryableByCode = {
	MODEL_AUTH: false,
	MODEL_QUOTA: false,
	MODEL_NOT_FOUND: false,
	MODEL_REDIRECTED: false,
	MODEL_BAD_REQUEST: false,
	MODEL_CONTEXT_OVERFLOW: false,
	MODEL_FORMAT_UNSUPPORTED: false,
	MODEL_REFUSED: false,
	MODEL_CONTENT_FILTER: false,
	MODEL_TRUNCATED: false,
	MODEL_UNPRICED: false,
	MODEL_FAILED: false,
	MODEL_RATE_LIMIT: true,
	MODEL_SERVER: true,
	MODEL_UNREACHABLE: true,
	MODEL_TIMEOUT: true,
	MODEL_CUT: true,
	MODEL_EMPTY: true,
	MODEL_PROTOCOL: true
};
/** A model error of a code; whether it may be sent again follows from the code unless `retryable` says otherwise. */
function modelError(code, message, detail = {}) {globalThis.__t?.("model/failure.js#modelError@804");
	return new ModelError(code, message, {
		retryable: detail.retryable ?? retryableByCode[code],
		...detail.data === void 0 ? {} : { data: detail.data },
		...detail.cause === void 0 ? {} : { cause: detail.cause }
	});
}
/** The facts of a model error. */
function errorData(error) {globalThis.__t?.("model/failure.js#errorData@1110");
	return typeof error.data === "object" && error.data !== null ? error.data : {};
}
/** Refusals that come before the model runs, whoever tells of them. */
const REFUSED_BEFORE = /* @__PURE__ */ new Set([
	"MODEL_RATE_LIMIT",
	"MODEL_AUTH",
	"MODEL_QUOTA",
	"MODEL_NOT_FOUND",
	"MODEL_REDIRECTED",
	"MODEL_BAD_REQUEST",
	"MODEL_CONTEXT_OVERFLOW",
	"MODEL_FORMAT_UNSUPPORTED",
	"MODEL_UNPRICED"
]);
/** Whether a failed try may have cost something. What nobody knows counts as yes. */
function mayHaveRun(error) {globalThis.__t?.("model/failure.js#mayHaveRun@1621");
	if (error instanceof ModelError) return errorData(error).mayHaveRun ?? !REFUSED_BEFORE.has(error.code);
	return !TroupeError.isInstance(error);
}
/** Codes of Node and undici for a connection that was never made: nothing was sent. */
const NOT_CONNECTED = /* @__PURE__ */ new Set([
	"ECONNREFUSED",
	"ENOTFOUND",
	"EAI_AGAIN",
	"EHOSTUNREACH",
	"ENETUNREACH",
	"UND_ERR_CONNECT_TIMEOUT",
	"CERT_HAS_EXPIRED",
	"DEPTH_ZERO_SELF_SIGNED_CERT",
	"ERR_TLS_CERT_ALTNAME_INVALID"
]);
/** Codes and words for a connection that broke. undici says `TypeError: terminated` when it happens inside a body. */
const BROKEN = /* @__PURE__ */ new Set([
	"ECONNRESET",
	"EPIPE",
	"ECONNABORTED",
	"UND_ERR_SOCKET"
]);
const BROKEN_WORDS = /^(terminated|fetch failed|premature close|socket hang up)/i;
/** Codes for a network stack that lost its patience before this package did. */
const TIMED_OUT = /* @__PURE__ */ new Set([
	"ETIMEDOUT",
	"UND_ERR_HEADERS_TIMEOUT",
	"UND_ERR_BODY_TIMEOUT"
]);
/**
* What an error thrown by a model or by `fetch` means. Errors of this tree pass as they are.
*
* @param o.began whether a part of the answer had come
* @param o.mask hides secrets in texts of others
*/
function failureOf(model, error, o) {globalThis.__t?.("model/failure.js#failureOf@2836");
	if (TroupeError.isInstance(error)) return error;
	const mask = o.mask ?? redact;
	const chain = causes(error);
	const said = mask(chain.map((link) => (globalThis.__t?.("model/failure.js#said@3015"),(link.message))).filter((text) => (globalThis.__t?.("model/failure.js#said@3046"),(text !== ""))).join(": ") || String(error));
	const cause = withoutSecrets(error, mask);
	switch (kindOf(chain)) {
		case "not connected": return modelError("MODEL_UNREACHABLE", `Expected to reach the server of ${model}, got: ${said}. Check the base URL, the network and that the server runs.`, {
			cause,
			data: { mayHaveRun: false }
		});
		case "timed out": return modelError("MODEL_TIMEOUT", `Expected an answer from ${model}, but the connection timed out: ${said}. Check the network and how busy the server is.`, { cause });
		case "broken": return o.began ? modelError("MODEL_CUT", `Expected a whole answer from ${model}, but the connection broke in the middle of it: ${said}. Check the network and the server's log.`, { cause }) : modelError("MODEL_UNREACHABLE", `Expected an answer from ${model}, but the connection broke before one began: ${said}. Check that the base URL is that of an API and that the server still runs.`, { cause });
		case "not JSON": return modelError("MODEL_PROTOCOL", `Expected JSON from the server of ${model}, got something else: ${said}. Check that the base URL is that of an API.`, { cause });
		case "unknown": return modelError("MODEL_FAILED", `Expected an answer from ${model}, but it threw: ${said}. Look at the cause; a model shall throw ModelError for what may be tried again.`, { cause });
	}
}
function kindOf(chain) {globalThis.__t?.("model/failure.js#kindOf@4395");
	const codes = chain.map((link) => (globalThis.__t?.("model/failure.js#codes@4445"),(link.code))).filter((code) => (globalThis.__t?.("model/failure.js#codes@4473"),(typeof code === "string")));
	if (codes.some((code) => (globalThis.__t?.("model/failure.js#anonymous@4526"),(NOT_CONNECTED.has(code))))) return "not connected";
	if (codes.some((code) => (globalThis.__t?.("model/failure.js#anonymous@4602"),(TIMED_OUT.has(code))))) return "timed out";
	if (codes.some((code) => (globalThis.__t?.("model/failure.js#anonymous@4670"),(BROKEN.has(code)))) || chain.some((link) => (globalThis.__t?.("model/failure.js#anonymous@4712"),(BROKEN_WORDS.test(link.message))))) return "broken";
	return chain.some((link) => (globalThis.__t?.("model/failure.js#anonymous@4792"),(link instanceof SyntaxError))) ? "not JSON" : "unknown";
}
/** A copy of an error and its causes that keeps names, codes and masked words, and nothing a vendor hung on it: headers, requests, bodies. */
function withoutSecrets(error, mask) {globalThis.__t?.("model/failure.js#withoutSecrets@5002");
	return causes(error).reduceRight((inner, link) => {globalThis.__t?.("model/failure.js#anonymous@5075");
		const copy = new Error(mask(link.message), inner === void 0 ? void 0 : { cause: inner });
		copy.name = link.name;
		const code = link.code;
		if (typeof code === "string") Object.defineProperty(copy, "code", {
			value: code,
			enumerable: true
		});
		return copy;
	}, void 0) ?? new Error(mask(String(error)));
}
/** An error and its causes, at most five deep: a chain may be a ring. */
function causes(error) {globalThis.__t?.("model/failure.js#causes@5487");
	const chain = [];
	let link = error;
	while (link instanceof Error && chain.length < 5) {
		chain.push(link);
		link = link.cause;
	}
	return chain;
}
/** OpenAI and vLLM; llama.cpp; Ollama; Anthropic; Gemini; Mistral; LM Studio. */
const OVERFLOW = /context_length_exceeded|exceed_context_size|maximum context length|maximum model length|exceeds? the (?:available )?context|exceeds? the (?:model'?s )?context|context (?:size|length|window) (?:was )?exceeded|prompt (?:is )?too long|input is too (?:long|large)|input token count .*exceeds|too large for model|context the overflows/i;
const QUOTA = /insufficient_quota|insufficient[ _](?:balance|credits?|funds)|billing_hard_limit|exceeded your current quota|payment required/i;
const FILTERED = /content_filter|content_policy|content management policy|responsible ?ai|safety system/i;
const FORMAT = /response_?format|json_schema|json_object|json mode|structured[ _]outputs?|guided_json|grammar/i;
/** Complaints about this one schema: the same server may enforce another. */
const ONE_SCHEMA = /invalid schema|invalid_json_schema|schema (?:conversion|is too)|failed to parse grammar|unsupported (?:schema|keyword)|grammar/i;
const GENERATION_FAILED = /json_validate_failed|failed to generate json/i;
/**
* What a server's refusal means.
*
* Money: 4xx, 429, 503 and 529 are refusals before the model ran. 500, 502, 504 and other 5xx come from servers and gateways whose
* model may have run, and so does any error inside a begun stream: those tries keep their hold.
*
* @param formatAsked whether the request asked for a reply format, so that a complaint about formats is about it
*/
function serverError(model, said, formatAsked) {globalThis.__t?.("model/failure.js#serverError@7148");
	const data = facts(said);
	const words = `${said.code ?? ""} ${said.type ?? ""} ${said.message}`;
	const fail = (code, expected, todo, extra = {}) => (globalThis.__t?.("model/failure.js#fail@7310"),(modelError(code, `Expected ${expected}, got${said.status === void 0 ? "" : ` ${said.status}`}: ${said.message || "no explanation"}. ${todo}`, {
		...extra.retryable === void 0 ? {} : { retryable: extra.retryable },
		data: {
			...data,
			...extra.data
		}
	})));
	if (FILTERED.test(words)) return fail("MODEL_CONTENT_FILTER", `${model} to answer`, "Change the words of the request.");
	if (GENERATION_FAILED.test(words)) return fail("MODEL_PROTOCOL", `${model} to write JSON`, "It is asked again.", { data: { mayHaveRun: true } });
	if (OVERFLOW.test(words)) return fail("MODEL_CONTEXT_OVERFLOW", `a request that ${model} can read in one piece`, "Send less or use a model with a longer context.");
	const status = said.status ?? statusOf(words);
	if (QUOTA.test(words) || status === 402) return fail("MODEL_QUOTA", "credit for this call", "Add credit with the provider or use another key.");
	if (status === 429) {
		const hopeless = /request too large/i.test(said.message);
		const todo = hopeless ? "One request is more than a minute's allowance: send less." : "Slow down (see modelLimits) or raise the limit with the provider.";
		return fail("MODEL_RATE_LIMIT", `${model} within its rate limits`, todo, { retryable: !hopeless });
	}
	if (status === 401 || status === 403) return fail("MODEL_AUTH", `a key that may use ${model}`, "Check the API key and what it is allowed to do.");
	if (formatAsked && isFormatComplaint(status, said)) return fail("MODEL_FORMAT_UNSUPPORTED", `${model} to take the reply format`, "Ask for a plainer format.", { data: { schemaOnly: ONE_SCHEMA.test(words) } });
	if (status === 404) return fail("MODEL_NOT_FOUND", `model ${model} on this server`, "Check the name of the model and the base URL.");
	if (status === 413) return fail("MODEL_CONTEXT_OVERFLOW", "a request the server takes in one piece", "Send less.");
	if (status === 408 || status === 409) return fail("MODEL_SERVER", `an answer from ${model}`, "The server asks to be tried again.");
	if (status < 500) return fail("MODEL_BAD_REQUEST", `a request that the server of ${model} takes`, "Change what it complains about.");
	return fail("MODEL_SERVER", `an answer from ${model}`, "The server failed; look at its status page or logs if this persists.");
}
function facts(said) {globalThis.__t?.("model/failure.js#facts@9594");
	const refusedBefore = said.status !== void 0 && (said.status < 500 || said.status === 503 || said.status === 529);
	return {
		...said.status === void 0 ? {} : { status: said.status },
		...said.requestId === void 0 ? {} : { requestId: said.requestId },
		...said.code === void 0 ? {} : { serverCode: said.code },
		...said.retryAfterMs === void 0 ? {} : { retryAfterMs: said.retryAfterMs },
		mayHaveRun: said.began === true || !refusedBefore
	};
}
/** An error inside a stream often names its status only in words. */
function statusOf(words) {globalThis.__t?.("model/failure.js#statusOf@10138");
	if (/rate_?limit|too many requests/i.test(words)) return 429;
	if (/invalid_request/i.test(words)) return 400;
	return 500;
}
/** llama.cpp answers 500 where others say 400; 501 is "not implemented". */
function isFormatComplaint(status, said) {globalThis.__t?.("model/failure.js#isFormatComplaint@10369");
	if (![
		400,
		404,
		415,
		422,
		500,
		501
	].includes(status)) return false;
	return said.param?.startsWith("response_format") === true || FORMAT.test(`${said.code ?? ""} ${said.message}`);
}
export { errorData, failureOf, mayHaveRun, modelError, serverError };
