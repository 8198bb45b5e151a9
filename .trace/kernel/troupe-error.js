import { thrownText, valueText, visibleText } from "./value-text.js";
// ../../work/wt/lead/src/kernel/troupe-error.ts
const brand = Symbol.for("troupe.error");
/**
* Root of all errors that this package throws on purpose. `code` is stable and in upper snake case; `message` says what was expected, what
* came and what to do; `data` holds plain JSON facts; `cause` keeps the original error. Text from outside may stand in a message: control
* characters in it are shown escaped.
*
* @example
* import { parseMessage, TroupeError } from "troupe";
*
* try {
*   parseMessage({ text: "no content" });
* } catch (error) {
*   if (!TroupeError.isInstance(error)) throw error;
*   console.log(error.code); // MESSAGE_INVALID
* }
*/
var TroupeError = class extends Error {
	/** Stable, documented, upper snake case. */
	code;
	data;
	constructor(code, message, detail = {}) {globalThis.__t?.("kernel/troupe-error.js#constructor@839");
		super(visibleText(typeof message === "string" ? message : valueText(message)), detail.cause === void 0 ? void 0 : { cause: detail.cause });
		this.name = new.target.name;
		this.code = code;
		this.data = detail.data;
		Object.defineProperty(this, brand, { value: true });
	}
	/** For `JSON.stringify`: name, code, message, data and the causes, without stacks. */
	toJSON() {globalThis.__t?.("kernel/troupe-error.js#toJSON@1243");
		return jsonOf(this, DEEPEST);
	}
	/** True for errors of this tree, also across two copies of the package. */
	static isInstance(error) {globalThis.__t?.("kernel/troupe-error.js#isInstance@1378");
		try {
			return error instanceof Error && error[brand] === true;
		} catch {
			return false;
		}
	}
};
/** Any error as plain data. Stacks stay out, control characters are shown escaped, and data that is no JSON is left out. */
function errorRecord(error) {globalThis.__t?.("kernel/troupe-error.js#errorRecord@1619");
	if (TroupeError.isInstance(error)) {
		const data = plainData(error.data);
		return {
			name: error.name,
			code: error.code,
			message: visibleText(error.message),
			...data === void 0 ? {} : { data },
			..."retryable" in error && error.retryable === true ? { retryable: true } : {}
		};
	}
	if (error instanceof Error) {
		const code = error.code;
		return {
			name: error.name,
			code: typeof code === "string" ? code : "ERROR",
			message: visibleText(thrownText(error))
		};
	}
	return {
		name: "Error",
		code: "THROWN",
		message: `A value that is not an Error was thrown: ${visibleText(thrownText(error))}`
	};
}
/** Most causes of an error that its JSON tells: a chain may be a ring. */
const DEEPEST = 5;
function jsonOf(error, depth) {globalThis.__t?.("kernel/troupe-error.js#jsonOf@2373");
	const record = errorRecord(error);
	const cause = error instanceof Error ? error.cause : void 0;
	return cause === void 0 || depth === 0 ? record : {
		...record,
		cause: jsonOf(cause, depth - 1)
	};
}
function plainData(data) {globalThis.__t?.("kernel/troupe-error.js#plainData@2609");
	try {
		const text = JSON.stringify(data);
		return text === void 0 ? void 0 : JSON.parse(text);
	} catch {
		return;
	}
}
export { TroupeError, errorRecord };
