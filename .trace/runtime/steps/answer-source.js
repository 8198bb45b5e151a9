// ../../work/wt/lead/src/runtime/steps/answer-source.ts
/** No past: what is not recorded happens. */
const NO_ANSWERS = {
	answer: () => (globalThis.__t?.("runtime/steps/answer-source.js#answer@133"),(void 0)),
	startOf: () => (globalThis.__t?.("runtime/steps/answer-source.js#startOf@157"),(void 0)),
	askAgain: () => {globalThis.__t?.("runtime/steps/answer-source.js#askAgain@182");},
	unrepeated: () => (globalThis.__t?.("runtime/steps/answer-source.js#unrepeated@205"),(void 0)),
	notAsked: () => (globalThis.__t?.("runtime/steps/answer-source.js#notAsked@230"),(void 0))
};
export { NO_ANSWERS };
