import { checkGivenOptions } from "../kernel/known-options.js";
import { systemClock } from "../kernel/clock.js";
import { UsageError } from "../kernel/errors.js";
import { valueText } from "../kernel/value-text.js";
import { exactIndex } from "./exact-index.js";
import { inMemoryStore } from "./in-memory-store.js";
import { minisearch } from "./word-index.js";
// ../../work/wt/lead/src/memory/storage-options.ts
const memoryStorageOptions = {
	roleId: true,
	runId: true,
	store: true,
	embedder: true,
	index: true,
	lexical: true,
	threshold: true,
	ttl: true,
	clock: true,
	timeout: true
};
/** Their names. @internal */
const searchOptions = {
	k: true,
	threshold: true,
	filter: true,
	hybrid: true,
	signal: true,
	embedder: true
};
const TIMEOUT = 6e4;
/** @throws UsageError `OPTION_INVALID` */
function partsOf(options) {globalThis.__t?.("memory/storage-options.js#partsOf@809");
	checkGivenOptions("new MemoryStorage", options, memoryStorageOptions);
	const { roleId, runId = "", ttl, timeout = TIMEOUT, embedder, lexical } = options;
	if (typeof roleId !== "string" || roleId === "") throw invalid("roleId", "a text that is not empty", roleId);
	if (typeof runId !== "string") throw invalid("runId", "a text", runId);
	if (ttl !== void 0 && !(ttl > 0)) throw invalid("ttl", "milliseconds above 0", ttl);
	if (!(timeout > 0)) throw invalid("timeout", "milliseconds above 0", timeout);
	if (embedder === void 0) assertNoVectorOptions(options);
	const base = {
		roleId,
		runId,
		store: options.store ?? inMemoryStore(),
		ttl,
		clock: options.clock ?? systemClock
	};
	if (embedder === void 0) return {
		...base,
		vectors: void 0,
		lexical: lexical ?? minisearch()
	};
	const threshold = checkedThreshold(options.threshold ?? embedder.threshold);
	return {
		...base,
		vectors: {
			embedder,
			index: options.index ?? exactIndex(),
			threshold,
			timeout
		},
		lexical
	};
}
/**
* What is for vectors alone is refused where no embedder makes any.
*
* @param whose `of a long-term memory`
* @throws UsageError `OPTION_INVALID`
*/
function assertNoVectorOptions({ threshold, index }, whose = "of a long-term memory") {globalThis.__t?.("memory/storage-options.js#assertNoVectorOptions@1998");
	if (threshold !== void 0) throw new UsageError("OPTION_INVALID", `Expected no threshold ${whose} without an embedder, got ${valueText(threshold)}: what is found by words has scores that can be compared within one answer only. Leave it out, or give an embedder, such as hashingEmbedder().`);
	if (index === void 0) return;
	throw new UsageError("OPTION_INVALID", `Expected no index of vectors ${whose} without an embedder, which would make them. Leave it out, or give an embedder, such as hashingEmbedder().`);
}
/** Who makes the vectors of one call, and how long a batch may take. @throws UsageError `OPTION_INVALID` for another model's embedder */
function voiceOf({ embedder, timeout }, given) {globalThis.__t?.("memory/storage-options.js#voiceOf@2737");
	if (given === void 0 || given === embedder) return {
		embedder,
		timeout
	};
	if (given.id !== embedder.id) throw invalid("embedder", `the storage's own model, ${embedder.id}`, given.id);
	return {
		embedder: given,
		timeout: void 0
	};
}
/** @throws UsageError `OPTION_INVALID` for what is no similarity */
function checkedThreshold(threshold) {globalThis.__t?.("memory/storage-options.js#checkedThreshold@3099");
	if (threshold >= -1 && threshold <= 1) return threshold;
	throw invalid("threshold", "a similarity from -1 to 1 (bigger is closer)", threshold);
}
/** @throws UsageError `OPTION_INVALID` */
function checkedK(k) {globalThis.__t?.("memory/storage-options.js#checkedK@3329");
	if (Number.isInteger(k) && k >= 0) return k;
	throw invalid("k", "a whole number of 0 or more", k);
}
function invalid(option, expected, came) {globalThis.__t?.("memory/storage-options.js#invalid@3455");
	return new UsageError("OPTION_INVALID", `Expected ${option} of a long-term memory to be ${expected}, got ${String(came)}.`);
}
export { assertNoVectorOptions, checkedK, checkedThreshold, partsOf, searchOptions, voiceOf };
