import { ContextClosedError, UsageError } from "../../kernel/errors.js";
import { LightStream } from "../../kernel/random.js";
import { valueText } from "../../kernel/value-text.js";
import { UserRequirement } from "../../message/address.js";
import { made, nameOr } from "../../message/message.js";
import { changedState } from "../record/activations.js";
import { messageId } from "../record/names.js";
import { assertMessageSize } from "./activation-host.js";
import { heldState, stateChange } from "./step-state.js";
import { commit, failedWith } from "./commit.js";
// ../../work/wt/lead/src/runtime/turn/step-turn.ts
/**
* One attempt at an activation of a step role: the function is called for each message, and what it said and its new state take effect by one
* event. This is the lane for populations of a million roles: such a role remembers nothing, waits for nothing and asks nobody, so an
* attempt is over when this returns and needs no scope, no time limit and no steps.
*
* @throws the error that broke the journal
*/
function stepTurn(tools, spec, role, begun) {globalThis.__t?.("runtime/turn/step-turn.js#stepTurn@1035");
	const out = new StepOutbox(tools.host, spec, role, begun);
	let outcome;
	try {
		outcome = {
			kind: "done",
			changes: stepThrough(spec, role, begun, out)
		};
		if (outcome.changes.said.length > 0) tools.host.assertRoom(role, outcome.changes.said, begun.take);
	} catch (error) {
		outcome = failedWith(error);
	}
	out.close();
	const { ended } = tools.scopes;
	return commit(tools, spec, role, begun, ended === void 0 ? outcome : failedWith(ended.reason));
}
function stepThrough({ role: definition }, role, { take }, out) {globalThis.__t?.("runtime/turn/step-turn.js#stepThrough@1547");
	const first = heldState(role.custom);
	let state = first;
	let changes = 0;
	let change;
	for (const message of role.news(take)) {
		out.hear(message);
		const given = definition.step?.(state, message, out);
		const next = given === void 0 || given === state ? void 0 : stateChange(state, stateIn(given, role.name));
		if (next === void 0) continue;
		changes += 1;
		change = next;
		state = heldState(changedState(state, next));
	}
	if (changes > 1) change = stateChange(first, state);
	return {
		said: out.said,
		memory: noOps,
		working: noOps,
		...change === void 0 ? {} : { state: change }
	};
}
/** @throws UsageError `STEP_RESULT` when it is no object, or a promise */
function stateIn(given, name) {globalThis.__t?.("runtime/turn/step-turn.js#stateIn@2294");
	if (given instanceof Object && "then" in given && typeof given.then === "function") {
		Promise.resolve(given).catch(() => {globalThis.__t?.("runtime/turn/step-turn.js#anonymous@2444");});
		throw new UsageError("STEP_RESULT", `Expected the step function of ${name} to be done when it returns, got a promise. Do what waits in a role with react, which tells the result by a message.`);
	}
	if (typeof given === "object" && given !== null && !Array.isArray(given)) return given;
	throw new UsageError("STEP_RESULT", `Expected the step function of ${name} to return the next state or nothing, got ${valueText(given)}. Return an object: ({ ...state }).`);
}
/**
* What a step function speaks through. It owns the messages of one attempt.
*
* StepOutbox.S1 (`say`) once closed, nothing is said. StepOutbox.S2 (`random`, `now`) what it gives is a function of the seed, the role's name,
* how often the role has acted, and when the activation began.
*/
var StepOutbox = class {
	said = [];
	#host;
	#spec;
	#role;
	#begun;
	#message;
	/** Ids of the messages heard since something was said: the parents of the next one. */
	#unanswered = [];
	#hasAnswered = false;
	#random;
	constructor(host, spec, role, begun) {globalThis.__t?.("runtime/turn/step-turn.js#constructor@3446");
		this.#host = host;
		this.#spec = spec;
		this.#role = role;
		this.#begun = begun;
	}
	get name() {globalThis.__t?.("runtime/turn/step-turn.js#name get@3572");
		return this.#role.name;
	}
	hear(message) {globalThis.__t?.("runtime/turn/step-turn.js#hear@3611");
		if (this.#hasAnswered) this.#unanswered = [];
		this.#hasAnswered = false;
		this.#unanswered.push(message.id);
		this.#message = message;
	}
	close() {globalThis.__t?.("runtime/turn/step-turn.js#close@3773");
		this.#message = void 0;
	}
	say(content, fields = noFields) {globalThis.__t?.("runtime/turn/step-turn.js#say@3811");
		if (this.#message === void 0) throw new ContextClosedError(this.#begun.act, "a message");
		const { messageLimit, directory } = this.#host;
		const { name, n } = this.#role;
		assertMessageSize(content, messageLimit, name);
		const { causeBy, sentFrom, parents } = fields;
		const message = made(content, fields, messageId(name, n, this.said.length), fields.role ?? "assistant", causeBy === void 0 ? this.#spec.card.name : nameOr(causeBy, UserRequirement.name), sentFrom === void 0 ? name : nameOr(sentFrom, ""), Object.freeze([...parents ?? this.#unanswered]), this.#begun.at);
		const { to, dead } = directory.route(message, name);
		this.said.push(dead.length === 0 ? {
			message,
			to
		} : {
			message,
			to,
			dead
		});
		this.#hasAnswered = true;
		return message;
	}
	random() {globalThis.__t?.("runtime/turn/step-turn.js#random@4632");
		this.#random ??= new LightStream(this.#host.seed, this.name, this.#role.n);
		return this.#random.next();
	}
	now() {globalThis.__t?.("runtime/turn/step-turn.js#now@4752");
		return this.#begun.at;
	}
};
const noFields = Object.freeze({});
const noOps = Object.freeze([]);
export { stepTurn };
