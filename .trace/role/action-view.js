import { NotJsonError, UsageError } from "../kernel/errors.js";
import { canonicalJson } from "../kernel/json.js";
import { addressOf } from "../message/address.js";
// ../../work/wt/lead/src/role/action-view.ts
/**
* A role's context as one action sees it. Everything but `action`, `news`, `inputs`, `text` and `task` is the role's own.
* Its functions are bound when they are asked for, so that an action can take it apart: `run: ({ ask, text }) => ask(text)`.
*/
var ActionView = class {
	action;
	news;
	text;
	#rc;
	#does;
	/** Made with the first of what it keeps: most actions ask for no inputs, and no typed answers. */
	#kept;
	constructor(rc, action, work) {globalThis.__t?.("role/action-view.js#constructor@648");
		const { news = rc.news, text, task } = work;
		this.#rc = rc;
		this.#does = action;
		this.action = action.name;
		this.news = news;
		this.text = text ?? (news.length === 1 ? news[0].content : news.map(({ content }) => (globalThis.__t?.("role/action-view.js#anonymous@875"),(content))).join("\n\n"));
		if (task !== void 0) this.task = task;
	}
	/** @throws UsageError `NEEDS_MISSING` when nothing caused by one of the needs is remembered. */
	get inputs() {globalThis.__t?.("role/action-view.js#inputs get@1069");
		const kept = this.#kept ??= new Kept();
		return kept.inputs ??= this.#does.needs.map((need) => (globalThis.__t?.("role/action-view.js#anonymous@1162"),(this.#newest(need))));
	}
	get role() {globalThis.__t?.("role/action-view.js#role get@1205");
		return this.#rc.role;
	}
	get name() {globalThis.__t?.("role/action-view.js#name get@1246");
		return this.#rc.name;
	}
	get runId() {globalThis.__t?.("role/action-view.js#runId get@1288");
		return this.#rc.runId;
	}
	get inbox() {globalThis.__t?.("role/action-view.js#inbox get@1331");
		return this.#rc.inbox;
	}
	get memory() {globalThis.__t?.("role/action-view.js#memory get@1375");
		return this.#rc.memory;
	}
	get workingMemory() {globalThis.__t?.("role/action-view.js#workingMemory get@1427");
		return this.#rc.workingMemory;
	}
	get important() {globalThis.__t?.("role/action-view.js#important get@1482");
		return this.#rc.important;
	}
	get state() {globalThis.__t?.("role/action-view.js#state get@1529");
		return this.#rc.state;
	}
	set state(value) {globalThis.__t?.("role/action-view.js#state@1572");
		this.#rc.state = value;
	}
	get deps() {globalThis.__t?.("role/action-view.js#deps get@1620");
		return this.#rc.deps;
	}
	get plan() {globalThis.__t?.("role/action-view.js#plan get@1661");
		return this.#rc.plan;
	}
	set plan(value) {globalThis.__t?.("role/action-view.js#plan@1702");
		this.#rc.plan = value;
	}
	get joins() {globalThis.__t?.("role/action-view.js#joins get@1750");
		return this.#rc.joins;
	}
	get signal() {globalThis.__t?.("role/action-view.js#signal get@1794");
		return this.#rc.signal;
	}
	get logger() {globalThis.__t?.("role/action-view.js#logger get@1839");
		return this.#rc.logger;
	}
	get human() {globalThis.__t?.("role/action-view.js#human get@1883");
		return this.#rc.human;
	}
	get model() {globalThis.__t?.("role/action-view.js#model get@1926");
		return this.#rc.model;
	}
	get steps() {globalThis.__t?.("role/action-view.js#steps get@1969");
		return this.#rc.steps;
	}
	get introduction() {globalThis.__t?.("role/action-view.js#introduction get@2019");
		return this.#rc.introduction;
	}
	get clock() {globalThis.__t?.("role/action-view.js#clock get@2069");
		return this.#rc.clock;
	}
	get ask() {globalThis.__t?.("role/action-view.js#ask get@2110");
		return ((prompt, o) => {globalThis.__t?.("role/action-view.js#anonymous@2125");
			const answer = this.#rc.ask(prompt, o);
			return o?.schema === void 0 || o.schema !== this.#does.output ? answer : answer.then((value) => (globalThis.__t?.("role/action-view.js#anonymous@2273"),(this.#remembered(value))));
		});
	}
	get step() {globalThis.__t?.("role/action-view.js#step get@2328");
		return (name, request, effect, o) => (globalThis.__t?.("role/action-view.js#anonymous@2342"),(this.#rc.step(name, request, effect, o)));
	}
	get recall() {globalThis.__t?.("role/action-view.js#recall get@2427");
		return (about) => (globalThis.__t?.("role/action-view.js#anonymous@2441"),(this.#rc.recall(about)));
	}
	get message() {globalThis.__t?.("role/action-view.js#message get@2491");
		return (content, fields = noFields) => {globalThis.__t?.("role/action-view.js#anonymous@2505");
			const { instructContent, role, sentFrom, sendTo, metadata, causeBy = this.action } = fields;
			const all = {
				instructContent,
				role,
				causeBy,
				sentFrom,
				sendTo,
				parents: fields.parents ?? (this.news === this.#rc.news ? void 0 : this.news.map(idOf)),
				metadata
			};
			return this.#rc.message(content, all);
		};
	}
	get issue() {globalThis.__t?.("role/action-view.js#issue get@2894");
		return (message, cause = this.action) => (globalThis.__t?.("role/action-view.js#anonymous@2908"),(this.#rc.issue(message, cause)));
	}
	get publish() {globalThis.__t?.("role/action-view.js#publish get@2989");
		return (message, cause = this.action) => (globalThis.__t?.("role/action-view.js#anonymous@3003"),(this.#rc.publish(message, cause)));
	}
	get random() {globalThis.__t?.("role/action-view.js#random get@3085");
		return () => (globalThis.__t?.("role/action-view.js#anonymous@3099"),(this.#rc.random()));
	}
	get now() {globalThis.__t?.("role/action-view.js#now get@3135");
		return () => (globalThis.__t?.("role/action-view.js#anonymous@3149"),(this.#rc.now()));
	}
	get id() {globalThis.__t?.("role/action-view.js#id get@3181");
		return () => (globalThis.__t?.("role/action-view.js#anonymous@3195"),(this.#rc.id()));
	}
	/** Whether `ask` gave back this very value for the action's own output schema: then it is checked. */
	isAnswer(value) {globalThis.__t?.("role/action-view.js#isAnswer@3332");
		return this.#kept?.answers.has(value) === true;
	}
	/** Whether a message's payload says the same as a value that {@link isAnswer}: a message holds a copy. */
	isAnswered(payload) {globalThis.__t?.("role/action-view.js#isAnswered@3514");
		return this.#kept !== void 0 && [...this.#kept.answers].some((answer) => (globalThis.__t?.("role/action-view.js#anonymous@3589"),(isSameJson(answer, payload))));
	}
	#remembered(answer) {globalThis.__t?.("role/action-view.js#remembered@3646");
		(this.#kept ??= new Kept()).answers.add(answer);
		return answer;
	}
	#newest(need) {globalThis.__t?.("role/action-view.js#newest@3736");
		const newest = this.memory.newestBy(need);
		if (newest !== void 0) return newest;
		throw new UsageError("NEEDS_MISSING", `Action ${this.action} of ${this.name} needs a message caused by ${addressOf(need)}, but none is remembered. Watch ${addressOf(need)}, or use a reaction that waits for it.`);
	}
};
/** What a view has looked up or was answered. */
var Kept = class {
	inputs;
	answers = /* @__PURE__ */ new Set();
};
const noFields = Object.freeze({});
function idOf(message) {globalThis.__t?.("role/action-view.js#idOf@4206");
	return message.id;
}
/** Whether two values are the same once written as JSON. What JSON cannot carry is like nothing. */
function isSameJson(one, other) {globalThis.__t?.("role/action-view.js#isSameJson@4354");
	if (one === void 0 || other === void 0) return one === other;
	try {
		return canonicalJson(one) === canonicalJson(other);
	} catch (error) {
		if (error instanceof NotJsonError) return false;
		throw error;
	}
}
export { ActionView, isSameJson };
