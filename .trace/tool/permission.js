import { isObject } from "../kernel/value-kind.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/tool/permission.ts
const NO_RULES = [];
/** Longest argument to which a rule that allows can apply; rules that deny or ask apply to all. */
const MAX_ALLOWED = 1e4;
const STRICTNESS = {
	allow: 0,
	ask: 1,
	deny: 2
};
/**
* Decides on a call.
*
* `Permission.P1` of all rules that fit, the strictest decides, wherever it stands: deny, then ask, then allow ({@link strictest}). So the
* rules of several owners can be joined, and no rule undoes the denial of another. `Permission.P2` when no rule fits, the policy's default
* decides, and without one the tool. `Permission.P3` a call that the tool itself denies is allowed only by a rule that fits it.
* `Permission.P4` a rule that allows fits only texts it plainly covers ({@link isPlainlyCovered}); one that asks or denies fits all texts
* that may be meant ({@link mayBeMeant}).
*
* @throws UsageError `PERMISSION_INVALID` for a policy that cannot be followed as it is written.
*/
function decide(tool, args, policy) {globalThis.__t?.("tool/permission.js#decide@1114");
	checkPolicy(policy);
	const { rules = NO_RULES } = policy;
	const ruled = rules.length === 0 ? void 0 : strictest(rules.filter((rule) => (globalThis.__t?.("tool/permission.js#ruled@1280"),(fitsTool(rule, tool.name) && fitsArguments(rule, args)))));
	if (ruled !== void 0) return ruled;
	const own = decisionOf(tool.permission, args);
	return own === "deny" ? own : policy.default ?? own;
}
/** A call that no rule of the tool fits needs permission. */
function decisionOf(permission, args) {globalThis.__t?.("tool/permission.js#decisionOf@1551");
	if (typeof permission === "string") return permission;
	return strictest(permission.filter((rule) => (globalThis.__t?.("tool/permission.js#anonymous@1683"),(fitsArguments(rule, args))))) ?? "ask";
}
function strictest(rules) {globalThis.__t?.("tool/permission.js#strictest@1733");
	const [first] = rules.map((rule) => (globalThis.__t?.("tool/permission.js#anonymous@1788"),(rule.decide))).toSorted((a, b) => (globalThis.__t?.("tool/permission.js#anonymous@1820"),(STRICTNESS[b] - STRICTNESS[a])));
	return first;
}
function fitsTool({ tool: pattern, decide: decision }, name) {globalThis.__t?.("tool/permission.js#fitsTool@1879");
	return decision === "allow" ? fitsGlob(name, pattern) : fitsGlob(name.toLowerCase(), pattern.toLowerCase());
}
function fitsArguments({ args: patterns, decide: decision }, args) {globalThis.__t?.("tool/permission.js#fitsArguments@2054");
	return Object.entries(patterns ?? {}).every(([path, pattern]) => {globalThis.__t?.("tool/permission.js#anonymous@2168");
		const values = valuesAt(args, path);
		const fitsOne = (value) => (globalThis.__t?.("tool/permission.js#fitsOne@2248"),(value !== void 0 && fits(value, pattern, decision)));
		return decision === "allow" ? values.every(fitsOne) : values.some(fitsOne);
	});
}
function fits(value, pattern, decision) {globalThis.__t?.("tool/permission.js#fits@2396");
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return decision === "allow" ? text.length <= MAX_ALLOWED && isPlainlyCovered(text, pattern) : mayBeMeant(text, pattern);
}
/** All values that a path may mean, at least one: a model may add a member whose name is the whole path. Undefined for a missing value. */
function valuesAt(args, path) {globalThis.__t?.("tool/permission.js#valuesAt@2775");
	const inside = reached(args, path.split("."));
	return path.includes(".") && Object.hasOwn(args, path) ? [...reached(args, [path]), ...inside.filter((value) => (globalThis.__t?.("tool/permission.js#anonymous@2957"),(value !== void 0)))] : inside;
}
function reached(place, [name, ...rest]) {globalThis.__t?.("tool/permission.js#reached@2999");
	if (Array.isArray(place)) {
		if (name !== void 0 && /^\d+$/.test(name)) return reached(place[Number(name)], rest);
		return place.length === 0 ? [void 0] : place.flatMap((one) => (globalThis.__t?.("tool/permission.js#anonymous@3214"),(reached(one, name === void 0 ? [] : [name, ...rest]))));
	}
	if (name === void 0) return [place];
	return isObject(place) && Object.hasOwn(place, name) ? reached(place[name], rest) : [void 0];
}
/** Policies that were checked. */
const checkedPolicies = /* @__PURE__ */ new WeakSet();
/** @throws UsageError `PERMISSION_INVALID` for a policy that cannot be followed as it is written. */
function checkPolicy(policy) {globalThis.__t?.("tool/permission.js#checkPolicy@3608");
	if (checkedPolicies.has(policy)) return;
	if (policy.default !== void 0) checkDecision(policy.default, "the default of a policy");
	for (const rule of policy.rules ?? []) {
		checkPattern(rule.tool, "the tool of a rule");
		checkRule(rule, `the rule for "${rule.tool}"`);
	}
	checkedPolicies.add(policy);
}
/** @throws UsageError `PERMISSION_INVALID` */
function checkPermission(permission, whose) {globalThis.__t?.("tool/permission.js#checkPermission@3994");
	if (!Array.isArray(permission)) return checkDecision(permission, `the permission of ${whose}`);
	for (const rule of permission) checkRule(rule, `a rule of ${whose}`);
}
function checkRule({ args = {}, decide: decision }, what) {globalThis.__t?.("tool/permission.js#checkRule@4210");
	checkDecision(decision, what);
	for (const [name, pattern] of Object.entries(args)) checkPattern(pattern, `the pattern of "${name}" in ${what}`);
}
function checkDecision(decision, what) {globalThis.__t?.("tool/permission.js#checkDecision@4419");
	if (typeof decision === "string" && Object.hasOwn(STRICTNESS, decision)) return;
	throw invalid(`${what} to be "allow", "ask" or "deny"`, decision);
}
function checkPattern(pattern, what) {globalThis.__t?.("tool/permission.js#checkPattern@4612");
	if (typeof pattern === "string" && pattern !== "" && pattern.length <= MAX_PATTERN) return;
	throw invalid(`${what} to be a text of 1 to ${MAX_PATTERN} characters, where * stands for any`, pattern);
}
function invalid(expected, got) {globalThis.__t?.("tool/permission.js#invalid@4853");
	return new UsageError("PERMISSION_INVALID", `Expected ${expected}, got ${valueText(got)}.`);
}
/** Longer patterns are refused. */
const MAX_PATTERN = 500;
/**
* True when a whole text fits a pattern. `*` stands for any characters, everything else for itself: patterns come from users, and a
* regular expression could run for hours.
*/
function fitsGlob(text, pattern) {globalThis.__t?.("tool/permission.js#fitsGlob@5225");
	const [first = "", ...pieces] = pattern.split("*");
	if (pieces.length === 0) return text === pattern;
	const last = pieces.pop() ?? "";
	if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
	const end = text.length - last.length;
	let place = first.length;
	for (const piece of pieces) {
		const found = text.indexOf(piece, place);
		if (found === -1 || found + piece.length > end) return false;
		place = found + piece.length;
	}
	return true;
}
/** Parts of a text that lead elsewhere in a path or end a line, and those that begin another command in a shell. */
const ELSEWHERE = /(?:^|[/\\])(?:\.|%2e){2}(?:$|[/\\])|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/i;
const SHELL = /[;&|`<>]|\$\(/;
/** Scheme, host with its port, and the rest. A pattern may have a `*` in each. */
const ADDRESS = /^([a-z*][a-z0-9+.*-]*):\/\/([^/?#\\]*)([^]*)$/i;
const PLAIN_HOST = /^[\p{L}\p{N}.:[\]_-]*$/u;
/** Characters that readers of addresses and of screens ignore. */
const HIDDEN = /[\p{Cc}\p{Cf}]/gu;
/**
* True when a pattern plainly covers a text, for rules that allow. A `*` does not stand for parts that could lead elsewhere: `..` in a
* path, a new line, another host in an address, or, except in an address, another command of a shell.
*/
function isPlainlyCovered(text, pattern) {globalThis.__t?.("tool/permission.js#isPlainlyCovered@6555");
	if (!pattern.includes("*")) return text === pattern;
	if (ELSEWHERE.test(text)) return false;
	const [, scheme, host = "", rest = ""] = ADDRESS.exec(pattern) ?? [];
	return scheme === void 0 ? !SHELL.test(text) && fitsGlob(text, pattern) : isAddressIn(text, {
		scheme,
		host,
		rest
	});
}
function isAddressIn(text, pattern) {globalThis.__t?.("tool/permission.js#isAddressIn@6891");
	const [, scheme = "", host = "", rest = ""] = ADDRESS.exec(text) ?? [];
	const isHost = host === pattern.host || PLAIN_HOST.test(host) && fitsGlob(host, pattern.host);
	const isAnyPlace = pattern.rest === "" && pattern.host.endsWith("*");
	return isHost && fitsGlob(scheme, pattern.scheme) && (isAnyPlace || fitsGlob(rest, pattern.rest));
}
/**
* True when a pattern may mean a text, for rules that ask or deny. White space, case, percent signs, letters that only look different, and
* detours in a path are no way around the rule.
*/
function mayBeMeant(text, pattern) {globalThis.__t?.("tool/permission.js#mayBeMeant@7465");
	if (fitsGlob(text, pattern)) return true;
	const meant = comparable(pattern);
	return [
		text,
		text.trim().replace(/\s+/g, " "),
		text.replace(HIDDEN, "")
	].some((form) => (globalThis.__t?.("tool/permission.js#anonymous@7670"),(fitsGlob(comparable(form), meant))));
}
function comparable(text) {globalThis.__t?.("tool/permission.js#comparable@7718");
	return withoutDetours(decoded(text).normalize("NFKC").toLowerCase());
}
function decoded(text) {globalThis.__t?.("tool/permission.js#decoded@7819");
	return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {globalThis.__t?.("tool/permission.js#anonymous@7888");
		try {
			return decodeURIComponent(escapes);
		} catch {
			return escapes;
		}
	});
}
/** Without `.`, `..` and empty parts, as systems read paths. */
function withoutDetours(text) {globalThis.__t?.("tool/permission.js#withoutDetours@8057");
	const kept = [];
	for (const [place, part] of text.split(/[/\\]/).entries()) {
		const last = kept.at(-1);
		if (part === ".." && last !== void 0 && last !== "..") {
			if (last !== "") kept.pop();
		} else if (part !== "." && (part !== "" || place === 0)) kept.push(part);
	}
	return kept.join("/");
}
export { checkPermission, checkPolicy, decide, fitsGlob };
