// ../../work/wt/lead/src/kernel/value-text.ts
/** Most characters of a value that an error tells. */
const MOST = 200;
/**
* A value as an error can tell it: JSON of bounded length, or a word for what JSON cannot say. Never throws, whatever the value does
* when it is looked at.
*/
function valueText(value) {globalThis.__t?.("kernel/value-text.js#valueText@284");
	switch (typeof value) {
		case "function": return functionText(value);
		case "symbol": return "a symbol";
		case "bigint": return `${value}n`;
		case "object": return value === null ? "null" : objectText(value);
		case "string": return bounded(JSON.stringify(value));
		default: return String(value);
	}
}
/** What a thrown value says: an error's message, or its name where it has none; else the value itself. */
function thrownText(thrown) {globalThis.__t?.("kernel/value-text.js#thrownText@727");
	if (thrown instanceof Error) return messageOf(thrown);
	return typeof thrown === "string" ? bounded(thrown) : valueText(thrown);
}
function messageOf(error) {globalThis.__t?.("kernel/value-text.js#messageOf@889");
	try {
		const message = String(error.message);
		return message === "" ? error.name : message;
	} catch {
		return "Error";
	}
}
/** A word that the cut goes through is left out whole: half a key would get past a mask that knows the whole one. */
function bounded(text) {globalThis.__t?.("kernel/value-text.js#bounded@1165");
	if (text.length <= MOST) return text;
	return `${text.slice(0, MOST).replace(/[\w-]+$/, "")}... (${text.length} characters)`;
}
function functionText(value) {globalThis.__t?.("kernel/value-text.js#functionText@1319");
	try {
		const { name } = value;
		return /^class\b/.test(Function.prototype.toString.call(value)) ? bounded(`the class ${String(name)}`) : "a function";
	} catch {
		return "a function";
	}
}
function objectText(value) {globalThis.__t?.("kernel/value-text.js#objectText@1543");
	try {
		const text = JSON.stringify(value);
		const kind = kindOf(value);
		if (typeof text !== "string" || text === "{}" && kind !== "Object") return bounded(`an object of the kind ${kind}`);
		return bounded(text);
	} catch {
		return "an object that is no JSON";
	}
}
function kindOf(value) {globalThis.__t?.("kernel/value-text.js#kindOf@1844");
	const { constructor } = value;
	return typeof constructor?.name === "string" && constructor.name !== "" ? constructor.name : "Object";
}
/**
* Everything but tab and line feed that could steer a terminal or hide what a text says: control characters (C0, DEL, C1), marks of
* writing direction, line and paragraph separators, and characters without a shape. Joiners stay: scripts and emoji need them.
*/
const STEERING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
/** A text in which such characters are shown escaped: `\x1b`, `\u202e`. */
function visibleText(text) {globalThis.__t?.("kernel/value-text.js#visibleText@2493");
	return text.replace(STEERING, (character) => {globalThis.__t?.("kernel/value-text.js#anonymous@2553");
		const code = character.charCodeAt(0);
		return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
	});
}
/** Characters that a terminal obeys, that end a line, or that have no shape. */
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\p{Cf}]/gu;
/** A text of a model, a file or a user on one line: at most `limit` of its characters, with `\u{7f}` for a character that cannot be shown. */
function shownText(text, limit = 200) {globalThis.__t?.("kernel/value-text.js#shownText@3003");
	const shown = text.slice(0, limit).replace(UNSHOWN, (character) => (globalThis.__t?.("kernel/value-text.js#shown@3096"),(`\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)));
	return text.length > limit ? `${shown}...` : shown;
}
/** Control and format characters, separators of lines, halves of characters, and characters without a shape; all but the line feed. */
const UNSEEN = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{DI}\u2800]/gu;
/** A text in which everything that could steer a terminal or hide is escaped as JSON does it, joiners too: for the words of strangers. */
function escapedText(text) {globalThis.__t?.("kernel/value-text.js#escapedText@3569");
	return text.replace(UNSEEN, (character) => (globalThis.__t?.("kernel/value-text.js#anonymous@3627"),(character.split("").map((half) => (globalThis.__t?.("kernel/value-text.js#anonymous@3666"),(`\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`))).join(""))));
}
export { escapedText, shownText, thrownText, valueText, visibleText };
