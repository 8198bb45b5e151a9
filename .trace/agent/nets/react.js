import { ModelError, OutputError } from "../../kernel/errors.js";
import { object, takes } from "../../kernel/argument.js";
import { checkKnownOptions } from "../../kernel/known-options.js";
import { isRecord } from "../../kernel/value-kind.js";
import { ChatMessage } from "../../model/chat-message.js";
import { readArguments } from "../../tool/call-arguments.js";
import { notRun, resultText, toolMessage } from "../../tool/tool-result.js";
import { isOneOf, numberNote } from "../agent-memory.js";
import { Net } from "../net.js";
import { observation, remark } from "../remarks.js";
import { actionInstructions, readTextAction, wholeTextAction } from "../text-action.js";
// ../../work/wt/lead/src/agent/nets/react.ts
/** The names of the options. @internal */
const reactOptions = {
	model: true,
	answerModel: true,
	actions: true
};
/** Unusable replies in a row after which the run fails. */
const MAX_MISSES = 3;
const MISSES = "react.misses";
/** The note is "text" when the model's server takes no tools. */
const FORM = "react.form";
/**
* Reasoning and acting in turns until there is an answer: Yao et al., "ReAct: Synergizing Reasoning and Acting in Language Models"
* (arXiv 2210.03629). With native tool calls this is OpenManus's ToolCallAgent; with JSON in text and a model for answers it is the net of
* three states, reasoning, action and answer.
*/
function react(options = {}) {globalThis.__t?.("agent/nets/react.js#react@1370");
	checkKnownOptions("react", options, reactOptions);
	return new Net({
		name: "react",
		start: reactStart,
		states: reactStates(options)
	});
}
/** The state to start in: an action that is under way goes first. */
function reactStart(memory) {globalThis.__t?.("agent/nets/react.js#reactStart@1617");
	takes("reactStart", "memory", memory, object("a memory of an agent"));
	return memory.nextAction === void 0 ? "reasoning" : "action";
}
/** The states, to be part of a larger net. */
function reactStates(parts) {globalThis.__t?.("agent/nets/react.js#reactStates@1831");
	takes("reactStates", "parts", parts, object("what the states are made of"));
	return {
		reasoning: new Reasoning(parts, parts.answerModel === void 0 ? parts.then : "answer"),
		action: acting(parts.then),
		answer: answering(parts.answerModel, parts.then)
	};
}
/** Decides what to do next: calls, or an answer. */
var Reasoning = class {
	#parts;
	#then;
	constructor(parts, then) {globalThis.__t?.("agent/nets/react.js#constructor@2231");
		this.#parts = parts;
		this.#then = then;
	}
	async *run(memory, mind) {globalThis.__t?.("agent/nets/react.js#run@2305");
		memory.answer = void 0;
		const { actions = "auto" } = this.#parts;
		let form = actions === "auto" && await memory.note(FORM) === "text" ? "text" : actions;
		const own = await this.#parts.prompt?.(memory);
		let reply;
		try {
			reply = yield* mind.ask(this.#question(memory, mind, form, own));
		} catch (error) {
			if (form !== "auto" || !refusesTools(error)) throw error;
			mind.warn("TOOLS_UNSUPPORTED", "The model's server takes no tools; they are told in words from now on.");
			await memory.setNote(FORM, "text");
			form = "text";
			reply = yield* mind.ask(this.#question(memory, mind, form, own));
		}
		await (reply.toolCalls.length > 0 && form !== "text" && mind.toolChoice !== "none" ? takeCalls(memory, mind, reply) : this.#takeText(memory, mind, reply, form));
	}
	nextState(memory) {globalThis.__t?.("agent/nets/react.js#nextState@3119");
		return Promise.resolve(memory.nextAction === void 0 ? stateAfterAnswer(memory, this.#then) : "action");
	}
	#question(memory, mind, form, own) {globalThis.__t?.("agent/nets/react.js#question@3249");
		const { model } = this.#parts;
		const prompts = [mind.nextStepPrompt, own].filter((prompt) => (globalThis.__t?.("agent/nets/react.js#prompts@3362"),(prompt !== void 0 && prompt !== "")));
		const prompt = prompts.length === 0 ? void 0 : prompts.join("\n\n");
		if (form !== "text") return {
			model,
			prompt,
			tools: memory.tools.specs,
			toolChoice: mind.toolChoice
		};
		return mind.toolChoice !== "none" && memory.tools.size > 0 ? {
			model,
			prompt,
			system: actionInstructions(memory.listTools())
		} : {
			model,
			prompt
		};
	}
	async #takeText(memory, mind, reply, form) {globalThis.__t?.("agent/nets/react.js#takeText@3789");
		if (reply.toolCalls.length > 0) mind.warn("TOOLS_UNASKED", "The model called tools where it may not; the calls are left out.");
		const said = ChatMessage.assistant(reply.content);
		const action = actionIn(reply.content, mind.toolChoice === "none" ? "native" : form, memory.tools);
		switch (action.kind) {
			case "malformed": return miss(memory, mind, [said], `Your action cannot be read: ${action.why}. Give it again as one whole JSON object.`);
			case "answer": return this.#takeAnswer(memory, mind, said, action.text);
			case "calls":
				await memory.update([said]);
				memory.nextAction = {
					calls: action.calls,
					form: "text"
				};
		}
	}
	async #takeAnswer(memory, mind, said, text) {globalThis.__t?.("agent/nets/react.js#takeAnswer@4499");
		const { toolChoice } = mind;
		if (toolChoice !== "auto" && toolChoice !== "none") {
			const needed = typeof toolChoice === "object" ? `the tool ${toolChoice.name}` : "a tool";
			return miss(memory, mind, [said], `You must call ${needed}; text alone is no answer here.`);
		}
		if (text.trim() === "") return miss(memory, mind, [], "You said nothing. Call a tool, or give your answer as text.");
		await memory.update([said]);
		await forgetMisses(memory);
		answer(memory, {
			text,
			status: "success"
		}, this.#then);
	}
};
function actionIn(text, form, tools) {globalThis.__t?.("agent/nets/react.js#actionIn@5062");
	const isTool = (name) => (globalThis.__t?.("agent/nets/react.js#isTool@5117"),(tools.find(name) !== void 0));
	if (form === "native") return {
		kind: "answer",
		text
	};
	return form === "text" ? readTextAction(text, isTool) : wholeTextAction(text, isTool);
}
async function takeCalls(memory, mind, reply) {globalThis.__t?.("agent/nets/react.js#takeCalls@5308");
	const said = ChatMessage.fromToolCalls(reply.toolCalls, reply.content);
	const { toolCalls: calls = [] } = said;
	const isTruncated = reply.finishReason === "length";
	const cut = isTruncated ? calls.filter((call) => (globalThis.__t?.("agent/nets/react.js#cut@5564"),(!isWhole(call, memory.tools)))) : [];
	if (isTruncated) mind.warn("REPLY_TRUNCATED", truncatedText(calls.length, cut.length));
	if (cut.length > 0 && cut.length === calls.length) {
		const why = "The reply reached its length limit before any call in it was whole.";
		return miss(memory, mind, [said, ...cut.map(cutOff).map(toolMessage)], why, { isTold: true });
	}
	await memory.update([said]);
	memory.nextAction = {
		calls,
		form: "native",
		...cut.length === 0 ? {} : { cut: cut.map(({ id }) => (globalThis.__t?.("agent/nets/react.js#cut@6062"),(id))) }
	};
}
/** A call is whole when its arguments are one JSON object, not mended, that fits the tool: a missing end cannot be known. */
function isWhole({ function: { name, arguments: text } }, tools) {globalThis.__t?.("agent/nets/react.js#isWhole@6212");
	const tool = tools.find(name);
	try {
		return tool !== void 0 && isRecord(JSON.parse(text)) && readArguments(text, tool).ok;
	} catch {
		return false;
	}
}
function cutOff(call) {globalThis.__t?.("agent/nets/react.js#cutOff@6438");
	return notRun(call, "invalid", "your reply reached its length limit before this call was whole, so it was not made. Call again, and write less at once: in several calls if need be.");
}
function truncatedText(calls, cut) {globalThis.__t?.("agent/nets/react.js#truncatedText@6649");
	if (cut === 0) return "The reply reached its length limit; the calls in it are whole and are made.";
	return `The reply reached its length limit; ${cut} of its ${calls} calls are cut and are not made.`;
}
/** Runs the chosen action, once. */
function acting(then) {globalThis.__t?.("agent/nets/react.js#acting@6929");
	return {
		sameStep: true,
		async *run(memory, mind) {globalThis.__t?.("agent/nets/react.js#run@6993");
			const action = memory.nextAction;
			if (action === void 0) return;
			memory.nextAction = void 0;
			memory.answer = void 0;
			const called = await runAction(mind, action);
			const ending = called.find((one) => (globalThis.__t?.("agent/nets/react.js#ending@7218"),(one.ends)));
			const before = ending === void 0 || action.form === "text" ? "" : lastWords(await memory.dump(), await memory.goal());
			await memory.update(action.form === "native" ? called.map(toolMessage) : [observationOf(called)]);
			await forgetMisses(memory);
			if (ending !== void 0) answer(memory, answerOf(ending, before), then);
			yield "\n";
		},
		nextState: (memory) => (globalThis.__t?.("agent/nets/react.js#nextState@7600"),(Promise.resolve(stateAfterAnswer(memory, then))))
	};
}
/** Writes the answer from all that was found. */
function answering(model, then) {globalThis.__t?.("agent/nets/react.js#answering@7716");
	return {
		async *run(memory, mind) {globalThis.__t?.("agent/nets/react.js#run@7772");
			const reply = yield* mind.ask({ model });
			await memory.update([ChatMessage.assistant(reply.content)]);
			answer(memory, {
				text: reply.content,
				status: "success"
			}, then);
		},
		nextState: () => (globalThis.__t?.("agent/nets/react.js#nextState@7996"),(Promise.resolve(then ?? "answer")))
	};
}
function answer(memory, given, then) {globalThis.__t?.("agent/nets/react.js#answer@8042");
	memory.answer = given;
	memory.done = then === void 0;
}
function stateAfterAnswer(memory, then) {globalThis.__t?.("agent/nets/react.js#stateAfterAnswer@8139");
	return memory.answer !== void 0 && then !== void 0 ? then : "reasoning";
}
/** The outcomes of an action, in the order of its calls. A call that was cut is answered and not made. */
async function runAction(mind, { calls, cut = [] }) {globalThis.__t?.("agent/nets/react.js#runAction@8364");
	const isCut = ({ id }) => (globalThis.__t?.("agent/nets/react.js#isCut@8433"),(cut.includes(id)));
	const called = await mind.act(calls.filter((call) => (globalThis.__t?.("agent/nets/react.js#called@8507"),(!isCut(call)))));
	if (cut.length === 0) return called;
	const ran = new Map(called.map((one) => (globalThis.__t?.("agent/nets/react.js#ran@8603"),([one.call, one]))));
	return calls.flatMap((call) => (globalThis.__t?.("agent/nets/react.js#anonymous@8653"),(isCut(call) ? cutOff(call) : ran.get(call) ?? [])));
}
function observationOf(called) {globalThis.__t?.("agent/nets/react.js#observationOf@8716");
	const images = called.flatMap(({ result }) => (globalThis.__t?.("agent/nets/react.js#images@8780"),(result.images ?? [])));
	return observation(called.map(({ call, result }) => (globalThis.__t?.("agent/nets/react.js#anonymous@8849"),(`Result of ${call.function.name}:\n${resultText(result)}`))).join("\n\n"), images);
}
/** The answer in a call that ends the work; if it holds none, the text that came with the call. */
function answerOf({ result }, before) {globalThis.__t?.("agent/nets/react.js#answerOf@9055");
	const { status, answer: given } = isRecord(result.data) ? result.data : {};
	return {
		text: typeof given === "string" ? given || before : resultText(result),
		status: status === "failure" ? "failure" : "success"
	};
}
/** The last text of the assistant since the goal was set. */
function lastWords(messages, goal) {globalThis.__t?.("agent/nets/react.js#lastWords@9379");
	return messages.slice(messages.findLastIndex((message) => (globalThis.__t?.("agent/nets/react.js#anonymous@9462"),(isOneOf(goal, message)))) + 1).findLast(({ role, content = "" }) => (globalThis.__t?.("agent/nets/react.js#anonymous@9513"),(role === "assistant" && content.trim() !== "")))?.content ?? "";
}
/**
* Tells the model that its reply cannot be used. Too many in a row end the run.
*
* @param said the messages to remember; with `isTold` they say why already
*/
async function miss(memory, mind, said, why, { isTold = false } = {}) {globalThis.__t?.("agent/nets/react.js#miss@9770");
	const misses = await numberNote(memory, MISSES) + 1;
	mind.warn("REPLY_UNUSABLE", why);
	await memory.update(isTold ? said : [...said, remark(why)]);
	await memory.setNote(MISSES, misses);
	if (misses < MAX_MISSES) return;
	throw new OutputError("AGENT_REPLY_UNUSABLE", `Expected a reply that says what to do or answers, got ${misses} in a row that do neither. The last one: ${why} Use a model that is made for tools, or react({ actions: "text" }).`, { data: { misses } });
}
async function forgetMisses(memory) {globalThis.__t?.("agent/nets/react.js#forgetMisses@10319");
	if (await memory.note(MISSES) !== void 0) await memory.setNote(MISSES, 0);
}
/** Servers have no code for it: Ollama and its like say it in words. */
function refusesTools(error) {globalThis.__t?.("agent/nets/react.js#refusesTools@10508");
	return error instanceof ModelError && (error.code === "MODEL_BAD_REQUEST" || error.code === "MODEL_FORMAT_UNSUPPORTED") && /\b(tools?|function.?call(s|ing)?)\b/i.test(error.message) && /\b(not|n't|un)[ -]?(be )?(supported|support|enabled)/i.test(error.message);
}
export { react, reactOptions, reactStart, reactStates };
