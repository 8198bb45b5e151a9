// ../../work/wt/lead/src/memory/stable-hash.ts
/**
* A hash of 32 bits that is the same in every process and on every machine: FNV-1a over UTF-16 code units, then stirred (the end of
* MurmurHash3), because what is taken of it are its low bits. Not for secrets.
*/
function stableHash(text, seed = 0) {globalThis.__t?.("memory/stable-hash.js#stableHash@266");
	let hash = 2166136261 ^ seed;
	for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 16777619);
	hash = Math.imul(hash ^ hash >>> 16, 2246822507);
	hash = Math.imul(hash ^ hash >>> 13, 3266489909);
	return (hash ^ hash >>> 16) >>> 0;
}
export { stableHash };
