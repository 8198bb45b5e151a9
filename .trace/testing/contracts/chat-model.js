import { ModelError } from "../../kernel/errors.js";
import { canonicalJson, deepFreeze } from "../../kernel/json.js";
import { ReplyBuilder } from "../../model/attempt.js";
import { checkContract } from "./contract-kit.js";
// ../../work/wt/lead/src/testing/contracts/chat-model.ts
const TEXT = "A reply that is longer than a piece: \"quotes\", \n lines, und Umlaute äöü, 猫 and 🎭.";
const question = deepFreeze({
	messages: [{
		role: "system",
		content: "Be brief."
	}, {
		role: "user",
		content: "Say something."
	}],
	maxTokens: 100
});
const toolQuestion = deepFreeze({
	messages: [{
		role: "user",
		content: "What is the time?"
	}],
	tools: [{
		name: "clock",
		description: "Tells the time.",
		parameters: {
			type: "object",
			properties: { zone: { type: "string" } }
		}
	}],
	toolChoice: "auto"
});
/**
* What every {@link ChatModel} must do, whatever stands behind it.
*
* C1 `chat` gives the whole answer. C2 the pieces of `stream` are the answer of `chat`, and the last of them says why it ended. C3 calls
* of tools come whole. C4 a reply that was cut short says so. C5 a failure is a ModelError that says whether trying again helps. C6 an
* aborted signal ends a call by a rejection, before it begins and while it waits. C7 a request is never changed. C8 calls at one time
* keep apart. C9 an answer is plain JSON.
*/
function chatModelContract(kit, name, make) {globalThis.__t?.("testing/contracts/chat-model.js#chatModelContract@1343");
	checkContract("chatModelContract", kit, name, make);
	const { describe, it, expect } = kit;
	const check = (title, replies, body) => (globalThis.__t?.("testing/contracts/chat-model.js#check@1497"),(it(title, async () => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@1533");
		const made = await make(replies);
		try {
			await body(made.model);
		} finally {
			await made.close?.();
		}
	})));
	describe(`${name} keeps the contract of a chat model`, () => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@1722");
		check("C1 chat gives the whole answer", [{
			kind: "text",
			text: TEXT
		}], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@1812");
			const answer = await model.chat(question, open());
			expect(answer.content).toBe(TEXT);
			expect(answer.finishReason).toBe("stop");
			expect(answer.toolCalls).toEqual([]);
			expect(usageIsSound(answer)).toBe(true);
		});
		check("C2 the pieces of a stream are the answer", [{
			kind: "text",
			text: TEXT
		}], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2151");
			const pieces = await allOf(model.stream(question, open()));
			expect(pieces.map((piece) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2254"),(piece.content ?? ""))).join("")).toBe(TEXT);
			expect(pieces.filter((piece) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2332"),(piece.finishReason !== void 0))).map((piece) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2378"),(piece.finishReason)))).toEqual(["stop"]);
		});
		const call = {
			kind: "tool",
			name: "clock",
			arguments: "{\"zone\":\"UTC\"}"
		};
		check("C3 calls of tools come whole, in one and in pieces", [call, call], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2603");
			for (const answer of [await model.chat(toolQuestion, open()), await streamed(model, toolQuestion)]) {
				expect(answer.finishReason).toBe("tool_calls");
				expect(answer.toolCalls.map((made) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@2811"),([
					made.type,
					made.function.name,
					made.function.arguments
				])))).toEqual([[
					"function",
					"clock",
					"{\"zone\":\"UTC\"}"
				]]);
				expect(answer.toolCalls.every((made) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@3012"),(made.id !== "")))).toBe(true);
			}
		});
		const cut = {
			kind: "truncated",
			text: "Half an"
		};
		check("C4 a reply that was cut short says so", [cut, cut], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@3185");
			for (const answer of [await model.chat(question, open()), await streamed(model, question)]) expect([answer.content, answer.finishReason]).toEqual(["Half an", "length"]);
		});
		check("C5 a refusal for now is a retryable ModelError", [{ kind: "rate-limited" }, { kind: "rate-limited" }], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@3495");
			for (const begin of [chatOf, streamed]) {
				const error = await begin(model, question).then(void 0, (reason) => (globalThis.__t?.("testing/contracts/chat-model.js#error@3619"),(reason)));
				expect(error instanceof ModelError ? [error.code, error.retryable] : error).toEqual(["MODEL_RATE_LIMIT", true]);
			}
		});
		check("C6 an aborted signal ends a call", [{ kind: "stall" }, { kind: "stall" }], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@3852");
			const drained = (m, r, signal) => (globalThis.__t?.("testing/contracts/chat-model.js#drained@3890"),(allOf(m.stream(r, { signal }))));
			for (const begin of [chatOf, drained]) {
				expect(await outcome(begin(model, question, AbortSignal.abort(/* @__PURE__ */ new Error("before"))))).toBe("rejected");
				const abort = new AbortController();
				const waiting = outcome(begin(model, question, abort.signal));
				abort.abort(/* @__PURE__ */ new Error("while waiting"));
				expect(await waiting).toBe("rejected");
			}
		});
		check("C7 a request is never changed", [{
			kind: "text",
			text: "one"
		}, {
			kind: "text",
			text: "two"
		}], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@4453");
			const before = canonicalJson(question);
			await model.chat(question, open());
			await streamed(model, question);
			expect(canonicalJson(question)).toBe(before);
		});
		const numbers = [
			"zero",
			"one",
			"two",
			"three"
		].map((text) => ((globalThis.__t?.("testing/contracts/chat-model.js#numbers@4715"),({
			kind: "text",
			text
		}))));
		check("C8 calls at one time keep apart", numbers, async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@4812");
			const answers = await Promise.all(numbers.map((_, n) => (globalThis.__t?.("testing/contracts/chat-model.js#answers@4880"),(n % 2 === 0 ? chatOf(model, question) : streamed(model, question)))));
			expect(answers.map((answer) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@4981"),(answer.content))).toSorted()).toEqual([
				"one",
				"three",
				"two",
				"zero"
			]);
		});
		check("C9 an answer is plain JSON", [{
			kind: "text",
			text: TEXT
		}], async (model) => {globalThis.__t?.("testing/contracts/chat-model.js#anonymous@5168");
			const answer = await model.chat(question, open());
			expect(JSON.parse(canonicalJson(answer))).toEqual(answer);
		});
	});
}
function open() {globalThis.__t?.("testing/contracts/chat-model.js#open@5316");
	return { signal: new AbortController().signal };
}
function chatOf(model, request, signal = open().signal) {globalThis.__t?.("testing/contracts/chat-model.js#chatOf@5386");
	return model.chat(request, { signal });
}
async function streamed(model, request, signal = open().signal) {globalThis.__t?.("testing/contracts/chat-model.js#streamed@5487");
	const reply = new ReplyBuilder(model.id);
	for (const piece of await allOf(model.stream(request, { signal }))) reply.add(piece);
	return reply.finish();
}
async function allOf(stream) {globalThis.__t?.("testing/contracts/chat-model.js#allOf@5709");
	const pieces = [];
	for await (const piece of stream) pieces.push(piece);
	return pieces;
}
async function outcome(work) {globalThis.__t?.("testing/contracts/chat-model.js#outcome@5833");
	return work.then(() => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@5882"),("resolved")), () => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@5900"),("rejected")));
}
function usageIsSound({ usage }) {globalThis.__t?.("testing/contracts/chat-model.js#usageIsSound@5921");
	return usage === void 0 || [usage.inputTokens, usage.outputTokens].every((count) => (globalThis.__t?.("testing/contracts/chat-model.js#anonymous@6030"),(Number.isInteger(count) && count >= 0)));
}
export { chatModelContract };
