import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/memory/tokens.ts
const CHARACTERS_PER_TOKEN = 4;
/** Characters that are words or syllables of their own: a tokenizer gives about one token to each. Ranges of UTF-16 code units. */
const CJK = [
	[4352, 4607],
	[11904, 42191],
	[43360, 43391],
	[44032, 55295],
	[55360, 55436],
	[63744, 64255],
	[65072, 65103],
	[65280, 65519]
];
/** What may be a word of its own; most texts hold none of it, and need not be read one by one. */
const WIDE = /[\u1100-\uffff]/;
/**
* How many tokens a text is, near enough to decide whether it is long: a quarter of its characters, and one for each Chinese, Japanese or
* Korean character, of which a quarter would tell less than half.
*/
function estimateTokens(text) {globalThis.__t?.("memory/tokens.js#estimateTokens@802");
	if (!WIDE.test(text)) return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
	let cjk = 0;
	let others = 0;
	for (let place = 0; place < text.length; place++) {
		const unit = text.charCodeAt(place);
		if (isCjk(unit)) {
			cjk++;
			if (isHighHalf(unit)) place++;
		} else others++;
	}
	return cjk + Math.ceil(others / CHARACTERS_PER_TOKEN);
}
/** {@link estimateTokens} as a counter: needs nothing, and is what is used when no other is given. */
const estimatedTokens = {
	name: "estimate",
	count: estimateTokens
};
/** Whether a UTF-16 code unit begins a character that is about one token. */
function isCjk(unit) {globalThis.__t?.("memory/tokens.js#isCjk@1431");
	return unit >= 4352 && CJK.some(([first, last]) => (globalThis.__t?.("memory/tokens.js#anonymous@1487"),(unit >= first && unit <= last)));
}
function isHighHalf(unit) {globalThis.__t?.("memory/tokens.js#isHighHalf@1540");
	return unit >= 55296 && unit <= 56319;
}
/** What every message costs besides its words. */
const PER_MESSAGE = 4;
/** A picture whose size nobody knows, as providers count it at most. */
const PER_IMAGE = 1024;
/**
* How many tokens a message is, near enough for a window.
*
* @throws UsageError `TOKENS_INVALID` when the counter gives no number at once.
*/
function messageTokens(message, counter) {globalThis.__t?.("memory/tokens.js#messageTokens@1928");
	const { content, name, toolCalls = [], images = [] } = message;
	return [
		content,
		name,
		...toolCalls.flatMap((call) => (globalThis.__t?.("memory/tokens.js#anonymous@2088"),([call.function.name, call.function.arguments])))
	].map((text) => (globalThis.__t?.("memory/tokens.js#anonymous@2152"),(text === void 0 || text === "" ? 0 : tokensOf(text, counter)))).reduce((sum, tokens) => (globalThis.__t?.("memory/tokens.js#anonymous@2231"),(sum + tokens)), PER_MESSAGE + images.length * PER_IMAGE);
}
function tokensOf(text, counter) {globalThis.__t?.("memory/tokens.js#tokensOf@2306");
	const tokens = counter.count(text);
	if (typeof tokens === "number" && Number.isFinite(tokens) && tokens >= 0) return tokens;
	throw new UsageError("TOKENS_INVALID", `Expected the token counter "${counter.name}" to give a number of 0 or more at once, got ${valueText(tokens)}. A chat memory cannot wait for one.`);
}
export { estimateTokens, estimatedTokens, isCjk, messageTokens };
