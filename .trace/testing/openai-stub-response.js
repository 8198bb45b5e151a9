import { BROKEN_TEXT, answerOf, piecesOf, textOf } from "./stub-reply.js";
// ../../work/wt/lead/src/testing/openai-stub-response.ts
/** Answers in one piece, or breaks off as the fault says. */
async function wholeReply(response, body, reply) {globalThis.__t?.("testing/openai-stub-response.js#wholeReply@195");
	const answer = answerOf(reply);
	if (answer !== void 0) {
		await answer.pace?.(0);
		return sendJson(response, 200, completion(body, answer));
	}
	const fault = reply;
	const good = JSON.stringify(completion(body, { text: "text" in fault && fault.text !== void 0 ? fault.text : BROKEN_TEXT }));
	switch (fault.fault) {
		case "cut":
		case "reset":
		case "stall":
			if (fault.after === 0) return fault.fault === "stall" ? void 0 : void response.destroy();
			return sendHalf(response, good, fault.fault);
		case "bad-json": return sendText(response, `${good.slice(0, -10)}`);
		case "empty-choices": return sendJson(response, 200, {
			...completion(body, {}),
			choices: []
		});
		case "wrong-shape": return sendJson(response, 200, { hello: "world" });
		case "stream-error": return sendJson(response, 200, { error: {
			message: fault.message ?? "The engine fell over.",
			code: fault.code ?? "server_error"
		} });
		default: return sendText(response, good);
	}
}
/** Begins a response that never ends well. */
async function sendHalf(response, text, then) {globalThis.__t?.("testing/openai-stub-response.js#sendHalf@1267");
	response.writeHead(200, {
		"content-type": "application/json",
		"content-length": text.length * 2
	});
	await sent(response, text.slice(0, text.length / 2));
	if (then !== "stall") response.destroy();
}
/** Resolves when the text is on its way, or nobody is there to read it. */
function sent(response, text) {globalThis.__t?.("testing/openai-stub-response.js#sent@1597");
	return new Promise((resolve) => {globalThis.__t?.("testing/openai-stub-response.js#anonymous@1649");
		if (response.destroyed) return resolve();
		response.write(text, () => (globalThis.__t?.("testing/openai-stub-response.js#anonymous@1731"),(resolve())));
	});
}
/** Ends a response with JSON. */
function sendJson(response, status, body) {globalThis.__t?.("testing/openai-stub-response.js#sendJson@1790");
	response.writeHead(status, {
		"content-type": "application/json",
		"x-request-id": "req_stub"
	}).end(JSON.stringify(body));
}
function sendText(response, body) {globalThis.__t?.("testing/openai-stub-response.js#sendText@1964");
	response.writeHead(200, { "content-type": "application/json" }).end(body);
}
/** Ends a response as the real server refuses a request. */
function refuse(response, status, message) {globalThis.__t?.("testing/openai-stub-response.js#refuse@2139");
	sendJson(response, status, { error: {
		message,
		type: "invalid_request_error",
		param: null,
		code: null
	} });
}
/** A whole answer as OpenAI's protocol writes it. */
function completion(body, answer) {globalThis.__t?.("testing/openai-stub-response.js#completion@2358");
	const calls = (answer.toolCalls ?? []).map((call, index) => ((globalThis.__t?.("testing/openai-stub-response.js#calls@2438"),({
		id: call.id ?? `call_${index}`,
		type: "function",
		function: {
			name: call.name,
			arguments: call.arguments
		}
	}))));
	const said = {
		role: "assistant",
		content: textOf(answer),
		refusal: answer.refusal ?? null,
		...calls.length === 0 ? {} : { tool_calls: calls }
	};
	return {
		...head(body, "whole"),
		choices: [{
			index: 0,
			message: said,
			finish_reason: finishOf(answer),
			logprobs: null
		}],
		...answer.usage === null ? {} : { usage: usageOf(body, answer) }
	};
}
/** What every object of the protocol begins with, a whole answer or a piece of one. */
function head(body, form) {globalThis.__t?.("testing/openai-stub-response.js#head@3043");
	return {
		id: "chatcmpl-stub",
		object: form === "whole" ? "chat.completion" : "chat.completion.chunk",
		created: 0,
		model: body.model
	};
}
/** The finish reason: what the answer says, else what follows from its calls. */
function finishOf(answer) {globalThis.__t?.("testing/openai-stub-response.js#finishOf@3300");
	return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? "tool_calls" : "stop");
}
/** Four characters to a token, unless the answer says otherwise. */
function usageOf(body, answer) {globalThis.__t?.("testing/openai-stub-response.js#usageOf@3493");
	const calls = (answer.toolCalls ?? []).reduce((sum, call) => (globalThis.__t?.("testing/openai-stub-response.js#calls@3573"),(sum + call.name.length + call.arguments.length)), 0);
	const { prompt_tokens, completion_tokens, cached_tokens } = answer.usage ?? {
		prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
		completion_tokens: Math.ceil((textOf(answer).length + calls) / 4)
	};
	const details = cached_tokens === void 0 ? {} : { prompt_tokens_details: { cached_tokens } };
	return {
		prompt_tokens,
		completion_tokens,
		total_tokens: prompt_tokens + completion_tokens,
		...details
	};
}
/** Whether a reply is sent word for word. */
function isRaw(reply) {globalThis.__t?.("testing/openai-stub-response.js#isRaw@4120");
	return typeof reply === "object" && "pieces" in reply;
}
/** Sends what it is given, as a stream of events or in one piece. */
async function rawReply(response, { pieces, whole, end = "done" }, stream) {globalThis.__t?.("testing/openai-stub-response.js#rawReply@4272");
	if (!stream) return end === "done" ? sendJson(response, 200, whole) : sendHalf(response, JSON.stringify(whole), end);
	response.writeHead(200, { "content-type": "text/event-stream" });
	response.flushHeaders();
	for (const piece of pieces) await sent(response, `data: ${JSON.stringify(piece)}\n\n`);
	switch (end) {
		case "done":
			response.end("data: [DONE]\n\n");
			return;
		case "cut":
			response.end();
			return;
		case "reset":
			response.destroy();
			return;
	}
}
/** Answers as a stream of events, or breaks off as the fault says. */
async function streamReply(response, body, reply) {globalThis.__t?.("testing/openai-stub-response.js#streamReply@4899");
	const answer = answerOf(reply);
	const fault = answer === void 0 ? reply : void 0;
	const after = fault !== void 0 && "after" in fault ? fault.after ?? 1 : 1;
	if (fault !== void 0 && after === 0 && fault.fault === "stall") return;
	if (fault !== void 0 && after === 0 && fault.fault === "reset") return void response.destroy();
	response.writeHead(200, {
		"content-type": "text/event-stream",
		"x-request-id": "req_stub"
	});
	response.flushHeaders();
	const stream = new EventStream(response, body);
	if (answer !== void 0) return stream.whole(answer);
	if (fault !== void 0) return stream.broken(fault, after);
}
/** Writes the events of one reply. */
var EventStream = class {
	#response;
	#body;
	constructor(response, body) {globalThis.__t?.("testing/openai-stub-response.js#constructor@5667");
		this.#response = response;
		this.#body = body;
	}
	async whole(answer) {globalThis.__t?.("testing/openai-stub-response.js#whole@5751");
		let n = 0;
		for (let comment = 0; comment < (answer.comments ?? 0); comment++) {
			await answer.pace?.(n++);
			await sent(this.#response, ": still thinking\n\n");
		}
		await this.#choice({ role: "assistant" });
		for (const piece of piecesOf(answer)) {
			await answer.pace?.(n++);
			await this.#choice({ content: piece });
		}
		if (answer.refusal !== void 0) await this.#choice({ refusal: answer.refusal });
		await this.#toolCalls(answer);
		await this.#choice({}, finishOf(answer));
		await this.#usage(answer);
		this.#done();
	}
	async broken(fault, after) {globalThis.__t?.("testing/openai-stub-response.js#broken@6317");
		const text = "text" in fault && fault.text !== void 0 ? fault.text : BROKEN_TEXT;
		const pieces = piecesOf({ text });
		const early = [
			"cut",
			"stall",
			"reset",
			"stream-error"
		].includes(fault.fault);
		for (const piece of early ? pieces.slice(0, after) : pieces) await this.#choice({ content: piece });
		switch (fault.fault) {
			case "stall": return;
			case "cut":
				this.#response.end();
				return;
			case "reset":
				this.#response.destroy();
				return;
			case "stream-error":
				await this.#data({ error: {
					message: fault.message ?? "The engine fell over.",
					code: fault.code ?? "server_error",
					type: "server_error"
				} });
				return this.#done();
			case "bad-json":
				await sent(this.#response, "data: {\"choices\": [{\"delta\": oops\n\n");
				break;
			case "wrong-shape":
				await this.#data({ choices: "none" });
				break;
			case "empty-choices":
				await this.#data({
					...head(this.#body, "chunk"),
					choices: []
				});
				return this.#done();
			case "duplicate-chunk":
				await this.#choice({ content: " End." }, "stop");
				await this.#choice({ content: " End." }, "stop");
				break;
			default:
				await this.#choice({}, "stop");
				await this.#choice({ content: "And another thing." });
		}
		await this.#usage({ text });
		this.#done();
	}
	async #toolCalls(answer) {globalThis.__t?.("testing/openai-stub-response.js#toolCalls@7673");
		for (const [index, call] of (answer.toolCalls ?? []).entries()) {
			const middle = Math.ceil(call.arguments.length / 2);
			const begin = {
				index,
				id: call.id ?? `call_${index}`,
				type: "function",
				function: {
					name: call.name,
					arguments: ""
				}
			};
			await this.#choice({ tool_calls: [begin] });
			await this.#choice({ tool_calls: [{
				index,
				function: { arguments: call.arguments.slice(0, middle) }
			}] });
			await this.#choice({ tool_calls: [{
				index,
				function: { arguments: call.arguments.slice(middle) }
			}] });
		}
	}
	async #usage(answer) {globalThis.__t?.("testing/openai-stub-response.js#usage@8272");
		if (this.#body.stream_options?.include_usage !== true || answer.usage === null) return;
		await this.#data({
			...head(this.#body, "chunk"),
			choices: [],
			usage: usageOf(this.#body, answer)
		});
	}
	#choice(delta, finish = null) {globalThis.__t?.("testing/openai-stub-response.js#choice@8498");
		return this.#data({
			...head(this.#body, "chunk"),
			choices: [{
				index: 0,
				delta,
				finish_reason: finish,
				logprobs: null
			}]
		});
	}
	#data(event) {globalThis.__t?.("testing/openai-stub-response.js#data@8685");
		return sent(this.#response, `data: ${JSON.stringify(event)}\n\n`);
	}
	#done() {globalThis.__t?.("testing/openai-stub-response.js#done@8773");
		this.#response.end("data: [DONE]\n\n");
	}
};
export { completion, finishOf, head, isRaw, rawReply, refuse, sendHalf, sendJson, sent, streamReply, usageOf, wholeReply };
