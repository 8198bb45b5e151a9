import { UsageError } from "../kernel/errors.js";
import { checkKnownOptions } from "../kernel/known-options.js";
import { checkBudget } from "../model/budget-pool.js";
import { sharedLimits } from "../model/limits.js";
import { compactionOptions } from "./compaction.js";
import "./lifecycle.js";
import { loopOptions } from "./loop-detector.js";
// ../../work/wt/lead/src/agent/brain-options.ts
/** The names of the options. @internal */
const brainOptions = {
	name: true,
	permissions: true,
	approve: true,
	ask: true,
	deps: true,
	parallelTools: true,
	model: true,
	output: true,
	net: true,
	maxSteps: true,
	toolChoice: true,
	systemPrompt: true,
	nextStepPrompt: true,
	steps: true,
	clock: true,
	calls: true,
	budget: true,
	tokenLimit: true,
	limits: true,
	loops: true,
	compaction: true
};
/**
* Refuses limits under which an agent would never make room, never notice a loop, or do nothing.
*
* @throws UsageError `AGENT_INVALID`, `LIMIT_INVALID`
*/
function checkBrainLimits(options) {globalThis.__t?.("agent/brain-options.js#checkBrainLimits@966");
	const { parallelTools, loops, compaction = {}, tokenLimit, budget, limits, steps, maxSteps } = options;
	if (loops !== false) checkKnownOptions("the option loops", loops, loopOptions);
	checkKnownOptions("the option compaction", compaction, compactionOptions);
	const { repeats, longest } = loops === false ? {} : loops ?? {};
	const { contextTokens, keepResults, summaryWords, share } = compaction;
	checkCount("maxSteps", maxSteps, 1, String(30));
	checkBudget(budget, "AGENT_INVALID");
	sharedLimits(limits);
	if (budget !== void 0 && steps !== void 0) throw new UsageError("AGENT_INVALID", "Expected either a budget or the steps of a role, got both: the budget of the run binds what the role records. Leave one of them out.");
	checkCount("tokenLimit", tokenLimit, 1);
	checkCount("parallelTools", parallelTools, 1);
	checkCount("loops.repeats", repeats, 2);
	checkCount("loops.longest", longest, 1);
	checkCount("compaction.contextTokens", contextTokens, 1);
	checkCount("compaction.keepResults", keepResults, 0);
	checkCount("compaction.summaryWords", summaryWords, 1);
	if (share === void 0 || share > 0 && share <= 1) return;
	throw invalid("compaction.share to be more than 0 and at most 1", share);
}
function checkCount(name, count, least, standard = "its default") {globalThis.__t?.("agent/brain-options.js#checkCount@2215");
	if (count === void 0 || Number.isSafeInteger(count) && count >= least) return;
	throw invalid(`${name} to be a whole number of ${least} or more`, count, standard);
}
function invalid(expected, got, standard = "its default") {globalThis.__t?.("agent/brain-options.js#invalid@2450");
	return new UsageError("AGENT_INVALID", `Expected ${expected}, got ${String(got)}. Leave it out for ${standard}.`);
}
export { brainOptions, checkBrainLimits };
