import { QueueFullError } from "../kernel/errors.js";
// ../../work/wt/lead/src/memory/write-behind-queue.ts
/**
* Changes that are stored in the background, in the order they were made.
*
* Owns the changes that wait. WriteBehindQueue.Q1 (`#drain`) a change leaves the queue after it was stored; after a failure it stays, and the next
* change or `flush` tries again. WriteBehindQueue.Q2 (`#batch`) changes are stored in order, and additions made together are stored together.
*/
var WriteBehindQueue = class {
	#options;
	#waiting = [];
	#work;
	constructor(options) {globalThis.__t?.("memory/write-behind-queue.js#constructor@559");
		this.#options = options;
	}
	get size() {globalThis.__t?.("memory/write-behind-queue.js#size get@610");
		return this.#waiting.length;
	}
	get isFull() {globalThis.__t?.("memory/write-behind-queue.js#isFull get@660");
		return this.size >= this.#options.limit;
	}
	/** The changes that wait, in order. */
	get changes() {globalThis.__t?.("memory/write-behind-queue.js#changes get@764");
		return this.#waiting;
	}
	push(change) {globalThis.__t?.("memory/write-behind-queue.js#push@801");
		this.#waiting.push(change);
		if (this.#work !== void 0) return;
		this.#work = this.#drain();
		this.#work.catch((error) => (globalThis.__t?.("memory/write-behind-queue.js#anonymous@928"),(this.#options.onError?.(error))));
	}
	/** @throws QueueFullError */
	assertRoom() {globalThis.__t?.("memory/write-behind-queue.js#assertRoom@1017");
		if (this.isFull) throw new QueueFullError(this.#options.limit);
	}
	/** Stores every change that waits. Tries again what failed in the background. @throws the error of `store` */
	async flush() {globalThis.__t?.("memory/write-behind-queue.js#flush@1215");
		await this.#work?.catch(() => {globalThis.__t?.("memory/write-behind-queue.js#anonymous@1246");});
		while (this.#waiting.length > 0) await (this.#work ??= this.#drain());
	}
	async #drain() {globalThis.__t?.("memory/write-behind-queue.js#drain@1346");
		let failure;
		try {
			await Promise.resolve();
			while (this.#waiting.length > 0) {
				const changes = this.#batch();
				try {
					await this.#options.store(changes);
				} catch (error) {
					if (this.#options.isStored?.(changes) !== true) throw error;
					failure ??= { error };
				}
				this.#waiting.splice(0, changes.length);
			}
		} finally {
			this.#work = void 0;
		}
		if (failure !== void 0) throw failure.error;
	}
	/** Returns the first additions, or the first other change. */
	#batch() {globalThis.__t?.("memory/write-behind-queue.js#batch@1861");
		const end = this.#waiting.findIndex(({ type }) => (globalThis.__t?.("memory/write-behind-queue.js#end@1904"),(type !== "add")));
		return this.#waiting.slice(0, Math.max(1, Math.min(end === -1 ? this.#waiting.length : end, this.#options.maxBatch)));
	}
};
export { WriteBehindQueue };
