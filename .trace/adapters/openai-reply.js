import { isCount, isObject, isRecord } from "../kernel/value-kind.js";
import { modelError } from "../model/failure.js";
// ../../work/wt/lead/src/adapters/openai-reply.ts
/** What servers call the ends of replies. */
const FINISH = /* @__PURE__ */ new Map([
	["stop", "stop"],
	["eos", "stop"],
	["eos_token", "stop"],
	["end_turn", "stop"],
	["stop_sequence", "stop"],
	["complete", "stop"],
	["completed", "stop"],
	["length", "length"],
	["max_tokens", "length"],
	["model_length", "length"],
	["tool_calls", "tool_calls"],
	["tool_call", "tool_calls"],
	["tool_use", "tool_calls"],
	["function_call", "tool_calls"],
	["content_filter", "content_filter"],
	["safety", "content_filter"]
]);
/**
* Reads the pieces of one reply, or a whole one as one piece, and trusts none of them: what has another shape than the protocol says
* is an error, never an empty answer. It owns what must be known across pieces: which calls were begun.
*/
var ReplyReader = class {
	#model;
	#begun = [];
	constructor(model) {globalThis.__t?.("adapters/openai-reply.js#constructor@999");
		this.#model = model;
	}
	/**
	* A piece of a stream.
	*
	* @throws ModelError `MODEL_PROTOCOL`
	*/
	piece(data) {globalThis.__t?.("adapters/openai-reply.js#piece@1116");
		const fields = this.#fields(data, "a piece of the stream");
		return this.#read(fields, this.#choice(fields["choices"] ?? []), "delta");
	}
	/**
	* A whole reply.
	*
	* @throws ModelError `MODEL_PROTOCOL`
	*/
	whole(data) {globalThis.__t?.("adapters/openai-reply.js#whole@1342");
		const fields = this.#fields(data, "the reply");
		const choice = this.#choice(fields["choices"]);
		if (choice === void 0) throw this.#wrong("at least one choice", "none");
		return this.#read(fields, choice, "message");
	}
	#read(fields, choice, member) {globalThis.__t?.("adapters/openai-reply.js#read@1583");
		const usage = usageOf(fields["usage"]);
		if (choice === void 0) return usage === void 0 ? {} : { usage };
		const said = this.#fields(choice[member] ?? (member === "delta" ? {} : void 0), `${member} of a choice`);
		const content = this.#text(said["content"]);
		const toolCalls = this.#calls(said["tool_calls"], member);
		const refusal = said["refusal"];
		const finishReason = this.#finish(choice["finish_reason"]);
		return {
			...content === "" ? {} : { content },
			...toolCalls.length === 0 ? {} : { toolCalls },
			...typeof refusal === "string" && refusal !== "" ? { refusal } : {},
			...finishReason === void 0 ? {} : { finishReason },
			...usage === void 0 ? {} : { usage }
		};
	}
	#choice(choices) {globalThis.__t?.("adapters/openai-reply.js#choice@2318");
		if (!Array.isArray(choices)) throw this.#wrong("a list of choices", kindOf(choices));
		return choices.length === 0 ? void 0 : this.#fields(choices[0], "a choice");
	}
	/** Text, or a list of parts of which some are text: Mistral's reasoning models answer so. */
	#text(content) {globalThis.__t?.("adapters/openai-reply.js#text@2601");
		if (content === void 0 || content === null) return "";
		if (typeof content === "string") return content;
		if (!Array.isArray(content)) throw this.#wrong("text", kindOf(content));
		return content.map((part) => (globalThis.__t?.("adapters/openai-reply.js#anonymous@2817"),(this.#fields(part, "a part of the content")))).map((part) => (globalThis.__t?.("adapters/openai-reply.js#anonymous@2876"),(part["type"] === "text" && typeof part["text"] === "string" ? part["text"] : ""))).join("");
	}
	#calls(calls, member) {globalThis.__t?.("adapters/openai-reply.js#calls@2987");
		if (calls === void 0 || calls === null) return [];
		if (!Array.isArray(calls)) throw this.#wrong("a list of tool calls", kindOf(calls));
		return calls.map((call) => (globalThis.__t?.("adapters/openai-reply.js#anonymous@3164"),(this.#call(this.#fields(call, "a tool call"), member))));
	}
	#call(call, member) {globalThis.__t?.("adapters/openai-reply.js#call@3239");
		const id = typeof call["id"] === "string" && call["id"] !== "" ? call["id"] : void 0;
		const index = typeof call["index"] === "number" ? call["index"] : void 0;
		const said = this.#fields(call["function"] ?? {}, "the function of a tool call");
		const name = typeof said["name"] === "string" && said["name"] !== "" ? said["name"] : void 0;
		const args = said["arguments"];
		const extra = call["extra_content"];
		return {
			index: (member === "message" ? void 0 : this.#placeOf(id, index, name !== void 0)) ?? this.#begun.push({
				id,
				index
			}) - 1,
			...id === void 0 ? {} : { id },
			...name === void 0 ? {} : { name },
			...args === void 0 || args === null ? {} : { arguments: typeof args === "string" ? args : JSON.stringify(args) },
			...isRecord(extra) ? { extra } : {}
		};
	}
	/**
	* Which call a piece goes on with; undefined when it begins one. Some servers number no calls or all of them 0, leave out ids, or give
	* each piece another: so a name with an id that is new begins a call, and where nothing is numbered, a name without an id does.
	*/
	#placeOf(id, index, isNamed) {globalThis.__t?.("adapters/openai-reply.js#placeOf@4342");
		const known = this.#begun.findLastIndex((call) => (globalThis.__t?.("adapters/openai-reply.js#known@4407"),(call.index === index && id !== void 0 && call.id === id)));
		if (known !== -1) return known;
		const last = index === void 0 ? this.#begun.length - 1 : this.#begun.findLastIndex((call) => (globalThis.__t?.("adapters/openai-reply.js#last@4594"),(call.index === index)));
		const before = this.#begun[last];
		if (before === void 0) return void 0;
		if (isNamed && (id === void 0 ? index === void 0 : before.id !== void 0)) return void 0;
		before.id ??= id;
		return last;
	}
	/** Some servers end a reply with calls by "stop". An end nobody knows may be a cut one. */
	#finish(reason) {globalThis.__t?.("adapters/openai-reply.js#finish@4933");
		if (reason === void 0 || reason === null || reason === "") return void 0;
		const known = typeof reason === "string" ? FINISH.get(reason.toLowerCase()) : void 0;
		if (known === void 0) throw this.#wrong("a known finish reason", typeof reason === "string" ? JSON.stringify(reason.slice(0, 50)) : kindOf(reason));
		return known === "stop" && this.#begun.length > 0 ? "tool_calls" : known;
	}
	#fields(value, what) {globalThis.__t?.("adapters/openai-reply.js#fields@5346");
		if (isRecord(value)) return value;
		throw this.#wrong(`an object for ${what}`, kindOf(value));
	}
	#wrong(expected, came) {globalThis.__t?.("adapters/openai-reply.js#wrong@5470");
		return modelError("MODEL_PROTOCOL", `Expected ${expected} from the server of ${this.#model}, got ${came}. Check that the base URL is that of an OpenAI-compatible API.`);
	}
};
/** Tokens as the server tells them; undefined when it tells none or nonsense. */
function usageOf(value) {globalThis.__t?.("adapters/openai-reply.js#usageOf@5749");
	if (typeof value !== "object" || value === null) return void 0;
	const told = value;
	const inputTokens = told["prompt_tokens"];
	const outputTokens = told["completion_tokens"];
	if (!isCount(inputTokens) || !isCount(outputTokens)) return void 0;
	const details = told["prompt_tokens_details"];
	const cached = (isObject(details) ? details["cached_tokens"] : void 0) ?? told["prompt_cache_hit_tokens"];
	return {
		inputTokens,
		outputTokens,
		...isCount(cached) && cached > 0 && cached <= inputTokens ? { cachedTokens: cached } : {}
	};
}
function kindOf(value) {globalThis.__t?.("adapters/openai-reply.js#kindOf@6318");
	if (value === null) return "null";
	return Array.isArray(value) ? "an array" : typeof value;
}
export { ReplyReader };
