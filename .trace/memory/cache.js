import { CacheError, UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/memory/cache.ts
/** Whether two entries are the same, for those who compare before they write. */
function isSameEntry(one, other) {globalThis.__t?.("memory/cache.js#isSameEntry@186");
	const [a, b] = [one, other].map((entry) => (globalThis.__t?.("memory/cache.js#anonymous@254"),(entry?.kind === "hit" ? entry : void 0)));
	return a?.value === b?.value && a?.other === b?.other;
}
/** Replaces an entry of any cache; see {@link Cache.replace}. */
async function replaceIn(cache, key, value, o) {globalThis.__t?.("memory/cache.js#replaceIn@430");
	if (cache.replace !== void 0) return cache.replace(key, value, o);
	const entry = await cache.get(key);
	if (!isSameEntry(entry, o.expected)) return entry;
	await cache.set(key, value, o.ttl);
}
/** How long an entry is kept when nothing else is said: 30 minutes, in milliseconds. */
const DEFAULT_TTL = 18e5;
/** What a part may hold as it is. A dot is not among it: `..` would be a way out of a folder. */
const PLAIN = /^[A-Za-z0-9_~-]$/;
/** An empty part. No escaped text is this. */
const EMPTY = "%";
/**
* `{prefix}:{userId}:{chatId}`. Different parts give different keys: what is neither a Latin letter, a digit nor one of `_~-` is escaped,
* so that a colon in a name ends no part.
*/
function cacheKey({ prefix, userId, chatId }) {globalThis.__t?.("memory/cache.js#cacheKey@1175");
	return [
		prefix,
		userId,
		chatId
	].map(escapedPart).join(":");
}
function escapedPart(part) {globalThis.__t?.("memory/cache.js#escapedPart@1295");
	return part === "" ? EMPTY : Array.from(part, escapedCharacter).join("");
}
function escapedCharacter(character) {globalThis.__t?.("memory/cache.js#escapedCharacter@1401");
	if (PLAIN.test(character)) return character;
	if (/^[\ud800-\udfff]$/.test(character)) return `%u${character.charCodeAt(0).toString(16)}`;
	const escaped = encodeURIComponent(character);
	return escaped === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : escaped;
}
/** @throws UsageError `TTL_INVALID` when it is no time that can pass. */
function checkedTtl(ttl) {globalThis.__t?.("memory/cache.js#checkedTtl@1804");
	if (Number.isFinite(ttl) && ttl > 0) return ttl;
	throw new UsageError("TTL_INVALID", `Expected the time to live of an entry to be a positive number of milliseconds, got ${ttl}.`);
}
/** @throws CacheError `CACHE_CLOSED` */
function refuseClosed(isClosed) {globalThis.__t?.("memory/cache.js#refuseClosed@2056");
	if (isClosed) throw new CacheError("CACHE_CLOSED", "Expected an open cache, got one that was closed. Close it when nothing uses it any more.");
}
export { DEFAULT_TTL, cacheKey, checkedTtl, isSameEntry, refuseClosed, replaceIn };
