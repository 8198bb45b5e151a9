import { abortReason, interruptionBy, onAbort } from "./abort.js";
// ../../work/wt/lead/src/kernel/cancellation.ts
/** A signal as a cancellation. */
function cancellationOf(given) {globalThis.__t?.("kernel/cancellation.js#cancellationOf@151");
	return "onEnd" in given ? given : new SignalCancellation(given);
}
var SignalCancellation = class {
	signal;
	constructor(signal) {globalThis.__t?.("kernel/cancellation.js#constructor@306");
		this.signal = signal;
	}
	get ended() {globalThis.__t?.("kernel/cancellation.js#ended get@354");
		return this.signal.aborted ? { reason: abortReason(this.signal) } : void 0;
	}
	onEnd(cancelled) {globalThis.__t?.("kernel/cancellation.js#onEnd@446");
		return onAbort(this.signal, () => (globalThis.__t?.("kernel/cancellation.js#anonymous@490"),(cancelled(abortReason(this.signal)))));
	}
};
/** @throws ControlError when it was cancelled */
function throwIfEnded({ ended }) {globalThis.__t?.("kernel/cancellation.js#throwIfEnded@590");
	if (ended !== void 0) throw interruptionBy(ended.reason);
}
/** The open scopes of work below one outer cancellation. It subscribes to that once for all of them. */
var CancellationScopes = class {
	#open = /* @__PURE__ */ new Set();
	/** Cancels them all; once these are closed, the last state of it. */
	#outer;
	#unsubscribe;
	/** @param outer cancels them all */
	constructor(outer) {globalThis.__t?.("kernel/cancellation.js#constructor@1005");
		this.#outer = outer === void 0 ? void 0 : cancellationOf(outer);
	}
	/** The reason, once they were all cancelled. Work that never waits asks this and needs no scope. */
	get ended() {globalThis.__t?.("kernel/cancellation.js#ended get@1197");
		const ended = this.#outer?.ended;
		return ended && { reason: interruptionBy(ended.reason) };
	}
	/** Unsubscribes from the outer cancellation, which may live far longer. */
	close() {globalThis.__t?.("kernel/cancellation.js#close@1384");
		this.#unsubscribe?.();
		this.#outer = new EndedCancellation(this.#outer?.ended);
	}
	/** Begins a scope. It must be closed. */
	begin() {globalThis.__t?.("kernel/cancellation.js#begin@1525");
		const scope = new CancellationScope((closed) => (globalThis.__t?.("kernel/cancellation.js#scope@1568"),(this.#open.delete(closed))));
		this.#open.add(scope);
		const { ended } = this;
		if (ended !== void 0) scope.end(ended.reason);
		else this.#unsubscribe ??= this.#outer?.onEnd((reason) => (globalThis.__t?.("kernel/cancellation.js#anonymous@1756"),(this.#endAll(interruptionBy(reason)))));
		return scope;
	}
	#endAll(reason) {globalThis.__t?.("kernel/cancellation.js#endAll@1834");
		for (const scope of this.#open) scope.end(reason);
	}
};
/** The last state of an outer cancellation. */
var EndedCancellation = class {
	ended;
	constructor(ended) {globalThis.__t?.("kernel/cancellation.js#constructor@2004");
		this.ended = ended;
	}
	onEnd() {globalThis.__t?.("kernel/cancellation.js#onEnd@2045");
		return () => {globalThis.__t?.("kernel/cancellation.js#anonymous@2059");};
	}
};
/** A piece of work that is closed when it is done, or cancelled from outside before. Its signal is made on first use. */
var CancellationScope = class {
	#leave;
	#controller;
	/** The reason, once it was cancelled. Written by `end` alone. */
	ended;
	#subscribers;
	/** @param leave called when it is closed */
	constructor(leave) {globalThis.__t?.("kernel/cancellation.js#constructor@2400");
		this.#leave = leave;
	}
	/** Aborts when the scope is cancelled. */
	get signal() {globalThis.__t?.("kernel/cancellation.js#signal get@2491");
		if (this.#controller === void 0) {
			this.#controller = new AbortController();
			if (this.ended !== void 0) this.#controller.abort(this.ended.reason);
		}
		return this.#controller.signal;
	}
	/** Cancels it. The first reason counts. */
	end(reason) {globalThis.__t?.("kernel/cancellation.js#end@2741");
		if (this.ended !== void 0) return;
		this.ended = { reason };
		this.#controller?.abort(reason);
		const subscribers = this.#subscribers ?? [];
		this.#subscribers = void 0;
		for (const cancelled of subscribers) cancelled(reason);
	}
	onEnd(cancelled) {globalThis.__t?.("kernel/cancellation.js#onEnd@2995");
		const subscribers = this.#subscribers ??= /* @__PURE__ */ new Set();
		subscribers.add(cancelled);
		return () => (globalThis.__t?.("kernel/cancellation.js#anonymous@3119"),(void subscribers.delete(cancelled)));
	}
	/** Waits for work of the scope, and rejects when the scope is cancelled first. */
	until(work) {globalThis.__t?.("kernel/cancellation.js#until@3254");
		return new Promise((resolve, reject) => {globalThis.__t?.("kernel/cancellation.js#anonymous@3284");
			const waiting = this.#subscribers ??= /* @__PURE__ */ new Set();
			if (this.ended === void 0) waiting.add(reject);
			else reject(this.ended.reason);
			work.then((value) => {globalThis.__t?.("kernel/cancellation.js#anonymous@3474");
				waiting.delete(reject);
				resolve(value);
			}, (error) => {globalThis.__t?.("kernel/cancellation.js#anonymous@3541");
				waiting.delete(reject);
				reject(error);
			});
		});
	}
	/** The work is done. */
	close() {globalThis.__t?.("kernel/cancellation.js#close@3649");
		this.#leave?.(this);
	}
};
/**
* The time an activation may take. It owns one timer.
*
* L1 time that is spent waiting for a person does not count: the limit stands still meanwhile. L2 it fires once, and not after `stop`.
*/
var TimeLimit = class {
	#clock;
	#fire;
	#left;
	#since = 0;
	#cancel;
	/** @param ms milliseconds from now */
	constructor(clock, ms, fire) {globalThis.__t?.("kernel/cancellation.js#constructor@4005");
		this.#clock = clock;
		this.#fire = fire;
		this.#left = ms;
		this.#run();
	}
	/** Lets the limit stand still, or run on. */
	hold(isHeld) {globalThis.__t?.("kernel/cancellation.js#hold@4158");
		if (isHeld) this.#stand();
		else this.#run();
	}
	/** The work is done. */
	stop() {globalThis.__t?.("kernel/cancellation.js#stop@4252");
		this.#stand();
		this.#left = Infinity;
	}
	#run() {globalThis.__t?.("kernel/cancellation.js#run@4307");
		if (this.#cancel !== void 0 || this.#left === Infinity) return;
		this.#since = this.#clock.now();
		this.#cancel = this.#clock.timer(this.#left, () => {globalThis.__t?.("kernel/cancellation.js#anonymous@4460");
			this.stop();
			this.#fire();
		});
	}
	#stand() {globalThis.__t?.("kernel/cancellation.js#stand@4517");
		if (this.#cancel === void 0) return;
		this.#cancel();
		this.#cancel = void 0;
		this.#left = Math.max(0, this.#left - (this.#clock.now() - this.#since));
	}
};
export { CancellationScope, CancellationScopes, TimeLimit, cancellationOf, throwIfEnded };
