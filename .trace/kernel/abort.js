import { AbortedError, ControlError, TimeoutError } from "./errors.js";
// ../../work/wt/lead/src/kernel/abort.ts
/** The error an aborted signal stands for: a control error given as its reason, else an AbortedError around the reason. */
function abortReason(signal) {globalThis.__t?.("kernel/abort.js#abortReason@238");
	return interruptionBy(signal.reason);
}
/** The interruption that a reason is or stands for. */
function interruptionBy(reason) {globalThis.__t?.("kernel/abort.js#interruptionBy@366");
	return reason instanceof ControlError ? reason : new AbortedError(void 0, reason);
}
/** @throws ControlError when the signal has aborted. */
function throwIfAborted(signal) {globalThis.__t?.("kernel/abort.js#throwIfAborted@543");
	if (signal?.aborted === true) throw abortReason(signal);
}
/**
* Waits for `work`, but no longer than the signal allows. The work itself is not stopped: pass it the signal too.
*
* @throws ControlError when the signal aborts first.
*/
function untilAborted(work, signal) {globalThis.__t?.("kernel/abort.js#untilAborted@813");
	return new Promise((resolve, reject) => {globalThis.__t?.("kernel/abort.js#anonymous@871");
		if (signal.aborted) {
			work.catch(() => {globalThis.__t?.("kernel/abort.js#anonymous@932");});
			return reject(abortReason(signal));
		}
		const letGo = onAbort(signal, () => (globalThis.__t?.("kernel/abort.js#letGo@1018"),(reject(abortReason(signal)))));
		work.then((value) => {globalThis.__t?.("kernel/abort.js#anonymous@1066");
			letGo();
			resolve(value);
		}, (error) => {globalThis.__t?.("kernel/abort.js#anonymous@1115");
			letGo();
			reject(error);
		});
	});
}
/** The signal that was last made of a signal and another. */
const joined = /* @__PURE__ */ new WeakMap();
/** A signal that aborts when one of two does. Asked again for the same two it is the same, since the calls of a run ask over and over. */
function eitherSignal(one, other) {globalThis.__t?.("kernel/abort.js#eitherSignal@1418");
	if (one === other) return one;
	const known = joined.get(one);
	if (known?.other === other) return known.both;
	const both = AbortSignal.any([one, other]);
	joined.set(one, {
		other,
		both
	});
	return both;
}
/**
* Runs `work` with a signal that aborts when the outer one does or after `ms`.
*
* @throws TimeoutError naming `what` when the time is up, even if the work ignores its signal.
* @throws ControlError when the outer signal aborts; the work is not begun if it has.
*/
async function withTimeout(clock, ms, what, outer, work) {globalThis.__t?.("kernel/abort.js#withTimeout@1936");
	throwIfAborted(outer);
	const limit = new AbortController();
	const late = new TimeoutError(what, ms);
	const cancel = clock.timer(ms, () => (globalThis.__t?.("kernel/abort.js#cancel@2131"),(limit.abort(late))));
	const signal = AbortSignal.any([outer, limit.signal]);
	try {
		return await untilAborted(work(signal), signal);
	} catch (error) {
		if (limit.signal.aborted && !outer.aborted) throw late;
		throw error;
	} finally {
		cancel();
	}
}
/** Of signals that somebody waits for by {@link onAbort}. */
const waiting = /* @__PURE__ */ new WeakMap();
/**
* Calls `heard` when the signal aborts; the returned function stops that. However many wait, the signal has one listener of them all, and
* none when nobody does: Node warns of more than ten, and a signal of its own for each would cost more than most waits do.
*/
function onAbort(signal, heard) {globalThis.__t?.("kernel/abort.js#onAbort@2770");
	const { all, tell } = waiting.get(signal) ?? beginWaiting(signal);
	all.add(heard);
	return () => {globalThis.__t?.("kernel/abort.js#anonymous@2897");
		if (!all.delete(heard) || all.size > 0) return;
		signal.removeEventListener("abort", tell);
		waiting.delete(signal);
	};
}
function beginWaiting(signal) {globalThis.__t?.("kernel/abort.js#beginWaiting@3032");
	const all = /* @__PURE__ */ new Set();
	const tell = () => {globalThis.__t?.("kernel/abort.js#tell@3118");
		for (const heard of all) heard();
	};
	waiting.set(signal, {
		all,
		tell
	});
	signal.addEventListener("abort", tell, { once: true });
	return {
		all,
		tell
	};
}
export { abortReason, eitherSignal, interruptionBy, onAbort, throwIfAborted, untilAborted, withTimeout };
