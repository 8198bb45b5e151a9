import { MemoryError } from "../kernel/errors.js";
// ../../work/wt/lead/src/memory/message-store.ts
/** Whoever uses a memory after its end. */
function memoryClosed() {globalThis.__t?.("memory/message-store.js#memoryClosed@145");
	return new MemoryError("MEMORY_CLOSED", "Expected an open memory, but it has been closed. Make another one over the same store.");
}
/** By what a message is known in a store. */
function identityOf(runId, id) {globalThis.__t?.("memory/message-store.js#identityOf@351");
	return JSON.stringify([runId, id]);
}
export { identityOf, memoryClosed };
