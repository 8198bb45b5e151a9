import { abortReason } from "./abort.js";
// ../../work/wt/lead/src/kernel/clock.ts
/** The longest delay `setTimeout` keeps; it fires at once for a longer one. */
const LONGEST_DELAY = 2 ** 31 - 1;
/** The machine's clock. Its timers may be as long as one likes. */
const systemClock = {
	now: () => (globalThis.__t?.("kernel/clock.js#now@295"),(Date.now())),
	timer(ms, fire) {globalThis.__t?.("kernel/clock.js#timer@319");
		let handle;
		const wait = (left) => {globalThis.__t?.("kernel/clock.js#wait@361");
			handle = left > LONGEST_DELAY ? setTimeout(() => (globalThis.__t?.("kernel/clock.js#anonymous@419"),(wait(left - LONGEST_DELAY))), LONGEST_DELAY) : setTimeout(fire, left);
		};
		wait(ms);
		return () => (globalThis.__t?.("kernel/clock.js#anonymous@520"),(clearTimeout(handle)));
	}
};
/**
* Resolves after `ms` on the given clock.
*
* @throws ControlError when the signal aborts first (see {@link abortReason}).
*/
function sleep(clock, ms, signal) {globalThis.__t?.("kernel/clock.js#sleep@684");
	return new Promise((resolve, reject) => {globalThis.__t?.("kernel/clock.js#anonymous@740");
		if (signal?.aborted === true) return reject(abortReason(signal));
		const cancel = clock.timer(ms, () => {globalThis.__t?.("kernel/clock.js#cancel@864");
			signal?.removeEventListener("abort", stop);
			resolve();
		});
		function stop() {globalThis.__t?.("kernel/clock.js#stop@941");
			cancel();
			reject(abortReason(this));
		}
		signal?.addEventListener("abort", stop, { once: true });
	});
}
/** Resolves in a macrotask of its own, after every promise reaction that is ready now has run. */
function nextMacrotask() {globalThis.__t?.("kernel/clock.js#nextMacrotask@1171");
	return new Promise((resolve) => {globalThis.__t?.("kernel/clock.js#anonymous@1218");
		setImmediate(resolve);
	});
}
export { nextMacrotask, sleep, systemClock };
