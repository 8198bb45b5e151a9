// ../../work/wt/lead/src/agent/message-tokens.ts
/** Roughly the tokens of a picture of ordinary size. */
const IMAGE_TOKENS = 1e3;
/** Tokens of a message besides its text. */
const MESSAGE_TOKENS = 4;
/** Counts the tokens of messages, each once: they never change. A promise is made only where the counter makes one. */
var MessageTokens = class {
	#counter;
	#known = /* @__PURE__ */ new WeakMap();
	/** The counter is async: it counts one message after another. */
	#isAsync = false;
	constructor(counter) {globalThis.__t?.("agent/message-tokens.js#constructor@502");
		this.#counter = counter;
	}
	ofMessage(message) {globalThis.__t?.("agent/message-tokens.js#ofMessage@554");
		const known = this.#known.get(message);
		if (known !== void 0) return known;
		const calls = message.toolCalls === void 0 ? "" : JSON.stringify(message.toolCalls);
		const besides = MESSAGE_TOKENS + IMAGE_TOKENS * (message.images?.length ?? 0);
		return this.#counted(message, `${message.content ?? ""}${message.name ?? ""}${calls}`, besides);
	}
	ofMessages(messages) {globalThis.__t?.("agent/message-tokens.js#ofMessages@927");
		return this.#sum(messages, (message) => (globalThis.__t?.("agent/message-tokens.js#anonymous@969"),(this.ofMessage(message))));
	}
	/** The sum over `messages`, which are all of a memory. Many memories know it without looking at each. */
	ofMemory(memory, messages) {globalThis.__t?.("agent/message-tokens.js#ofMemory@1127");
		const tokens = this.#isAsync ? NaN : memory.weigh?.(this.#countedSync) ?? NaN;
		return Number.isNaN(tokens) ? this.ofMessages(messages) : tokens;
	}
	/** NaN when the counter is async. */
	#countedSync = (message) => {globalThis.__t?.("agent/message-tokens.js#countedSync@1355");
		if (this.#isAsync) return this.#known.get(message) ?? NaN;
		const tokens = this.ofMessage(message);
		if (typeof tokens === "number") return tokens;
		this.#isAsync = true;
		tokens.catch(() => {globalThis.__t?.("agent/message-tokens.js#anonymous@1561");});
		return NaN;
	};
	ofTools(tools) {globalThis.__t?.("agent/message-tokens.js#ofTools@1598");
		return this.#sum(tools, (tool) => (globalThis.__t?.("agent/message-tokens.js#anonymous@1634"),(this.#known.get(tool) ?? this.#counted(tool, JSON.stringify(tool), 0))));
	}
	#counted(what, text, besides) {globalThis.__t?.("agent/message-tokens.js#counted@1728");
		const took = (count) => {globalThis.__t?.("agent/message-tokens.js#took@1767");
			this.#known.set(what, count + besides);
			return count + besides;
		};
		const count = this.#counter.count(text);
		return typeof count === "number" ? took(count) : count.then(took);
	}
	#sum(list, of, from = 0, before = 0) {globalThis.__t?.("agent/message-tokens.js#sum@1975");
		let sum = before;
		for (let place = from; place < list.length; place++) {
			const tokens = of(list[place]);
			if (typeof tokens !== "number") return tokens.then((count) => (globalThis.__t?.("agent/message-tokens.js#anonymous@2176"),(this.#sum(list, of, place + 1, sum + count))));
			sum += tokens;
		}
		return sum;
	}
};
export { IMAGE_TOKENS, MessageTokens };
