import { ControlError } from "../../kernel/errors.js";
import { afterFailure } from "../../role/failure-policy.js";
import { failureRecord } from "../run-failure.js";
import { isUncertain } from "../steps/tries.js";
// ../../work/wt/lead/src/runtime/turn/commit.ts
/** Records that an activation began, unless the record has that. */
function recordBegin({ log }, role, { act, take, at }) {globalThis.__t?.("runtime/turn/commit.js#recordBegin@334");
	if (role.open !== void 0) return;
	log.record({
		type: "act.started",
		act,
		role: role.name,
		n: role.n,
		attempt: role.retry.failures + 1,
		take,
		at
	});
}
/** The summary of an attempt without steps. */
const NO_STEPS = Object.freeze({
	life: Object.freeze({}),
	failedStep: void 0
});
/** Records how an attempt ended: the only way to commit what an activation changed. */
function commit(tools, spec, role, begun, outcome, { life, failedStep } = NO_STEPS) {globalThis.__t?.("runtime/turn/commit.js#commit@777");
	if (outcome.kind === "interrupted") return {
		kind: "suspended",
		control: outcome.control
	};
	const { log, mask } = tools;
	const { act, take, at } = begun;
	const { round } = log.state;
	const beginning = role.open === void 0 ? { at } : {};
	const head = {
		act,
		role: role.name,
		round,
		take,
		...beginning
	};
	if (outcome.kind === "done") {
		const { said } = log.record({
			type: "act.ended",
			...head,
			...outcome.changes,
			...life
		});
		return {
			kind: "ended",
			said
		};
	}
	const { error } = outcome;
	const then = nextStep(tools, spec, role, take, error);
	log.record({
		type: "act.failed",
		...head,
		...life,
		error: failureRecord(error, mask),
		stepFailed: failedStep !== void 0,
		then
	});
	if (then === "retry" || then === "isolate") return "retry";
	return {
		kind: then === "dead" ? "skipped" : "stopped",
		error,
		...outcome.place
	};
}
function nextStep({ onFailure }, spec, role, take, error) {globalThis.__t?.("runtime/turn/commit.js#nextStep@1753");
	const policy = afterFailure(spec.role.onFailure ?? onFailure, role.retry.strikes + 1);
	const next = policy === "dead" && take > 1 ? "isolate" : policy;
	return next !== "dead" && isUncertain(error) ? "stop" : next;
}
/** The outcome of a body that threw. */
function failedWith(error) {globalThis.__t?.("runtime/turn/commit.js#failedWith@2073");
	return error instanceof ControlError ? {
		kind: "interrupted",
		control: error
	} : {
		kind: "failed",
		error
	};
}
export { NO_STEPS, commit, failedWith, recordBegin };
