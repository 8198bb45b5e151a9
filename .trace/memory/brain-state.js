import { UsageError } from "../kernel/errors.js";
import { lazily } from "../kernel/lazily.js";
import { MessageSchema, serializeMessage } from "../message/message.js";
import { joined, summaryText } from "./summary-levels.js";
import { z } from "zod";
// ../../work/wt/lead/src/memory/brain-state.ts
const VERSION = 1;
const stateSchema = lazily(() => (globalThis.__t?.("memory/brain-state.js#stateSchema@347"),(z.object({
	v: z.literal(VERSION),
	history: z.array(MessageSchema),
	knowledge: z.array(MessageSchema),
	levels: z.object({
		oldest: z.string(),
		older: z.array(z.string()),
		recent: z.array(z.string())
	}),
	covered: z.array(z.string()),
	lastTalk: z.string().optional()
}))));
/** A state as plain JSON, with the version of its form. */
function brainJson({ history, knowledge, levels, covered, lastTalk }) {globalThis.__t?.("memory/brain-state.js#brainJson@694");
	return {
		v: VERSION,
		history: history.map(serializeMessage),
		knowledge: knowledge.map(serializeMessage),
		levels,
		covered,
		...lastTalk === void 0 ? {} : { lastTalk }
	};
}
/**
* Reads what {@link brainJson} wrote; a text when it is something else, which says what.
*
* @throws UsageError `BRAIN_NEWER` when a newer version of this package wrote it.
*/
function readBrainState(text) {globalThis.__t?.("memory/brain-state.js#readBrainState@1130");
	let json;
	try {
		json = JSON.parse(text);
	} catch {
		return "it is no JSON";
	}
	const version = json?.v;
	if (typeof version === "number" && version > VERSION) throw new UsageError("BRAIN_NEWER", `Expected a brain memory of version ${VERSION} at most, got ${version}. Update this program; until then it is left as it is.`);
	const parsed = stateSchema().safeParse(json);
	if (!parsed.success) return `it is no brain memory: ${z.prettifyError(parsed.error)}`;
	const { v: _version, ...state } = parsed.data;
	return {
		...state,
		lastTalk: state.lastTalk
	};
}
/**
* Both states in one: messages by their ids, those that are stored first. A message that is covered by a summary that stays is not taken again; nothing
* else is left out.
*
* @returns undefined when both have changed the summary since their base, so that neither covers what the other does
*/
function mergedBrain(sides) {globalThis.__t?.("memory/brain-state.js#mergedBrain@2028");
	const choice = chosenSummary(sides);
	return choice === void 0 ? void 0 : withSummary(sides, choice);
}
/** The same, but two summaries stand one behind the other: the stored one first. */
function joinedBrain(sides) {globalThis.__t?.("memory/brain-state.js#joinedBrain@2248");
	return withSummary(sides, chosenSummary(sides) ?? "both");
}
function withSummary({ theirs, mine, base }, choice) {globalThis.__t?.("memory/brain-state.js#withSummary@2340");
	const isCoveredByThem = memberOf(choice === "mine" ? [] : theirs.covered);
	const isCoveredByMe = memberOf(choice === "theirs" ? [] : mine.covered);
	return {
		history: inOne(theirs.history.filter(({ id }) => (globalThis.__t?.("memory/brain-state.js#history@2594"),(!isCoveredByMe(id)))), mine.history.filter(({ id }) => (globalThis.__t?.("memory/brain-state.js#history@2647"),(!isCoveredByThem(id))))),
		knowledge: inOne(theirs.knowledge, mine.knowledge),
		levels: choice === "both" ? joined(theirs.levels, mine.levels) : choice === "mine" ? mine.levels : theirs.levels,
		covered: choice === "both" ? [.../* @__PURE__ */ new Set([...theirs.covered, ...mine.covered])].slice(-100) : choice === "mine" ? mine.covered : theirs.covered,
		lastTalk: base?.lastTalk === mine.lastTalk ? theirs.lastTalk : mine.lastTalk
	};
}
function chosenSummary({ theirs, mine, base }) {globalThis.__t?.("memory/brain-state.js#chosenSummary@3101");
	if (isSameSummary(theirs.levels, mine.levels)) return "both";
	if (base === void 0) return unrelated(theirs, mine);
	const isMineChanged = !isSameSummary(mine.levels, base.levels);
	const isTheirsChanged = !isSameSummary(theirs.levels, base.levels);
	if (!isMineChanged && (covers(theirs, mine) || isFarAhead(theirs, mine))) return "theirs";
	if ((!isMineChanged || !isTheirsChanged) && covers(mine, theirs)) return "mine";
}
/** Where nothing is known of what both were made of, a summary that covers all the other covers takes its place; else none is given up. */
function unrelated(theirs, mine) {globalThis.__t?.("memory/brain-state.js#unrelated@3717");
	const [isTheirsMore, isMineMore] = [covers(theirs, mine), covers(mine, theirs)];
	if (isTheirsMore && isNothingOrNamed(mine)) return "theirs";
	return isMineMore && isNothingOrNamed(theirs) ? "mine" : "both";
}
/** A summary from elsewhere may cover nothing that has an id. */
function isNothingOrNamed({ covered, levels }) {globalThis.__t?.("memory/brain-state.js#isNothingOrNamed@4030");
	return covered.length > 0 || summaryText(levels) === "";
}
/** Whether one has summed up every message that the other has. A full list has lost its oldest ids. */
function covers(one, other) {globalThis.__t?.("memory/brain-state.js#covers@4243");
	const isCovered = memberOf(one.covered);
	const first = other.covered.findIndex(isCovered);
	if (first === -1) return other.covered.length === 0;
	if (first > 0 && one.covered.length < 100) return false;
	return other.covered.slice(first).every(isCovered);
}
/** Whether one has lost the ids of all that the other covers, because it has gone on so far. An older state has no more ids than a later one. */
function isFarAhead(one, other) {globalThis.__t?.("memory/brain-state.js#isFarAhead@4679");
	return one.covered.length >= 100 && other.covered.length < 100;
}
function isSameSummary(one, other) {globalThis.__t?.("memory/brain-state.js#isSameSummary@4780");
	return JSON.stringify([
		one.oldest,
		one.older,
		one.recent
	]) === JSON.stringify([
		other.oldest,
		other.older,
		other.recent
	]);
}
function inOne(first, second) {globalThis.__t?.("memory/brain-state.js#inOne@4960");
	const isKnown = memberOf(first.map(({ id }) => (globalThis.__t?.("memory/brain-state.js#isKnown@5028"),(id))));
	return [...first, ...second.filter(({ id }) => (globalThis.__t?.("memory/brain-state.js#anonymous@5082"),(!isKnown(id))))];
}
function memberOf(ids) {globalThis.__t?.("memory/brain-state.js#memberOf@5112");
	const all = new Set(ids);
	return (id) => (globalThis.__t?.("memory/brain-state.js#anonymous@5172"),(all.has(id)));
}
export { brainJson, joinedBrain, mergedBrain, readBrainState };
