/*
 * The entry `troupe/memory`: embedders, indexes, stores and caches that need no vendor.
 */

export { hashingEmbedder } from "./memory/embedder.ts";
export { exactIndex } from "./memory/exact-index.ts";
export { minisearch } from "./memory/word-index.ts";
export { ShardedStorage, type ShardedStorageOptions } from "./memory/sharded-storage.ts";
export { fileCache } from "./adapters/file-cache.ts";
export { forget, type ForgetOptions, type Forgotten } from "./team/forget.ts";
