import { isObject, isRecord, isText } from "../kernel/value-kind.js";
import { aText, object, orNothing, readable, takes } from "../kernel/argument.js";
import { UsageError } from "../kernel/errors.js";
import { canonicalJson, deepFreeze } from "../kernel/json.js";
import { lazily } from "../kernel/lazily.js";
import { valueText } from "../kernel/value-text.js";
import { z } from "zod";
// ../../work/wt/lead/src/model/chat-message.ts
/**
* Makes the messages of a conversation.
*
* @throws UsageError `CHAT_MESSAGE_INVALID` for content that is no text, and for pictures and calls that are none.
*/
const ChatMessage = {
	user(content, more) {globalThis.__t?.("model/chat-message.js#user@629");
		takes("ChatMessage.user", "what goes with the content", more, orNothing(object("an object")));
		return more === void 0 && isText(content) ? frozen({
			role: "user",
			content
		}) : parseChatMessage({
			role: "user",
			content,
			...more
		});
	},
	system: (content) => (globalThis.__t?.("model/chat-message.js#system@912"),(isText(content) ? frozen({
		role: "system",
		content
	}) : parseChatMessage({
		role: "system",
		content
	}))),
	assistant: (content) => (globalThis.__t?.("model/chat-message.js#assistant@1050"),(isText(content) ? frozen({
		role: "assistant",
		content
	}) : parseChatMessage({
		role: "assistant",
		content
	}))),
	tool(answer) {globalThis.__t?.("model/chat-message.js#tool@1187");
		takes("ChatMessage.tool", "what it is made of", answer, object("an object with content, name and toolCallId"));
		const { content, name, toolCallId, images } = answer;
		const isPlain = images === void 0 && isText(content) && isText(name) && isText(toolCallId);
		const message = {
			role: "tool",
			content,
			name,
			toolCallId
		};
		return isPlain ? frozen(message) : parseChatMessage({
			...message,
			images
		});
	},
	fromToolCalls(calls, content = "") {globalThis.__t?.("model/chat-message.js#fromToolCalls@1644");
		takes("ChatMessage.fromToolCalls", "calls", calls, readable);
		if (!Array.isArray(calls) || !calls.every(hasFunction)) return parseChatMessage({
			role: "assistant",
			content,
			toolCalls: calls ?? "none"
		});
		const toolCalls = withOwnIds(calls);
		const message = content === "" ? {
			role: "assistant",
			toolCalls
		} : {
			role: "assistant",
			content,
			toolCalls
		};
		return toolCalls.length > 0 && isText(content) && toolCalls.every(isPlainCall) ? frozen(message) : parseChatMessage(message);
	}
};
/** Whether a value has the place where a call names its tool. Programs without types, and servers, leave it out. */
function hasFunction(call) {globalThis.__t?.("model/chat-message.js#hasFunction@2308");
	const { function: wanted } = call ?? {};
	return isObject(wanted);
}
/** Made here, with nothing in it that had to be looked into. */
function isPlainCall({ id, function: { name, arguments: given }, extra }) {globalThis.__t?.("model/chat-message.js#isPlainCall@2472");
	return extra === void 0 && isText(id) && isText(name) && isText(given);
}
/** A message that is known to be one. */
function frozen(message) {globalThis.__t?.("model/chat-message.js#frozen@2665");
	for (const call of message.toolCalls ?? []) {
		Object.freeze(call.function);
		Object.freeze(call);
	}
	if (message.toolCalls !== void 0) Object.freeze(message.toolCalls);
	Object.freeze(message);
	parsedBefore.add(message);
	return message;
}
const messageShape = lazily(() => {globalThis.__t?.("model/chat-message.js#messageShape@2966");
	const text = z.string();
	const image = z.union([z.object({
		mediaType: text.regex(/^image\/[\w.+-]{1,100}$/),
		data: text.min(1)
	}), z.object({ url: text.min(1) })]);
	const call = z.object({
		id: text,
		type: z.literal("function").default("function"),
		function: z.object({
			name: text,
			arguments: text
		}),
		extra: z.record(text, z.json()).exactOptional()
	});
	return z.object({
		role: z.enum([
			"system",
			"user",
			"assistant",
			"tool"
		]),
		content: text.nullish(),
		toolCalls: z.array(call).nullish(),
		name: text.nullish(),
		toolCallId: text.nullish(),
		images: z.array(image).nullish()
	});
});
/** OpenAI's own names of fields, where they differ: `tool_calls`, with `extra_content` in each call. */
function ownNames(value) {globalThis.__t?.("model/chat-message.js#ownNames@3712");
	if (typeof value !== "object" || value === null || !("tool_calls" in value || "tool_call_id" in value)) return value;
	const { tool_calls: given, tool_call_id: answered, ...rest } = value;
	const calls = Array.isArray(given) ? given.map(ownCall) : given;
	return {
		...rest,
		...given === void 0 ? {} : { toolCalls: sameOf("tool_calls", rest["toolCalls"], calls) },
		...answered === void 0 ? {} : { toolCallId: sameOf("tool_call_id", rest["toolCallId"], answered) }
	};
}
function ownCall(call) {globalThis.__t?.("model/chat-message.js#ownCall@4215");
	if (typeof call !== "object" || call === null || !("extra_content" in call)) return call;
	const { extra_content: extra, ...rest } = call;
	return {
		...rest,
		...extra === void 0 || extra === null ? {} : { extra }
	};
}
/** @throws UsageError `CHAT_MESSAGE_INVALID`, also for a value that throws when it is looked at: telling what is wrong with it looks too */
function readAs(value) {globalThis.__t?.("model/chat-message.js#readAs@4605");
	try {
		const parsed = messageShape().safeParse(ownNames(value));
		if (parsed.success) return parsed.data;
		throw notAMessage(z.prettifyError(parsed.error).slice(0, MOST_TOLD));
	} catch (error) {
		throw error instanceof UsageError ? error : notAMessage("a value that cannot be read");
	}
}
/** Nobody knows which of two was meant. @throws UsageError `CHAT_MESSAGE_INVALID` */
function sameOf(name, own, theirs) {globalThis.__t?.("model/chat-message.js#sameOf@5011");
	if (own === void 0 || own === null || canonicalJson(own) === canonicalJson(theirs ?? null)) return theirs;
	throw notAMessage(`it says ${name} twice, under two names, and not the same`);
}
/**
* A chat message from a value of unknown origin: the fields it has, without empty ones, frozen through and through. OpenAI's own form, with
* `tool_calls` and `tool_call_id`, is read too.
*
* @throws UsageError `CHAT_MESSAGE_INVALID` when it is none, or when a tool's message does not say which call it answers.
*/
function parseChatMessage(value) {globalThis.__t?.("model/chat-message.js#parseChatMessage@5557");
	if (isParsedMessage(value)) return value;
	const { role, content, toolCalls, name, toolCallId, images } = readAs(value);
	if (role === "tool" && typeof toolCallId !== "string") throw notAMessage("a tool's message has the toolCallId of the call it answers");
	if (role !== "assistant" && toolCalls !== void 0 && toolCalls !== null) throw notAMessage(`a message of role ${role} calls no tools`);
	const message = deepFreeze({
		role,
		...typeof content === "string" ? { content } : {},
		...toolCalls === void 0 || toolCalls === null || toolCalls.length === 0 ? {} : { toolCalls },
		...typeof name === "string" ? { name } : {},
		...typeof toolCallId === "string" ? { toolCallId } : {},
		...images === void 0 || images === null || images.length === 0 ? {} : { images }
	});
	parsedBefore.add(message);
	return message;
}
/** Whether a value is a message that was made or read here: plain, and frozen through and through, so what it was it still is. */
function isParsedMessage(value) {globalThis.__t?.("model/chat-message.js#isParsedMessage@6546");
	return isObject(value) && parsedBefore.has(value);
}
const parsedBefore = /* @__PURE__ */ new WeakSet();
/** Most characters of an error about a message. */
const MOST_TOLD = 500;
function notAMessage(why) {globalThis.__t?.("model/chat-message.js#notAMessage@6761");
	return new UsageError("CHAT_MESSAGE_INVALID", `Expected a chat message with a role and what that role says, got something else: ${why}`);
}
/** Calls with ids of their own, in the wire's form. */
function withOwnIds(calls) {globalThis.__t?.("model/chat-message.js#withOwnIds@6986");
	const [only] = calls;
	if (calls.length === 1 && only !== void 0) return [wireForm(only, only.id)];
	const taken = /* @__PURE__ */ new Set();
	return calls.map((call) => {globalThis.__t?.("model/chat-message.js#anonymous@7176");
		let own = call.id;
		for (let nth = 2; taken.has(own); nth++) own = `${call.id}#${nth}`;
		taken.add(own);
		return wireForm(call, own);
	});
}
function wireForm({ function: { name, arguments: given }, extra }, id) {globalThis.__t?.("model/chat-message.js#wireForm@7334");
	const call = {
		id,
		type: "function",
		function: {
			name,
			arguments: given
		}
	};
	return extra === void 0 ? call : {
		...call,
		extra
	};
}
/**
* Messages and lists of messages as one list, in the order given: the caller's own, under no limit of any memory.
*
* @throws UsageError `CHAT_MESSAGE_INVALID` for a part that is neither, naming its place.
*/
function joinMessages(...parts) {globalThis.__t?.("model/chat-message.js#joinMessages@7774");
	return parts.flatMap((part, index) => {globalThis.__t?.("model/chat-message.js#anonymous@7830");
		takes("joinMessages", "what is joined", part, readable);
		const list = Array.isArray(part) ? part : [part];
		if (list.every(isMessage)) return list;
		throw new UsageError("CHAT_MESSAGE_INVALID", `Expected chat messages or lists of them to join, got ${valueText(part)} as number ${index + 1}.`);
	});
}
function isMessage(value) {globalThis.__t?.("model/chat-message.js#isMessage@8156");
	return isObject(value) && typeof value.role === "string";
}
/**
* Turns a message into a chat message, as a model reads it: `sender: content`, or the content alone without a sender. Ids and times are
* left out, or a fork would pay for every call again. Every role but `system` and `assistant` becomes `user`, because servers know no
* others.
*
* @throws UsageError `ARGUMENT_INVALID` for a value that is no message.
* @example
* import { createMessage, toChat } from "troupe";
*
* console.log(toChat(createMessage("Hello", { sentFrom: "Ada" }))); // { role: 'user', content: 'Ada: Hello' }
*/
function toChat(message) {globalThis.__t?.("model/chat-message.js#toChat@8780");
	takes("toChat", "message", message, object("a message", {
		role: aText,
		content: aText,
		sentFrom: aText
	}));
	return {
		role: chatRoleOf(message.role),
		content: renderForPrompt(message)
	};
}
function chatRoleOf(role) {globalThis.__t?.("model/chat-message.js#chatRoleOf@9009");
	return role === "system" || role === "assistant" ? role : "user";
}
/** `sender: content`, or the content alone when nobody is named. */
function renderForPrompt(message) {globalThis.__t?.("model/chat-message.js#renderForPrompt@9175");
	return message.sentFrom === "" ? message.content : `${message.sentFrom}: ${message.content}`;
}
/** What servers take in no name of a speaker or a tool. */
const UNNAMEABLE = /[^a-zA-Z0-9_-]/g;
/**
* A conversation in the form that OpenAI's servers take, without empty fields. Pictures that tools return follow as a user's message after
* the last of their answers: tool messages carry text alone and stand together.
*
* @throws UsageError `IMAGES_UNSUPPORTED` for pictures in a system's or assistant's message.
*/
function openaiMessages(messages) {globalThis.__t?.("model/chat-message.js#openaiMessages@9727");
	const wire = [];
	let pictures = [];
	const flush = () => {globalThis.__t?.("model/chat-message.js#flush@9816");
		if (pictures.length > 0) wire.push({
			role: "user",
			content: contentParts("Pictures returned by the tools above:", pictures)
		});
		pictures = [];
	};
	for (const message of messages) {
		if (message.role !== "tool") flush();
		wire.push(wireMessage(message));
		if (message.role === "tool") pictures.push(...message.images ?? []);
	}
	flush();
	return wire;
}
function wireMessage(message) {globalThis.__t?.("model/chat-message.js#wireMessage@10193");
	const { role, content = "", images = [] } = message;
	if (role === "tool") return {
		role,
		content,
		tool_call_id: message.toolCallId ?? ""
	};
	const name = message.name?.replace(UNNAMEABLE, "_").slice(0, 64);
	const speaker = name === void 0 || name === "" ? {} : { name };
	if (images.length > 0 && role !== "user") throw new UsageError("IMAGES_UNSUPPORTED", `Expected pictures in messages of users and tools only, got some in one of role ${role}.`);
	if (role === "user") return {
		role,
		...speaker,
		content: images.length === 0 ? content : contentParts(content, images)
	};
	if (role === "system") return {
		role,
		...speaker,
		content
	};
	const calls = message.toolCalls ?? [];
	if (calls.length === 0) return {
		role,
		...speaker,
		content
	};
	return {
		role,
		...speaker,
		...content === "" ? {} : { content },
		tool_calls: calls.map(wireCall)
	};
}
function contentParts(text, images) {globalThis.__t?.("model/chat-message.js#contentParts@11105");
	const pictures = images.map((image) => {globalThis.__t?.("model/chat-message.js#pictures@11172");
		return {
			type: "image_url",
			image_url: { url: "url" in image ? image.url : `data:${image.mediaType};base64,${image.data}` }
		};
	});
	return text === "" ? pictures : [{
		type: "text",
		text
	}, ...pictures];
}
/** Models call tools by names that no tool may have and with arguments that are no JSON; servers refuse to be told so. */
function wireCall({ id, function: { name, arguments: given }, extra }) {globalThis.__t?.("model/chat-message.js#wireCall@11529");
	const wireName = name.replace(UNNAMEABLE, "_").slice(0, 64);
	return {
		id,
		type: "function",
		function: {
			name: wireName === "" ? "_" : wireName,
			arguments: isJsonObject(given) ? given : JSON.stringify({ unreadable: given })
		},
		...extra === void 0 ? {} : { extra_content: extra }
	};
}
function isJsonObject(text) {globalThis.__t?.("model/chat-message.js#isJsonObject@11904");
	try {
		const value = JSON.parse(text);
		return isRecord(value);
	} catch {
		return false;
	}
}
export { ChatMessage, hasFunction, isParsedMessage, joinMessages, openaiMessages, parseChatMessage, renderForPrompt, toChat };
