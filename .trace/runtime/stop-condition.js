import { aFunction, listOf, takes } from "../kernel/argument.js";
import { canonicalJson } from "../kernel/json.js";
import { addressOf } from "../message/address.js";
import { roundsOf } from "./record/run-state.js";
// ../../work/wt/lead/src/runtime/stop-condition.ts
/**
* A stop condition: the run stops after `n` rounds, with status `stopped`. The option `rounds` bounds a run too and ends it with status
* `rounds`.
*
* @example
* import { afterRounds, defineRole, Team } from "troupe";
*
* const clock = defineRole({ name: "Clock", react: (rc) => rc.message("tick", { sendTo: "<self>" }) });
* const { status, rounds } = await new Team({ roles: [clock] }).run("begin", { stopWhen: afterRounds(3) }).result;
* console.log(status, rounds); // stopped 3
*/
function afterRounds(n) {globalThis.__t?.("runtime/stop-condition.js#afterRounds@761");
	return recordable("afterRounds", [n], ({ rounds }) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@826"),(rounds >= n)));
}
/**
* A stop condition: the run stops when at least `amount` micro-dollars were spent. A budget stops before the money is spent; this stops
* after.
*
* @example
* import { afterSpending, usd, type StopCondition } from "troupe";
*
* export const enough: StopCondition = afterSpending(usd(0.5));
*/
function afterSpending(amount) {globalThis.__t?.("runtime/stop-condition.js#afterSpending@1156");
	return recordable("afterSpending", [amount], ({ spent }) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@1235"),(spent >= amount)));
}
/**
* A stop condition: the run stops when a message caused by this action was delivered.
*
* @throws UsageError `ADDRESS_INVALID` for a cause without a name
* @example
* import { defineAction, defineRole, saidBy, Team } from "troupe";
*
* const Draft = defineAction({ name: "Draft", run: () => "a draft" });
* const writer = defineRole({ name: "Wim", actions: [Draft] });
* const { status } = await new Team({ roles: [writer] }).run("write", { stopWhen: saidBy(Draft) }).result;
* console.log(status); // stopped
*/
function saidBy(cause) {globalThis.__t?.("runtime/stop-condition.js#saidBy@1787");
	return recordable("saidBy", [addressOf(cause)], ({ said }) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@1861"),(said(cause))));
}
/**
* A stop condition: the run stops when any of the conditions holds.
*
* @throws UsageError `ARGUMENT_INVALID` for a condition that is no function
* @example
* import { afterRounds, afterSpending, anyOf, usd } from "troupe";
*
* export const enough = anyOf(afterRounds(20), afterSpending(usd(1)));
*/
function anyOf(...conditions) {globalThis.__t?.("runtime/stop-condition.js#anyOf@2195");
	takes("anyOf", "what is given", conditions, listOf(aFunction));
	return recordable("anyOf", conditions.map(recordOf), (progress) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@2346"),(conditions.some((condition) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@2376"),(condition(progress)))))));
}
/**
* A stop condition: the run stops when all of the conditions hold.
*
* @throws UsageError `ARGUMENT_INVALID` for a condition that is no function
* @example
* import { afterRounds, allOf, saidBy } from "troupe";
*
* export const done = allOf(afterRounds(2), saidBy("Review"));
*/
function allOf(...conditions) {globalThis.__t?.("runtime/stop-condition.js#allOf@2699");
	takes("allOf", "what is given", conditions, listOf(aFunction));
	return recordable("allOf", conditions.map(recordOf), (progress) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@2850"),(conditions.every((condition) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@2881"),(condition(progress)))))));
}
/** The same for every copy of this package. */
const record = Symbol.for("troupe.stop");
function recordable(name, made, condition) {globalThis.__t?.("runtime/stop-condition.js#recordable@3011");
	return Object.defineProperty(condition, record, { value: Object.freeze({
		name,
		with: made
	}) });
}
/** A condition as a record tells it. */
function recordOf(condition) {globalThis.__t?.("runtime/stop-condition.js#recordOf@3202");
	return condition[record] ?? { name: condition.name };
}
/** The condition that a record tells, or undefined where only its program has it. */
function conditionOf({ name, with: made }) {globalThis.__t?.("runtime/stop-condition.js#conditionOf@3376");
	if (made === void 0) return void 0;
	const [first] = made;
	if (name === "afterRounds" && typeof first === "number") return afterRounds(first);
	if (name === "afterSpending" && typeof first === "number") return afterSpending(first);
	if (name === "saidBy" && typeof first === "string") return saidBy(first);
	if (name !== "anyOf" && name !== "allOf") return void 0;
	const parts = made.map((part) => (globalThis.__t?.("runtime/stop-condition.js#parts@3812"),(isRecordedStop(part) ? conditionOf(part) : void 0)));
	const known = parts.filter((part) => (globalThis.__t?.("runtime/stop-condition.js#known@3902"),(part !== void 0)));
	if (known.length < parts.length) return void 0;
	return name === "anyOf" ? anyOf(...known) : allOf(...known);
}
/** A recorded condition in words: `anyOf(afterRounds(3), enough)`. */
function stopText({ name, with: made }) {globalThis.__t?.("runtime/stop-condition.js#stopText@4114");
	if (made === void 0) return name === "" ? "a function that has no name" : name;
	return `${name}(${made.map((part) => (globalThis.__t?.("runtime/stop-condition.js#anonymous@4265"),(isRecordedStop(part) ? stopText(part) : canonicalJson(part)))).join(", ")})`;
}
function isRecordedStop(value) {globalThis.__t?.("runtime/stop-condition.js#isRecordedStop@4353");
	if (typeof value !== "object" || value === null) return false;
	const { name, with: made } = value;
	return typeof name === "string" && (made === void 0 || Array.isArray(made));
}
/** The progress of a run as it stands. Lists are copied only where a condition looks at them. */
function progressOf(state) {globalThis.__t?.("runtime/stop-condition.js#progressOf@4665");
	return {
		rounds: roundsOf(state),
		spent: state.ledger.spent,
		said: (cause) => (globalThis.__t?.("runtime/stop-condition.js#said@4768"),(state.history.newestBy(cause) !== void 0)),
		get messages() {globalThis.__t?.("runtime/stop-condition.js#messages get@4835");
			return state.history.get();
		},
		get outputs() {globalThis.__t?.("runtime/stop-condition.js#outputs get@4889");
			return [...state.outputs];
		},
		state: (role) => (globalThis.__t?.("runtime/stop-condition.js#state@4938"),(state.roles.get(typeof role === "string" ? role : role.name)?.custom))
	};
}
export { afterRounds, afterSpending, allOf, anyOf, conditionOf, progressOf, recordOf, saidBy, stopText };
