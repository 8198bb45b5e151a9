// ../../work/wt/lead/src/kernel/mask.ts
/** What common providers' keys look like; generous on purpose. */
const KEY_SHAPES = /\b(?:(?:sk|pk|rk|gsk|xai|ghp|gho|xox[abp])[-_][A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{20,})/g;
/** No shorter text holds what has one of these shapes. */
const SHORTEST_KEY = 19;
const MASKED = "[secret]";
/** Secrets shorter than this are not masked: they would tear holes into ordinary text. */
const SHORTEST_SECRET = 6;
/** A mask for the given secrets, as they are and as JSON writes them, and for everything that looks like a provider's key. Without secrets it is always the same function. */
function maskSecrets(secrets) {globalThis.__t?.("kernel/mask.js#maskSecrets@624");
	const known = secrets.filter((secret) => (globalThis.__t?.("kernel/mask.js#known@686"),(secret.length >= SHORTEST_SECRET)));
	if (known.length === 0) return withoutKeys;
	const longestFirst = [...new Set(known.flatMap((secret) => (globalThis.__t?.("kernel/mask.js#longestFirst@826"),([secret, JSON.stringify(secret).slice(1, -1)]))))].toSorted((a, b) => (globalThis.__t?.("kernel/mask.js#longestFirst@896"),(b.length - a.length)));
	return (text) => (globalThis.__t?.("kernel/mask.js#anonymous@936"),(withoutKeys(longestFirst.reduce((clean, secret) => (globalThis.__t?.("kernel/mask.js#anonymous@978"),(clean.replaceAll(secret, MASKED))), text))));
}
function withoutKeys(text) {globalThis.__t?.("kernel/mask.js#withoutKeys@1041");
	return text.length < SHORTEST_KEY ? text : text.replace(KEY_SHAPES, MASKED);
}
/** Longest text of a server that an error repeats, in characters. */
const MAX_SAID = 500;
/** In the words of a server, whatever was sent as a bearer token is a key. */
const BEARER = /\bBearer\s+[^\s"',;]+/g;
/**
* Makes the words of servers and libraries fit for errors: without the given secrets and whatever looks like a key, without control
* characters, and no longer than 500 characters.
*/
function redactor(secrets) {globalThis.__t?.("kernel/mask.js#redactor@1550");
	const mask = maskSecrets(secrets);
	return (text) => {globalThis.__t?.("kernel/mask.js#anonymous@1623");
		const clean = mask(text).slice(0, 4 * MAX_SAID).replace(BEARER, "[secret]").replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
		return clean.length > MAX_SAID ? `${clean.slice(0, MAX_SAID)}…` : clean;
	};
}
/** The same when no secret is known. */
const redact = redactor([]);
export { maskSecrets, redact, redactor };
