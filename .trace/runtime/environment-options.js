/** Most characters of one message, unless said otherwise. */
const DEFAULT_MESSAGE_LIMIT = 1e6;
/** Their names. @internal */
const environmentOptions = {
	description: true,
	model: true,
	memory: true,
	seed: true,
	clock: true,
	scheduler: true,
	concurrency: true,
	onFailure: true,
	human: true,
	logger: true,
	prices: true,
	limits: true,
	deps: true,
	secrets: true,
	messageLimit: true,
	mailbox: true
};
/** Their names. @internal */
const environmentRunOptions = {
	rounds: true,
	stopWhen: true,
	signal: true
};
export { DEFAULT_MESSAGE_LIMIT, environmentOptions, environmentRunOptions };
