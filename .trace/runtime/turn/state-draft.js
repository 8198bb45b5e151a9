import { ContextClosedError, UsageError } from "../../kernel/errors.js";
import { canonicalJson, jsonRoundTrip } from "../../kernel/json.js";
// ../../work/wt/lead/src/runtime/turn/state-draft.ts
/**
* The custom state of a role while an activation changes it. It owns copies of the keys that were touched; the base is never
* changed. Only touched keys are compared, so a large state costs what is used of it.
*
* C1 the base stays as it was. C2 `changes` names exactly the keys whose JSON differs. C3 after `close` writing a key throws.
*/
var StateDraft = class {
	#base;
	#touched;
	#view;
	#act;
	#replaced = false;
	#closed = false;
	/** @param act the activation that writes, for the error a late write gets */
	constructor(base, act) {globalThis.__t?.("runtime/turn/state-draft.js#constructor@730");
		this.#base = base;
		this.#act = act;
	}
	/** Ends writing: the activation is over. */
	close() {globalThis.__t?.("runtime/turn/state-draft.js#close@839");
		this.#closed = true;
	}
	/** The state, to be read and changed in place. */
	get view() {globalThis.__t?.("runtime/turn/state-draft.js#view get@931");
		return this.#view ??= new Proxy({}, this);
	}
	/** Replaces the whole state. */
	replace(state) {globalThis.__t?.("runtime/turn/state-draft.js#replace@1026");
		this.#assertOpen();
		if (typeof state !== "object" || state === null || Array.isArray(state)) throw new UsageError("STATE_INVALID", `Expected the state of a role to be an object, got ${Array.isArray(state) ? "a list" : typeof state}.`);
		if (state === this.#view) return;
		this.#replaced = true;
		const touched = /* @__PURE__ */ new Map();
		for (const key of Object.keys(state)) touched.set(key, state[key]);
		this.#touched = touched;
	}
	/**
	* What changed.
	*
	* @throws UsageError `STATE_INVALID` when the new state does not fit the role's schema.
	* @throws NotJsonError
	*/
	changes(role, schema) {globalThis.__t?.("runtime/turn/state-draft.js#changes@1632");
		if (this.#touched === void 0) return void 0;
		const set = {};
		let isChanged = false;
		for (const [key, value] of this.#touched) {
			if (value === void 0) continue;
			const now = changedTo(value, Object.hasOwn(this.#base, key) ? this.#base[key] : void 0);
			if (now === void 0) continue;
			isChanged = true;
			if (key === "__proto__") Object.defineProperty(set, key, {
				value: now,
				writable: true,
				enumerable: true,
				configurable: true
			});
			else set[key] = now;
		}
		const unset = this.#gone();
		if (!isChanged && unset.length === 0) return void 0;
		if (schema !== void 0) this.#check(role, schema, set, unset);
		return {
			set,
			unset
		};
	}
	#gone() {globalThis.__t?.("runtime/turn/state-draft.js#gone@2335");
		let gone;
		for (const key of Object.keys(this.#base)) if (this.#touched?.has(key) === true ? this.#touched.get(key) === void 0 : this.#replaced) (gone ??= []).push(key);
		return gone ?? nothing;
	}
	#check(role, schema, set, unset) {globalThis.__t?.("runtime/turn/state-draft.js#check@2549");
		const whole = {
			...this.#base,
			...set
		};
		for (const key of unset) delete whole[key];
		const parsed = schema.safeParse(whole);
		if (parsed.success) return;
		throw new UsageError("STATE_INVALID", `Expected the state of ${role} to fit its schema after the activation: ${parsed.error.message}`, { cause: parsed.error });
	}
	/** @internal */
	get(_target, key) {globalThis.__t?.("runtime/turn/state-draft.js#get@2935");
		if (typeof key !== "string") return void 0;
		const touched = this.#touched;
		if (touched?.has(key) === true) return touched.get(key);
		if (this.#replaced || !Object.hasOwn(this.#base, key)) return void 0;
		const value = this.#base[key];
		if (typeof value !== "object" || value === null) return value;
		const copy = structuredClone(value);
		this.#touch(key, copy);
		return copy;
	}
	/** @internal */
	set(_target, key, value) {globalThis.__t?.("runtime/turn/state-draft.js#set@3365");
		this.#assertOpen();
		if (typeof key !== "string") return false;
		this.#touch(key, value);
		return true;
	}
	/** @internal */
	defineProperty(target, key, property) {globalThis.__t?.("runtime/turn/state-draft.js#defineProperty@3534");
		return "value" in property && this.set(target, key, property.value);
	}
	/** @internal */
	deleteProperty(target, key) {globalThis.__t?.("runtime/turn/state-draft.js#deleteProperty@3667");
		return this.set(target, key, void 0);
	}
	/** @internal */
	has(target, key) {globalThis.__t?.("runtime/turn/state-draft.js#has@3748");
		return this.get(target, key) !== void 0;
	}
	/** @internal */
	ownKeys() {globalThis.__t?.("runtime/turn/state-draft.js#ownKeys@3836");
		const keys = new Set(this.#replaced ? [] : Object.keys(this.#base));
		for (const [key, value] of this.#touched ?? []) if (value === void 0) keys.delete(key);
		else keys.add(key);
		return [...keys];
	}
	/** @internal */
	getOwnPropertyDescriptor(target, key) {globalThis.__t?.("runtime/turn/state-draft.js#getOwnPropertyDescriptor@4090");
		const value = this.get(target, key);
		return value === void 0 ? void 0 : {
			value,
			writable: true,
			enumerable: true,
			configurable: true
		};
	}
	#touch(key, value) {globalThis.__t?.("runtime/turn/state-draft.js#touch@4271");
		(this.#touched ??= /* @__PURE__ */ new Map()).set(key, value);
	}
	#assertOpen() {globalThis.__t?.("runtime/turn/state-draft.js#assertOpen@4366");
		if (this.#closed) throw new ContextClosedError(this.#act, "a change of state");
	}
};
const nothing = Object.freeze([]);
/**
* A value as JSON gives it back, where it says something else than what was there; undefined where it says the same.
*
* @throws NotJsonError
*/
function changedTo(value, known) {globalThis.__t?.("runtime/turn/state-draft.js#changedTo@4643");
	switch (typeof value) {
		case "string":
		case "boolean": return value === known ? void 0 : value;
		case "number":
			if (Number.isFinite(value)) return value === known ? void 0 : value + 0;
			return jsonRoundTrip(value);
		default: return known !== void 0 && canonicalJson(value) === canonicalJson(known) ? void 0 : jsonRoundTrip(value);
	}
}
export { StateDraft };
