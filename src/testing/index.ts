/** The test kit: what programs built on this package test themselves with, and this package itself. */

// A model without a provider.
export { ScriptExhaustedError, type ScriptedModel, scriptedModel, type ScriptedReply } from "./scripted-model.ts";

// A run that was recorded once, to be played in tests.
export { type Cassette, cassetteJournal, readCassette, saveCassette } from "./cassette.ts";
export { cassetteModel } from "./cassette-model.ts";

// Time that a test moves.
export { type SimulatedClock, simulatedClock } from "./simulated-clock.ts";

// A cache that ends with its process.
export { memoryCache } from "./memory-cache.ts";

// An engine that ends with its process.
export { memoryRunDriver } from "./memory-run-driver.ts";

// A provider that can be made to fail.
export { type OpenAIStub, openaiStub } from "./openai-stub.ts";
export type { StubReply } from "./stub-reply.ts";

// Contract suites of the ports.
export { budgetPoolContract } from "./contracts/budget-pool.ts";
export { cacheContract } from "./contracts/cache.ts";
export { chatModelContract } from "./contracts/chat-model.ts";
export { edgePolicyContract } from "./contracts/edge-policy.ts";
export { journalContract } from "./contracts/journal.ts";
export { journalOwnersContract } from "./contracts/journal-owners.ts";
export { effectPortContract } from "./contracts/effect-port.ts";
export { modelLimitsContract } from "./contracts/model-limits.ts";
export { messageStoreContract } from "./contracts/message-store.ts";
export { objectStoreContract } from "./contracts/object-store.ts";
export { runDriverContract } from "./contracts/run-driver.ts";
export { vectorIndexContract } from "./contracts/vector-index.ts";
export { workspaceContract } from "./contracts/workspace.ts";
