/** The test kit: what programs built on this package test themselves with, and this package itself. */

// A model without a provider.
export {
  type ScriptedAnswer,
  ScriptExhaustedError,
  type ScriptedModel,
  scriptedModel,
  type ScriptedOptions,
  type ScriptedReply,
} from "./scripted-model.ts";

// A run that was recorded once, to be played in tests.
export { type Cassette, cassetteJournal, readCassette, saveCassette } from "./cassette.ts";
export type { RecordedAnswer, RecordedCall } from "./cassette-call.ts";
export { cassetteModel, type CassetteModel, type CassetteOptions } from "./cassette-model.ts";

// Time that moves when told to.
export { type SimulatedClock, simulatedClock } from "./simulated-clock.ts";

// Processes that share a journal and can be killed.
export { type SimulatedProcess, type SimulatedProcesses, simulatedProcesses } from "./simulated-processes.ts";

// A cache that ends with its process.
export { memoryCache, type MemoryCacheOptions } from "./memory-cache.ts";

// An engine that ends with its process.
export { type MemoryRunDriver, memoryRunDriver, type MemoryRunDriverOptions } from "./memory-run-driver.ts";

// A provider that can be made to fail.
export type { OpenAIBody } from "./openai-body.ts";
export { type OpenAIStub, openaiStub, type RejectedRequest, type StubHandler, type StubOptions } from "./openai-stub.ts";
export type { Pace, StubAnswer, StubFault, StubRaw, StubReply } from "./stub-reply.ts";

// The share that a provider's cache could serve.
export { type CacheableShare, cacheableShare, type PrefixCacheOptions, type PromptParts } from "./cacheable-share.ts";

// Contract suites of the ports.
export { budgetPoolContract, type MakeBudgetPool } from "./contracts/budget-pool.ts";
export { cacheContract, type MakeCache } from "./contracts/cache.ts";
export { chatModelContract, type ContractReply, type MakeModel, type ModelUnderTest } from "./contracts/chat-model.ts";
export { edgePolicyContract, type MakeEdgePolicy } from "./contracts/edge-policy.ts";
export { journalContract, type MakeJournal } from "./contracts/journal.ts";
export { journalOwnersContract, type JournalOwnersContract, type TwoJournals } from "./contracts/journal-owners.ts";
export { type ContractEffect, type EffectPlace, effectPortContract, type EffectPortContract } from "./contracts/effect-port.ts";
export { type LimitsTime, type MakeLimits, modelLimitsContract } from "./contracts/model-limits.ts";
export { type MakeStore, messageStoreContract } from "./contracts/message-store.ts";
export { type MakeObjects, objectStoreContract } from "./contracts/object-store.ts";
export { type DoomedWorker, runDriverContract, type RunDriverContract, type RunEngine } from "./contracts/run-driver.ts";
export { type MakeIndex, vectorIndexContract } from "./contracts/vector-index.ts";
export { workspaceContract, type WorkspaceContract } from "./contracts/workspace.ts";
export type { ContractExpectation, ContractKit } from "./contracts/contract-kit.ts";
