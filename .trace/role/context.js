// ../../work/wt/lead/src/role/context.ts
/** Their names. @internal */
const askOptions = {
	system: true,
	images: true,
	model: true,
	temperature: true,
	maxTokens: true,
	recall: true,
	onDelta: true,
	onVoid: true
};
/** Their names. @internal */
const stepOptions = {
	idempotent: true,
	again: true,
	fresh: true
};
export { askOptions, stepOptions };
