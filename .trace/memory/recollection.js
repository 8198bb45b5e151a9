import { errorRecord } from "../kernel/troupe-error.js";
import { ContextClosedError, ControlError, UsageError } from "../kernel/errors.js";
import { contentHash } from "../kernel/json.js";
import { embeddable } from "./embedder.js";
import { meteredEmbedder } from "./metered-embedder.js";
import { nextSummary } from "./next-summary.js";
import { RECALL_FRAME, recallMessages, recentWindow, relatedLine, relatedWithin, summaryWindow } from "./recall-window.js";
// ../../work/wt/lead/src/memory/recollection.ts
/** Characters of a question that words are taken from. */
const MOST_WORDS = 2e4;
/**
* What a role remembers in one activation, for each question it asks. It owns the summary that the activation has not committed; memory and
* news are the activation's, what outlives the run is the kept memory's.
*
* C1 a recall is one recorded step, and what it gives is that step's result: a run that goes on, a replay and a fork recall the same. C2
* nothing but senders and words reaches a request or the address of a step, and of a message of another run the time that is recorded with it. C3 what is recalled stays within the budget; what one part
* leaves, the next one may use: summary, recent, related. C4 what is neither in the news nor summed up fits the recent messages, as long
* as the model makes its summaries; one that fails is asked again when twice as much waits for it, which is part of the role's state, and is
* told once. C5 a memory that fails costs a role what it would have recalled, and is told; it does not cost the
* activation. Interruptions do. C6 recalls of one activation happen one after another, in the order asked.
*/
var Recollection = class {
	#parts;
	#recalled = /* @__PURE__ */ new Map();
	#summary;
	#turn = Promise.resolve();
	#isSummaryBroken = false;
	constructor(parts) {globalThis.__t?.("memory/recollection.js#constructor@1808");
		this.#parts = parts;
		this.#summary = parts.summary;
	}
	/** What the role's memory is summed up to now, if that is more than it was. */
	get newSummary() {globalThis.__t?.("memory/recollection.js#newSummary get@1973");
		return this.#summary === this.#parts.summary ? void 0 : this.#summary;
	}
	/** What is remembered for a question, as messages that stand before it. @param query what to look for; default: the news */
	recall(query = this.#newsText()) {globalThis.__t?.("memory/recollection.js#recall@2187");
		const turn = this.#turn.then(() => (globalThis.__t?.("memory/recollection.js#turn@2247"),(this.#recall(query))));
		this.#turn = turn.catch(() => {globalThis.__t?.("memory/recollection.js#anonymous@2301");});
		return turn;
	}
	async #recall(query) {globalThis.__t?.("memory/recollection.js#recall@2344");
		const { options, memory, news, mask } = this.#parts;
		const { shares, tokens } = options;
		const maxTokens = options.maxTokens - await tokens.count(RECALL_FRAME);
		if (maxTokens <= 0) return [];
		const ofNews = new Set(news().map(({ id }) => (globalThis.__t?.("memory/recollection.js#ofNews@2590"),(id))));
		const [forSummary, forRecent] = [Math.floor(maxTokens * shares.summary), Math.floor(maxTokens * shares.recent)];
		if (options.summary !== void 0) await this.#sumUp(ofNews, forRecent);
		const summary = await summaryWindow(this.#summary, forSummary, tokens);
		const recent = await recentWindow(memory, ofNews, forSummary + forRecent - summary.tokens, {
			...options,
			mask
		});
		const left = Math.floor(maxTokens * Math.min(1, shares.summary + shares.recent + shares.related)) - summary.tokens - recent.tokens;
		const related = (await this.#once({
			query,
			summary,
			recent,
			left: shares.related === 0 ? 0 : left,
			ofNews
		})).related.messages.map(({ at, from, text }) => (globalThis.__t?.("memory/recollection.js#related@3277"),(relatedLine({
			at,
			sentFrom: from,
			content: text
		}))));
		return recallMessages({
			summary: summary.texts,
			related,
			recent: recent.texts
		});
	}
	/** Sums up the oldest messages while all that are not summed up do not fit. Those from the first news on wait until they are old. */
	async #sumUp(ofNews, maxTokens) {globalThis.__t?.("memory/recollection.js#sumUp@3611");
		const { options, model, signal, logger, role } = this.#parts;
		if (this.#isSummaryBroken) return;
		const ask = async (messages) => {globalThis.__t?.("memory/recollection.js#ask@3748");
			return (await model(options.summary?.model).chat({ messages }, { signal })).content;
		};
		const limits = {
			maxMessages: Infinity,
			maxTokens: Math.max(1, maxTokens)
		};
		let waiting = 0;
		try {
			for (;;) {
				const history = this.#uncovered(ofNews);
				waiting = history.length;
				if (waiting < (this.#summary.waits ?? 0)) return;
				const next = await nextSummary({
					levels: this.#summary,
					history,
					sizes: options.sizes,
					limits,
					ask,
					isTimeless: true
				});
				if (next === void 0) return;
				const covered = [...this.#summary.covered, ...next.covers.map(({ id }) => (globalThis.__t?.("memory/recollection.js#covered@4378"),(id)))].slice(-100);
				const { waits: _waits, ...summed } = this.#summary;
				this.#summary = {
					...next.change(summed),
					covered
				};
			}
		} catch (error) {
			if (isNotToBeHeld(error)) throw error;
			this.#isSummaryBroken = true;
			const isTold = this.#summary.waits !== void 0;
			this.#summary = {
				...this.#summary,
				waits: Math.max(1, 2 * waiting)
			};
			if (!isTold) logger.warn(`${role} could not sum up what it remembers, and goes on without: ${errorRecord(error).message}`);
		}
	}
	/** What was said before the news and is not summed up, oldest first. */
	#uncovered(ofNews) {globalThis.__t?.("memory/recollection.js#uncovered@4989");
		const covered = new Set(this.#summary.covered);
		const found = [];
		for (const message of this.#parts.memory.newestFirst()) {
			if (covered.has(message.id)) break;
			if (ofNews.has(message.id)) found.length = 0;
			else found.push(message);
		}
		return found.reverse();
	}
	/** The same question beside the same memory is one recall, however often it is asked. */
	#once(question) {globalThis.__t?.("memory/recollection.js#once@5377");
		const { options, memory, mask } = this.#parts;
		const { query, left, summary, recent } = question;
		const request = {
			query: embeddable(options.embedder ?? { maxChars: MOST_WORDS }, mask(query)),
			embedder: options.embedder?.id ?? null,
			k: options.k,
			neighbours: options.neighbours,
			threshold: options.threshold ?? null,
			hybrid: options.lexical !== void 0,
			maxTokens: left,
			beside: contentHash([summary.texts, recent.texts]).slice(0, 32),
			among: left > 0 ? options.digest.of(memory) : null
		};
		const address = contentHash(request);
		const known = this.#recalled.get(address);
		if (known !== void 0) return known;
		const spec = {
			kind: "memory",
			name: "recall",
			request
		};
		const recalled = this.#parts.steps.step(spec, (door) => (globalThis.__t?.("memory/recollection.js#recalled@6157"),(this.#related(question, request.query, door)))).then((value) => {globalThis.__t?.("memory/recollection.js#recalled@6218");
			if (value.failed !== void 0) this.#tellFailed(value.failed.message);
			return value;
		});
		this.#recalled.set(address, recalled);
		return recalled;
	}
	async #related({ summary, recent, left, ofNews }, query, door) {globalThis.__t?.("memory/recollection.js#related@6404");
		const { options, kept, policy } = this.#parts;
		const rest = {
			maxTokens: options.maxTokens,
			summary: { tokens: summary.tokens },
			recent: {
				tokens: recent.tokens,
				ids: recent.messages.map(({ id }) => (globalThis.__t?.("memory/recollection.js#ids@6663"),(id)))
			}
		};
		const none = {
			tokens: 0,
			messages: []
		};
		if (left <= 0 || options.k === 0 || query === "") return {
			...rest,
			related: none
		};
		const until = policy.clock.now() + Math.min(options.timeout, this.#parts.longest);
		const embedder = options.embedder === void 0 ? void 0 : meteredEmbedder(options.embedder, {
			steps: door,
			policy,
			until
		});
		const besides = /* @__PURE__ */ new Set([...ofNews, ...rest.recent.ids]);
		const known = recent.messages.map(({ content }) => (globalThis.__t?.("memory/recollection.js#known@7169"),(content)));
		const asked = [query, ...this.#parts.news().map(({ content }) => (globalThis.__t?.("memory/recollection.js#asked@7246"),(content)))];
		try {
			const hits = await kept.search(query, {
				asked,
				besides,
				known,
				embedder,
				signal: door.signal
			});
			return {
				...rest,
				related: await relatedWithin(hits, left, options.tokens)
			};
		} catch (error) {
			if (isNotToBeHeld(error)) throw error;
			const { code, message } = errorRecord(error);
			return {
				...rest,
				related: none,
				failed: {
					code,
					message
				}
			};
		}
	}
	#tellFailed(why) {globalThis.__t?.("memory/recollection.js#tellFailed@7721");
		this.#parts.logger.warn(`${this.#parts.role} could not look into its memory, and goes on without: ${why}`);
	}
	#newsText() {globalThis.__t?.("memory/recollection.js#newsText@7852");
		return this.#parts.news().map(({ content }) => (globalThis.__t?.("memory/recollection.js#anonymous@7889"),(content))).join("\n\n");
	}
};
/** Interruptions, and what can never work, are for whoever runs the role. */
function isNotToBeHeld(error) {globalThis.__t?.("memory/recollection.js#isNotToBeHeld@8013");
	return error instanceof ControlError || error instanceof ContextClosedError || error instanceof UsageError;
}
export { Recollection };
