import { canonicalJson, isUnchanging, unchanging } from "../../kernel/json.js";
import { NotJsonError } from "../../kernel/errors.js";
import { isParsedMessage } from "../../model/chat-message.js";
import { masked } from "../record/masking.js";
// ../../work/wt/lead/src/runtime/steps/step-requests.ts
/** By what they were masked with: runs without secrets of their own share one mask. */
const knownBy = /* @__PURE__ */ new WeakMap();
function knownTo(mask) {globalThis.__t?.("runtime/steps/step-requests.js#knownTo@437");
	const known = knownBy.get(mask) ?? {
		messages: /* @__PURE__ */ new WeakMap(),
		members: /* @__PURE__ */ new WeakMap()
	};
	knownBy.set(mask, known);
	return known;
}
/**
* What steps are asked, as it is recorded. It owns what is known of messages to models and schemas of their answers, which cannot change: a
* conversation that has grown is written, masked and kept only where it has grown, and a schema once.
*
* SR1 what is given is what the whole value gives, written, masked and read at once. SR2 what requests share nobody can change.
*/
var StepRequests = class {
	#mask;
	#known;
	constructor(mask) {globalThis.__t?.("runtime/steps/step-requests.js#constructor@1067");
		this.#mask = mask;
		this.#known = knownTo(mask);
	}
	/** @throws NotJsonError */
	of(request) {globalThis.__t?.("runtime/steps/step-requests.js#of@1163");
		return (isConversation(request) ? this.#conversation(request) : void 0) ?? this.whole(request);
	}
	/** The same of any value, without looking at what it is. @throws NotJsonError */
	whole(request) {globalThis.__t?.("runtime/steps/step-requests.js#whole@1365");
		const text = canonicalJson(request ?? null);
		const given = JSON.parse(text);
		const value = masked(this.#mask, given);
		return value === given ? {
			value,
			text
		} : {
			value,
			text: canonicalJson(value)
		};
	}
	/** Undefined for what has to be looked at as a whole. */
	#conversation(request) {globalThis.__t?.("runtime/steps/step-requests.js#conversation@1677");
		const value = {};
		const texts = [];
		try {
			for (const key of Object.keys(request).sort()) {
				if (request[key] === void 0) continue;
				if (key === "__proto__" || this.#mask(key) !== key) return void 0;
				const member = key === "messages" ? this.#messages(request.messages) : this.#member(key, request[key]);
				value[key] = member.value;
				texts.push(`${JSON.stringify(key)}:${member.text}`);
			}
		} catch (error) {
			if (error instanceof NotJsonError) return void 0;
			throw error;
		}
		return {
			value,
			text: `{${texts.join(",")}}`
		};
	}
	#messages(messages) {globalThis.__t?.("runtime/steps/step-requests.js#messages@2268");
		const values = [];
		const texts = [];
		for (const message of messages) {
			const { value, text } = isParsedMessage(message) ? this.#message(message) : this.#words(message) ?? this.#item(message);
			values.push(value);
			texts.push(text);
		}
		return {
			value: values,
			text: `[${texts.join(",")}]`
		};
	}
	/** What most messages are: somebody's words and nothing else. */
	#words(message) {globalThis.__t?.("runtime/steps/step-requests.js#words@2673");
		if (typeof message !== "object" || message === null || Object.getPrototypeOf(message) !== Object.prototype) return void 0;
		const { role, content } = message;
		if (typeof role !== "string" || typeof content !== "string" || Object.keys(message).length !== 2) return void 0;
		if (Symbol.toStringTag in message || "toJSON" in message) return void 0;
		const value = {
			content: this.#mask(content),
			role: this.#mask(role)
		};
		return {
			value,
			text: `{"content":${JSON.stringify(value.content)},"role":${JSON.stringify(value.role)}}`
		};
	}
	#message(message) {globalThis.__t?.("runtime/steps/step-requests.js#message@3250");
		const known = this.#known.messages.get(message);
		if (known !== void 0) return known;
		const { value, text } = this.#item(message);
		const written = {
			value: unchanging(value),
			text
		};
		this.#known.messages.set(message, written);
		return written;
	}
	/** Within what holds them, members and items stand as deep as in the request: too deep is too deep. */
	#member(key, member) {globalThis.__t?.("runtime/steps/step-requests.js#member@3640");
		if (typeof member === "string") return this.#text(member);
		if (typeof member !== "object") return {
			value: member,
			text: canonicalJson(member)
		};
		if (!isUnchanging(member)) return this.#within(key, member);
		const known = this.#known.members.get(member);
		if (known !== void 0) return known;
		const { value, text } = this.#within(key, member);
		const written = {
			value: unchanging(value),
			text
		};
		this.#known.members.set(member, written);
		return written;
	}
	#text(words) {globalThis.__t?.("runtime/steps/step-requests.js#text@4150");
		const value = this.#mask(words);
		return {
			value,
			text: JSON.stringify(value)
		};
	}
	#within(key, member) {globalThis.__t?.("runtime/steps/step-requests.js#within@4263");
		const { value, text } = this.whole({ [key]: member });
		return {
			value: value[key] ?? null,
			text: text.slice(JSON.stringify(key).length + 2, -1)
		};
	}
	#item(item) {globalThis.__t?.("runtime/steps/step-requests.js#item@4447");
		const { value, text } = this.whole([[item]]);
		return {
			value: value[0]?.[0] ?? null,
			text: text.slice(2, -2)
		};
	}
};
/** A plain object with a list of messages. */
function isConversation(request) {globalThis.__t?.("runtime/steps/step-requests.js#isConversation@4633");
	if (typeof request !== "object" || request === null || Object.getPrototypeOf(request) !== Object.prototype) return false;
	const { messages } = request;
	return Array.isArray(messages) && !("toJSON" in request) && !("toJSON" in messages) && !(Symbol.toStringTag in request);
}
export { StepRequests };
