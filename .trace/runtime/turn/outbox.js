import { ContextClosedError, UsageError } from "../../kernel/errors.js";
import { valueText } from "../../kernel/value-text.js";
import { UserRequirement } from "../../message/address.js";
import { isCauseLeftOpen, isMessage, made, nameOr } from "../../message/message.js";
import { messageId } from "../record/names.js";
import { assertMessageSize } from "./activation-host.js";
// ../../work/wt/lead/src/runtime/turn/outbox.ts
/**
* The messages of one activation. It owns what was made and what was sent; nothing leaves it before the activation has ended.
*
* Outbox.O1 (`send`) a message is sent once, however often it is published. Outbox.O2 (`issue`) a message made elsewhere is issued again under
* the activation's id, time and parents. Outbox.O3 (`#assertOpen`) once closed, nothing is made or sent.
*/
var Outbox = class {
	#turn;
	#speaker;
	#made = /* @__PURE__ */ new Set();
	#sent = /* @__PURE__ */ new Map();
	#issued = /* @__PURE__ */ new Map();
	#parents = nobody;
	/** The news that the parents are of. */
	#answered = [];
	#isClosed = false;
	constructor(turn, speaker) {globalThis.__t?.("runtime/turn/outbox.js#constructor@1073");
		this.#turn = turn;
		this.#speaker = speaker;
	}
	/** Everything that was sent, in order. */
	get sent() {globalThis.__t?.("runtime/turn/outbox.js#sent get@1195");
		return [...this.#sent.values()];
	}
	close() {globalThis.__t?.("runtime/turn/outbox.js#close@1244");
		this.#isClosed = true;
	}
	/** Makes a message of this activation. */
	message(content, fields = noFields) {globalThis.__t?.("runtime/turn/outbox.js#message@1329");
		const { causeBy, sentFrom, parents } = fields;
		return this.#make(content, fields, causeBy === void 0 ? this.#turn.definition.spec.card.name : nameOr(causeBy, UserRequirement.name), sentFrom === void 0 ? this.#turn.role.name : nameOr(sentFrom, ""), parents ?? this.#parentsNow());
	}
	/** A message as this activation says it: itself, if it was made here. */
	issue(message, cause = this.#turn.definition.spec.card.name) {globalThis.__t?.("runtime/turn/outbox.js#issue@1728");
		if (this.#made.has(message)) return message;
		const known = this.#issued.get(message);
		if (known !== void 0) return known;
		if (!isMessage(message)) throw new UsageError("MESSAGE_INVALID", `Expected a message from role ${this.#turn.role.name}, got ${valueText(message)}. Make one: rc.message(text).`);
		const issued = this.#make(message.content, message, isCauseLeftOpen(message) ? nameOr(cause, UserRequirement.name) : message.causeBy, message.sentFrom === "" ? this.#turn.role.name : message.sentFrom, message.parents.length === 0 ? this.#parentsNow() : message.parents);
		this.#issued.set(message, issued);
		return issued;
	}
	/** Sends a message when the activation ends. */
	send(given, cause) {globalThis.__t?.("runtime/turn/outbox.js#send@2479");
		this.#assertOpen("publish");
		const message = this.issue(given, cause);
		const before = this.#sent.get(message);
		if (before !== void 0) return before;
		const { to, dead } = this.#turn.tools.host.directory.route(message, this.#turn.role.name);
		const sent = dead.length === 0 ? {
			message,
			to
		} : {
			message,
			to,
			dead
		};
		this.#sent.set(message, sent);
		return sent;
	}
	#make(content, fields, causeBy, sentFrom, parents) {globalThis.__t?.("runtime/turn/outbox.js#make@2898");
		this.#assertOpen("a message");
		const { name, n } = this.#turn.role;
		assertMessageSize(content, this.#turn.tools.host.messageLimit, name);
		const id = messageId(name, n, this.#made.size);
		const at = this.#speaker.now();
		const message = made(content, fields, id, fields.role ?? "assistant", causeBy, sentFrom, Object.freeze([...parents]), at);
		this.#made.add(message);
		return message;
	}
	/** The ids of the news: the parents of a message that names none. */
	#parentsNow() {globalThis.__t?.("runtime/turn/outbox.js#parentsNow@3430");
		const { news } = this.#speaker;
		if (this.#answered !== news) {
			this.#answered = news;
			this.#parents = news.map(({ id }) => (globalThis.__t?.("runtime/turn/outbox.js#anonymous@3556"),(id)));
		}
		return this.#parents;
	}
	#assertOpen(what) {globalThis.__t?.("runtime/turn/outbox.js#assertOpen@3616");
		if (this.#isClosed) throw new ContextClosedError(this.#turn.begun.act, what);
	}
};
const noFields = Object.freeze({});
const nobody = Object.freeze([]);
export { Outbox };
