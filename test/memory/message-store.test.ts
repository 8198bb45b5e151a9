import { describe, expect, it } from "vitest";
import { inMemoryStore } from "../../src/memory/message-store.ts";
import { messageStoreContract } from "../../src/testing/contracts/message-store.ts";

messageStoreContract({ describe, it, expect }, "inMemoryStore", inMemoryStore);
