import { aText, takes } from "../kernel/argument.js";
import { checkGivenOptions } from "../kernel/known-options.js";
import { untilAborted } from "../kernel/abort.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { BrainContent } from "./brain-content.js";
import { brainJson, joinedBrain, mergedBrain } from "./brain-state.js";
import { BrainPlace, conflict } from "./brain-place.js";
import { BrainVoice, askRelated, askRewritten, askTitle, extractInfo } from "./brain-model.js";
import { DEFAULT_TTL, cacheKey, checkedTtl } from "./cache.js";
import { MessageSizes, checkedLimits, dueMessages, nextSummary, windowOf } from "./next-summary.js";
import { splitTexts, summarizeText } from "./summary.js";
import { dueMerge } from "./summary-levels.js";
import { estimatedTokens } from "./tokens.js";
// ../../work/wt/lead/src/memory/brain-memory.ts
const TIMEOUT = 6e5;
/** How often what others have stored is taken over before a write is given up. */
const TRIES = 50;
/** No content has this revision. */
const NEVER = -1;
/**
* The memory of a long conversation: what was said last, word by word; a rolling summary of what was said before; and what is known besides.
*
* Owns when it is summed up, and whether it is stored. What it holds is its content's, the levels of the summary are `summary-levels.ts`'s, the words that
* a model is asked with `summary.ts`'s, where it is kept the cache's.
*
* B1 what is added while a model answers or a cache stores is never lost. B2 messages leave the history when, and only when, the summary that
* covers them is stored; a model or a cache that fails leaves everything as it was. The history therefore has no bound of its own. B3 every summary is
* made with the older one as its input, and no level of it grows without end. B4 the same material is asked for once, also when storing
* the answer failed, and also by two callers at a time. B5 `isDirty` until exactly what is held now was stored. B6 what others have stored since it
* was loaded is never written over: both are joined, or nothing is stored.
*
* @example
* import { BrainMemory, createMessage } from "troupe";
* import { scriptedModel } from "troupe/testing";
*
* const brain = new BrainMemory({ model: scriptedModel(() => "They talk about a bridge."), maxMessages: 2 });
* for (const text of ["Stone?", "Steel!", "Wood."]) brain.addTalk(createMessage(text));
* await brain.compress();
* console.log(brain.history.length, brain.summary); // 1 They talk about a bridge.
*/
var BrainMemory = class {
	#voice;
	#place;
	#limits;
	#sizes;
	#content = new BrainContent();
	/** The revision of the content that was stored. */
	#stored = 0;
	#turn = Promise.resolve();
	#compressing;
	/** @throws UsageError `OPTION_INVALID`, `LIMIT_INVALID` or `TTL_INVALID` */
	constructor(options) {globalThis.__t?.("memory/brain-memory.js#constructor@2840");
		checkGivenOptions("new BrainMemory", options, brainMemoryOptions);
		const { model, cache, key, maxMessages = 10, maxTokens = 4e3, tokens = estimatedTokens, ttl = DEFAULT_TTL } = options;
		if (cache !== void 0 && key === void 0) throw new UsageError("OPTION_INVALID", "Expected a key beside cache, got none. Give { prefix, userId, chatId }, or a text.");
		const name = typeof key === "object" ? cacheKey(key) : key ?? "";
		checkedTtl(ttl);
		this.#place = cache === void 0 ? void 0 : new BrainPlace(cache, name, ttl);
		this.#limits = checkedLimits({
			maxMessages,
			maxTokens
		});
		this.#sizes = new MessageSizes(tokens);
		this.#voice = new BrainVoice(model, options.clock ?? systemClock, options.timeout ?? TIMEOUT);
	}
	/** What was said and is not summed up yet, oldest first. */
	get history() {globalThis.__t?.("memory/brain-memory.js#history get@3659");
		return this.#content.history;
	}
	get knowledge() {globalThis.__t?.("memory/brain-memory.js#knowledge get@3713");
		return this.#content.knowledge;
	}
	/** What is left of what was said before the history; empty when nothing was summed up. */
	get summary() {globalThis.__t?.("memory/brain-memory.js#summary get@3859");
		return this.#content.summary;
	}
	get isDirty() {globalThis.__t?.("memory/brain-memory.js#isDirty get@3911");
		return this.#content.revision !== this.#stored;
	}
	/** Id of the newest message that the summary covers. */
	get lastHistoryId() {globalThis.__t?.("memory/brain-memory.js#lastHistoryId get@4045");
		return this.#content.covered.at(-1);
	}
	/** What the user said last. */
	get lastTalk() {globalThis.__t?.("memory/brain-memory.js#lastTalk get@4138");
		return this.#content.lastTalk;
	}
	get isHistoryAvailable() {globalThis.__t?.("memory/brain-memory.js#isHistoryAvailable get@4202");
		return this.history.length > 0 || this.summary !== "";
	}
	/** The summary and what was said since, without the last message: that is the one being answered. */
	get historyText() {globalThis.__t?.("memory/brain-memory.js#historyText get@4386");
		const before = this.history.slice(0, -1).map((message) => (globalThis.__t?.("memory/brain-memory.js#before@4438"),(message.content)));
		return [this.summary, ...before].filter((text) => (globalThis.__t?.("memory/brain-memory.js#anonymous@4511"),(text !== ""))).join("\n");
	}
	/** Something the user said. False, and nothing changes, when it is remembered already. */
	addTalk(message) {globalThis.__t?.("memory/brain-memory.js#addTalk@4649");
		return this.#content.addTalk(message);
	}
	/** Something that was answered. False, and nothing changes, when it is remembered already. */
	addAnswer(message) {globalThis.__t?.("memory/brain-memory.js#addAnswer@4811");
		return this.#content.addAnswer(message);
	}
	addKnowledge(message) {globalThis.__t?.("memory/brain-memory.js#addKnowledge@4882");
		return this.#content.addKnowledge(message);
	}
	/** All that is known, one piece in a line. */
	getKnowledge() {globalThis.__t?.("memory/brain-memory.js#getKnowledge@5004");
		return this.knowledge.map((message) => (globalThis.__t?.("memory/brain-memory.js#anonymous@5037"),(message.content))).join("\n");
	}
	/** Whether exactly this was said, and is not summed up yet. */
	exists(text) {globalThis.__t?.("memory/brain-memory.js#exists@5154");
		return this.#content.has(text);
	}
	/** Gives what the user said last, once. */
	popLastTalk() {globalThis.__t?.("memory/brain-memory.js#popLastTalk@5257");
		return this.#content.popLastTalk();
	}
	/** Puts a summary from elsewhere in the place of all that was said. */
	setHistorySummary(text) {globalThis.__t?.("memory/brain-memory.js#setHistorySummary@5394");
		this.#content.sumUpAs(text);
	}
	/** Whether there is something to sum up. */
	async shouldCompress() {globalThis.__t?.("memory/brain-memory.js#shouldCompress@5504");
		return dueMerge(this.#content.levels) !== void 0 || (await dueMessages(this.history, this.#sizes, this.#limits)).length > 0;
	}
	/**
	* Sums up the oldest messages while the history is too long, and summaries where ten have come together. With a cache, each new summary is stored
	* there before its messages leave the history. Whoever asks while it is under way waits for the same work.
	*
	* @returns whether anything was summed up
	* @throws ModelError, ControlError, CacheError, MemoryError `MEMORY_CONFLICT`: everything is as it was before the summary that failed
	*/
	async compress({ signal } = {}) {globalThis.__t?.("memory/brain-memory.js#compress@6099");
		for (;;) {
			const current = this.#compressing ??= this.#begun(signal);
			try {
				return await (signal === void 0 ? current.work : untilAborted(current.work, signal));
			} catch (error) {
				if (!(current.signal !== signal && current.signal?.aborted === true && signal?.aborted !== true)) throw error;
			}
		}
	}
	/**
	* Takes over what is stored under the key. What was added here before comes after it. "Nothing" says that the cache was asked and has nothing: where it
	* could not be asked, a local fallback answers, or else nobody does.
	*
	* @throws UsageError `BRAIN_NEWER` when a newer version wrote it; from then on nothing is stored over it.
	* @throws CacheError `CACHE_UNREACHABLE` when the cache could not be asked; nothing has changed, and it can be asked again.
	*/
	async load({ signal } = {}) {globalThis.__t?.("memory/brain-memory.js#load@6919");
		const place = this.#place;
		if (place === void 0) return { kind: "nothing" };
		return this.#inTurn(signal, async () => {globalThis.__t?.("memory/brain-memory.js#anonymous@7050");
			const read = await place.read();
			if (read.kind !== "found") return read;
			const { theirs, base, isLocalPart } = read;
			const { isDirty } = this;
			this.#content.hold(isDirty ? joinedBrain({
				theirs,
				mine: this.#content.state,
				base
			}) : theirs);
			this.#stored = isDirty || isLocalPart ? NEVER : this.#content.revision;
			place.accept(read);
			return { kind: "loaded" };
		});
	}
	/**
	* Stores what is held, if it changed since it was stored last. Without a cache it stays dirty. What others have stored since it was loaded is
	* taken over first: messages are joined by their ids, and what was added here comes after.
	*
	* @returns whether it was stored now
	* @throws CacheError when it could not be stored; it stays dirty.
	* @throws MemoryError `MEMORY_CONFLICT` when the summary was changed both here and there, or when what is stored cannot be read; it stays dirty.
	* `load` puts one summary behind the other.
	*/
	async save({ signal } = {}) {globalThis.__t?.("memory/brain-memory.js#save@8025");
		const place = this.#place;
		return this.#inTurn(signal, async () => {globalThis.__t?.("memory/brain-memory.js#anonymous@8104");
			if (place === void 0 || !this.isDirty) return false;
			for (let n = 0; n < TRIES; n++) {
				const { revision, state } = this.#content;
				const found = await place.write(state);
				if (found === void 0) {
					this.#stored = revision;
					return true;
				}
				this.#merge(found);
				place.accept(found);
			}
			throw conflict("others store it all the time");
		});
	}
	/** Takes over a state that was kept elsewhere; all that is here stays, and comes after it. @internal */
	adopt(state) {globalThis.__t?.("memory/brain-memory.js#adopt@8610");
		return this.#inTurn(void 0, async () => {globalThis.__t?.("memory/brain-memory.js#anonymous@8650");
			this.#content.hold(joinedBrain({
				theirs: state,
				mine: this.#content.state
			}));
		});
	}
	/** Whether two texts are about the same. @throws OutputError `OUTPUT_INVALID`, ModelError, ControlError */
	isRelated(text1, text2, { signal } = {}) {globalThis.__t?.("memory/brain-memory.js#isRelated@8885");
		return askRelated((messages) => (globalThis.__t?.("memory/brain-memory.js#anonymous@8939"),(this.#voice.ask(messages, signal))), text1, text2);
	}
	/** A sentence with what it leaves out filled in from its context. @throws ModelError, ControlError */
	rewrite(sentence, context, { signal } = {}) {globalThis.__t?.("memory/brain-memory.js#rewrite@9118");
		return askRewritten((messages) => (globalThis.__t?.("memory/brain-memory.js#anonymous@9179"),(this.#voice.ask(messages, signal))), sentence, context);
	}
	/** A title of at most five words. @throws ModelError, ControlError */
	async getTitle(text, { signal } = {}) {globalThis.__t?.("memory/brain-memory.js#getTitle@9338");
		const short = await this.summarize(text, { signal });
		return askTitle((messages) => (globalThis.__t?.("memory/brain-memory.js#anonymous@9438"),(this.#voice.ask(messages, signal))), short);
	}
	/** A text of any length in at most so many words (default 300), read in windows. @throws ModelError, ControlError */
	summarize(text, { signal, maxWords } = {}) {globalThis.__t?.("memory/brain-memory.js#summarize@9627");
		return summarizeText((messages) => (globalThis.__t?.("memory/brain-memory.js#anonymous@9686"),(this.#voice.askOnce(messages, signal))), text, windowOf(this.#limits), maxWords);
	}
	toJSON() {globalThis.__t?.("memory/brain-memory.js#toJSON@9790");
		return brainJson(this.#content.state);
	}
	/** A text as windows that overlap. */
	static splitTexts(text, window) {globalThis.__t?.("memory/brain-memory.js#splitTexts@9897");
		takes("BrainMemory.splitTexts", "text", text, aText);
		return splitTexts(text, window);
	}
	/** `[TAG]: text` as its two parts. */
	static extractInfo(input) {globalThis.__t?.("memory/brain-memory.js#extractInfo@10067");
		takes("BrainMemory.extractInfo", "input", input, aText);
		return extractInfo(input);
	}
	#begun(signal) {globalThis.__t?.("memory/brain-memory.js#begun@10175");
		return {
			work: this.#compressAll(signal).finally(() => (globalThis.__t?.("memory/brain-memory.js#work@10240"),(this.#compressing = void 0))),
			signal
		};
	}
	async #compressAll(signal) {globalThis.__t?.("memory/brain-memory.js#compressAll@10312");
		for (let did = false;; did = true) if (!await this.#compressOnce(signal)) return did;
	}
	async #compressOnce(signal) {globalThis.__t?.("memory/brain-memory.js#compressOnce@10434");
		const next = await nextSummary({
			levels: this.#content.levels,
			history: this.history,
			sizes: this.#sizes,
			limits: this.#limits,
			ask: (messages) => (globalThis.__t?.("memory/brain-memory.js#ask@10595"),(this.#voice.askOnce(messages, signal)))
		});
		if (next === void 0) return false;
		await this.#commit(next, signal);
		return true;
	}
	/**
	* Stored first, then believed. What came meanwhile is neither stored nor touched. Where others have stored something, that is taken over, and the
	* summary holds as long as nobody else has summed up its messages.
	*/
	async #commit({ covers, change }, signal) {globalThis.__t?.("memory/brain-memory.js#commit@10982");
		const place = this.#place;
		await this.#inTurn(signal, async () => {globalThis.__t?.("memory/brain-memory.js#anonymous@11071");
			for (let n = 0; n < TRIES; n++) {
				const { revision } = this.#content;
				const found = await place?.write(this.#content.stateCovering(covers, change));
				if (found === void 0) {
					this.#content.cover(covers, change);
					if (place !== void 0 && this.#content.revision === revision + 1) this.#stored = this.#content.revision;
					return;
				}
				this.#merge(found);
				place?.accept(found);
				if (!covers.every((message) => (globalThis.__t?.("memory/brain-memory.js#anonymous@11515"),(this.#content.holds(message))))) return;
			}
			throw conflict("others store it all the time");
		});
	}
	/** Takes over what others have stored, before anything is written over it. @throws MemoryError `MEMORY_CONFLICT` */
	#merge({ theirs, base }) {globalThis.__t?.("memory/brain-memory.js#merge@11757");
		const both = mergedBrain({
			theirs,
			mine: this.#content.state,
			base
		});
		if (both === void 0) throw conflict("others have stored another summary since, and neither that nor the one here covers all of the other");
		this.#content.hold(both);
		this.#stored = NEVER;
	}
	/** One at a time, in the order asked: an older state never overwrites a newer. Each caller waits for its own, so none is queued for nobody. */
	#inTurn(signal, work) {globalThis.__t?.("memory/brain-memory.js#inTurn@12212");
		const turn = this.#turn.then(work);
		this.#turn = turn.catch(() => (globalThis.__t?.("memory/brain-memory.js#anonymous@12293"),(void 0)));
		return signal === void 0 ? turn : untilAborted(turn, signal);
	}
};
/** Their names. @internal */
const brainMemoryOptions = {
	model: true,
	cache: true,
	key: true,
	maxMessages: true,
	maxTokens: true,
	tokens: true,
	ttl: true,
	timeout: true,
	clock: true
};
export { BrainMemory, brainMemoryOptions };
