/**
* Reads the value that begins at `start`. Mends what can be mended without guessing: byte order marks, comments, trailing commas, single
* and triple quotes, bare keys, Python's literals, raw line breaks in strings, invalid escapes, a comma that is missing at the end of a
* line, the brace of an object that is missing before the bracket of its list. `__proto__` keys are dropped.
*
* A text that ends inside a value is `truncated`. Where it ends behind a whole member of an object, and no list is open, `closed` tells
* what it would be with the missing braces: whether more was to come is for the caller to judge.
*/
function readValue(text, start) {globalThis.__t?.("model/json-reader.js#readValue@624");
	const reader = new Reader(text, start);
	try {
		const value = reader.value(0);
		if (reader.open === void 0) return {
			ok: true,
			value,
			end: reader.position
		};
		return {
			ok: false,
			reason: "truncated",
			at: reader.position,
			closed: {
				value,
				path: reader.open
			}
		};
	} catch (error) {
		if (!(error instanceof Unreadable)) throw error;
		return {
			ok: false,
			reason: error.reason === "malformed" && !reader.sawData ? "prose" : error.reason,
			at: error.at
		};
	}
}
var Unreadable = class extends Error {
	reason;
	at;
	constructor(reason, at) {globalThis.__t?.("model/json-reader.js#constructor@1230");
		super(reason);
		this.reason = reason;
		this.at = at;
	}
};
const SPACE = /[\s\uFEFF\u200B]*/y;
/** A `#` that touches a word is a heading or a reference in prose. */
const LINE_COMMENT = /(?:\/\/|#(?=\s))[^\n]*/y;
const NUMBER = /[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
/** A number that the end of the text has cut short. */
const CUT_NUMBER = /[+-]?[\d.]*(?:[eE][+-]?)?$/y;
const WORD = /[A-Za-z_$][\w$-]*/y;
const KEY = /[\w$-]+/y;
/** Everything in a string up to its end or an escape. */
const PLAIN = {
	"\"": /[^"\\]*/y,
	"'": /[^'\\]*/y
};
/** A fence that closes at the end of the text: nothing was to come. */
const CLOSING_FENCE = /```\s*$/y;
/** What a value of a list begins with where its comma may be missing. */
const BEGINS_VALUE = /["'{[]/;
/** What a key begins with where the comma before it may be missing. */
const BEGINS_KEY = /["']/;
const LITERALS = /* @__PURE__ */ new Map([
	["true", true],
	["True", true],
	["false", false],
	["False", false],
	["null", null],
	["None", null]
]);
const ESCAPES = /* @__PURE__ */ new Map([
	["n", "\n"],
	["t", "	"],
	["r", "\r"],
	["b", "\b"],
	["f", "\f"],
	["/", "/"],
	["\\", "\\"],
	["\"", "\""],
	["'", "'"]
]);
/** Reads one value, leniently, from left to right and never back. */
var Reader = class {
	#text;
	position;
	/** True once an element or a quoted key with its colon was read: from here on it is meant as data. */
	sawData = false;
	/** Set when the text has ended behind a whole member: the keys from the object that is being read to the innermost one. */
	open;
	/** Where the number ends that was read last: at the end of the text more digits may have followed. */
	#numberEnd = -1;
	constructor(text, start) {globalThis.__t?.("model/json-reader.js#constructor@2945");
		this.#text = text;
		this.position = start;
	}
	value(depth, isItem = false) {globalThis.__t?.("model/json-reader.js#value@3016");
		if (depth > 256) throw new Unreadable("too deep", this.position);
		const char = this.#peek();
		if (char === "{") return this.#object(depth, isItem);
		if (char === "[") return this.#array(depth);
		if (char === "\"" || char === "'") return this.#string(char);
		const number = this.#match(NUMBER);
		if (number !== void 0) return this.#number(number);
		const at = this.position;
		if (/[+\-.\d]/.test(char) && this.#match(CUT_NUMBER) !== void 0) throw new Unreadable("truncated", at);
		const word = this.#match(WORD);
		const literal = word === void 0 ? void 0 : LITERALS.get(word);
		if (literal === void 0) throw new Unreadable(this.position >= this.#text.length ? "truncated" : "malformed", at);
		return literal;
	}
	/** @param isItem whether it stands in a list */
	#object(depth, isItem) {globalThis.__t?.("model/json-reader.js#object@3826");
		const members = [];
		this.position++;
		for (;;) {
			if (this.#peek() === "}") break;
			const quoted = this.#peek() === "\"";
			const key = this.#key();
			if (this.#peek() !== ":") throw this.#unexpected();
			this.position++;
			if (quoted) this.sawData = true;
			const value = this.value(depth + 1);
			const end = this.position;
			this.sawData = true;
			if (key !== "__proto__") members.push([key, value]);
			if (this.open !== void 0) {
				this.open.unshift(key);
				break;
			}
			if (this.#endsHere()) {
				this.open = [];
				break;
			}
			if (!this.#comma(isItem ? "}]" : "}", BEGINS_KEY, end)) break;
		}
		if (this.open === void 0 && !(isItem && this.#text[this.position] === "]")) this.position++;
		return Object.fromEntries(members);
	}
	#array(depth) {globalThis.__t?.("model/json-reader.js#array@4615");
		const items = [];
		this.position++;
		for (;;) {
			if (this.#peek() === "]") break;
			items.push(this.value(depth + 1, true));
			if (this.open !== void 0) throw new Unreadable("truncated", this.position);
			const end = this.position;
			this.sawData = true;
			if (!this.#comma("]", BEGINS_VALUE, end)) break;
		}
		this.position++;
		return items;
	}
	/**
	* True after a comma, or where a line break stands in its place; false before what closes the value.
	*
	* @param end where the last value ended
	*/
	#comma(closing, next, end) {globalThis.__t?.("model/json-reader.js#comma@5146");
		const char = this.#peek();
		if (closing.includes(char)) return false;
		if (char === ",") {
			this.position++;
			return true;
		}
		if (!this.#text.slice(end, this.position).includes("\n") || !next.test(char)) throw this.#unexpected();
		return true;
	}
	/** Whether the text ends behind a member of an object that was read whole. */
	#endsHere() {globalThis.__t?.("model/json-reader.js#endsHere@5518");
		if (this.#numberEnd === this.#text.length) return false;
		this.#skip();
		if (this.position === this.#text.length) return true;
		CLOSING_FENCE.lastIndex = this.position;
		return CLOSING_FENCE.test(this.#text);
	}
	#key() {globalThis.__t?.("model/json-reader.js#key@5746");
		const char = this.#peek();
		if (char === "\"" || char === "'") return this.#string(char);
		const bare = this.#match(KEY);
		if (bare === void 0) throw this.#unexpected();
		return bare;
	}
	#string(quote) {globalThis.__t?.("model/json-reader.js#string@5952");
		const triple = quote.repeat(3);
		const isTriple = this.#text.startsWith(triple, this.position);
		const mark = isTriple ? triple : quote;
		const pieces = [];
		this.position += mark.length;
		for (;;) {
			pieces.push(this.#match(PLAIN[quote]) ?? "");
			const char = this.#text[this.position];
			if (char === void 0) throw new Unreadable("truncated", this.position);
			if (char === quote && (!isTriple || this.#endsTriple(triple, quote))) {
				this.position += mark.length;
				return pieces.join("");
			}
			this.position++;
			pieces.push(char === quote ? quote : this.#escape());
		}
	}
	/** Of more than three quotes that follow each other the last three are the end. */
	#endsTriple(triple, quote) {globalThis.__t?.("model/json-reader.js#endsTriple@6658");
		return this.#text.startsWith(triple, this.position) && this.#text[this.position + triple.length] !== quote;
	}
	/** What stands behind a backslash. An escape that JSON does not know was meant as it is written. */
	#escape() {globalThis.__t?.("model/json-reader.js#escape@6899");
		const char = this.#text[this.position];
		if (char === void 0) throw new Unreadable("truncated", this.position);
		this.position++;
		if (char === "u") {
			const digits = this.#text.slice(this.position, this.position + 4);
			if (!/^[0-9a-fA-F]{4}$/.test(digits)) return "\\u";
			this.position += 4;
			return String.fromCharCode(Number.parseInt(digits, 16));
		}
		return ESCAPES.get(char) ?? `\\${char}`;
	}
	#number(digits) {globalThis.__t?.("model/json-reader.js#number@7326");
		const number = Number(digits);
		if (!Number.isFinite(number)) throw new Unreadable("malformed", this.position);
		this.#numberEnd = this.position;
		return number;
	}
	/** The next character that is neither space nor comment. */
	#peek() {globalThis.__t?.("model/json-reader.js#peek@7575");
		this.#skip();
		const char = this.#text[this.position];
		if (char === void 0) throw new Unreadable("truncated", this.position);
		return char;
	}
	/** Passes over spaces and comments. */
	#skip() {globalThis.__t?.("model/json-reader.js#skip@7776");
		for (;;) {
			this.#match(SPACE);
			if (this.#text.startsWith("/*", this.position)) this.#blockComment();
			else if (this.#match(LINE_COMMENT) === void 0) return;
		}
	}
	#blockComment() {globalThis.__t?.("model/json-reader.js#blockComment@7969");
		const end = this.#text.indexOf("*/", this.position + 2);
		if (end === -1) throw new Unreadable("truncated", this.#text.length);
		this.position = end + 2;
	}
	#match(pattern) {globalThis.__t?.("model/json-reader.js#match@8142");
		pattern.lastIndex = this.position;
		const found = pattern.exec(this.#text)?.[0];
		if (found === void 0) return void 0;
		this.position += found.length;
		return found;
	}
	#unexpected() {globalThis.__t?.("model/json-reader.js#unexpected@8341");
		return new Unreadable("malformed", this.position);
	}
};
export { readValue };
