import { valueText } from "../kernel/value-text.js";
import { UsageError } from "../kernel/errors.js";
// ../../work/wt/lead/src/role/failure-policy.ts
/**
* A failure policy: a failed activation runs up to `times` more times, then the run stops (`stop`, the default) or its messages go to the
* dead letters (`skip`). If a step failed, the answers of the other steps are used again; if none did, the answers themselves were at
* fault and everything is asked anew.
*
* @throws UsageError `RETRY_INVALID` unless `times` is a whole number of 1 or more.
* @example
* import { defineAction, defineRole, retry } from "troupe";
*
* const Fetch = defineAction({ name: "Fetch", prompt: (ctx) => ctx.text });
* export const reader = defineRole({ name: "Rita", actions: [Fetch], onFailure: retry(2, "skip") });
*/
function retry(times, then = "stop") {globalThis.__t?.("role/failure-policy.js#retry@805");
	if (!Number.isInteger(times) || times < 1) throw new UsageError("RETRY_INVALID", `Expected retry(n) to get a whole number of 1 or more, got ${valueText(times)}.`);
	return {
		retry: times,
		then
	};
}
/** Whether a value is a failure policy: what `retry` made, "stop" or "skip". */
function isFailurePolicy(policy) {globalThis.__t?.("role/failure-policy.js#isFailurePolicy@1129");
	if (policy === "stop" || policy === "skip") return true;
	if (typeof policy !== "object" || policy === null) return false;
	const { retry: times, then } = policy;
	return Number.isInteger(times) && times >= 1 && (then === "stop" || then === "skip");
}
/** What the policy says after attempt number `attempt` (from 1) has failed. */
function afterFailure(policy, attempt) {globalThis.__t?.("role/failure-policy.js#afterFailure@1497");
	if (policy === "stop") return "stop";
	if (policy === "skip") return "dead";
	if (attempt <= policy.retry) return "retry";
	return policy.then === "skip" ? "dead" : "stop";
}
export { afterFailure, isFailurePolicy, retry };
