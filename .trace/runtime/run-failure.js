import { TroupeError, errorRecord } from "../kernel/troupe-error.js";
import { ActionError, UsageError, stepErrorFrom } from "../kernel/errors.js";
import { masked, maskedError } from "./record/masking.js";
// ../../work/wt/lead/src/runtime/run-failure.ts
/** The code of a failure that was thrown as no error of this package: the same in the event, the dead letters and the result. */
const ACTION_FAILED = "ACTION_FAILED";
/** A failed activation's error as its event tells it. */
function failureRecord(error, mask) {globalThis.__t?.("runtime/run-failure.js#failureRecord@483");
	const record = maskedError(mask, error);
	return TroupeError.isInstance(error) ? record : {
		...record,
		code: ACTION_FAILED
	};
}
/** A failure as the run's result tells it, without secrets. */
function failureError(failure, mask) {globalThis.__t?.("runtime/run-failure.js#failureError@719");
	return withoutSecrets(asTroupeError(failure), mask);
}
function asTroupeError({ error, role, action, step }) {globalThis.__t?.("runtime/run-failure.js#asTroupeError@814");
	if (TroupeError.isInstance(error)) return error;
	const { message } = errorRecord(error);
	const what = action === void 0 ? "An action" : `Action ${action}`;
	const after = step === void 0 ? "" : `, in which step ${JSON.stringify(step)} had failed,`;
	const who = role === void 0 ? "Something" : `${what} of ${role}${after}`;
	const advice = "Mend it and resume the run, or say with onFailure what shall happen when an action fails.";
	const data = {
		...action === void 0 ? {} : { action },
		...step === void 0 ? {} : { step }
	};
	return new ActionError(ACTION_FAILED, `${who} failed: ${message}${/[.!?]$/.test(message) ? "" : "."} ${advice}`, {
		cause: error,
		...role === void 0 ? {} : { data: {
			role,
			...data
		} }
	});
}
/** The same error where nothing in it is secret; else one that says the same without, and without its cause. */
function withoutSecrets(error, mask) {globalThis.__t?.("runtime/run-failure.js#withoutSecrets@1721");
	const plain = errorRecord(error);
	const safe = masked(mask, plain);
	return safe === plain && !holdsSecret(error.cause, mask) ? error : errorFrom(safe);
}
/** Most values of a cause that are looked at. One that holds more is taken for one that holds a secret. */
const MOST_VALUES = 1e5;
/** Looks at all that a cause holds, and calls nothing of it. */
function holdsSecret(cause, mask) {globalThis.__t?.("runtime/run-failure.js#holdsSecret@2115");
	const found = /* @__PURE__ */ new Set([cause]);
	try {
		for (const value of found) {
			if (typeof value === "string" && mask(value) !== value) return true;
			if (found.size > MOST_VALUES) return true;
			if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
			if (value instanceof Map || value instanceof Set) found.add([...value]);
			for (const key of Reflect.ownKeys(value)) found.add(key).add(Reflect.getOwnPropertyDescriptor(value, key)?.value);
		}
		return false;
	} catch {
		return true;
	}
}
function errorFrom(record) {globalThis.__t?.("runtime/run-failure.js#errorFrom@2692");
	const detail = { data: record.data };
	if (record.name === "UsageError") return new UsageError(record.code, record.message, detail);
	return record.name === "ActionError" ? new ActionError(record.code, record.message, detail) : stepErrorFrom(record);
}
export { failureError, failureRecord };
