import { environmentOptions } from "../runtime/environment-options.js";
// ../../work/wt/lead/src/team/team-options.ts
/** Their names. @internal */
const teamOptions = {
	...environmentOptions,
	memory: true,
	name: true,
	roles: true,
	budget: true,
	allowUnpriced: true,
	journal: true,
	poisonAfter: true
};
/** Their names. @internal */
const resumeOptions = {
	rounds: true,
	stopWhen: true,
	signal: true,
	budget: true,
	limits: true,
	force: true,
	reuse: true
};
/** Their names. @internal */
const runOptions = {
	...resumeOptions,
	id: true,
	about: true
};
/** Their names. @internal */
const forkOptions = {
	...runOptions,
	at: true,
	change: true,
	add: true,
	seed: true
};
/** Their names. @internal */
const replayOptions = { signal: true };
export { forkOptions, replayOptions, resumeOptions, runOptions, teamOptions };
