import { errorRecord } from "../kernel/troupe-error.js";
import { UsageError } from "../kernel/errors.js";
import { KeptMemory } from "../memory/kept-memory.js";
import { roleMemoryParts } from "../memory/role-memory.js";
import { roleSpec } from "../role/role-spec.js";
// ../../work/wt/lead/src/runtime/role-memories.ts
/**
* What the roles of one run remember for longer than the run. It owns which definitions do; what is kept is each role's kept memory's, made
* when the role first acts.
*
* R1 what an activation remembered is stored once its end is durable, never before. R2 what is durable in the record and not in the store,
* because the process died between, is stored when the run goes on. R3 a store that fails is told and does not fail the run.
*/
var RoleMemories = class {
	#parts;
	#options = /* @__PURE__ */ new Map();
	#memories = /* @__PURE__ */ new Map();
	#ancestors = [];
	/** Whether any role remembers for longer than its run: asked every turn, and written here alone. */
	isUsed = false;
	constructor(parts) {globalThis.__t?.("runtime/role-memories.js#constructor@1027");
		this.#parts = parts;
	}
	of(name) {globalThis.__t?.("runtime/role-memories.js#of@1066");
		return this.isUsed ? this.#memories.get(name) ?? this.#make(name) : void 0;
	}
	/**
	* Takes in a definition that somebody is hired by, and says for how long it remembers. A step function keeps no memory.
	*
	* @throws UsageError `OPTION_INVALID`; `ROLE_INVALID` where it would wait for what is forgotten
	*/
	enlist(role) {globalThis.__t?.("runtime/role-memories.js#enlist@1393");
		const { shared } = this.#parts;
		const options = role.step === void 0 ? roleMemoryParts(role.memory, shared === false ? void 0 : shared) : void 0;
		if (options === void 0) {
			if (shared !== false) return "its run";
			assertNeedsNothing(role);
			return "its turn";
		}
		this.#options.set(role, options);
		this.isUsed = true;
		return "longer";
	}
	#make(name) {globalThis.__t?.("runtime/role-memories.js#make@1764");
		const { runId, clock, mask, warn, roleNamed } = this.#parts;
		const role = roleNamed(name);
		const options = role === void 0 ? void 0 : this.#options.get(role);
		if (options === void 0) return void 0;
		const onError = (error) => (globalThis.__t?.("runtime/role-memories.js#onError@1997"),(warn(name, `What ${name} remembers could not be stored: ${errorRecord(error).message}`)));
		const isAncestor = (id) => (globalThis.__t?.("runtime/role-memories.js#isAncestor@2118"),(this.#ancestors.some((point) => (globalThis.__t?.("runtime/role-memories.js#anonymous@2147"),(point.runId === id)))));
		const memory = {
			options,
			kept: new KeptMemory({
				parts: options,
				role: name,
				runId: runId(),
				isAncestor,
				clock,
				onError
			}),
			mask
		};
		this.#memories.set(name, memory);
		return memory;
	}
	/** The runs this one was forked from, from the nearest on. */
	descendsFrom(ancestors) {globalThis.__t?.("runtime/role-memories.js#descendsFrom@2484");
		this.#ancestors = ancestors;
	}
	/**
	* Takes in an event that is durable.
	*
	* @param taken of an end, the messages that the activation took, where the run keeps no history
	*/
	learn(event, taken = []) {globalThis.__t?.("runtime/role-memories.js#learn@2685");
		if (event.type !== "act.ended" || !this.#parts.isLive) return;
		const kept = this.of(event.role)?.kept;
		if (kept === void 0 || event.memory.length === 0) return;
		kept.learn(this.#resolved(event, taken), this.#livedBy(event));
	}
	/** Stores what waits, and lets go of the stores. Never throws: what was not stored is told, and stored when the run goes on. */
	async rest() {globalThis.__t?.("runtime/role-memories.js#rest@3084");
		if (!this.#parts.isLive) return;
		const all = [...this.#memories].map(async ([name, { kept }]) => {globalThis.__t?.("runtime/role-memories.js#all@3162");
			try {
				await kept.saved();
				await kept.close();
			} catch (error) {
				const { message } = errorRecord(error);
				const what = kept.unsaved === 0 ? `The store of what ${name} remembers could not be closed` : `${kept.unsaved} changes of what ${name} remembers are not stored, until the run is resumed`;
				this.#parts.warn(name, `${what}: ${message}`);
			}
		});
		await Promise.all(all);
	}
	/** The run that an event was first recorded in: this one, or the farthest of its ancestors that shares it. */
	#livedBy({ seq }) {globalThis.__t?.("runtime/role-memories.js#livedBy@3718");
		let runId = this.#parts.runId();
		for (const parent of this.#ancestors) {
			if (seq > parent.at) break;
			({runId} = parent);
		}
		return runId;
	}
	/** What a record names by its id alone was said in the activation, or taken by it, and so had been delivered. */
	#resolved({ memory, said, role }, taken) {globalThis.__t?.("runtime/role-memories.js#resolved@4009");
		const words = new Map([...taken, ...said.map(({ message }) => (globalThis.__t?.("runtime/role-memories.js#words@4090"),(message)))].map((message) => (globalThis.__t?.("runtime/role-memories.js#words@4121"),([message.id, message]))));
		const { history, roles } = this.#parts.state();
		return memory.flatMap((op) => {globalThis.__t?.("runtime/role-memories.js#anonymous@4233");
			if (op[0] !== "+" || typeof op[1] !== "string") return [op];
			const message = words.get(op[1]) ?? history.find(op[1]) ?? roles.get(role)?.memory.find(op[1]);
			return message === void 0 ? [] : [["+", message]];
		});
	}
};
/**
* What a reaction needs that is all that triggers it is among the news.
*
* @throws UsageError `ROLE_INVALID`
*/
function assertNeedsNothing(role) {globalThis.__t?.("runtime/role-memories.js#assertNeedsNothing@4589");
	const waiting = roleSpec(role).reactions.find(({ on, needs }) => (globalThis.__t?.("runtime/role-memories.js#waiting@4672"),(needs.some((need) => (globalThis.__t?.("runtime/role-memories.js#anonymous@4702"),(on.size > 1 || !on.has(need)))))));
	if (waiting === void 0) return;
	throw new UsageError("ROLE_INVALID", `Expected role ${role.name} to need nothing that was said before, because this environment has memory: false, got a reaction that needs ${waiting.needs.join(", ")}. Write memory: {} in the role: then it remembers.`);
}
export { RoleMemories };
