// ../../work/wt/lead/src/model/chat-model.ts
/** Tokens of several calls together; a call that told none adds nothing. */
function addUsage(sum, usage) {globalThis.__t?.("model/chat-model.js#addUsage@123");
	if (usage === void 0) return sum;
	const cached = (sum.cachedTokens ?? 0) + (usage.cachedTokens ?? 0);
	return {
		inputTokens: sum.inputTokens + usage.inputTokens,
		outputTokens: sum.outputTokens + usage.outputTokens,
		...cached === 0 ? {} : { cachedTokens: cached },
		...sum.estimated === true || usage.estimated === true ? { estimated: true } : {}
	};
}
export { addUsage };
