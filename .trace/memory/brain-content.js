import { assertMessage, createMessage } from "../message/message.js";
import "./brain-state.js";
import { Memory } from "./memory.js";
import { NO_SUMMARY, summaryText } from "./summary-levels.js";
// ../../work/wt/lead/src/memory/brain-content.ts
/**
* What a brain remembers right now: what was said, what is known, the summary and which messages it covers. It counts its changes, so that
* its owner knows whether exactly this was stored.
*
* N1 messages are never changed: one that has another role is made anew under its id. N2 what a summary covers is not remembered as said
* again.
*/
var BrainContent = class {
	#history = new Memory();
	#knowledge = new Memory();
	#levels = NO_SUMMARY;
	#covered = [];
	#lastTalk;
	#revision = 0;
	/** How often it has changed. */
	get revision() {globalThis.__t?.("memory/brain-content.js#revision get@788");
		return this.#revision;
	}
	/** What was said and is not summed up yet, oldest first. */
	get history() {globalThis.__t?.("memory/brain-content.js#history get@895");
		return this.#history.get();
	}
	get knowledge() {globalThis.__t?.("memory/brain-content.js#knowledge get@947");
		return this.#knowledge.get();
	}
	get levels() {globalThis.__t?.("memory/brain-content.js#levels get@998");
		return this.#levels;
	}
	get summary() {globalThis.__t?.("memory/brain-content.js#summary get@1041");
		return summaryText(this.#levels);
	}
	/** Ids of messages that the summary covers, the newest last. */
	get covered() {globalThis.__t?.("memory/brain-content.js#covered get@1163");
		return this.#covered;
	}
	get lastTalk() {globalThis.__t?.("memory/brain-content.js#lastTalk get@1208");
		return this.#lastTalk;
	}
	get state() {globalThis.__t?.("memory/brain-content.js#state get@1251");
		return {
			history: this.history,
			knowledge: this.knowledge,
			levels: this.#levels,
			covered: this.#covered,
			lastTalk: this.#lastTalk
		};
	}
	/** False, and nothing changes, when it is remembered or summed up already. */
	addTalk(message) {globalThis.__t?.("memory/brain-content.js#addTalk@1499");
		if (!this.#addHistory(message, "user")) return false;
		this.#lastTalk = message.content;
		return true;
	}
	/** The same for an answer. */
	addAnswer(message) {globalThis.__t?.("memory/brain-content.js#addAnswer@1663");
		return this.#addHistory(message, "assistant");
	}
	addKnowledge(message) {globalThis.__t?.("memory/brain-content.js#addKnowledge@1740");
		const isNew = this.#knowledge.add(message);
		if (isNew) this.#revision++;
		return isNew;
	}
	/** Whether exactly this was said, and is not summed up yet. */
	has(text) {globalThis.__t?.("memory/brain-content.js#has@1917");
		for (const message of this.#history.newestFirst()) if (message.content === text) return true;
		return false;
	}
	/** Whether this message is remembered as it was said. */
	holds({ id }) {globalThis.__t?.("memory/brain-content.js#holds@2106");
		return this.#history.has(id);
	}
	popLastTalk() {globalThis.__t?.("memory/brain-content.js#popLastTalk@2164");
		const talk = this.#lastTalk;
		if (talk === void 0) return void 0;
		this.#lastTalk = void 0;
		this.#revision++;
		return talk;
	}
	/** Puts a summary in the place of all that was said. */
	sumUpAs(text) {globalThis.__t?.("memory/brain-content.js#sumUpAs@2369");
		if (this.summary === text && this.#history.size === 0) return;
		this.cover(this.history, () => ((globalThis.__t?.("memory/brain-content.js#anonymous@2470"),({
			...NO_SUMMARY,
			oldest: text
		}))));
	}
	/** What it would hold if a summary covered these messages. */
	stateCovering(messages, change) {globalThis.__t?.("memory/brain-content.js#stateCovering@2601");
		const ids = new Set(messages.map(({ id }) => (globalThis.__t?.("memory/brain-content.js#ids@2657"),(id))));
		const history = this.history.filter(({ id }) => (globalThis.__t?.("memory/brain-content.js#history@2713"),(!ids.has(id))));
		return {
			...this.state,
			history,
			levels: change(this.#levels),
			covered: this.#coveredWith(messages)
		};
	}
	/** A summary covers these messages from now on. */
	cover(messages, change) {globalThis.__t?.("memory/brain-content.js#cover@2921");
		for (const message of messages) this.#history.delete(message);
		this.#covered = this.#coveredWith(messages);
		this.#levels = change(this.#levels);
		this.#revision++;
	}
	/** Holds this state and nothing else from now on. */
	hold(state) {globalThis.__t?.("memory/brain-content.js#hold@3176");
		this.#history = new Memory();
		this.#knowledge = new Memory();
		this.#history.addBatch(state.history);
		this.#knowledge.addBatch(state.knowledge);
		this.#covered = state.covered;
		this.#levels = state.levels;
		this.#lastTalk = state.lastTalk;
		this.#revision++;
	}
	#addHistory(message, role) {globalThis.__t?.("memory/brain-content.js#addHistory@3472");
		assertMessage(message);
		if (this.#covered.includes(message.id)) return false;
		const isNew = this.#history.add(message.role === role ? message : createMessage(message.content, {
			...message,
			role
		}));
		if (isNew) this.#revision++;
		return isNew;
	}
	#coveredWith(messages) {globalThis.__t?.("memory/brain-content.js#coveredWith@3766");
		return [...this.#covered, ...messages.map((message) => (globalThis.__t?.("memory/brain-content.js#anonymous@3823"),(message.id)))].slice(-100);
	}
};
export { BrainContent };
