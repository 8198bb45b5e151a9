import { summarizeText } from "../memory/summary.js";
import { estimatedTokens } from "../memory/tokens.js";
import { isOneOf } from "./agent-memory.js";
import { IMAGE_TOKENS, MessageTokens } from "./message-tokens.js";
import { remark } from "./remarks.js";
import { onFrom, upTo } from "../tool/cut-text.js";
// ../../work/wt/lead/src/agent/compaction.ts
/** The names of the options. @internal */
const compactionOptions = {
	contextTokens: true,
	share: true,
	keepResults: true,
	summaryWords: true,
	counter: true
};
/** Rough number of characters of a token, for cutting texts. */
const CHARACTERS = 3;
/** Share of the room that the newest messages keep when the older ones are summed up. */
const NEWEST_SHARE = .5;
/**
* Shortens the messages of a memory before a request exceeds the context window: old results of tools are cleared first, which costs
* nothing; then the model sums up old messages; then long texts are cut in the middle, and the oldest messages left out if that is not
* enough. The last two need no model.
*
* `Compaction.C1` the goal and the newest group of messages stay (`#summed`, `#withoutOldest`). `Compaction.C2` calls and their results
* stay together ({@link groupsOf}). `Compaction.C3` the result fits, also when no model answers, or not with a short text (`shrink`).
*/
var Compaction = class {
	tokens;
	#room;
	#keepResults;
	#words;
	constructor(options = {}) {globalThis.__t?.("agent/compaction.js#constructor@1389");
		this.tokens = new MessageTokens(options.counter ?? estimatedTokens);
		this.#room = Math.floor((options.contextTokens ?? 128e3) * (options.share ?? .75));
		this.#keepResults = options.keepResults ?? 3;
		this.#words = options.summaryWords ?? 300;
	}
	/** Tokens that a request may have. */
	get room() {globalThis.__t?.("agent/compaction.js#room get@1708");
		return this.#room;
	}
	/** Shortens messages until their request fits. */
	async shrink(memory, messages, options) {globalThis.__t?.("agent/compaction.js#shrink@1802");
		const { room, tokens } = options;
		const size = async (these) => (globalThis.__t?.("agent/compaction.js#size@1883"),(await this.tokens.ofMessages(these) + tokens));
		const before = await size(messages);
		const cleared = withoutOldResults(messages, this.#keepResults);
		const afterClearing = await size(cleared);
		if (afterClearing <= room) return [cleared, {
			how: "cleared",
			before,
			after: afterClearing
		}];
		const goal = await memory.goal();
		const summed = await this.#summed(cleared, goal, options);
		const afterSumming = await size(summed);
		if (afterSumming <= room) return [summed, {
			how: "summarized",
			before,
			after: afterSumming
		}];
		const cut = await this.#withoutOldest(this.#cut(summed, goal, Math.max(0, room - tokens)), goal, room - tokens);
		return [cut, {
			how: "cut",
			before,
			after: await size(cut)
		}];
	}
	async #summed(messages, goal, options) {globalThis.__t?.("agent/compaction.js#summed@2659");
		const groups = groupsOf(messages);
		const from = await this.#newestFrom(groups, (options.room - options.tokens) * NEWEST_SHARE);
		const isGoal = (group) => (globalThis.__t?.("agent/compaction.js#isGoal@2836"),(group.some((message) => (globalThis.__t?.("agent/compaction.js#anonymous@2858"),(isOneOf(goal, message))))));
		const old = groups.slice(0, from).filter((group) => (globalThis.__t?.("agent/compaction.js#old@2939"),(!isGoal(group))));
		if (old.length === 0) return [...messages];
		const summary = await this.#summary(old.flat(), options);
		if (summary === void 0) return [...messages];
		const told = remark(`What was done before, in short, as a record and not as an instruction: ${summary}`);
		return [
			...groups.slice(0, from).filter(isGoal).flat(),
			told,
			...groups.slice(from).flat()
		];
	}
	/** Undefined when there is none: the messages are cut instead. */
	async #summary(old, { ask, unsummed, room }) {globalThis.__t?.("agent/compaction.js#summary@3423");
		if (ask === void 0) return void 0;
		try {
			return await summarizeText(ask, old.map(lineOf).join("\n"), Math.max(1e3, room * CHARACTERS / 2), this.#words);
		} catch (error) {
			unsummed(error);
			return;
		}
	}
	/** Leaves out as many of the oldest groups as needed, with a mark in their place. */
	async #withoutOldest(messages, goal, room) {globalThis.__t?.("agent/compaction.js#withoutOldest@3782");
		let left = await this.tokens.ofMessages(messages);
		if (left <= room) return messages;
		const groups = groupsOf(messages);
		const out = /* @__PURE__ */ new Set();
		left += await this.tokens.ofMessages([leftOut(messages.length)]);
		for (const group of groups.slice(0, -1)) {
			if (left <= room) break;
			if (group.some((message) => (globalThis.__t?.("agent/compaction.js#anonymous@4134"),(isOneOf(goal, message))))) continue;
			left -= await this.tokens.ofMessages(group);
			out.add(group);
		}
		if (out.size === 0) return messages;
		const first = groups.findIndex((group) => (globalThis.__t?.("agent/compaction.js#first@4325"),(out.has(group))));
		const count = [...out].reduce((sum, group) => (globalThis.__t?.("agent/compaction.js#count@4385"),(sum + group.length)), 0);
		return groups.flatMap((group, place) => (globalThis.__t?.("agent/compaction.js#anonymous@4449"),(place === first ? [leftOut(count)] : out.has(group) ? [] : group)));
	}
	/** The index of the first of the newest groups that fit; at least the last one does. */
	async #newestFrom(groups, room) {globalThis.__t?.("agent/compaction.js#newestFrom@4645");
		let left = room;
		let from = groups.length;
		while (from > 0) {
			left -= await this.tokens.ofMessages(groups[from - 1] ?? []);
			if (left < 0 && from < groups.length) break;
			from--;
			if (left < 0) break;
		}
		return from;
	}
	/** Pictures get at most half of the room. Every message gets an equal share of the rest, the goal a double one. */
	#cut(messages, goal, room) {globalThis.__t?.("agent/compaction.js#cut@5022");
		const half = room / 2;
		const pictured = withPicturesIn(half, messages);
		const share = Math.max(80, Math.floor((half + pictured.left) * CHARACTERS / (messages.length + goal.length)) - 40);
		return pictured.messages.map((message) => (globalThis.__t?.("agent/compaction.js#anonymous@5272"),(shortened(message, isOneOf(goal, message) ? 2 * share : share))));
	}
};
function leftOut(count) {globalThis.__t?.("agent/compaction.js#leftOut@5356");
	return remark(`${count} older messages were left out here to make room.`);
}
function lineOf({ role, content = "", toolCalls = [] }) {globalThis.__t?.("agent/compaction.js#lineOf@5460");
	const calls = toolCalls.map(({ function: { name, arguments: args } }) => (globalThis.__t?.("agent/compaction.js#calls@5547"),(`${name}(${args.slice(0, 500)})`)));
	return JSON.stringify({
		role,
		text: content,
		...calls.length === 0 ? {} : { calls }
	});
}
/** Shorter results are not cleared. */
const SHORT_RESULT = 200;
/** Messages that must stay together: calls of tools and their results; any other message stands alone. */
function groupsOf(messages) {globalThis.__t?.("agent/compaction.js#groupsOf@5898");
	const groups = [];
	for (const message of messages) {
		const last = groups.at(-1);
		if (message.role === "tool" && last?.[0]?.toolCalls !== void 0) last?.push(message);
		else groups.push([message]);
	}
	return groups;
}
/** Clears long results and pictures of tools in all but the newest groups, with a mark in their place. Unchanged messages stay the same objects. */
function withoutOldResults(messages, newest) {globalThis.__t?.("agent/compaction.js#withoutOldResults@6301");
	const groups = groupsOf(messages);
	const withResults = groups.filter((group) => (globalThis.__t?.("agent/compaction.js#withResults@6419"),(group.length > 1)));
	const kept = new Set(newest === 0 ? [] : withResults.slice(-newest));
	return groups.flatMap((group) => (globalThis.__t?.("agent/compaction.js#anonymous@6543"),(kept.has(group) ? group : group.map(withoutResult))));
}
function withoutResult(message) {globalThis.__t?.("agent/compaction.js#withoutResult@6609");
	const { images, content = "", ...rest } = message;
	if (message.role !== "tool" || content.length <= SHORT_RESULT && images === void 0) return message;
	const pictures = images === void 0 ? "" : ` and ${images.length} pictures`;
	return {
		...rest,
		content: `[${content.length} characters${pictures} of this result were cleared to make room. Call the tool again if you need them.]`
	};
}
/** Keeps the newest pictures that fit into so many tokens, with a mark in place of the others. Also returns the tokens left. */
function withPicturesIn(tokens, messages) {globalThis.__t?.("agent/compaction.js#withPicturesIn@7164");
	let left = tokens;
	return {
		messages: messages.toReversed().map((message) => {globalThis.__t?.("agent/compaction.js#messages@7276");
			const { images, ...rest } = message;
			if (images === void 0) return message;
			const size = IMAGE_TOKENS * images.length;
			if (size > left) return {
				...rest,
				content: `${message.content ?? ""}\n[${images.length} pictures were left out to make room]`
			};
			left -= size;
			return message;
		}).toReversed(),
		left
	};
}
const NO_PICTURE = "[picture left out: the model does not take pictures]";
/** The same messages with words in place of their pictures. Those without pictures stay the same objects. */
function withoutPictures(messages) {globalThis.__t?.("agent/compaction.js#withoutPictures@7816");
	if (messages.every(({ images }) => (globalThis.__t?.("agent/compaction.js#anonymous@7873"),(images === void 0)))) return messages;
	return messages.map((message) => {globalThis.__t?.("agent/compaction.js#anonymous@7947");
		const { images, content = "", ...rest } = message;
		if (images === void 0) return message;
		return {
			...rest,
			content: [...content === "" ? [] : [content], ...images.map(() => (globalThis.__t?.("agent/compaction.js#content@8142"),(NO_PICTURE)))].join("\n")
		};
	});
}
/** A message of at most so many characters: its beginning and its end, with a mark between. Longer arguments of calls are left out. */
function shortened(message, limit) {globalThis.__t?.("agent/compaction.js#shortened@8320");
	const { content = "", toolCalls } = message;
	const isLong = (call) => (globalThis.__t?.("agent/compaction.js#isLong@8419"),(call.function.arguments.length > limit));
	const text = content.length <= limit ? message : {
		...message,
		content: middleCut(content, limit)
	};
	return toolCalls?.some(isLong) === true ? {
		...text,
		toolCalls: toolCalls.map((call) => (globalThis.__t?.("agent/compaction.js#toolCalls@8659"),(isLong(call) ? withoutArguments(call) : call)))
	} : text;
}
/** Arguments must stay JSON: servers parse them. */
function withoutArguments(call) {globalThis.__t?.("agent/compaction.js#withoutArguments@8781");
	const cleared = JSON.stringify({ cleared: `${call.function.arguments.length} characters` });
	return {
		...call,
		function: {
			...call.function,
			arguments: cleared
		}
	};
}
function middleCut(text, limit) {globalThis.__t?.("agent/compaction.js#middleCut@8997");
	const half = Math.max(0, Math.floor((limit - 60) / 2));
	const left = text.length - 2 * half;
	return `${upTo(text, half)}\n[${left} characters were cut to make room]\n${onFrom(text, text.length - half)}`;
}
export { Compaction, compactionOptions, groupsOf, shortened, withoutOldResults, withoutPictures };
