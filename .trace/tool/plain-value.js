import { ControlError } from "../kernel/errors.js";
import { thrownText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/tool/plain-value.ts
/** Deeper values are not read. */
const MAX_DEPTH = 100;
/**
* Any value as plain JSON of bounded size. Values that JSON lacks become words: `[cycle]`, `[binary: 512 bytes]`, `[function]`. Never
* throws, whatever the value does when it is read, and reads no more of it than it returns.
*
* @param limit most characters, near enough
*/
function plainValue(value, limit) {globalThis.__t?.("tool/plain-value.js#plainValue@489");
	const walk = new Walk(limit);
	const plain = walk.tell(value, 0);
	return {
		value: plain === void 0 ? "[undefined]" : plain,
		isCut: walk.isCut
	};
}
/** One walk over a value. It owns the characters left, and the objects around the current place. */
var Walk = class {
	#left;
	#above = /* @__PURE__ */ new Set();
	isCut = false;
	constructor(limit) {globalThis.__t?.("tool/plain-value.js#constructor@872");
		this.#left = limit;
	}
	/** Undefined for undefined. */
	tell(value, depth) {globalThis.__t?.("tool/plain-value.js#tell@945");
		switch (typeof value) {
			case "string": return this.#text(value);
			case "number":
				this.#left -= 8;
				return Number.isFinite(value) ? value : String(value);
			case "boolean":
				this.#left -= 5;
				return value;
			case "bigint": return this.#text(String(value));
			case "undefined": return;
			case "symbol": return "[symbol]";
			case "function": return "[function]";
			case "object": return value === null ? null : this.#object(value, depth);
		}
	}
	#text(text) {globalThis.__t?.("tool/plain-value.js#text@1437");
		const shown = text.length <= this.#left ? text : text.slice(0, Math.max(0, this.#left));
		this.isCut ||= shown.length < text.length;
		this.#left -= text.length + 2;
		return shown;
	}
	#object(value, depth) {globalThis.__t?.("tool/plain-value.js#object@1642");
		if (this.#above.has(value)) return "[cycle]";
		if (depth >= MAX_DEPTH) return "[more]";
		this.#above.add(value);
		try {
			return this.#members(value, depth);
		} catch (error) {
			return `[cannot be read: ${toldOf(error)}]`;
		} finally {
			this.#above.delete(value);
		}
	}
	#members(value, depth) {globalThis.__t?.("tool/plain-value.js#members@1951");
		if (Array.isArray(value)) return this.#list(value, depth);
		const { toJSON } = value;
		if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[binary: ${value.byteLength} bytes]`;
		if (value instanceof Error) return toldOf(value);
		if (value instanceof Promise) return unawaited(value);
		if (value instanceof Map || value instanceof Set) return this.#list(value, depth);
		if (typeof toJSON === "function") return this.tell(toJSON.call(value), depth + 1) ?? null;
		return this.#record(value, depth);
	}
	#list(values, depth) {globalThis.__t?.("tool/plain-value.js#list@2501");
		const items = [];
		for (const item of values) {
			if (this.#isFull()) break;
			this.#left -= 2;
			items.push(this.tell(item, depth + 1) ?? null);
		}
		return items;
	}
	#record(value, depth) {globalThis.__t?.("tool/plain-value.js#record@2702");
		const members = [];
		for (const name in value) {
			if (!Object.hasOwn(value, name)) continue;
			if (this.#isFull()) break;
			const key = this.#text(name);
			const member = this.tell(value[name], depth + 1);
			if (member !== void 0 && key !== "__proto__") members.push([key, member]);
		}
		return Object.fromEntries(members);
	}
	#isFull() {globalThis.__t?.("tool/plain-value.js#isFull@3064");
		if (this.#left > 0) return false;
		this.isCut = true;
		return true;
	}
};
/** Nobody awaits the promise, so its failure would end the process. */
function unawaited(promise) {globalThis.__t?.("tool/plain-value.js#unawaited@3219");
	promise.catch(() => {globalThis.__t?.("tool/plain-value.js#anonymous@3264");});
	return "[promise: it was not awaited]";
}
/** The text of a thrown value. Reading it may throw in turn. */
function toldOf(thrown) {globalThis.__t?.("tool/plain-value.js#toldOf@3383");
	try {
		return thrownText(thrown);
	} catch {
		return "an error that cannot be read";
	}
}
/** The thrown value if it is an interruption. */
function interruptionIn(thrown) {globalThis.__t?.("tool/plain-value.js#interruptionIn@3552");
	try {
		return thrown instanceof ControlError ? thrown : void 0;
	} catch {
		return;
	}
}
export { interruptionIn, plainValue, toldOf };
