import { throwIfAborted } from "../kernel/abort.js";
import { ControlError, ModelError, OutputError } from "../kernel/errors.js";
import { freshSeed, randomStream } from "../kernel/random.js";
import { thrownText } from "../kernel/value-text.js";
import { ChatMessage } from "../model/chat-message.js";
import { outputSchema } from "../model/json-schema.js";
import { steppedModel } from "../model/ask.js";
import { askAgain, issueLine, promptFor, readReply } from "../model/structured-output.js";
import { withoutPictures } from "./compaction.js";
// ../../work/wt/lead/src/agent/model-client.ts
/** Share of the room that a request has after a server refused it as too long: the server's limit is unknown. */
const AFTER_OVERFLOW = .5;
/** How often a reply that does not fit its schema is asked for again. */
const REASKS = 1;
/** Longest reply that an error repeats. */
const KEPT_TEXT = 1e5;
/** Longest part of an error in a warning. */
const SHOWN_ERROR = 500;
/**
* Asks models for one run: builds requests, makes room for them, streams replies and counts their tries. It owns the models with the
* run's steps around them, and whether summaries fail.
*
* `ModelClient.C1` nothing is sent twice from here but a request that was too long and is shorter now, and one whose pictures the model
* refused, with words in their place (`ask`, `#plainReply`); all other retries are those of the model's calls. `ModelClient.C2` a summary
* that failed is not asked for again in this run (`#unsummed`).
*/
var ModelClient = class {
	#parts;
	#stepped = /* @__PURE__ */ new Map();
	#system;
	#isUnsummed = false;
	constructor(parts) {globalThis.__t?.("agent/model-client.js#constructor@1621");
		this.#parts = parts;
	}
	get tally() {globalThis.__t?.("agent/model-client.js#tally get@1667");
		return this.#parts.tally;
	}
	/** The agent's model for a tool: its answers are steps inside the step of the call. */
	modelOf(steps) {globalThis.__t?.("agent/model-client.js#modelOf@1800");
		const { model, policy } = this.#parts;
		return steppedModel(model, {
			steps,
			policy,
			meter: () => (globalThis.__t?.("agent/model-client.js#meter@1913"),(this.tally.begin(model.id)))
		});
	}
	async *ask(question) {globalThis.__t?.("agent/model-client.js#ask@1966");
		throwIfAborted(this.#parts.signal);
		let request = await this.#request(question, "usual");
		for (let isShorter = false;;) try {
			return yield* this.#streamed(question, request);
		} catch (error) {
			const blind = this.#withoutPictures(question, request, error);
			if (blind === void 0 && (isShorter || !isOverflow(error))) throw error;
			isShorter ||= blind === void 0;
			request = blind ?? await this.#shorterRequest(question, request, error);
		}
	}
	async read(schema, question) {globalThis.__t?.("agent/model-client.js#read@2453");
		const output = outputSchema(schema);
		const { messages } = await this.#request({
			...question,
			tools: void 0
		}, "usual");
		let asked = promptFor(messages, output, {
			format: { type: "text" },
			inPrompt: "schema and fence"
		});
		for (let n = 0;; n++) {
			const reply = await this.#plainReply(question, asked);
			const read = readReply(reply.content, schema, output);
			if (read.ok) return read.value;
			if (n === REASKS) throw unreadable(this.#parts.model.id, reply.content, read.issues.map(issueLine));
			asked = askAgain(asked, output, reply.content, read.issues);
		}
	}
	async *#streamed(question, request) {globalThis.__t?.("agent/model-client.js#streamed@3086");
		const { signal, tell, step } = this.#parts;
		const model = this.#steppedOf(question.model);
		const meter = this.tally.begin(model.id);
		const coming = new StreamedReply(model, request, {
			signal,
			meter
		});
		for (;;) {
			const pieces = coming.takeAll();
			for (const text of pieces) if (text === void 0) tell({
				type: "text.void",
				step: step()
			});
			else yield text;
			if (pieces.length > 0) continue;
			const reply = coming.whole;
			if (reply !== void 0) return this.#took(reply, meter);
			await coming.changed();
		}
	}
	async #plainReply({ model, temperature }, messages) {globalThis.__t?.("agent/model-client.js#plainReply@3677");
		const request = {
			messages: this.#seenBy(messages, model),
			...temperature === void 0 ? {} : { temperature }
		};
		try {
			return await this.#chat(model, request);
		} catch (error) {
			const blind = this.#withoutPictures({ model }, request, error);
			if (blind === void 0) throw error;
			return this.#chat(model, blind);
		}
	}
	async #chat(asked, request) {globalThis.__t?.("agent/model-client.js#chat@4067");
		const model = this.#steppedOf(asked);
		const meter = this.tally.begin(model.id);
		return this.#took(await model.chat(request, {
			signal: this.#parts.signal,
			meter
		}), meter);
	}
	#took(reply, meter) {globalThis.__t?.("agent/model-client.js#took@4281");
		const { tell, step } = this.#parts;
		meter.answered(reply.usage);
		tell({
			type: "reply.ended",
			step: step(),
			text: reply.content,
			calls: reply.toolCalls,
			usage: reply.usage
		});
		return reply;
	}
	#steppedOf(model = this.#parts.model) {globalThis.__t?.("agent/model-client.js#steppedOf@4526");
		const { steps, policy } = this.#parts;
		const stepped = this.#stepped.get(model) ?? steppedModel(model, {
			steps,
			policy
		});
		this.#stepped.set(model, stepped);
		return stepped;
	}
	/** @throws the given error when the request cannot be made shorter */
	async #shorterRequest(question, request, error) {globalThis.__t?.("agent/model-client.js#shorterRequest@4843");
		const shorter = await this.#request(question, "less");
		if (JSON.stringify(shorter.messages).length >= JSON.stringify(request.messages).length) throw error;
		return shorter;
	}
	/** The request with words in place of its pictures, when the model refused it for those. From then on the model gets no pictures. */
	#withoutPictures({ model = this.#parts.model }, request, error) {globalThis.__t?.("agent/model-client.js#withoutPictures@5205");
		if (!refusesPictures(error, request)) return void 0;
		this.#parts.blind.add(model);
		this.#warn("PICTURES_UNSUPPORTED", `${model.id} takes no pictures; words stand in their place from now on. ${shownError(error)}`);
		return {
			...request,
			messages: withoutPictures(request.messages)
		};
	}
	#seenBy(messages, model = this.#parts.model) {globalThis.__t?.("agent/model-client.js#seenBy@5564");
		return this.#parts.blind.has(model) ? withoutPictures(messages) : messages;
	}
	#warn(code, text) {globalThis.__t?.("agent/model-client.js#warn@5691");
		this.#parts.tell({
			type: "warning",
			step: this.#parts.step(),
			code,
			text
		});
	}
	async #request(question, needed) {globalThis.__t?.("agent/model-client.js#request@5817");
		const { compaction, memory } = this.#parts;
		const { tools = [], toolChoice, temperature, prompt } = question;
		const before = this.#systemMessages(question.system);
		const after = prompt === void 0 ? [] : [ChatMessage.user(prompt)];
		const messages = question.messages ?? await memory.dump();
		const counter = compaction.tokens;
		const around = await counter.ofTools(tools) + await counter.ofMessages(before) + await counter.ofMessages(after);
		const size = around + await (question.messages === void 0 ? counter.ofMemory(memory, messages) : counter.ofMessages(messages));
		const kept = needed === "usual" && size <= compaction.room ? messages : await this.#shorter(question, messages, {
			around,
			size,
			needed
		});
		return {
			messages: [
				...before,
				...this.#seenBy(kept, question.model),
				...after
			],
			...tools.length === 0 ? {} : { tools },
			...tools.length === 0 || toolChoice === void 0 ? {} : { toolChoice },
			...temperature === void 0 ? {} : { temperature }
		};
	}
	/** Shortens messages; those of the memory for good. */
	async #shorter(question, messages, { around, size, needed }) {globalThis.__t?.("agent/model-client.js#shorter@6924");
		const { compaction, memory, tell, step } = this.#parts;
		const ask = (asked) => (globalThis.__t?.("agent/model-client.js#ask@7045"),(this.#plainReply({}, asked).then((reply) => (globalThis.__t?.("agent/model-client.js#anonymous@7089"),(reply.content)))));
		const room = needed === "usual" ? compaction.room : Math.min(compaction.room, size) * AFTER_OVERFLOW;
		const [shorter, how] = await compaction.shrink(memory, messages, {
			room,
			tokens: around,
			ask: this.#isUnsummed ? void 0 : ask,
			unsummed: (error) => (globalThis.__t?.("agent/model-client.js#unsummed@7371"),(this.#unsummed(error)))
		});
		if (question.messages === void 0) await memory.rewrite?.(shorter);
		tell({
			type: "memory.compacted",
			step: step(),
			...how
		});
		return shorter;
	}
	/** @throws the error when it ends the run */
	#unsummed(error) {globalThis.__t?.("agent/model-client.js#unsummed@7628");
		if (error instanceof ControlError || this.#parts.signal.aborted) throw error;
		this.#isUnsummed = true;
		this.#warn("SUMMARY_FAILED", `What was said before could not be summed up, so it is cut instead, here and later in this run. ${shownError(error)}`);
	}
	/** One system message, for not every server takes two. Equal words are the same message, whose tokens are known. */
	#systemMessages(more) {globalThis.__t?.("agent/model-client.js#systemMessages@8033");
		const text = [this.#parts.systemPrompt, more].filter((prompt) => (globalThis.__t?.("agent/model-client.js#text@8097"),(prompt !== void 0 && prompt !== ""))).join("\n\n");
		if (text === "") return [];
		if (this.#system?.content !== text) this.#system = ChatMessage.system(text);
		return [this.#system];
	}
};
/**
* A reply that streams. It owns the pieces that nobody has taken yet; neighbours are joined, so it holds no more than the reply's own text.
*/
var StreamedReply = class {
	#pieces = [];
	#try = 1;
	#hasText = false;
	#wake;
	#end;
	constructor(model, request, { signal, meter }) {globalThis.__t?.("agent/model-client.js#constructor@8546");
		model.chat(request, {
			signal,
			meter,
			onDelta: (text, info) => (globalThis.__t?.("agent/model-client.js#onDelta@8641"),(this.#add(text, info.try)))
		}).then((reply) => (globalThis.__t?.("agent/model-client.js#anonymous@8693"),(this.#ended({ reply }))), (error) => (globalThis.__t?.("agent/model-client.js#anonymous@8728"),(this.#ended({ error }))));
	}
	/** The pieces that came since the last call. */
	takeAll() {globalThis.__t?.("agent/model-client.js#takeAll@8825");
		const pieces = this.#pieces;
		this.#pieces = [];
		return pieces;
	}
	/**
	* The whole reply; undefined while it streams.
	*
	* @throws ModelError, ControlError as the model does
	*/
	get whole() {globalThis.__t?.("agent/model-client.js#whole get@9026");
		if (this.#end === void 0 || "reply" in this.#end) return this.#end?.reply;
		throw this.#end.error;
	}
	/** Resolves when more has come, or the end. */
	changed() {globalThis.__t?.("agent/model-client.js#changed@9193");
		return new Promise((resolve) => {globalThis.__t?.("agent/model-client.js#anonymous@9219");
			this.#wake = resolve;
		});
	}
	#ended(end) {globalThis.__t?.("agent/model-client.js#ended@9275");
		this.#end = end;
		this.#wake?.();
	}
	#add(text, n) {globalThis.__t?.("agent/model-client.js#add@9328");
		if (n !== this.#try && this.#hasText) this.#pieces.push(void 0);
		this.#try = n;
		this.#hasText = true;
		const last = this.#pieces.at(-1);
		if (last === void 0) this.#pieces.push(text);
		else this.#pieces[this.#pieces.length - 1] = last + text;
		this.#wake?.();
	}
};
/** Randomness for the waits between tries. It decides no answer. Each client has its own, so that calls that failed together do not come back together. */
function jitter() {globalThis.__t?.("agent/model-client.js#jitter@9772");
	let stream;
	return () => {globalThis.__t?.("agent/model-client.js#anonymous@9813");
		stream ??= randomStream(freshSeed());
		return stream();
	};
}
/** Servers have no code for it: each says it in words of its own. */
const ABOUT_PICTURES = /\bimages?\b|image_url|\bpictures?\b|\bvision\b|multi-?modal|mmproj|\bcontent\b.{0,60}\bstring\b/i;
/** Codes of a refused request; a server that failed for other reasons says nothing about pictures. */
const REFUSALS = /* @__PURE__ */ new Set([
	"MODEL_BAD_REQUEST",
	"MODEL_NOT_FOUND",
	"MODEL_FORMAT_UNSUPPORTED",
	"MODEL_SERVER"
]);
function refusesPictures(error, request) {globalThis.__t?.("agent/model-client.js#refusesPictures@10316");
	if (!(error instanceof ModelError) || !REFUSALS.has(error.code) || !ABOUT_PICTURES.test(error.message)) return false;
	return request.messages.some(({ images = [] }) => (globalThis.__t?.("agent/model-client.js#anonymous@10508"),(images.length > 0)));
}
function isOverflow(error) {globalThis.__t?.("agent/model-client.js#isOverflow@10551");
	return error instanceof ModelError && error.code === "MODEL_CONTEXT_OVERFLOW";
}
function shownError(error) {globalThis.__t?.("agent/model-client.js#shownError@10662");
	return thrownText(error).slice(0, SHOWN_ERROR);
}
function unreadable(model, text, issues) {globalThis.__t?.("agent/model-client.js#unreadable@10742");
	return new OutputError("OUTPUT_INVALID", `Expected a reply of ${model} that fits its schema, also after asking again, but: ${issues.slice(0, 5).join("; ").slice(0, 600)}. Use another model, or ask for less at once.`, { data: { text: text.slice(0, KEPT_TEXT) } });
}
export { ModelClient, jitter };
