import { isObject } from "../kernel/value-kind.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { checkMailbox } from "../message/mailbox.js";
import { checkRoleMemory } from "../memory/role-memory.js";
import { sharedLimits } from "../model/limits.js";
import { isFailurePolicy } from "../role/failure-policy.js";
import { isModel } from "../role/role-parts.js";
import { schedulerOf } from "./schedulers/scheduler.js";
// ../../work/wt/lead/src/runtime/check-options.ts
/**
* Refuses options that can never work, before anything is begun.
*
* @throws UsageError `OPTION_INVALID`, `SCHEDULER_UNKNOWN`
*/
function checkOptions(options) {globalThis.__t?.("runtime/check-options.js#checkOptions@671");
	if (typeof options !== "object" || options === null) throw refused("options", "an object", options, "Leave them out for the defaults.");
	const { scheduler, concurrency, messageLimit, onFailure, seed, model, human } = options;
	if (scheduler !== void 0) schedulerOf(scheduler);
	if (concurrency !== void 0) checkWhole(concurrency, "concurrency", 1);
	if (messageLimit !== void 0) checkWhole(messageLimit, "messageLimit", 1);
	if (onFailure !== void 0 && !isFailurePolicy(onFailure)) throw refused("onFailure", "\"stop\", \"skip\" or retry(n)", onFailure, "Leave it out for \"stop\".");
	checkSeed(seed);
	if (model !== void 0 && !isModel(model)) throw refused("model", "a model", model, "Make one by an adapter: openai({ model: \"...\" }).");
	if (human !== void 0 && typeof human !== "function") throw refused("human", "a function", human, "Write human: (question) => answer, or leave it out: then questions wait.");
	sharedLimits(options.limits);
	checkRoleMemory(options.memory);
	checkMailbox(options.mailbox);
	checkSecrets(options.secrets);
}
/** @throws UsageError `OPTION_INVALID` for a team that would forget: what its run is gone on with, forked and replayed from is what was said. */
function checkTeamMemory(memory) {globalThis.__t?.("runtime/check-options.js#checkTeamMemory@1900");
	if (memory === false) throw refused("memory of a team", "options", memory, "Only a bare environment forgets; one role recalls nothing with its own memory: false.");
}
/** @throws UsageError `OPTION_INVALID` unless the value is a whole number that is large enough. */
function checkWhole(value, name, least) {globalThis.__t?.("runtime/check-options.js#checkWhole@2203");
	if (Number.isSafeInteger(value) && value >= least) return;
	throw refused(name, `a whole number of ${least} or more`, value, "Leave it out for the default.");
}
/** @throws UsageError `OPTION_INVALID` unless the value is a condition or left out. */
function checkStopCondition(stopWhen) {globalThis.__t?.("runtime/check-options.js#checkStopCondition@2495");
	if (stopWhen === void 0 || typeof stopWhen === "function") return;
	throw refused("stopWhen", "a function", stopWhen, "Write stopWhen: afterRounds(3), or a function of the run's progress.");
}
/** @throws UsageError `OPTION_INVALID` unless the value is a signal or left out. */
function checkSignal(signal) {globalThis.__t?.("runtime/check-options.js#checkSignal@2814");
	if (signal === void 0 || signal instanceof AbortSignal || isSignal(signal)) return;
	throw refused("signal", "an AbortSignal", signal, "Write signal: AbortSignal.timeout(1_000), or the signal of an AbortController.");
}
/** A signal of another realm or another library. */
function isSignal(signal) {globalThis.__t?.("runtime/check-options.js#isSignal@3119");
	return isObject(signal) && "aborted" in signal && "addEventListener" in signal;
}
/** @throws UsageError `OPTION_INVALID` unless the value is a seed or left out. */
function checkSeed(seed) {globalThis.__t?.("runtime/check-options.js#checkSeed@3313");
	if (seed === void 0 || typeof seed === "string" || typeof seed === "number" && !Number.isNaN(seed)) return;
	throw refused("seed", "a string or a number", seed, "Leave it out for the default.");
}
/** @throws UsageError `OPTION_INVALID` unless the value says which answers are used again, or is left out. */
function checkReuse(reuse) {globalThis.__t?.("runtime/check-options.js#checkReuse@3649");
	if (reuse === void 0 || reuse === "all" || reuse === "none") return;
	throw refused("reuse", "\"all\" or \"none\"", reuse, "Leave it out for all.");
}
/** What came may be the secret itself, so it is not told. */
function checkSecrets(secrets) {globalThis.__t?.("runtime/check-options.js#checkSecrets@3892");
	if (secrets === void 0 || Array.isArray(secrets) && secrets.every((secret) => (globalThis.__t?.("runtime/check-options.js#anonymous@3992"),(typeof secret === "string")))) return;
	throw new UsageError("OPTION_INVALID", "Expected secrets to be a list of texts, got something else. Write secrets: [secret].");
}
function refused(name, expected, came, todo) {globalThis.__t?.("runtime/check-options.js#refused@4172");
	return new UsageError("OPTION_INVALID", `Expected ${name} to be ${expected}, got ${valueText(came)}. ${todo}`);
}
export { checkOptions, checkReuse, checkSeed, checkSignal, checkStopCondition, checkTeamMemory, checkWhole };
