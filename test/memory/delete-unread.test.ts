import { join } from "node:path";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { sqliteStore } from "../../src/adapters/sqlite.ts";
import { LongTermMemory } from "../../src/memory/long-term-memory.ts";
import { MemoryStorage } from "../../src/memory/memory-storage.ts";
import { createMessage } from "../../src/message/message.ts";
import { afterAll, expect, test } from "vitest";

const scratch = mkdtempSync(join(tmpdir(), "troupe-delete-"));
afterAll(() => rmSync(scratch, { recursive: true }));
const MESSAGES = 1_500;

function opened(name: string): LongTermMemory {
  return new LongTermMemory({
    storage: new MemoryStorage({ roleId: "Ada", runId: "r", store: sqliteStore({ path: join(scratch, name) }) }),
  });
}

test.each([
  ["before anything was read", async () => {}],
  ["after a search that read a part", async (memory: LongTermMemory) => void (await memory.searchSimilar("harbour number 3"))],
])("a message that was not read yet is deleted in the storage, %s", async (name, first) => {
  const file = `${name}.db`;
  const written = opened(file);
  written.addBatch(Array.from({ length: MESSAGES }, (_, n) => createMessage(`harbour number ${n}`, { id: `m${n}`, timestamp: n })));
  await written.close();
  const memory = opened(file);
  await first(memory);
  memory.delete("m700");
  await memory.close();
  const again = opened(file);
  const ids = new Set((await again.recover()).map(({ id }) => id));
  await again.close();
  expect([ids.size, ids.has("m700")]).toEqual([MESSAGES - 1, false]);
});
