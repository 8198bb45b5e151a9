import { addressOf } from "../message/address.js";
import { serializeMessage } from "../message/message.js";
// ../../work/wt/lead/src/memory/memory-queries.ts
/** Returns the key by which a memory recognizes a message. */
function identityIn(memory, message) {globalThis.__t?.("memory/memory-queries.js#identityIn@223");
	return memory.ignoreId ? message.content : message.id;
}
/** Resolves an id. Where ids are ignored, an id names the newest message that has it. */
function resolveTarget(memory, target) {globalThis.__t?.("memory/memory-queries.js#resolveTarget@410");
	if (typeof target !== "string" || !memory.ignoreId) return target;
	for (const message of memory.newestFirst()) if (message.id === target) return message;
}
function containing(memory, substring) {globalThis.__t?.("memory/memory-queries.js#containing@609");
	return Array.from(memory).filter((message) => (globalThis.__t?.("memory/memory-queries.js#anonymous@684"),(message.content.includes(substring))));
}
/** @throws RangeError for NaN */
function olderThan(memory, timestampMs) {globalThis.__t?.("memory/memory-queries.js#olderThan@771");
	if (Number.isNaN(timestampMs)) throw new RangeError("Expected a time in milliseconds, got NaN.");
	return Array.from(memory).filter((message) => (globalThis.__t?.("memory/memory-queries.js#anonymous@946"),(message.timestamp < timestampMs)));
}
/** Returns the newest `k` messages in order of arrival, read from the end. */
function newestOf(memory, k) {globalThis.__t?.("memory/memory-queries.js#newestOf@1074");
	const messages = [];
	for (const message of memory.newestFirst()) {
		if (messages.length === k) break;
		messages.push(message);
	}
	return messages.reverse();
}
/** Returns the observed messages that are not among the newest `k`, each once. */
function findNewsIn(memory, observed, k) {globalThis.__t?.("memory/memory-queries.js#findNewsIn@1352");
	const known = new Set(checkedCount(k) === 0 ? [] : memory.get(k).map((message) => (globalThis.__t?.("memory/memory-queries.js#known@1465"),(identityIn(memory, message)))));
	const news = [];
	for (const message of observed) {
		const identity = identityIn(memory, message);
		if (known.has(identity) || k === 0 && memory.has(message)) continue;
		known.add(identity);
		news.push(message);
	}
	return news;
}
/** Returns the names of the addresses, each once. */
function namesOf(addresses) {globalThis.__t?.("memory/memory-queries.js#namesOf@1799");
	return new Set(Array.from(addresses, addressOf));
}
/** @throws RangeError when `k` is not a whole number of 0 or more. */
function checkedCount(k) {globalThis.__t?.("memory/memory-queries.js#checkedCount@1953");
	if (Number.isInteger(k) && k >= 0) return k;
	throw new RangeError(`Expected the number of newest messages to be a whole number of 0 or more, got ${k}. 0 means all.`);
}
function memoryJson(memory) {globalThis.__t?.("memory/memory-queries.js#memoryJson@2151");
	return {
		...memory.ignoreId ? { ignoreId: true } : {},
		...memory.limit === void 0 ? {} : { limit: memory.limit },
		messages: memory.get().map(serializeMessage)
	};
}
export { checkedCount, containing, findNewsIn, identityIn, memoryJson, namesOf, newestOf, olderThan, resolveTarget };
