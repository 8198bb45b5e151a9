import { checkKnownOptions } from "../kernel/known-options.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { checkedTtl, isSameEntry, refuseClosed } from "./cache.js";
// ../../work/wt/lead/src/memory/memory-cache.ts
const memoryCacheOptions = {
	limit: true,
	clock: true
};
const DEFAULT_LIMIT = 1e4;
/**
* A cache that lives and ends with its process.
*
* @throws UsageError `LIMIT_INVALID` when `limit` is not a whole number of 1 or more.
*/
function memoryCache(options = {}) {globalThis.__t?.("memory/memory-cache.js#memoryCache@510");
	checkKnownOptions("memoryCache", options, memoryCacheOptions);
	const { limit = DEFAULT_LIMIT, clock = systemClock } = options;
	if (!Number.isInteger(limit) || limit < 1) throw new UsageError("LIMIT_INVALID", `Expected the limit of a cache to be a whole number of 1 or more, got ${limit}.`);
	return new MapCache(limit, clock);
}
var MapCache = class {
	#limit;
	#clock;
	#entries = /* @__PURE__ */ new Map();
	#isClosed = false;
	constructor(limit, clock) {globalThis.__t?.("memory/memory-cache.js#constructor@991");
		this.#limit = limit;
		this.#clock = clock;
	}
	async get(key) {globalThis.__t?.("memory/memory-cache.js#get@1067");
		refuseClosed(this.#isClosed);
		return this.#get(key);
	}
	async set(key, value, ttl) {globalThis.__t?.("memory/memory-cache.js#set@1145");
		refuseClosed(this.#isClosed);
		this.#set(key, value, checkedTtl(ttl));
	}
	async replace(key, value, { expected, ttl }) {globalThis.__t?.("memory/memory-cache.js#replace@1256");
		refuseClosed(this.#isClosed);
		checkedTtl(ttl);
		const entry = this.#get(key);
		if (!isSameEntry(entry, expected)) return entry;
		this.#set(key, value, ttl);
	}
	async delete(key) {globalThis.__t?.("memory/memory-cache.js#delete@1470");
		refuseClosed(this.#isClosed);
		this.#entries.delete(key);
	}
	async close() {globalThis.__t?.("memory/memory-cache.js#close@1554");
		this.#isClosed = true;
		this.#entries.clear();
	}
	#get(key) {globalThis.__t?.("memory/memory-cache.js#get@1617");
		const entry = this.#entries.get(key);
		if (entry === void 0) return { kind: "miss" };
		if (entry.expires > this.#clock.now()) return {
			kind: "hit",
			value: entry.value
		};
		this.#entries.delete(key);
		return { kind: "miss" };
	}
	#set(key, value, ttl) {globalThis.__t?.("memory/memory-cache.js#set@1871");
		const expires = this.#clock.now() + ttl;
		this.#entries.delete(key);
		this.#entries.set(key, {
			value,
			expires
		});
		const [oldest] = this.#entries.keys();
		if (this.#entries.size > this.#limit && oldest !== void 0) this.#entries.delete(oldest);
	}
};
export { memoryCache };
