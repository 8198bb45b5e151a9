import { contentHash, textHash } from "../../kernel/json.js";
// ../../work/wt/lead/src/runtime/record/step-address.ts
/** How many hexadecimal digits of the sha256 an address keeps: 128 bits. */
const ADDRESS_DIGITS = 32;
/**
* The addresses that one activation has asked under. It owns how often each was asked.
*
* AD1 an address is sha256 of kind, name, masked request and the path of enclosing steps; a key is an address and its occurrence, which is
* counted when it is asked for.
*/
var StepAddresses = class {
	#occurrences = /* @__PURE__ */ new Map();
	/** @param request its canonical JSON, which is written and hashed once */
	keyOf(spec, request, path) {globalThis.__t?.("runtime/record/step-address.js#keyOf@643");
		const asked = `[${JSON.stringify(spec.kind)},${JSON.stringify(spec.name)},${request},${JSON.stringify(path)}]`;
		const address = textHash(asked).slice(0, ADDRESS_DIGITS);
		const occurrence = this.#occurrences.get(address) ?? 0;
		this.#occurrences.set(address, occurrence + 1);
		return `${address}.${occurrence}`;
	}
};
/** Names an effect among all runs, the same in each attempt of an activation: whom it reached already knows it again. */
function effectId(runId, act, key) {globalThis.__t?.("runtime/record/step-address.js#effectId@1114");
	return stepId(runId, act.replace(/~\d+$/, ""), key);
}
/** Names a step among all runs: by it a question is answered later. */
function stepId(runId, act, key) {globalThis.__t?.("runtime/record/step-address.js#stepId@1279");
	return contentHash([
		runId,
		act,
		key
	]).slice(0, ADDRESS_DIGITS);
}
export { StepAddresses, effectId, stepId };
