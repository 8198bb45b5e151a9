import { UsageError } from "../../kernel/errors.js";
import { canonicalJson } from "../../kernel/json.js";
import { valueText } from "../../kernel/value-text.js";
// ../../work/wt/lead/src/runtime/schedulers/scheduler.ts
/** Simultaneous activation: every role with mail acts once in a round, and hears in the next round what was said in this one. */
const rounds = {
	name: "rounds",
	delivery: "round",
	select: ({ ready }) => (globalThis.__t?.("runtime/schedulers/scheduler.js#select@414"),(ready.keys()))
};
/** A role acts as soon as it has mail. The role that has waited longest begins first. */
const eager = {
	name: "eager",
	delivery: "turn",
	select: ({ ready }) => (globalThis.__t?.("runtime/schedulers/scheduler.js#select@595"),(ready.keys()))
};
const named = [rounds, eager];
/** The delivery of a scheduler that a record names without telling it. */
function deliveryOf(name) {globalThis.__t?.("runtime/schedulers/scheduler.js#deliveryOf@732");
	return name === rounds.name ? rounds.delivery : "turn";
}
/**
* The scheduler that is given by name or as an object.
*
* @throws UsageError `SCHEDULER_UNKNOWN`
*/
function schedulerOf(given) {globalThis.__t?.("runtime/schedulers/scheduler.js#schedulerOf@924");
	const scheduler = named.find(({ name }) => (globalThis.__t?.("runtime/schedulers/scheduler.js#scheduler@984"),(name === given))) ?? given;
	if (isScheduler(scheduler)) return scheduler;
	throw new UsageError("SCHEDULER_UNKNOWN", `Expected a scheduler "rounds" or "eager", or an object with name, delivery and select, got ${valueText(given)}. Leave it out for rounds.`);
}
/** A scheduler as a run records it. */
function recordedScheduler({ name, parameters, delivery }) {globalThis.__t?.("runtime/schedulers/scheduler.js#recordedScheduler@1297");
	if (named.some((known) => (globalThis.__t?.("runtime/schedulers/scheduler.js#anonymous@1374"),(known.name === name)))) return { scheduler: name };
	return {
		scheduler: name,
		delivery,
		...parameters === void 0 ? {} : { parameters }
	};
}
/**
* The scheduler to go on with.
*
* @param given the scheduler of the program that goes on
* @throws UsageError `SCHEDULER_UNKNOWN` where the record names one that the program does not have; `SCHEDULER_DIFFERS` where the parameters differ
*/
function recordedBy(state, given) {globalThis.__t?.("runtime/schedulers/scheduler.js#recordedBy@1776");
	const own = given === void 0 ? void 0 : schedulerOf(given);
	const scheduler = own?.name === state.scheduler ? own : named.find(({ name }) => (globalThis.__t?.("runtime/schedulers/scheduler.js#scheduler@1941"),(name === state.scheduler)));
	if (scheduler === void 0) throw new UsageError("SCHEDULER_UNKNOWN", `Expected the scheduler ${valueText(state.scheduler)} that the run began with, got ${own === void 0 ? "none" : valueText(own.name)}. Give the team that scheduler.`);
	const [then, now] = [canonicalJson(state.parameters), canonicalJson(scheduler.parameters ?? null)];
	if (then === now) return scheduler;
	throw new UsageError("SCHEDULER_DIFFERS", `Expected the scheduler ${scheduler.name} with the parameters ${then} that the run began with, got ${now}. Give the team a scheduler with those.`);
}
function isScheduler(given) {globalThis.__t?.("runtime/schedulers/scheduler.js#isScheduler@2548");
	if (typeof given !== "object" || given === null) return false;
	const { name, delivery, select } = given;
	return typeof name === "string" && name !== "" && (delivery === "round" || delivery === "turn") && typeof select === "function";
}
export { deliveryOf, eager, recordedBy, recordedScheduler, rounds, schedulerOf };
