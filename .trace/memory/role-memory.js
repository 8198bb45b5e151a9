import { isObject } from "../kernel/value-kind.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { MessageSizes } from "./next-summary.js";
import { memoryLine } from "./recall-window.js";
import { assertNoVectorOptions } from "./storage-options.js";
import { estimatedTokens } from "./tokens.js";
import { minisearch } from "./word-index.js";
import { contentHash } from "../kernel/json.js";
// ../../work/wt/lead/src/memory/role-memory.ts
const recallOptions = {
	maxTokens: true,
	shares: true,
	k: true,
	threshold: true,
	neighbours: true,
	timeout: true
};
const roleMemoryOptions = {
	store: true,
	embedder: true,
	index: true,
	lexical: true,
	ttl: true,
	summary: true,
	recall: true,
	tokens: true
};
const MAX_TOKENS = 2e3;
const SHARES = {
	summary: .2,
	recent: .5,
	related: .3
};
const K = 4;
const NEIGHBOURS = 1;
const MOST_NEIGHBOURS = 20;
const TIMEOUT = 3e4;
/**
* How a role remembers: its own options over those of its team, field by field. Undefined: neither has any, or it shall not.
*
* @param isPart whether more options may come, such as an embedder
* @throws UsageError `OPTION_INVALID`
*/
function roleMemoryParts(own, shared, isPart = false) {globalThis.__t?.("memory/role-memory.js#roleMemoryParts@1248");
	if (own === false || own === void 0 && shared === void 0) return void 0;
	const { recall, summary, tokens = estimatedTokens, ...rest } = {
		...shared,
		...own
	};
	const { maxTokens = MAX_TOKENS, shares, k = K, threshold, neighbours = NEIGHBOURS, timeout = TIMEOUT } = {
		...shared?.recall,
		...recall
	};
	checkPorts(rest, summary);
	if (rest.embedder === void 0 && !isPart) assertNoVectorOptions({
		threshold,
		index: rest.index
	}, "of a role's memory");
	if (!Number.isSafeInteger(maxTokens) || maxTokens < 0) throw invalid("memory.recall.maxTokens", "a whole number of 0 or more", maxTokens);
	if (!Number.isSafeInteger(k) || k < 0) throw invalid("memory.recall.k", "a whole number of 0 or more", k);
	if (!Number.isSafeInteger(neighbours) || neighbours < 0 || neighbours > MOST_NEIGHBOURS) throw invalid("memory.recall.neighbours", `a whole number from 0 to ${MOST_NEIGHBOURS}`, neighbours);
	if (threshold !== void 0 && !(threshold >= -1 && threshold <= 1)) throw invalid("memory.recall.threshold", "from -1 to 1", threshold);
	if (!(timeout > 0)) throw invalid("memory.recall.timeout", "milliseconds above 0", timeout);
	return {
		...rest,
		...rest.embedder === void 0 && rest.lexical === void 0 ? { lexical: minisearch } : {},
		tokens,
		digest: new MemoryDigest(),
		sizes: new MessageSizes(tokens, (message) => (globalThis.__t?.("memory/role-memory.js#sizes@2623"),(`${memoryLine(message)}\n`))),
		summary: summary === void 0 || summary === false ? void 0 : { model: summary === true ? void 0 : summary.model },
		maxTokens,
		shares: checkedShares(shares),
		k,
		threshold,
		neighbours,
		timeout
	};
}
/** @throws UsageError `OPTION_INVALID` for what is no object of options */
function checkRoleMemory(options) {globalThis.__t?.("memory/role-memory.js#checkRoleMemory@2951");
	if (options === void 0 || options === false) return;
	if (typeof options !== "object" || options === null) throw invalid("memory", "{ store, embedder, recall, ... } or false", options);
	checkKnownOptions("the option memory", options, roleMemoryOptions);
	checkKnownOptions("the option memory.recall", options.recall, recallOptions);
	roleMemoryParts(options, void 0, true);
}
function checkPorts({ store, embedder, index, lexical, ttl }, summary) {globalThis.__t?.("memory/role-memory.js#checkPorts@3365");
	if (store !== void 0 && !has(store, "add")) throw invalid("memory.store", "a message store", store);
	if (embedder !== void 0 && !has(embedder, "embed")) throw invalid("memory.embedder", "an embedder", embedder);
	if (index !== void 0 && typeof index !== "function") throw invalid("memory.index", "a function that makes one", index);
	if (lexical !== void 0 && typeof lexical !== "function") throw invalid("memory.lexical", "a function that makes one", lexical);
	if (ttl !== void 0 && !(ttl > 0)) throw invalid("memory.ttl", "milliseconds above 0", ttl);
	if (!(summary === void 0 || typeof summary === "boolean" || has(summary.model, "chat"))) throw invalid("memory.summary", "true, false or { model }", summary);
}
function has(port, method) {globalThis.__t?.("memory/role-memory.js#has@4157");
	return isObject(port) && method in port;
}
function checkedShares(shares) {globalThis.__t?.("memory/role-memory.js#checkedShares@4230");
	if (shares === void 0) return SHARES;
	const { summary = 0, recent = 0, related = 0 } = shares;
	const all = {
		summary,
		recent,
		related
	};
	for (const [name, share] of Object.entries(all)) if (!(share >= 0 && share <= 1)) throw invalid(`memory.recall.shares.${name}`, "from 0 to 1", share);
	const sum = summary + recent + related;
	if (sum > 1.000000001) throw invalid("memory.recall.shares", "together at most 1", sum);
	return all;
}
function invalid(option, expected, came) {globalThis.__t?.("memory/role-memory.js#invalid@4708");
	return new UsageError("OPTION_INVALID", `Expected ${option} to be ${expected}, got ${valueText(came)}. Leave it out for the default.`);
}
/** Hexadecimal digits of one message's hash, and of the digest. */
const DIGITS = 32;
/** Tells memories apart by who said what in them, whatever the ids and times. Each message is hashed once: it never changes. */
var MemoryDigest = class {
	#hashes = /* @__PURE__ */ new WeakMap();
	of(memory) {globalThis.__t?.("memory/role-memory.js#of@5178");
		return contentHash(Array.from(memory, (message) => (globalThis.__t?.("memory/role-memory.js#anonymous@5229"),(this.#hashOf(message))))).slice(0, DIGITS);
	}
	#hashOf(message) {globalThis.__t?.("memory/role-memory.js#hashOf@5295");
		const known = this.#hashes.get(message);
		if (known !== void 0) return known;
		const hash = contentHash([message.sentFrom, message.content]).slice(0, DIGITS);
		this.#hashes.set(message, hash);
		return hash;
	}
};
export { MemoryDigest, checkRoleMemory, roleMemoryParts };
