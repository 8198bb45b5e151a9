import { TroupeError } from "../kernel/troupe-error.js";
import { aFunction, either, takes } from "../kernel/argument.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { throwIfAborted, untilAborted } from "../kernel/abort.js";
import { sleep } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { canonicalJson, deepFreeze, textHash } from "../kernel/json.js";
// ../../work/wt/lead/src/testing/scripted-model.ts
const scriptedOptions = {
	id: true,
	price: true,
	maxOutputTokens: true,
	latency: true,
	clock: true
};
/** A list of replies is used up: the program under test asks more often than the test says. */
var ScriptExhaustedError = class extends TroupeError {
	constructor(model, replies) {globalThis.__t?.("testing/scripted-model.js#constructor@743");
		super("SCRIPT_EXHAUSTED", `Expected at most ${replies} calls of ${model}, and one more came. Give it more replies, or a function.`, { data: { replies } });
	}
};
/** Of a call that nobody stops. */
const NEVER = new AbortController().signal;
/** So many characters make one piece when a text is streamed. */
const PIECE = 12;
/**
* A model for tests: answers from a list, one reply after another, or from a function. Retries use up replies too. Usage is counted from
* characters, four to a token, unless a reply gives it.
*
* @throws UsageError `SCRIPT_CLOCK` for a latency without a clock.
* @example
* import { scriptedModel } from "troupe/testing";
*
* const model = scriptedModel(["first", ({ messages }) => `second, to ${messages.length} message`]);
* const ask = async (content: string) => (await model.chat({ messages: [{ role: "user", content }] })).content;
* console.log(await ask("a"), "|", await ask("b"), "|", model.calls.length); // first | second, to 1 message | 2
*/
function scriptedModel(replies, options = {}) {globalThis.__t?.("testing/scripted-model.js#scriptedModel@1748");
	takes("scriptedModel", "replies", replies, someReplies);
	if (options.latency !== void 0 && options.clock === void 0) throw new UsageError("SCRIPT_CLOCK", "Expected a clock beside latency, got none. Give the clock that the test advances.");
	return new Script(replies, options);
}
const someReplies = either({
	says: "a list of replies",
	fits: Array.isArray
}, aFunction);
var Script = class {
	id;
	price;
	maxOutputTokens;
	#replies;
	#options;
	#calls = [];
	constructor(replies, options) {globalThis.__t?.("testing/scripted-model.js#constructor@2271");
		checkKnownOptions("scriptedModel", options, scriptedOptions);
		this.#replies = typeof replies === "function" ? replies : [...replies];
		this.#options = options;
		this.id = options.id ?? idOf(this.#replies);
		this.price = options.price ?? {
			input: 0,
			output: 0
		};
		if (options.maxOutputTokens !== void 0) this.maxOutputTokens = options.maxOutputTokens;
	}
	get calls() {globalThis.__t?.("testing/scripted-model.js#calls get@2672");
		return [...this.#calls];
	}
	async chat(request, { signal = NEVER } = {}) {globalThis.__t?.("testing/scripted-model.js#chat@2718");
		throwIfAborted(signal);
		const n = this.#calls.push(deepFreeze(structuredClone(request))) - 1;
		const { latency, clock } = this.#options;
		if (latency !== void 0 && clock !== void 0) await sleep(clock, latency(n), signal);
		const reply = await untilAborted(this.#reply(request, n), signal);
		if (reply instanceof Error) throw reply;
		return complete(typeof reply === "string" ? { content: reply } : reply, request);
	}
	async *stream(request, o = {}) {globalThis.__t?.("testing/scripted-model.js#stream@3196");
		const { content, toolCalls, finishReason, usage, refusal } = await this.chat(request, o);
		for (let start = 0; start < content.length; start += PIECE) {
			throwIfAborted(o.signal);
			yield { content: content.slice(start, start + PIECE) };
		}
		if (refusal !== void 0) yield { refusal };
		for (const [index, call] of toolCalls.entries()) {
			const { extra } = call;
			yield { toolCalls: [{
				index,
				id: call.id,
				name: call.function.name,
				arguments: "",
				...extra === void 0 ? {} : { extra }
			}] };
			yield { toolCalls: [{
				index,
				arguments: call.function.arguments
			}] };
		}
		yield {
			finishReason,
			...usage === void 0 ? {} : { usage }
		};
	}
	async #reply(request, n) {globalThis.__t?.("testing/scripted-model.js#reply@3917");
		if (typeof this.#replies === "function") return this.#replies(request, n);
		const reply = this.#replies[n];
		if (reply === void 0) throw new ScriptExhaustedError(this.id, this.#replies.length);
		return typeof reply === "function" ? reply(request, n) : reply;
	}
};
/** A function is told apart by nothing that stays the same when its program is built anew. */
function idOf(replies) {globalThis.__t?.("testing/scripted-model.js#idOf@4297");
	if (typeof replies === "function" || replies.length === 0) return "scripted";
	const told = replies.map((reply) => {globalThis.__t?.("testing/scripted-model.js#told@4427");
		if (typeof reply === "function") return ["function"];
		return reply instanceof Error ? [reply.name, reply.message] : reply;
	});
	return `scripted-${textHash(JSON.stringify(told)).slice(0, 12)}`;
}
function complete(reply, request) {globalThis.__t?.("testing/scripted-model.js#complete@4641");
	const content = reply.content ?? "";
	const toolCalls = reply.toolCalls ?? [];
	const finishReason = reply.finishReason ?? (toolCalls.length > 0 ? "tool_calls" : "stop");
	const said = content.length + toolCalls.reduce((sum, call) => (globalThis.__t?.("testing/scripted-model.js#said@4897"),(sum + call.function.name.length + call.function.arguments.length)), 0);
	return {
		content,
		toolCalls,
		finishReason,
		usage: reply.usage ?? {
			inputTokens: Math.ceil(canonicalJson(request).length / 4),
			outputTokens: Math.ceil(said / 4)
		},
		...reply.refusal === void 0 ? {} : { refusal: reply.refusal }
	};
}
export { ScriptExhaustedError, scriptedModel };
