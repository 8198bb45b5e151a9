import { interruptionBy } from "../kernel/abort.js";
import { CancellationScope, cancellationOf, throwIfEnded } from "../kernel/cancellation.js";
import { failureOf, modelError } from "./failure.js";
import { hasFunction } from "./chat-message.js";
// ../../work/wt/lead/src/model/attempt.ts
/**
* One try: sends the request, watches over the answer and gives it back whole and checked.
*
* A model's loop may end normally when it was aborted or when the server hung up, and may hang after the first byte; so abort,
* silence and total time are watched from here, whatever the model does, and a model that goes on after that is left to itself.
*
* @throws ControlError when the signal aborts, ModelError for everything a model or server did wrong.
*/
async function attempt(model, request, bounds) {globalThis.__t?.("model/attempt.js#attempt@751");
	const above = cancellationOf(bounds.signal);
	throwIfEnded(above);
	const watch = new Watch(model.id, bounds, above);
	const builder = new ReplyBuilder(model.id);
	try {
		const reply = await (model.streams === false ? readWhole(model, request, watch, bounds) : readStream(model, request, builder, watch, bounds));
		checkReply(model.id, request, reply);
		return reply;
	} catch (error) {
		throw watch.life.ended?.reason ?? failureOf(model.id, error, { began: builder.began });
	} finally {
		watch.end();
	}
}
async function readWhole(model, request, { life }, { onText }) {globalThis.__t?.("model/attempt.js#readWhole@1314");
	const reply = await life.until(Promise.resolve(model.chat(request, { signal: life.signal })));
	if (reply.content !== "") onText?.(reply.content);
	return reply;
}
async function readStream(model, request, builder, watch, { onText }) {globalThis.__t?.("model/attempt.js#readStream@1544");
	const { life } = watch;
	watch.expectLife();
	const pieces = model.stream(request, {
		signal: life.signal,
		alive: () => (globalThis.__t?.("model/attempt.js#alive@1734"),(watch.expectLife()))
	})[Symbol.asyncIterator]();
	try {
		for (;;) {
			const next = await life.until(Promise.resolve(pieces.next()));
			if (next.done === true) return builder.finish();
			watch.expectLife();
			const text = builder.add(next.value);
			if (text !== "") onText?.(text);
		}
	} catch (error) {
		pieces.return?.().then(void 0, () => {globalThis.__t?.("model/attempt.js#anonymous@2082");});
		throw error;
	}
}
/** Ends a try when its caller does, when nothing is heard for too long, or when its time is up. */
var Watch = class {
	#model;
	#bounds;
	life = new CancellationScope();
	#cancelWhole;
	#unheard;
	#cancelIdle;
	#ended = false;
	constructor(model, bounds, above) {globalThis.__t?.("model/attempt.js#constructor@2354");
		this.#model = model;
		this.#bounds = bounds;
		this.#unheard = above.onEnd((reason) => (globalThis.__t?.("model/attempt.js#anonymous@2457"),(this.life.end(interruptionBy(reason)))));
		this.#cancelWhole = bounds.clock.timer(bounds.timeLeft, () => (globalThis.__t?.("model/attempt.js#anonymous@2567"),(this.life.end(this.#late()))));
	}
	/** Starts the wait for the next sign of life anew. */
	expectLife() {globalThis.__t?.("model/attempt.js#expectLife@2673");
		if (this.#ended) return;
		this.#cancelIdle?.();
		const { clock, idleTimeout } = this.#bounds;
		this.#cancelIdle = clock.timer(idleTimeout, () => (globalThis.__t?.("model/attempt.js#anonymous@2822"),(this.life.end(this.#silent()))));
	}
	end() {globalThis.__t?.("model/attempt.js#end@2867");
		this.#ended = true;
		this.#cancelIdle?.();
		this.#cancelWhole();
		this.#unheard();
	}
	#silent() {globalThis.__t?.("model/attempt.js#silent@2971");
		const ms = this.#bounds.idleTimeout;
		return modelError("MODEL_TIMEOUT", `Expected the next piece of an answer from ${this.#model} within ${ms} ms, but nothing came. Raise idleTimeout if the model thinks that long.`);
	}
	#late() {globalThis.__t?.("model/attempt.js#late@3206");
		return modelError("MODEL_TIMEOUT", `Expected the whole answer of ${this.#model} within the time of the call, but its last ${this.#bounds.timeLeft} ms are over. Raise callTimeout or ask for less.`, { retryable: false });
	}
};
/** Longest answer that is put together, in characters: a server that never stops must not fill the memory. */
const MAX_REPLY_CHARS = 33554432;
/** The first so many characters of a failed answer stay in the error. */
const KEPT_TEXT = 2e4;
/**
* Puts a streamed answer together. It owns the pieces; what they mean is judged by {@link checkReply}.
*
* P1 an answer without a finish reason is a cut one, never a short one. P2 text or pieces of calls after the end are an error, except
* that the last chunk may come twice. P3 a call's id and name are set once, so that a piece that comes twice does not double them.
*/
var ReplyBuilder = class {
	#model;
	#text = [];
	#refusal = [];
	#calls = /* @__PURE__ */ new Map();
	#size = 0;
	#finish;
	#lastText = "";
	#usage;
	constructor(model) {globalThis.__t?.("model/attempt.js#constructor@4220");
		this.#model = model;
	}
	/** True when a part of the answer has come. */
	get began() {globalThis.__t?.("model/attempt.js#began get@4315");
		return this.#size > 0 || this.#calls.size > 0 || this.#finish !== void 0;
	}
	/**
	* Takes the next piece and gives back its text, or nothing when it was only the last one again.
	*
	* @throws ModelError `MODEL_PROTOCOL` for pieces after the end and for an answer beyond all measure.
	*/
	add(chunk) {globalThis.__t?.("model/attempt.js#add@4614");
		const text = chunk.content ?? "";
		if (chunk.usage !== void 0) this.#usage = chunk.usage;
		if (this.#finish !== void 0) return this.#afterEnd(text, chunk.toolCalls ?? []);
		this.#size += text.length + (chunk.refusal?.length ?? 0);
		if (text !== "") this.#text.push(text);
		if (chunk.refusal !== void 0 && chunk.refusal !== "") this.#refusal.push(chunk.refusal);
		for (const delta of chunk.toolCalls ?? []) this.#addCall(delta);
		if (this.#size > 33554432) throw modelError("MODEL_PROTOCOL", `Expected an answer of at most ${MAX_REPLY_CHARS} characters from ${this.#model}, and more came. Set maxTokens.`, { retryable: false });
		if (chunk.finishReason !== void 0) {
			this.#finish = chunk.finishReason;
			this.#lastText = text;
		}
		return text;
	}
	/**
	* The whole answer.
	*
	* @throws ModelError `MODEL_CUT` when no finish reason came.
	*/
	finish() {globalThis.__t?.("model/attempt.js#finish@5488");
		const content = this.#text.join("");
		if (this.#finish === void 0) throw modelError("MODEL_CUT", `Expected a whole answer from ${this.#model}, but it ended after ${content.length} characters without a finish reason. Check the server's log and any proxy on the way, or ask for less at once.`, { data: keptText(content) });
		const isCut = this.#finish === "length";
		return {
			content,
			toolCalls: [...this.#calls.entries()].sort(([a], [b]) => (globalThis.__t?.("model/attempt.js#toolCalls@5930"),(a - b))).map(([index, call]) => (globalThis.__t?.("model/attempt.js#toolCalls@5955"),(wholeCall(index, call, isCut)))),
			finishReason: this.#finish,
			...this.#usage === void 0 ? {} : { usage: this.#usage },
			...this.#refusal.length === 0 ? {} : { refusal: this.#refusal.join("") }
		};
	}
	#addCall(delta) {globalThis.__t?.("model/attempt.js#addCall@6190");
		const call = this.#calls.get(delta.index) ?? {
			id: "",
			name: "",
			pieces: [],
			extra: void 0
		};
		this.#calls.set(delta.index, call);
		if (call.id === "") call.id = delta.id ?? "";
		if (call.name === "") call.name = delta.name ?? "";
		if (delta.extra !== void 0) {
			call.extra = delta.extra;
			this.#size += JSON.stringify(delta.extra).length;
		}
		if (delta.arguments === void 0) return;
		call.pieces.push(delta.arguments);
		this.#size += delta.arguments.length;
	}
	#afterEnd(text, calls) {globalThis.__t?.("model/attempt.js#afterEnd@6700");
		if ((text === "" || text === this.#lastText) && calls.every((call) => (globalThis.__t?.("model/attempt.js#anonymous@6778"),((call.arguments ?? "") === "")))) return "";
		throw modelError("MODEL_PROTOCOL", `Expected nothing after the end of the answer of ${this.#model}, but more of it came. Say stream: false, or use another server.`);
	}
};
/**
* Lets an answer pass that is one, and turns the rest into typed errors: no half answer ever looks like a whole one. One that was cut by its
* length limit passes when it calls tools, with `finishReason` "length": its last call may be cut.
*
* @throws ModelError `MODEL_REFUSED`, `MODEL_CONTENT_FILTER`, `MODEL_TRUNCATED`, `MODEL_PROTOCOL` or `MODEL_EMPTY`, with text and usage in its data.
*/
function checkReply(model, request, reply) {globalThis.__t?.("model/attempt.js#checkReply@7403");
	const data = {
		...keptText(reply.content),
		...reply.usage === void 0 ? {} : { usage: reply.usage }
	};
	if (reply.refusal !== void 0 && reply.refusal !== "") {
		const refusal = reply.refusal.slice(0, KEPT_TEXT);
		throw modelError("MODEL_REFUSED", `Expected an answer from ${model}, but it declined: "${refusal.slice(0, 300)}". Change the words of the request, or use another model.`, { data: {
			...data,
			refusal
		} });
	}
	if (reply.finishReason === "content_filter") throw modelError("MODEL_CONTENT_FILTER", `Expected an answer from ${model}, but a content filter stopped it. Change the words of the request.`, { data });
	const mayCall = (request.tools?.length ?? 0) > 0 && request.toolChoice !== "none";
	const named = reply.toolCalls.every((call) => (globalThis.__t?.("model/attempt.js#named@8205"),(hasFunction(call) && call.function.name !== "")));
	if (reply.finishReason === "length" && !(mayCall && named && reply.toolCalls.length > 0)) throw modelError("MODEL_TRUNCATED", `Expected a whole answer from ${model}, but it reached its limit of ${request.maxTokens ?? "unknown"} tokens after ${reply.content.length} characters. Raise maxTokens or ask for less.`, { data });
	if (!named) throw modelError("MODEL_PROTOCOL", `Expected every tool call of ${model} to name its tool, but one does not. Use a model that is made for tools.`, { data });
	if (!(reply.toolCalls.length > 0 && request.tools !== void 0 && request.tools.length > 0) && reply.content.trim() === "") throw modelError("MODEL_EMPTY", `Expected text${request.tools === void 0 ? "" : " or tool calls"} from ${model}, got an empty answer. Say more plainly what to answer, raise maxTokens if the model thinks before it writes, or use another model.`, { data });
}
/** Servers leave out the id of a single call and the arguments of a tool that has none. Where a reply was cut, arguments may be missing that were to come. */
function wholeCall(index, call, isCut) {globalThis.__t?.("model/attempt.js#wholeCall@9299");
	const id = call.id === "" ? `call_${index}` : call.id;
	const { name, pieces, extra } = call;
	return {
		id,
		type: "function",
		function: {
			name,
			arguments: pieces.join("") || (isCut ? "" : "{}")
		},
		...extra === void 0 ? {} : { extra }
	};
}
function keptText(text) {globalThis.__t?.("model/attempt.js#keptText@9597");
	return text === "" ? {} : { text: text.slice(0, KEPT_TEXT) };
}
export { MAX_REPLY_CHARS, ReplyBuilder, attempt, checkReply };
