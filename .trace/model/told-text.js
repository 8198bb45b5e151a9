import { thrownText } from "../kernel/value-text.js";
// ../../work/wt/lead/src/model/told-text.ts
/** Passes the text of one try to a listener. A listener that throws gets no more of that try's text; the answer stays. */
var ToldText = class {
	#listener;
	#logger;
	#info;
	#isTold = false;
	#isBroken = false;
	constructor(listener, logger, { act, key, try: nth }) {globalThis.__t?.("model/told-text.js#constructor@325");
		this.#listener = listener;
		this.#logger = logger;
		this.#info = {
			act,
			step: key,
			try: nth
		};
	}
	/** Passes on the next piece. */
	tell(text) {globalThis.__t?.("model/told-text.js#tell@522");
		const { onDelta } = this.#listener;
		if (onDelta === void 0 || this.#isBroken) return;
		this.#isTold = true;
		this.#isBroken = !guarded("onDelta", this.#logger, () => (globalThis.__t?.("model/told-text.js#anonymous@697"),(onDelta(text, this.#info))));
	}
	/** Takes the text back, if any was told. */
	takeBack() {globalThis.__t?.("model/told-text.js#takeBack@789");
		const { onVoid } = this.#listener;
		if (onVoid !== void 0 && this.#isTold) guarded("onVoid", this.#logger, () => (globalThis.__t?.("model/told-text.js#anonymous@904"),(onVoid(this.#info))));
		this.#isTold = false;
	}
};
/** Remembers the try that was told last, so that an answer can be taken back after it came whole. */
var LastTold = class {
	listener;
	#logger;
	#last;
	constructor({ onDelta, onVoid }, logger) {globalThis.__t?.("model/told-text.js#constructor@1127");
		this.#logger = logger;
		const remember = (_, info) => (globalThis.__t?.("model/told-text.js#remember@1203"),(void (this.#last = info)));
		this.listener = onDelta === void 0 ? {} : {
			onDelta: both(remember, onDelta),
			onVoid
		};
	}
	/** Takes back the text that was told last, if any was. */
	takeBack() {globalThis.__t?.("model/told-text.js#takeBack@1412");
		const last = this.#last;
		const { onVoid } = this.listener;
		this.#last = void 0;
		if (last !== void 0 && onVoid !== void 0) guarded("onVoid", this.#logger, () => (globalThis.__t?.("model/told-text.js#anonymous@1579"),(onVoid(last))));
	}
};
/** Joins two listeners; the first is told first. */
function bothOf(first, second) {globalThis.__t?.("model/told-text.js#bothOf@1659");
	return {
		onDelta: both(first.onDelta, second.onDelta),
		onVoid: both(first.onVoid, second.onVoid)
	};
}
function both(first, second) {globalThis.__t?.("model/told-text.js#both@1800");
	if (first === void 0 || second === void 0) return first ?? second;
	return (...args) => {globalThis.__t?.("model/told-text.js#anonymous@1907");
		first(...args);
		second(...args);
	};
}
/** Returns false when the listener throws. */
function guarded(name, logger, tell) {globalThis.__t?.("model/told-text.js#guarded@2012");
	try {
		tell();
		return true;
	} catch (error) {
		logger?.warn(`${name} threw and gets no more of this try: ${thrownText(error)}`);
		return false;
	}
}
export { LastTold, ToldText, bothOf };
