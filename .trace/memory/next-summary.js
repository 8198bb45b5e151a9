import { boundedSummary, summarizeText, summaryItem, summaryPrompt, timeRange } from "./summary.js";
import { dueMerge, merged, summaryText, withRecent } from "./summary-levels.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/memory/next-summary.ts
/** Makes the next summary that is due: of ten summaries that have come together, else of the oldest messages. Undefined: none is due. */
async function nextSummary(parts) {globalThis.__t?.("memory/next-summary.js#nextSummary@419");
	const { levels, history, sizes, limits, ask, isTimeless = false } = parts;
	const merge = dueMerge(levels);
	if (merge !== void 0) {
		const merging = {
			earlier: merge.earlier,
			items: merge.items.map((text) => ((globalThis.__t?.("memory/next-summary.js#items@662"),({ text }))))
		};
		const text = boundedSummary(await ask(summaryPrompt(merging)));
		return {
			covers: [],
			change: (now) => (globalThis.__t?.("memory/next-summary.js#change@792"),(merged(now, merge, text)))
		};
	}
	const covers = await dueMessages(history, sizes, limits);
	if (covers.length === 0) return void 0;
	const items = [];
	for (const message of covers) items.push(await readable(parts, message));
	const range = isTimeless ? void 0 : timeRange(covers);
	const text = boundedSummary(await ask(summaryPrompt({
		earlier: summaryText(levels),
		items,
		range
	})));
	return {
		covers,
		change: (now) => (globalThis.__t?.("memory/next-summary.js#change@1225"),(withRecent(now, text)))
	};
}
/** A message that alone is longer than a history may be is read in windows first. */
async function readable({ sizes, limits, ask }, message) {globalThis.__t?.("memory/next-summary.js#readable@1348");
	const item = summaryItem(message);
	if (await sizes.of(message) <= limits.maxTokens) return item;
	return {
		...item,
		text: await summarizeText(ask, item.text, windowOf(limits))
	};
}
/** A token is about so many characters where a text has to be cut. */
const WINDOW_CHARACTERS = 4;
/** Characters of a text that are read at once. */
function windowOf({ maxTokens }) {globalThis.__t?.("memory/next-summary.js#windowOf@1746");
	return maxTokens * WINDOW_CHARACTERS;
}
/** @throws UsageError `LIMIT_INVALID` for a limit under which nothing could be remembered. */
function checkedLimits(limits) {globalThis.__t?.("memory/next-summary.js#checkedLimits@1917");
	for (const [name, limit] of Object.entries(limits)) if (!(limit >= 1)) throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number of 1 or more, got ${limit}.`);
	return limits;
}
/** Tokens of messages, each counted once: they never change. */
var MessageSizes = class {
	#counter;
	#textOf;
	#sizes = /* @__PURE__ */ new WeakMap();
	/** @param textOf what of a message counts */
	constructor(counter, textOf = ({ content }) => (globalThis.__t?.("memory/next-summary.js#anonymous@2374"),(content))) {globalThis.__t?.("memory/next-summary.js#constructor@2355");
		this.#counter = counter;
		this.#textOf = textOf;
	}
	async of(message) {globalThis.__t?.("memory/next-summary.js#of@2466");
		const known = this.#sizes.get(message);
		if (known !== void 0) return known;
		const size = await this.#counter.count(this.#textOf(message));
		this.#sizes.set(message, size);
		return size;
	}
};
/**
* What of a history is summed up next: its oldest messages, at most as many as the limits allow and at least one; none while the history
* is within both.
*/
async function dueMessages(history, sizes, limits) {globalThis.__t?.("memory/next-summary.js#dueMessages@2840");
	let chunk;
	let tokens = 0;
	for (const [place, message] of history.entries()) {
		if (place >= limits.maxMessages) break;
		tokens += await sizes.of(message);
		if (tokens > limits.maxTokens) {
			chunk = history.slice(0, Math.max(1, place));
			break;
		}
	}
	return chunk ?? (history.length >= limits.maxMessages ? history.slice(0, limits.maxMessages) : []);
}
export { MessageSizes, checkedLimits, dueMessages, nextSummary, windowOf };
