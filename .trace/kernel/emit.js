// ../../work/wt/lead/src/kernel/emit.ts
/** A logger that drops everything. */
const silentLogger = {
	debug() {globalThis.__t?.("kernel/emit.js#debug@109");},
	info() {globalThis.__t?.("kernel/emit.js#info@121");},
	warn() {globalThis.__t?.("kernel/emit.js#warn@133");},
	error() {globalThis.__t?.("kernel/emit.js#error@146");}
};
export { silentLogger };
