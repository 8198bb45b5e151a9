import { freshStepKey } from "./id.js";
// ../../work/wt/lead/src/kernel/step.ts
/** A door that keeps no record: for agents and models used outside a run. */
function directSteps(signal, attempts = () => (globalThis.__t?.("kernel/step.js#anonymous@199"),(free))) {globalThis.__t?.("kernel/step.js#directSteps@159");
	const step = (_spec, effect) => (globalThis.__t?.("kernel/step.js#step@227"),(effect({
		key: freshStepKey(),
		mode: "live",
		signal,
		attempts: attempts(),
		step
	})));
	return { step };
}
const opened = Promise.resolve();
const free = {
	open: () => (globalThis.__t?.("kernel/step.js#open@416"),(opened)),
	settle: () => {globalThis.__t?.("kernel/step.js#settle@439");}
};
export { directSteps };
