import { isObject } from "../kernel/value-kind.js";
import { abortReason, throwIfAborted } from "../kernel/abort.js";
import { UsageError } from "../kernel/errors.js";
import { checkGivenOptions } from "../kernel/known-options.js";
// ../../work/wt/lead/src/model/limits.ts
const WINDOW_MS = 6e4;
const limitOptions = {
	concurrency: true,
	requestsPerMinute: true,
	tokensPerMinute: true
};
/**
* Limits by concurrency, requests and tokens. It owns the lines of those that wait and the uses of the last 60 seconds.
*
* W1 never more calls in flight than `concurrency`. W2 in no 60 seconds begin more calls than `requestsPerMinute`, or calls of more
* tokens than `tokensPerMinute` as far as was known when they began; a call larger than the whole allowance goes alone. W3 places are
* given in the order asked. W4 who stops waiting takes nothing and holds up nobody. The lines are bounded by the calls that
* activations can have in flight.
*
* Give the same object as `limits` to each team, run and agent that shall share it.
*
* @throws UsageError `LIMIT_INVALID` for a limit that is not a number above 0; `OPTION_UNKNOWN`
* @example
* import { Team } from "troupe";
* import { modelLimits } from "troupe/limits";
*
* const limits = modelLimits({ concurrency: 4, requestsPerMinute: 500, tokensPerMinute: 200_000 });
* export const one = new Team({ name: "one", limits });
* export const other = new Team({ name: "other", limits });
*/
function modelLimits(options) {globalThis.__t?.("model/limits.js#modelLimits@1438");
	checkGivenOptions("modelLimits", options, limitOptions);
	for (const [name, value] of Object.entries(options)) {
		if (value === void 0 || Number.isFinite(value) && value > 0) continue;
		throw new UsageError("LIMIT_INVALID", `Expected ${name} to be a number above 0, got ${String(value)}. Leave it out for no limit.`);
	}
	return new Limits(options);
}
/** Whether limits are a shared object and not options. */
function isModelLimits(limits) {globalThis.__t?.("model/limits.js#isModelLimits@1884");
	return isObject(limits) && "acquire" in limits && typeof limits.acquire === "function";
}
/**
* One object for limits that are given as options or as an object.
*
* @throws UsageError `LIMIT_INVALID`
*/
function sharedLimits(limits) {globalThis.__t?.("model/limits.js#sharedLimits@2121");
	return limits === void 0 || isModelLimits(limits) ? limits : modelLimits(limits);
}
/**
* Limits that all hold for the same calls: a call waits for a place in each.
*
* @returns undefined where there are none
*/
function allLimits(...given) {globalThis.__t?.("model/limits.js#allLimits@2366");
	const different = new Set(given.filter((limits) => (globalThis.__t?.("model/limits.js#different@2437"),(limits !== void 0))).flatMap((limits) => (globalThis.__t?.("model/limits.js#different@2476"),(membersOf(limits)))));
	const [first] = different;
	return different.size < 2 ? first : new AllLimits([...different].toSorted((a, b) => (globalThis.__t?.("model/limits.js#anonymous@2612"),(rankOf(a) - rankOf(b)))));
}
function membersOf(limits) {globalThis.__t?.("model/limits.js#membersOf@2649");
	return limits instanceof AllLimits ? limits.members : [limits];
}
/** Places are taken in the order in which limits were first used together, whoever uses them, so that no two calls wait for each other. */
const ranks = /* @__PURE__ */ new WeakMap();
let ranked = 0;
function rankOf(limits) {globalThis.__t?.("model/limits.js#rankOf@2946");
	const known = ranks.get(limits);
	if (known !== void 0) return known;
	ranked += 1;
	ranks.set(limits, ranked);
	return ranked;
}
var AllLimits = class {
	members;
	constructor(members) {globalThis.__t?.("model/limits.js#constructor@3149");
		this.members = members;
	}
	async acquire(request) {globalThis.__t?.("model/limits.js#acquire@3204");
		const leases = [];
		const release = (tokens) => {globalThis.__t?.("model/limits.js#release@3255");
			for (const lease of leases) lease.release(tokens);
		};
		try {
			for (const limits of this.members) leases.push(await limits.acquire(request));
		} catch (error) {
			release(0);
			throw error;
		}
		return { release };
	}
};
var Limits = class {
	#options;
	#window;
	#lines;
	constructor(options) {globalThis.__t?.("model/limits.js#constructor@3564");
		this.#options = options;
		const limited = options.requestsPerMinute !== void 0 || options.tokensPerMinute !== void 0;
		this.#window = limited ? new RateWindow(options.requestsPerMinute ?? Infinity, options.tokensPerMinute ?? Infinity) : void 0;
	}
	async acquire(request) {globalThis.__t?.("model/limits.js#acquire@3842");
		const { signal } = request;
		throwIfAborted(signal);
		this.#lines ??= openLines(this.#options.concurrency ?? Infinity);
		const { places, gate } = await this.#lines;
		throwIfAborted(signal);
		const leave = await inLine(() => (globalThis.__t?.("model/limits.js#leave@4079"),(takePlace(places, signal))), signal);
		const window = this.#window;
		if (window === void 0) return once(leave);
		try {
			const entry = await inLine(() => (globalThis.__t?.("model/limits.js#entry@4235"),(gate.add(() => (globalThis.__t?.("model/limits.js#anonymous@4250"),(window.enter(request))), { signal }))), signal);
			return once((tokens) => {globalThis.__t?.("model/limits.js#anonymous@4316");
				if (tokens !== void 0) window.correct(entry, tokens);
				leave();
			});
		} catch (error) {
			leave();
			throw error;
		}
	}
};
/** The uses of the last 60 seconds. */
var RateWindow = class {
	#requests;
	#tokens;
	#entries = [];
	#changed = () => {globalThis.__t?.("model/limits.js#changed@4581");};
	constructor(requests, tokens) {globalThis.__t?.("model/limits.js#constructor@4603");
		this.#requests = requests;
		this.#tokens = tokens;
	}
	async enter({ tokens, clock, signal }) {globalThis.__t?.("model/limits.js#enter@4693");
		for (;;) {
			throwIfAborted(signal);
			const now = clock.now();
			this.#entries = this.#entries.filter((entry) => (globalThis.__t?.("model/limits.js#anonymous@4831"),(entry.at + WINDOW_MS > now)));
			if (this.#fits(tokens)) {
				const entry = {
					at: now,
					tokens
				};
				this.#entries.push(entry);
				return entry;
			}
			const oldest = this.#entries[0];
			await this.#change(clock, oldest === void 0 ? 0 : oldest.at + WINDOW_MS - now, signal);
		}
	}
	correct(entry, tokens) {globalThis.__t?.("model/limits.js#correct@5149");
		entry.tokens = tokens;
		this.#changed();
	}
	#fits(tokens) {globalThis.__t?.("model/limits.js#fits@5220");
		if (this.#entries.length === 0) return true;
		const used = this.#entries.reduce((sum, entry) => (globalThis.__t?.("model/limits.js#used@5314"),(sum + entry.tokens)), 0);
		return this.#entries.length < this.#requests && used + tokens <= this.#tokens;
	}
	/** Until the oldest use leaves the window, a use turns out smaller, or the signal aborts. */
	#change(clock, ms, signal) {globalThis.__t?.("model/limits.js#change@5541");
		return new Promise((resolve) => {globalThis.__t?.("model/limits.js#anonymous@5584");
			let cancel = () => {globalThis.__t?.("model/limits.js#cancel@5615");};
			const done = () => {globalThis.__t?.("model/limits.js#done@5641");
				cancel();
				signal.removeEventListener("abort", done);
				resolve();
			};
			cancel = clock.timer(ms, done);
			this.#changed = done;
			signal.addEventListener("abort", done, { once: true });
		});
	}
};
/** p-queue is loaded with the first limited call, so that importing the package stays light. */
async function openLines(concurrency) {globalThis.__t?.("model/limits.js#openLines@5959");
	const { default: Queue } = await import("p-queue");
	return {
		places: new Queue({ concurrency }),
		gate: new Queue({ concurrency: 1 })
	};
}
/** Resolves with the way to give the place back; the queue sees one task that lasts from taking to giving back. */
function takePlace(places, signal) {globalThis.__t?.("model/limits.js#takePlace@6260");
	return new Promise((resolve, reject) => {globalThis.__t?.("model/limits.js#anonymous@6317");
		const occupy = () => (globalThis.__t?.("model/limits.js#occupy@6357"),(new Promise((leave) => {globalThis.__t?.("model/limits.js#anonymous@6375");
			resolve(leave);
		})));
		let running = false;
		const waiting = new AbortController();
		const stop = () => {globalThis.__t?.("model/limits.js#stop@6492");
			if (!running) waiting.abort(abortReason(signal));
		};
		signal.addEventListener("abort", stop, { once: true });
		places.add(() => {globalThis.__t?.("model/limits.js#anonymous@6629");
			running = true;
			signal.removeEventListener("abort", stop);
			return occupy();
		}, { signal: waiting.signal }).catch(reject);
	});
}
async function inLine(wait, signal) {globalThis.__t?.("model/limits.js#inLine@6777");
	try {
		return await wait();
	} catch (error) {
		throwIfAborted(signal);
		throw error;
	}
}
function once(release) {globalThis.__t?.("model/limits.js#once@6910");
	let held = true;
	return { release(tokens) {globalThis.__t?.("model/limits.js#release@6970");
		if (!held) return;
		held = false;
		release(tokens);
	} };
}
export { allLimits, isModelLimits, modelLimits, sharedLimits };
